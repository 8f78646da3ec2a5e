//! Some seeded inputs of every format, and all that broke a promise once.

use std::process::Command;

#[test]
fn readers_keep_their_promise() {
    // In the optimised build, in which CI runs the tests, four thousand of each take some 40 s on two cores.
    let n_inputs = if cfg!(debug_assertions) {
        "100"
    } else {
        "4000"
    };
    let out = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_icl-fuzz"))
        .args(["all", "--inputs", n_inputs, "--out"])
        .arg(out.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    assert!(output.status.success(), "{text}");
}
