//! Machines with little memory: one sentence and exit code 1, never a signal.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use tempfile::tempdir;

/// Limits of the memory of a process in KiB, from one in which the program hardly starts.
const LIMITS: [u32; 5] = [60_000, 80_000, 100_000, 150_000, 200_000];

#[test]
fn too_little_memory_is_one_sentence() {
    let at = tempdir().unwrap();
    // 200,000 rows of 64 numbers, 51 MB.
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (200000, 64), }\n";
    let head = [b"\x93NUMPY\x01\0", &(text.len() as u16).to_le_bytes()[..]].concat();
    let numbers = 0.5_f32.to_le_bytes().repeat(200_000 * 64);
    let file = [&head, text.as_bytes(), &numbers].concat();
    fs::write(at.path().join("a.npy"), file).unwrap();
    let program = env!("CARGO_BIN_EXE_icl");
    let mut n_refused = 0;
    for limit in LIMITS {
        let line = "diagnose --anchors a.npy --positives a.npy --old a.npy --new a.npy";
        let output = Command::new("sh")
            .args(["-c", &format!("ulimit -v {limit}; exec {program} {line}")])
            .current_dir(at.path())
            .env("RAYON_NUM_THREADS", "1")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(127) {
            // The system could not even load the program.
            continue;
        }
        assert_eq!(output.status.code(), Some(1), "{limit}: {stderr}");
        // The standard library adds how to see where it was.
        let is_note =
            |line: &str| line.is_empty() || line.starts_with("note: run with `RUST_BACKTRACE");
        assert!(stderr.lines().skip(1).all(is_note), "{limit}: {stderr}");
        n_refused += usize::from(stderr.starts_with("memory allocation of "));
    }
    assert!(n_refused > 0);
}
