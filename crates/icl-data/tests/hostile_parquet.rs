//! Parquet files made for harm: small ones that state, or unpack to, far more than they hold.
//!
//! Each is read in a process of its own, whose largest memory is bounded.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use icl_data::{TableOptions, read_table, read_vectors};

/// Structure of Thrift's compact protocol.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

fn zigzag(value: i64) -> Vec<u8> {
    varint(((value << 1) ^ (value >> 63)) as u64)
}

impl Struct {
    fn field(mut self, number: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = number;
        self
    }

    fn i32(self, number: u8, value: i64) -> Self {
        self.field(number, 5, &zigzag(value))
    }

    fn i64(self, number: u8, value: i64) -> Self {
        self.field(number, 6, &zigzag(value))
    }

    fn text(self, number: u8, text: &str) -> Self {
        let bytes = [&varint(text.len() as u64), text.as_bytes()].concat();
        self.field(number, 8, &bytes)
    }

    fn list(self, number: u8, kind: u8, items: &[Vec<u8>]) -> Self {
        let head = [vec![0xf0 | kind], varint(items.len() as u64)].concat();
        self.field(number, 9, &[head, items.concat()].concat())
    }

    fn inner(self, number: u8, value: Self) -> Self {
        self.field(number, 12, &value.end())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// Types, encodings and codecs by their numbers in the format.
const INT64: i64 = 2;
const FLOAT: i64 = 4;
const BYTE_ARRAY: i64 = 6;
const PLAIN: i64 = 0;
const RLE: i64 = 3;
const DELTA_LENGTHS: i64 = 6;
const DELTA_TEXTS: i64 = 7;
const DICTIONARY: i64 = 8;
const NONE: i64 = 0;
const GZIP: i64 = 2;
const ZSTD: i64 = 6;

/// An element of a schema; `repetition` is 0 for a value, 1 for one that may be missing, 2 for a list.
fn element(name: &str, repetition: i64, n_children: i64, physical: Option<i64>) -> Vec<u8> {
    let element = Struct::default();
    let element = match physical {
        Some(physical) => element.i32(1, physical),
        None => element,
    };
    let element = element.i32(3, repetition).text(4, name);
    match n_children {
        0 => element,
        n => element.i32(5, n),
    }
    .end()
}

/// Header of a data page and its body, packed and with a length unpacked.
fn page(n_values: i64, encoding: i64, n_unpacked: i64, body: &[u8]) -> Vec<u8> {
    let values = Struct::default().i32(1, n_values).i32(2, encoding);
    let values = values.i32(3, RLE).i32(4, RLE);
    let header = Struct::default().i32(1, 0).i32(2, n_unpacked);
    let header = header.i32(3, body.len() as i64).inner(5, values).end();
    [&header, body].concat()
}

fn dictionary(n_values: i64, body: &[u8]) -> Vec<u8> {
    let values = Struct::default().i32(1, n_values).i32(2, PLAIN);
    let header = Struct::default().i32(1, 2).i32(2, body.len() as i64);
    let header = header.i32(3, body.len() as i64).inner(7, values).end();
    [&header, body].concat()
}

/// Levels of a page of the first version: one run of a level.
fn levels(n: u64, level: u8) -> Vec<u8> {
    let run = [varint(n << 1), vec![level]].concat();
    [&(run.len() as u32).to_le_bytes()[..], &run].concat()
}

/// A file of this schema, and of one part of a column with these pages.
fn file(schema: &[Vec<u8>], physical: i64, codec: i64, pages: &[Vec<u8>], n: i64) -> Vec<u8> {
    let pages = pages.concat();
    let size = pages.len() as i64;
    let data = Struct::default().i32(1, physical);
    let data = data.list(2, 5, &[zigzag(PLAIN)]).list(3, 8, &[]);
    let data = data.i32(4, codec).i64(5, n).i64(6, size).i64(7, size);
    let part = Struct::default().i64(2, 4).inner(3, data.i64(9, 4)).end();
    let group = Struct::default()
        .list(1, 12, &[part])
        .i64(2, size)
        .i64(3, n);
    let footer = Struct::default().i32(1, 1).list(2, 12, schema).i64(3, n);
    let footer = footer.list(4, 12, &[group.end()]).end();
    whole(&pages, &footer)
}

fn whole(pages: &[u8], footer: &[u8]) -> Vec<u8> {
    let length = (footer.len() as u32).to_le_bytes();
    [b"PAR1", pages, footer, &length, b"PAR1"].concat()
}

/// Schema of one column.
fn column(physical: i64, repetition: i64) -> Vec<Vec<u8>> {
    let root = element("schema", 0, 1, None);
    vec![root, element("a", repetition, 0, Some(physical))]
}

/// Schema of one column of lists of floats.
fn lists() -> Vec<Vec<u8>> {
    vec![
        element("schema", 0, 1, None),
        element("embedding", 0, 1, None),
        element("list", 2, 1, None),
        element("element", 0, 0, Some(FLOAT)),
    ]
}

/// Indices of a dictionary of one value, all the same: the width of a bit, and one run.
fn indices(n: u64) -> Vec<u8> {
    [vec![1], varint(n << 1), vec![0]].concat()
}

/// A list of `n` lengths in delta encoding, each larger than the one before by a step.
fn lengths(n: u64, first: i64, step: i64) -> Vec<u8> {
    // One block of one part, whose differences take 0 bits.
    let head = [varint(1 << 28), varint(1), varint(n), zigzag(first)];
    [head.concat(), zigzag(step), vec![0]].concat()
}

const MANY: u64 = 1 << 28;

/// Hostile files by their names, and a part of the error of each.
fn hostile() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let many = MANY as i64;
    let too_much = "found values that take more than";
    let damaged = "found a Parquet file that cannot be read";
    let with = |schema: Vec<Vec<u8>>| {
        let footer = Struct::default().i32(1, 1).list(2, 12, &schema).i64(3, 0);
        whole(b"", &footer.list(4, 12, &[]).end())
    };
    let mut deep = vec![element("schema", 0, 1, None)];
    deep.extend((0..10_000).map(|_| element("g", 1, 1, None)));
    deep.push(element("a", 0, 0, Some(INT64)));
    let mut wide = vec![element("schema", 0, 1, None)];
    wide.push(element(&"g".repeat(1 << 20), 0, 60_000, None));
    wide.extend((0..60_000).map(|_| element("a", 0, 0, Some(INT64))));
    let value = 7_i64.to_le_bytes();
    let long = "x".repeat(1 << 20);
    let long_text = [&(long.len() as u32).to_le_bytes()[..], long.as_bytes()].concat();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    (0..512).for_each(|_| gzip.write_all(&vec![0; 1 << 20]).unwrap());
    let gzip = gzip.finish().unwrap();
    // Blocks of 128 KiB, each of one byte that is repeated.
    let mut zstd = b"\x28\xb5\x2f\xfd\x00\x58".to_vec();
    (0..8191).for_each(|_| zstd.extend(b"\x02\x00\x10\x00"));
    zstd.extend(b"\x03\x00\x10\x00");
    // A flat file of one column and one page behind its dictionary, if it has one.
    let flat = |physical, codec, n, pages: &[Vec<u8>]| {
        file(&column(physical, 0), physical, codec, pages, n)
    };
    let nulls = |n: u64| page(n as i64, PLAIN, 10, &levels(n, 0));
    let long = [levels(1, 1), 123_456_789_012_i64.to_le_bytes().to_vec()].concat();
    // As many as may be.
    let n_few = 10_000_000;
    let values = page(many, DICTIONARY, 7, &indices(MANY));
    let one_text = page(5000, DICTIONARY, 7, &indices(5000));
    let list = [levels(MANY, 1), levels(MANY, 1), indices(MANY)].concat();
    // Each text has the one before as its beginning.
    let n = 20_000;
    let texts = [lengths(n, 0, 1), lengths(n, 1, 0), vec![b'x'; n as usize]].concat();
    let text = |pages: &[Vec<u8>]| flat(BYTE_ARRAY, NONE, many, pages);
    vec![
        ("levels", with(deep), damaged),
        (
            "children",
            with(vec![element("schema", 0, i64::from(i32::MAX), None)]),
            damaged,
        ),
        ("names", with(wide), too_much),
        (
            "run",
            flat(INT64, NONE, many, &[dictionary(1, &value), values]),
            too_much,
        ),
        (
            "texts",
            text(&[dictionary(1, &long_text), one_text]),
            too_much,
        ),
        (
            "few nulls",
            file(
                &column(INT64, 1),
                INT64,
                NONE,
                &[nulls(n_few)],
                n_few as i64,
            ),
            "found nothing, a missing value",
        ),
        (
            // One long number, by which all others of its column take twice as much.
            "long number",
            file(
                &column(INT64, 1),
                INT64,
                NONE,
                &[page(1, PLAIN, long.len() as i64, &long), nulls(n_few)],
                n_few as i64 + 1,
            ),
            too_much,
        ),
        (
            "nulls",
            file(&column(INT64, 1), INT64, NONE, &[nulls(MANY)], many),
            too_much,
        ),
        (
            "dictionary",
            text(&[dictionary(i64::from(i32::MAX), &value)]),
            too_much,
        ),
        ("entries", text(&[dictionary(1000, &value)]), damaged),
        (
            "gzip",
            flat(INT64, GZIP, 1, &[page(1, PLAIN, 512 << 20, &gzip)]),
            too_much,
        ),
        (
            "zstd",
            flat(INT64, ZSTD, 1, &[page(1, PLAIN, 1 << 30, &zstd)]),
            too_much,
        ),
        (
            "longer",
            flat(INT64, ZSTD, 1, &[page(1, PLAIN, 8, &zstd)]),
            damaged,
        ),
        (
            "lengths",
            text(&[page(1, DELTA_LENGTHS, 9, &lengths(1 << 40, 0, 0))]),
            damaged,
        ),
        (
            "beginnings",
            text(&[page(n as i64, DELTA_TEXTS, texts.len() as i64, &texts)]),
            too_much,
        ),
        (
            "list",
            file(
                &lists(),
                FLOAT,
                NONE,
                &[dictionary(1, &[0; 4]), page(many, DICTIONARY, 20, &list)],
                1,
            ),
            too_much,
        ),
    ]
}

/// Reads a file by both readers and returns the errors.
fn read(path: &Path) -> String {
    let options = TableOptions::default();
    let table = read_table(path, &options).err().map(|it| it.to_string());
    let vectors = read_vectors(path).err().map(|it| it.to_string());
    format!(
        "{}\n{}",
        table.unwrap_or_default(),
        vectors.unwrap_or_default()
    )
}

/// Variable with the file that [`reader`] reads.
const FILE: &str = "HOSTILE_PARQUET";

/// Not a test of its own: the process of one reading.
#[test]
#[ignore = "read by hostile_files_take_little_memory"]
fn reader() {
    if let Some(path) = std::env::var_os(FILE) {
        println!("{}", read(Path::new(&path)));
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
        "hostile_parquet::reader",
        "--exact",
        "--ignored",
        "--nocapture",
    ];
    let output = Command::new(program)
        .args(arguments)
        .env(FILE, path)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}: {stdout}", path.display());
    let peak = stdout
        .lines()
        .filter_map(|line| line.parse::<u64>().ok())
        .next_back();
    (stdout, peak.unwrap() << 10)
}

#[test]
fn hostile_files_take_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let harmless = folder.path().join("harmless.parquet");
    let number = page(1, PLAIN, 8, &7_i64.to_le_bytes());
    let bytes = file(&column(INT64, 0), INT64, NONE, &[number], 1);
    fs::write(&harmless, bytes).unwrap();
    let table = read_table(&harmless, &TableOptions::default()).unwrap();
    assert_eq!(table.numbers().unwrap(), [7.0]);
    let (_, before) = read_apart(&harmless);
    for (name, bytes, expected) in hostile() {
        let path = folder.path().join(format!("{name}.parquet"));
        fs::write(&path, &bytes).unwrap();
        let (message, peak) = read_apart(&path);
        let (size, taken) = (bytes.len() as u64, peak.saturating_sub(before));
        println!("{name}: {size} bytes, {} KiB; {message}", taken >> 10);
        assert!(message.contains(expected), "{name}: {message}");
        assert!(taken <= (64 << 20) + 20 * size, "{name}: {taken} bytes");
    }
}
