//! The programs of the crate's README and of the book's tutorial as a user would follow them: a crate of its own
//! outside the workspace, with the dependencies that the page names and nothing else. Both pages show what these runs
//! print; `UPDATE_PAGES=1` writes it. The repository's README shows an excerpt of the crate's.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATE: &str = "crates/icl/README.md";
const TUTORIAL: &str = "docs/book/src/tutorial.md";
/// The first encoder's and the updated one's file, in both programs.
const FILES: [&str; 2] = ["yesterday.mpk", "today.mpk"];

/// Reads a page of the repository.
fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).expect("a page")
}

/// Returns the first block of this language in a page.
fn block(name: &str, language: &str) -> String {
    let page = page(name);
    let start = format!("```{language}\n");
    let block = page.split(&start).nth(1).expect("a block");
    block.split("```").next().expect("its end").to_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Writes a crate of the page's dependencies and the page's program, without the lines that rustdoc hides.
fn outside(folder: &Path, name: &str, language: &str) {
    let here = env!("CARGO_MANIFEST_DIR").replace('\\', "/");
    let dependencies = block(name, "toml").replace("icl/crates/icl", &here);
    assert!(dependencies.contains(&here), "{dependencies}");
    let manifest = format!(
        "[package]\nname = \"outside\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [profile.dev]\ndebug = false\n\n{dependencies}"
    );
    let block = block(name, language);
    let shown = block.lines().filter(|line| !line.starts_with("# "));
    let program = shown.collect::<Vec<_>>().join("\n");
    fs::create_dir(folder.join("src")).expect("a folder of sources");
    fs::write(folder.join("Cargo.toml"), manifest).expect("a manifest");
    fs::write(folder.join("src/main.rs"), program).expect("a source");
    // The versions of the workspace, so that nothing is looked up on the network.
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
}

/// Runs the crate at `folder` and returns what it prints. Its target folder stays, so that only the first run compiles
/// Burn.
fn run(folder: &Path) -> String {
    let ran = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(folder)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("readme"),
        )
        .output()
        .expect("cargo starts");
    let message = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{message}");
    assert!(FILES.iter().all(|file| folder.join(file).exists()));
    String::from_utf8(ran.stdout).expect("UTF-8")
}

/// Splits a text into its words without numbers, and its numbers.
fn words_and_numbers(text: &str) -> (Vec<&str>, Vec<f64>) {
    let (mut words, mut numbers) = (Vec::new(), Vec::new());
    for word in text.split_whitespace() {
        match word.trim_end_matches([',', ')']).parse() {
            Ok(number) => numbers.push(number),
            Err(_) => words.push(word),
        }
    }
    (words, numbers)
}

/// Compares what a program printed with what the page shows as its output; `UPDATE_PAGES=1` writes it there.
fn shows(name: &str, printed: &str) {
    let shown = block(name, "text");
    if std::env::var_os("UPDATE_PAGES").is_some() {
        let mended = page(name).replacen(&shown, printed, 1);
        return fs::write(root().join(name), mended).expect("a page that can be written");
    }
    let ((words, numbers), (words_now, numbers_now)) =
        (words_and_numbers(&shown), words_and_numbers(printed));
    assert_eq!(words, words_now, "{name}");
    // Other processors round otherwise, and a training of many steps makes more of it.
    let near = numbers.iter().zip(&numbers_now);
    assert!(
        numbers.len() == numbers_now.len() && near.clone().all(|(a, b)| (a - b).abs() <= 0.1),
        "{name} shows other numbers than this run, and UPDATE_PAGES=1 writes these:\n{printed}"
    );
}

#[test]
fn the_programs_of_the_pages_work_for_a_crate_outside_the_workspace() {
    let folder = tempfile::tempdir().expect("a folder");
    outside(folder.path(), CRATE, "rust,no_run");
    let text = run(folder.path());
    // The second time yesterday's encoder is there, and is only loaded.
    assert_eq!(text, run(folder.path()), "a run repeats itself");
    let numbers = |start: &str| {
        let line = text.lines().find_map(|it| it.strip_prefix(start));
        words_and_numbers(line.expect("the line")).1
    };
    let all = numbers("exact risk of all data:");
    assert!(all.len() == 2 && all[1] < all[0], "{text}");
    // The new data have moved: their held-out risk falls by more than its noise, and that of old data does not rise by
    // it.
    let [old, new] = ["held-out old:", "held-out new:"].map(numbers);
    assert!((old.len(), new.len()) == (3, 3), "{text}");
    assert!(new[1] < new[0] - 3.0 * new[2], "{text}");
    assert!(old[1] < old[0] + 3.0 * old[2], "{text}");
    shows(CRATE, &text);

    // In the same test, since both would otherwise wait for one target folder.
    let folder = tempfile::tempdir().expect("a folder");
    outside(folder.path(), TUTORIAL, "rust");
    shows(TUTORIAL, &run(folder.path()));
}

#[test]
fn the_excerpt_is_of_the_program() {
    assert_eq!(block("README.md", "toml"), block(CRATE, "toml"));
    let program = block(CRATE, "rust,no_run");
    let mut lines = program.lines();
    for line in block("README.md", "rust").lines() {
        assert!(
            lines.any(|it| it == line),
            "{line:?} is not next in the program"
        );
    }
}

/// Glue for a model and data of one's own, without the model itself: at most ten lines.
#[test]
fn the_glue_has_at_most_ten_lines() {
    let source = block(CRATE, "rust,no_run");
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
