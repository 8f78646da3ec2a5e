//! The program of the crate's README as a user would follow it: a crate of its own outside the workspace, with
//! the dependencies that stand there and nothing else. The repository's README shows an excerpt of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the first block of this language in a README.
fn block_of(readme: &str, language: &str) -> String {
    let readme = fs::read_to_string(root().join(readme)).expect("a README");
    let start = format!("```{language}\n");
    let block = readme.split(&start).nth(1).expect("a block");
    block.split("```").next().expect("its end").to_owned()
}

/// Returns the first block of this language in the crate's README.
fn block(language: &str) -> String {
    block_of("crates/icl/README.md", language)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the crate at `folder`, built with the versions of the workspace's lock file. Its target folder
/// stays, so that only the first run compiles Burn.
fn run(folder: &Path) -> Output {
    Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme"),
        )
        .output()
        .expect("cargo starts")
}

#[test]
fn the_readme_works_for_a_crate_outside_the_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let here = env!("CARGO_MANIFEST_DIR").replace('\\', "/");
    let dependencies = block("toml").replace("icl/crates/icl", &here);
    assert!(dependencies.contains(&here), "{dependencies}");
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.dev]\ndebug = false\n\n{dependencies}"
    );
    fs::create_dir(at.join("src")).expect("a folder of sources");
    fs::write(at.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(at.join("src/main.rs"), block("rust,no_run")).expect("a source");
    fs::copy(root().join("Cargo.lock"), at.join("Cargo.lock")).expect("the lock file");
    // The second time yesterday's encoder is there, and is only loaded.
    let mut outputs = Vec::new();
    for _ in 0..2 {
        let ran = run(at);
        let message = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{message}");
        outputs.push(String::from_utf8(ran.stdout).expect("UTF-8"));
        assert!(at.join("yesterday.mpk").exists() && at.join("today.mpk").exists());
    }
    let text = &outputs[0];
    let numbers = |line: &str| -> Vec<f64> {
        let line = text.lines().find_map(|it| it.strip_prefix(line));
        let words = line.expect("the line").split_whitespace();
        words.filter_map(|word| word.parse().ok()).collect()
    };
    let all = numbers("exact risk of all data:");
    assert!(all.len() == 2 && all[1] < all[0], "{text}");
    // The new data have moved: their held-out risk falls by more than its noise, and that of old data does not rise by
    // it.
    let [old, new] = ["held-out old:", "held-out new:"].map(numbers);
    assert!((old.len(), new.len()) == (3, 3), "{text}");
    assert!(new[1] < new[0] - 3.0 * new[2], "{text}");
    assert!(old[1] < old[0] + 3.0 * old[2], "{text}");
    // The README shows this output; other processors round otherwise.
    let shown = block("text");
    let of = |line: &&str| line.split(':').next().map(ToOwned::to_owned);
    assert!(
        shown
            .lines()
            .map(|it| of(&it))
            .eq(text.lines().map(|it| of(&it))),
        "{text}"
    );
    assert_eq!(outputs[0], outputs[1], "a run repeats itself");
}

#[test]
fn the_excerpt_is_of_the_program() {
    assert_eq!(block_of("README.md", "toml"), block("toml"));
    let program = block("rust,no_run");
    let mut lines = program.lines();
    for line in block_of("README.md", "rust").lines() {
        assert!(
            lines.any(|it| it == line),
            "{line:?} is not next in the program"
        );
    }
}

/// Glue for a model and data of one's own, without the model itself: at most ten lines.
#[test]
fn the_glue_has_at_most_ten_lines() {
    let source = block("rust,no_run");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let start = lines
        .iter()
        .position(|line| line.starts_with("impl<B: Backend> Encoder<B>"));
    let encoder = &lines[start.expect("the encoder's trait")..];
    let n_encoder = encoder
        .iter()
        .position(|line| line.is_empty())
        .expect("its end");
    let others = ["let views =", "let trainer ="];
    let n_others = lines
        .iter()
        .filter(|line| others.iter().any(|other| line.starts_with(other)));
    let n = n_encoder + n_others.count();
    assert!((3..=10).contains(&n), "{n} lines of glue");
}
