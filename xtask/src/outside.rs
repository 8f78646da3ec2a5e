//! The command `cargo xtask outside`: the crate of a user, built outside of the workspace on several backends.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, ensure};

use crate::cargo;

/// The crate, which the tests of `icl` run inside of the workspace.
const USER: &str = "crates/icl/tests/outside/user.rs";
/// Folder that holds it outside.
const FOLDER: &str = "target/outside";

/// Backends: feature of burn, type, and feature of icl.
const BACKENDS: [(&str, &str, &str); 5] = [
    ("flex", "Flex", "flex"),
    ("ndarray", "NdArray", ""),
    ("wgpu", "Wgpu", "wgpu"),
    ("tch", "LibTorch", "tch"),
    ("cuda", "Cuda", "cuda"),
];

/// Checks the crate with the compiler on these backends, or on all, first without Burn's terminal interface and then
/// with it.
///
/// # Errors
/// If a file cannot be written, or cargo cannot be started.
pub fn run(backends: &[String]) -> anyhow::Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let known = BACKENDS.map(|(name, ..)| name);
    let unknown = backends.iter().find(|name| !known.contains(&&name[..]));
    ensure!(
        unknown.is_none(),
        "found backend {unknown:?}, expected one of {known:?}"
    );
    let folder = root.join(FOLDER);
    write(&root, &folder)?;
    for (name, ..) in BACKENDS {
        if !backends.is_empty() && !backends.iter().any(|own| own == name) {
            continue;
        }
        for features in [name.to_owned(), format!("{name},tui")] {
            println!("outside of the workspace: {features}");
            let mut check = cargo::command(["check", "--features", &features]);
            let status = cargo::status(check.current_dir(&folder))?;
            if !status.success() {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the package: the user's file, a program around it, and the versions of this workspace.
fn write(root: &Path, folder: &Path) -> anyhow::Result<()> {
    let src = folder.join("src");
    let write = |path: &Path, text: &str| {
        fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
    };
    fs::create_dir_all(&src).with_context(|| format!("{} cannot be created", src.display()))?;
    let copy = |from: &str, to: &Path| {
        fs::copy(root.join(from), to).with_context(|| format!("{from} cannot be copied"))
    };
    copy(USER, &src.join("user.rs"))?;
    copy("Cargo.lock", &folder.join("Cargo.lock"))?;
    write(&src.join("main.rs"), &program())?;
    write(&folder.join("Cargo.toml"), &manifest())
}

fn manifest() -> String {
    let features = BACKENDS.map(|(name, _, of_icl)| {
        let of_icl = match of_icl {
            "" => String::new(),
            feature => format!(", \"icl/{feature}\""),
        };
        format!("{name} = [\"burn/{name}\"{of_icl}]\n")
    });
    format!(
        r#"[package]
name = "outside"
version = "0.1.0"
edition = "2024"

[workspace]

[features]
{}tui = ["burn/tui"]

[dependencies]
burn = {{ version = "0.21", default-features = false, features = ["std", "autodiff", "train"] }}
burn-store = {{ version = "0.21", default-features = false, features = ["std", "safetensors"] }}
icl = {{ path = "../../crates/icl", default-features = false, features = ["train"] }}
rand = {{ version = "0.10", default-features = false }}
"#,
        features.concat()
    )
}

fn program() -> String {
    let types = BACKENDS.map(|(feature, of_burn, _)| {
        format!("#[cfg(feature = \"{feature}\")]\ntype Inner = burn::backend::{of_burn};\n")
    });
    format!(
        r#"mod user;

use icl::train::EpochMetrics;

{}
#[cfg(feature = "tui")]
fn shown() -> EpochMetrics {{
    use burn::train::{{Interrupter, renderer::tui::TuiMetricsRendererWrapper}};
    EpochMetrics::new().with_renderer(TuiMetricsRendererWrapper::new(Interrupter::new(), None))
}}
#[cfg(not(feature = "tui"))]
fn shown() -> EpochMetrics {{
    EpochMetrics::new().with_logger(burn::train::logger::FileMetricLogger::new("log"))
}}

fn main() {{
    let report = user::run::<burn::backend::Autodiff<Inner>>(".".as_ref(), u32::MAX, shown());
    println!("{{:?}}", report.map(|(risks, ..)| risks));
}}
"#,
        types.concat()
    )
}
