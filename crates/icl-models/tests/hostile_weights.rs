//! Files of weights made for harm: small ones whose pickles make, or recall, far more than they hold.
//!
//! Each is read in a process of its own, whose largest memory is bounded.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use icl_models::read_weights;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A file in the format before PyTorch 1.6 with this pickle in the place of the state dict.
fn legacy(state: &[u8]) -> Vec<u8> {
    let magic = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";
    let system = b"\x80\x02}X\x0d\0\0\0little_endian\x88s.";
    let [version, keys] = [&b"\x80\x02M\xe9\x03."[..], b"\x80\x02]."];
    [magic, version, system, b"\x80\x02", state, b".", keys].concat()
}

/// A text of a pickle.
fn text(text: &str) -> Vec<u8> {
    let length = (text.len() as u32).to_le_bytes();
    [b"X", &length[..], text.as_bytes()].concat()
}

/// An archive with this pickle, packed.
fn archive(state: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    zip.start_file("x/data.pkl", packed).unwrap();
    zip.write_all(b"\x80\x02").unwrap();
    zip.write_all(state).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Hostile files, by what is in them.
fn hostile_pickles() -> Vec<(&'static str, Vec<u8>)> {
    let long = "k".repeat(1 << 20);
    let recalled = |n: usize| b"h\0".repeat(n);
    let key = [b"}", &text(&long)[..], b"Nsq\0", &recalled(1000), b"(t"].concat();
    let class = [b"c", long.as_bytes(), b"\nx\nq\0", &recalled(1000), b"(t"].concat();
    let empty = [b"]q\0(", &recalled(999_000)[..], b"t"].concat();
    let tuple = [b"(", &b"N".repeat(1000)[..], b"tq\0", &recalled(990), b"(t"].concat();
    vec![
        ("a key that is recalled", legacy(&key)),
        ("a class that is recalled", legacy(&class)),
        ("values of one byte", legacy(&b"N".repeat(10 << 20))),
        ("dictionaries of one byte", legacy(&b"}".repeat(10 << 20))),
        ("a list that is recalled", legacy(&empty)),
        ("a tuple that is recalled", legacy(&tuple)),
        ("a tuple that is recalled in an archive", archive(&tuple)),
        (
            "values of one byte in an archive",
            archive(&b"N".repeat(64 << 20)),
        ),
        (
            "deep tuples",
            legacy(&[b")", &b"\x85".repeat(500_000)[..]].concat()),
        ),
    ]
}

/// Variable with the file that [`reader`] reads.
const FILE: &str = "HOSTILE_WEIGHTS";

/// Not a test of its own: the process of one reading.
#[test]
#[ignore = "read by hostile_files_take_little_memory"]
fn reader() {
    if let Some(path) = std::env::var_os(FILE) {
        let read = read_weights(Path::new(&path), &[("a".to_owned(), vec![1])]);
        println!("{}", read.unwrap_err());
        println!("{}", peak().unwrap_or_default());
    }
}

/// Largest memory of this process so far in KiB, where the system tells it.
fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

/// Reads a file in a process of its own, and returns what it said and its largest memory in bytes.
fn read_apart(path: &Path) -> (String, u64) {
    let program = std::env::current_exe().unwrap();
    let arguments = [
        "hostile_weights::reader",
        "--exact",
        "--ignored",
        "--nocapture",
    ];
    let mut command = Command::new(program);
    let output = command.args(arguments).env(FILE, path).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}: {stdout}", path.display());
    let mut numbers = stdout.lines().filter_map(|line| line.parse::<u64>().ok());
    let peak = numbers.next_back().unwrap() << 10;
    (stdout, peak)
}

#[test]
fn hostile_files_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.ckpt");
    fs::write(&path, legacy(b"}")).unwrap();
    let (_, before) = read_apart(&path);
    for (name, bytes) in hostile_pickles() {
        fs::write(&path, &bytes).unwrap();
        let (message, peak) = read_apart(&path);
        let (size, taken) = (bytes.len() as u64, peak.saturating_sub(before));
        println!("{name}: {size} bytes, {} KiB; {message}", taken >> 10);
        assert!(message.contains(": found "), "{name}: {message}");
        assert!(taken <= (64 << 20) + 20 * size, "{name}: {taken} bytes");
    }
}
