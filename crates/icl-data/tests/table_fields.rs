//! Fields of tables stay as they are read: parts of a table are a partition of its rows, field by field.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use csv::{QuoteStyle, ReaderBuilder, WriterBuilder};
use flate2::read::GzDecoder;
use icl_core::{GrowthRatio, Increment, Rng, Seed};
use icl_data::{Header, Missing, RawTable, Split, TableOptions, instant, read_table};
use parquet::data_type::{
    BoolType, ByteArrayType, DataType, DoubleType, FixedLenByteArrayType, FloatType, Int32Type,
    Int64Type, Int96, Int96Type,
};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use rand::RngExt;
use rand::seq::IndexedRandom;

/// Numbers that single or double precision does not hold, or that are written in other ways than the shortest.
const NUMBERS: [&str; 16] = [
    "007",
    "7",
    "01",
    "1",
    "16777217",
    "9007199254740993",
    "12345678901234567890",
    "1700000151",
    "0.10",
    "0.1",
    "5820000.25",
    "-0.0",
    "+5",
    "1e-7",
    " 12 ",
    "1700000151.000000001",
];
/// Texts that must be quoted, or that look like something else.
const TEXTS: [&str; 18] = [
    "a",
    "\"",
    "a \"quoted\" word",
    "two\nlines",
    "two\r\nlines",
    "a,b",
    "a;b",
    "a\tb",
    "Ünï→😀",
    " blanks ",
    "NA",
    "Inf",
    "nan",
    "3,14",
    "$1,234.50",
    "'",
    "\u{feff}x",
    "é,\"\n",
];
/// Error of a column of text in which no text was drawn but an infinite number.
const NO_TEXT: &str = "found \"Inf\", expected a finite number";
/// Missing values of either.
const GAPS: [&str; 3] = ["", "?", "N/A"];

struct Generated {
    headings: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
}

impl Generated {
    fn new(rng: &mut Rng) -> Self {
        let (n_columns, n_rows) = (rng.random_range(1..6), rng.random_range(4..40));
        let is_text: Vec<bool> = (0..n_columns).map(|_| rng.random_bool(0.5)).collect();
        let mut field = |is_text: bool| {
            let pool: &[&str] = match rng.random_range(0..10) {
                0 => &GAPS,
                _ if is_text => &TEXTS,
                _ => &NUMBERS,
            };
            pool.choose(rng).unwrap_or(&"").to_string()
        };
        let mut row = || is_text.iter().map(|&is_text| field(is_text)).collect();
        let rows = (0..n_rows).map(|_| row()).collect();
        let names = ["id", "", " b c ", "2019", "é\"\n,"];
        let headings = || (0..n_columns).map(|at| names[at].to_owned()).collect();
        Self {
            headings: rng.random_bool(0.6).then(headings),
            rows,
        }
    }

    fn lines(&self) -> Vec<&Vec<String>> {
        self.headings.iter().chain(&self.rows).collect()
    }

    fn write(&self, path: &Path, separator: u8, style: QuoteStyle) {
        let mut writer = WriterBuilder::new()
            .delimiter(separator)
            .quote_style(style)
            .from_path(path)
            .unwrap();
        for line in self.lines() {
            writer.write_record(line).unwrap();
        }
        writer.flush().unwrap();
    }
}

fn any_values(header: Header) -> TableOptions {
    TableOptions {
        header,
        missing: Missing::Mean,
        ..TableOptions::default()
    }
}

/// The records of a file as any reader of CSV sees them.
fn records(path: &Path, separator: u8) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().is_some_and(|ending| ending == "gz") {
        true => GzDecoder::new(&bytes[..])
            .read_to_string(&mut text)
            .unwrap(),
        false => (&bytes[..]).read_to_string(&mut text).unwrap(),
    };
    let mut reader = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let fields = |record: csv::StringRecord| record.iter().map(str::to_owned).collect();
    reader
        .records()
        .map(|record| fields(record.unwrap()))
        .collect()
}

fn at_random(table: &RawTable, seed: u64) -> Increment {
    let alpha = GrowthRatio::try_new(0.4).unwrap();
    table
        .increment(Split::Random, alpha, Seed::new(seed))
        .unwrap()
}

/// Checks that each part of `table` has the lines of `source` and reads as a table with them.
fn check_parts(source: &Generated, table: &RawTable, seed: u64, context: &str) {
    let at = tempfile::tempdir().unwrap();
    let increment = at_random(table, seed);
    let mut seen = [increment.old(), increment.new_data()].concat();
    let parts = [increment.old(), increment.new_data()];
    for (part, rows) in parts.into_iter().enumerate() {
        let name = ["t.csv", "t.csv.gz", "t.tsv"][seed as usize % 3];
        let separator = if name.ends_with("tsv") { b'\t' } else { b',' };
        let path = at.path().join(format!("{part}{name}"));
        table.write(rows, &path).unwrap();
        let lines = source.headings.iter();
        let expected: Vec<&Vec<String>> = lines
            .chain(rows.iter().map(|&row| &source.rows[row]))
            .collect();
        let written = records(&path, separator);
        assert_eq!(written.iter().collect::<Vec<_>>(), expected, "{context}");
        // The part is read as what it is, with the setting that is stated.
        let header = table.written_header(rows);
        assert_ne!(
            header,
            if source.headings.is_some() {
                Header::No
            } else {
                Header::Yes
            }
        );
        let again = match read_table(&path, &any_values(header)) {
            Ok(again) => again,
            Err(error) => {
                // A part of a column of text may hold no other text than an infinite number.
                assert!(error.to_string().contains(NO_TEXT), "{context}: {error}");
                continue;
            }
        };
        assert_eq!(again.n_rows(), rows.len(), "{context}");
        let all: Vec<usize> = (0..again.n_rows()).collect();
        let path = at.path().join(format!("again{part}{name}"));
        again.write(&all, &path).unwrap();
        assert_eq!(records(&path, separator), written, "{context}");
    }
    seen.sort_unstable();
    assert_eq!(seen, (0..source.rows.len()).collect::<Vec<_>>());
}

#[test]
fn parts_of_text_tables_are_a_partition_field_by_field() {
    let at = tempfile::tempdir().unwrap();
    let (mut n_read, mut n_rejected) = (0, 0);
    for seed in 0..150 {
        let source = Generated::new(&mut Seed::new(seed).rng());
        let (name, separator, style) = [
            ("t.csv", b',', QuoteStyle::Necessary),
            ("t.csv", b',', QuoteStyle::Always),
            ("t.csv", b';', QuoteStyle::Always),
            ("t.tsv", b'\t', QuoteStyle::Necessary),
        ][seed as usize % 4];
        let path = at.path().join(name);
        // At the beginning of a file, it is no part of a value.
        let style = match source.lines()[0][0].starts_with('\u{feff}') {
            true => QuoteStyle::Always,
            false => style,
        };
        source.write(&path, separator, style);
        let header = if source.headings.is_some() {
            Header::Yes
        } else {
            Header::No
        };
        let context = format!("seed {seed}: {:?}", fs::read_to_string(&path).unwrap());
        match read_table(&path, &any_values(header)) {
            Ok(table) => {
                n_read += 1;
                check_parts(&source, &table, seed, &context);
            }
            Err(error) => {
                n_rejected += 1;
                assert!(error.to_string().contains(NO_TEXT), "{context}: {error}");
            }
        }
    }
    assert!(n_read > 135, "{n_read} of {} tables", n_read + n_rejected);
}

/// Columns of a Parquet file, `None` where a value is missing.
struct Typed {
    ids: Vec<Option<i64>>,
    small: Vec<Option<i32>>,
    doubles: Vec<Option<f64>>,
    singles: Vec<Option<f32>>,
    texts: Vec<Option<String>>,
    flags: Vec<Option<bool>>,
    /// Nanoseconds since 1970, for a column of each unit.
    times: Vec<Option<i64>>,
}

const SCHEMA: &str = "message t { OPTIONAL INT64 id; OPTIONAL INT32 small; OPTIONAL DOUBLE double; OPTIONAL FLOAT single; \
    OPTIONAL BYTE_ARRAY text (UTF8); OPTIONAL BOOLEAN flag; OPTIONAL INT64 ns (TIMESTAMP(NANOS,true)); \
    OPTIONAL INT64 us (TIMESTAMP(MICROS,true)); OPTIONAL INT64 ms (TIMESTAMP(MILLIS,true)); OPTIONAL INT96 spark; \
    OPTIONAL INT64 price (DECIMAL(18,4)); OPTIONAL FIXED_LEN_BYTE_ARRAY (16) amount (DECIMAL(38,9)); }";
const DAY: i64 = 86_400_000_000_000;

impl Typed {
    fn new(rng: &mut Rng, n: usize) -> Self {
        fn drawn<T>(
            rng: &mut Rng,
            n: usize,
            mut draw: impl FnMut(&mut Rng) -> T,
        ) -> Vec<Option<T>> {
            (0..n)
                .map(|_| rng.random_bool(0.9).then(|| draw(rng)))
                .collect()
        }
        Self {
            ids: drawn(rng, n, |rng| (1 << 53) + rng.random_range(0..1000)),
            small: drawn(rng, n, |rng| rng.random()),
            doubles: drawn(rng, n, |rng| rng.random_range(-1e9..1e9)),
            singles: drawn(rng, n, |rng| rng.random_range(-1.0..1.0)),
            texts: drawn(rng, n, |rng| TEXTS.choose(rng).unwrap_or(&"").to_string()),
            flags: drawn(rng, n, |rng| rng.random()),
            times: drawn(rng, n, |rng| {
                // Some have no more than milliseconds.
                let unit = [1, 1000, 1_000_000][rng.random_range(0..3)];
                1_700_000_000_000_000_000 + unit * rng.random_range(0..1_000_000_000_000)
            }),
        }
    }

    fn write(&self, path: &Path) {
        let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
        let file = fs::File::create(path).unwrap();
        let properties = Arc::new(WriterProperties::builder().build());
        let mut writer = SerializedFileWriter::new(file, schema, properties).unwrap();
        let n = self.ids.len();
        for rows in [0..n / 3, n / 3..n] {
            let mut group = writer.next_row_group().unwrap();
            put::<Int64Type, _>(&mut group, &self.ids[rows.clone()], |it| *it);
            put::<Int32Type, _>(&mut group, &self.small[rows.clone()], |it| *it);
            put::<DoubleType, _>(&mut group, &self.doubles[rows.clone()], |it| *it);
            put::<FloatType, _>(&mut group, &self.singles[rows.clone()], |it| *it);
            put::<ByteArrayType, _>(&mut group, &self.texts[rows.clone()], |it| (&**it).into());
            put::<BoolType, _>(&mut group, &self.flags[rows.clone()], |it| *it);
            let times = &self.times[rows.clone()];
            for unit in [1, 1000, 1_000_000] {
                put::<Int64Type, _>(&mut group, times, |it| it / unit);
            }
            put::<Int96Type, _>(&mut group, times, |it| {
                let (days, clock) = ((it / DAY) as u32, it % DAY);
                let mut value = Int96::new();
                value.set_data(clock as u32, (clock >> 32) as u32, 2_440_588 + days);
                value
            });
            put::<Int64Type, _>(&mut group, &self.ids[rows.clone()], |it| *it);
            put::<FixedLenByteArrayType, _>(&mut group, times, |it| {
                let amount = -i128::from(*it) * 1_000_000_007;
                amount.to_be_bytes().to_vec().into()
            });
            group.close().unwrap();
        }
        writer.close().unwrap();
    }

    /// Checks a record of the row.
    fn check(&self, row: usize, fields: &[String]) {
        let at = |column: usize| Some(&*fields[column]).filter(|field| !field.is_empty());
        assert_eq!(at(0).map(|it| it.parse().unwrap()), self.ids[row]);
        assert_eq!(at(1).map(|it| it.parse().unwrap()), self.small[row]);
        let bits = |it: f64| it.to_bits();
        assert_eq!(
            at(2).map(|it| bits(it.parse().unwrap())),
            self.doubles[row].map(bits)
        );
        assert_eq!(at(3).map(|it| it.parse().unwrap()), self.singles[row]);
        assert_eq!(at(4), self.texts[row].as_deref());
        assert_eq!(at(5), self.flags[row].map(|it| if it { "1" } else { "0" }));
        let time = self.times[row].map(i128::from);
        for (column, unit) in [(6, 1), (7, 1000), (8, 1_000_000), (9, 1)] {
            assert_eq!(
                at(column).map(|it| instant(it).unwrap()),
                time.map(|it| it / unit * unit)
            );
        }
        let has_all_units = |time: &i128| time % 1_000_000 == 0;
        if time.as_ref().is_some_and(has_all_units) {
            // All units have the same text.
            assert!(
                (7..10).all(|column| fields[column] == fields[6]),
                "{fields:?}"
            );
        }
        let decimal = |column: usize, scale: usize| {
            at(column).map(|it| {
                assert_eq!(it.len() - it.find('.').unwrap() - 1, scale);
                it.replace('.', "").parse::<i128>().unwrap()
            })
        };
        assert_eq!(decimal(10, 4), self.ids[row].map(i128::from));
        assert_eq!(decimal(11, 9), time.map(|it| -it * 1_000_000_007));
    }
}

fn put<T: DataType, V>(
    group: &mut SerializedRowGroupWriter<'_, fs::File>,
    values: &[Option<V>],
    of: impl Fn(&V) -> T::T,
) {
    let present: Vec<T::T> = values.iter().flatten().map(of).collect();
    let levels: Vec<i16> = values
        .iter()
        .map(|value| i16::from(value.is_some()))
        .collect();
    let mut column = group.next_column().unwrap().unwrap();
    column
        .typed::<T>()
        .write_batch(&present, Some(&levels), None)
        .unwrap();
    column.close().unwrap();
}

#[test]
fn parts_of_parquet_tables_have_the_exact_values() {
    let at = tempfile::tempdir().unwrap();
    for seed in 0..8 {
        let rng = &mut Seed::new(seed).rng();
        let n = rng.random_range(30..3000);
        let typed = Typed::new(rng, n);
        let path = at.path().join("t.parquet");
        typed.write(&path);
        let table = read_table(&path, &any_values(Header::Auto)).unwrap();
        let increment = at_random(&table, seed);
        for (part, rows) in [increment.old(), increment.new_data()]
            .into_iter()
            .enumerate()
        {
            let path = at.path().join(format!("{seed}-{part}.csv"));
            table.write(rows, &path).unwrap();
            let written = records(&path, b',');
            assert_eq!(
                written[0].join(" "),
                "id small double single text flag ns us ms spark price amount"
            );
            assert_eq!(written.len(), 1 + rows.len());
            for (&row, fields) in rows.iter().zip(&written[1..]) {
                typed.check(row, fields);
            }
        }
    }
}
