//! Ten days through the program, as `scripts/ten-days.sh` plays them.

use std::path::Path;
use std::process::Command;

use tempfile::tempdir;

use crate::support::DAY;

#[test]
fn every_step_of_ten_days_ends_as_it_should() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/ten-days.sh");
    let at = tempdir().unwrap();
    let ran = Command::new("bash")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_icl"))
        .arg(at.path().join("days"))
        .env(DAY[0], DAY[1])
        .output();
    let Ok(ran) = ran else {
        println!("skipped: there is no bash");
        return;
    };
    let [stdout, stderr] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(ran.status.success(), "{stdout}{stderr}");
    assert!(stdout.starts_with("ten days of a table"), "{stdout}");
}
