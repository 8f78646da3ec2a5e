//! Names as long as a file system takes, and longer ones.

#![cfg(unix)]

use tempfile::tempdir;

use crate::support::digits::Digits;
use crate::support::toys::OLD;
use crate::support::{icl, names, split};

#[test]
fn long_names_are_found_before_the_work() {
    let at = tempdir().unwrap();
    let at = at.path();
    OLD.write(at, "old");
    let ran = |line: &str| icl(at, &split(line));
    let training = "train --data old --epochs 1 --stop never --out";
    let [first, parts, long] = ["x".repeat(255), "y".repeat(250), "z".repeat(256)];
    ran(&format!("{training} {first}")).succeeded();
    ran(&format!("split --data old --out {parts}")).succeeded();
    let before = names(at);
    for line in [training, "split --data old --out"] {
        ran(&format!("{line} {long}")).rejected("out: cannot write ");
    }
    // That of the labels is longer than that of the embeddings.
    let embed = format!("embed --from {first}/encoder.safetensors --data old --out");
    let [fits, next_to] = [200, 248].map(|n| format!("{}.npy", "e".repeat(n)));
    ran(&format!("{embed} {next_to}")).rejected("out: cannot write ");
    assert_eq!(names(at), before);
    ran(&format!("{embed} {fits}")).succeeded();
}

#[test]
fn names_in_the_data_that_are_too_long_for_files_are_wrong_input() {
    let at = tempdir().unwrap();
    let at = at.path();
    let name = "n".repeat(250);
    let digits = Digits {
        n: 24,
        side: 16,
        classes: [1, 7],
    };
    digits.write(at, &name);
    icl(at, &split(&format!("split --data {name} --out parts"))).rejected("cannot be written");
    assert_eq!(names(at), [name]);
}
