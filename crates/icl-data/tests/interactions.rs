//! Interactions: formats, malformed files, splits, histories.

use std::fs;
use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use icl_core::bags::HistoryBatch;
use icl_core::testing::{TestBackend, to_vec};
use icl_core::{Collate, GrowthRatio, Pairing, Samples, Seed, Side, Views};
use icl_data::{
    DataError, DataErrorKind, Interactions, NextItem, NextItemCollate, NextItemDataset,
    NextItemView, NextItemViews, looks_like_interactions, read_interactions,
};

use crate::data_dir::shared;

const HEADER: &str = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n";

fn read_as(name: &str, bytes: &[u8]) -> Result<Interactions, DataError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read_interactions(&path)
}

/// Rows as names and times.
fn named(of: &Interactions) -> Vec<(&str, &str, f64)> {
    let rows = of.rows().iter();
    rows.map(|row| {
        let (user, item) = (row.user as usize, row.item as usize);
        (&*of.users()[user], &*of.items()[item], row.time)
    })
    .collect()
}

#[track_caller]
fn rejected(text: &str, message: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.inter");
    fs::write(&path, text).unwrap();
    let error = read_interactions(&path).unwrap_err().to_string();
    assert_eq!(error.replace(&path.display().to_string(), "T"), message);
}

#[test]
fn the_formats_hold_the_same() {
    let expected = [("b", "7", 1.0), ("a", "x", 2.0), ("b", "x", 2.0)];
    let typed = format!("{HEADER}a\tx\t5\t2\nb\tx\t1.5\t2\nb\t7\t3\t1\n");
    let plain = "a\tx\t5\t2\nb\tx\t1.5\t2\nb\t7\t3\t1\n";
    let gzip = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    for (name, bytes) in [
        ("t.inter", typed.as_bytes().to_vec()),
        ("u.data", plain.as_bytes().to_vec()),
        ("ratings.dat", plain.replace('\t', "::").into_bytes()),
        ("t.inter.gz", gzip(&typed)),
        ("t.inter", typed.replace('\n', "\r\n").into_bytes()),
        ("t.inter", format!("\u{feff}\n{typed}\n").into_bytes()),
        ("u.data", plain.replace('x', " x ").into_bytes()),
    ] {
        let read = read_as(name, &bytes).unwrap();
        assert_eq!(named(&read), expected, "{name}");
        // Numbered by first interaction in time.
        assert_eq!(
            (read.users(), read.items()),
            (
                &["b".to_owned(), "a".into()][..],
                &["7".to_owned(), "x".into()][..]
            )
        );
    }
    assert_eq!(read_as("t.inter.gz", &gzip(&typed)).unwrap().name(), "t");
}

#[test]
fn a_typed_header_says_where_the_columns_are() {
    let text = "timestamp:float\ttags:token_seq\titem_id:token\tuser_id:token\n3.5\tp q\ti\tu\n";
    let read = read_as("t.inter", text.as_bytes()).unwrap();
    assert_eq!(named(&read), [("u", "i", 3.5)]);
}

#[test]
fn names_are_no_numbers() {
    // An item 2^40 is a name; a user may come back to an item at another time.
    let text = format!("{HEADER}u\t1099511627776\t1\t1\nu\t1099511627776\t1\t2\nu\t-1\t1\t-0\n");
    let read = read_as("t.inter", text.as_bytes()).unwrap();
    assert_eq!(read.items(), ["-1", "1099511627776"]);
    assert_eq!(read.rows().len(), 3);
}

#[test]
fn malformed_files_give_one_error_each() {
    let with = |line: &str| format!("{HEADER}a\tx\t5\t2\n{line}\n");
    rejected(&with("b\tx\t5"), "T, line 3: found 3 values, expected 4");
    rejected(
        &with(&"\t".repeat(99_999)),
        "T, line 3: found 100000 values, expected 4",
    );
    rejected(
        &with("b\tx\tgood\t2"),
        "T, line 3: found the rating \"good\", expected a finite number",
    );
    for (time, found) in [
        ("noon", "\"noon\""),
        ("NaN", "\"NaN\""),
        ("", "nothing"),
        ("1e999", "\"1e999\""),
    ] {
        rejected(
            &with(&format!("b\tx\t5\t{time}")),
            &format!("T, line 3: found the time {found}, expected a finite number"),
        );
    }
    rejected(
        &with("\tx\t5\t3"),
        "T, line 3: found no name of the user, expected one",
    );
    rejected(
        &with("b\t  \t5\t3"),
        "T, line 3: found no name of the item, expected one",
    );
    // Cut within the time: nothing else tells it.
    rejected(
        &format!("{HEADER}a\tx\t5\t2\nb\tx\t5\t8812"),
        "T, line 3: found a last line without line end, expected one: the file may be cut",
    );
    // Cut within the line.
    rejected(
        &format!("{HEADER}a\tx\t5\t2\nb\tx"),
        "T, line 3: found 2 values, expected 4",
    );
    rejected(
        &format!("{HEADER}a\tx\t5\t2\r\nb\tx\t1\t2\r\n\r\na\tx\t4\t2.0\r\nb\tx\t1\t2\r\n"),
        "T, line 5: found the user, item and time of line 2 again, expected each interaction once",
    );
}

#[test]
fn malformed_beginnings_give_one_error_each() {
    for text in ["", "\n\r\n", HEADER] {
        rejected(
            text,
            "T: found no interactions, expected at least one line of values",
        );
    }
    rejected(
        "a,x,5,2\n",
        "T, line 1: found \"a,x,5,2\", expected a header with `user_id:token` (RecBole), or user, item, rating and \
         time, separated by tabs or by `::` (MovieLens)",
    );
    rejected(
        "\nuser_id:token\titem_id:token\n",
        "T, line 2: found no column `timestamp:float` in the header, expected it once",
    );
    rejected(
        "uid:token\titem_id:token\n",
        "T, line 1: found no column `user_id:token` in the header, expected it once",
    );
    rejected(
        "user_id:token\titem_id:token\tuser_id:token\ttimestamp:float\n",
        "T, line 1: found the column `user_id:token` twice in the header, expected it once",
    );
    let damaged = read_as("u.data", &[0x1f, 0x8b, 8]).unwrap_err().to_string();
    assert!(damaged.ends_with("found a cut or damaged gzip file, expected an intact one"));
    let no_text = read_as("u.data", b"a\tb\t1\t2\n\xff")
        .unwrap_err()
        .to_string();
    assert!(no_text.ends_with("line 2: found byte 8 that is not UTF-8, expected text"));
    let missing = read_interactions("no.inter").unwrap_err();
    assert_eq!(missing.kind(), DataErrorKind::Unreadable);
}

#[test]
fn files_are_known_by_their_names() {
    for name in ["ml-100k.inter", "a/u.data", "ratings.dat", "x.inter.gz"] {
        assert!(looks_like_interactions(name), "{name}");
    }
    for name in ["x.csv", "u.data.csv", "movies.dat", ""] {
        assert!(!looks_like_interactions(name), "{name}");
    }
}

/// Users a with five interactions, b with three, c with two.
fn small() -> Interactions {
    let lines = [
        "a\t0", "b\t1", "a\t2", "c\t0", "a\t3", "b\t0", "b\t4", "a\t2", "c\t5", "a\t1",
    ];
    let lines = lines.iter().enumerate();
    let lines: String = lines
        .map(|(at, line)| format!("{line}\t1\t{}\n", at / 2))
        .collect();
    read_as("u.data", lines.as_bytes()).unwrap()
}

fn names_of(of: &Interactions, items: &[u32]) -> Vec<String> {
    items
        .iter()
        .map(|&item| of.items()[item as usize].clone())
        .collect()
}

#[test]
fn the_last_two_interactions_of_each_user_are_held_out() {
    let split = small().leave_one_out();
    assert_eq!(split.test, [6, 9]);
    assert_eq!(split.validation, [5, 7]);
    assert_eq!(split.train, [0, 1, 2, 3, 4, 8]);
}

#[test]
fn a_split_by_time_keeps_equal_times_together() {
    let all = small();
    let by_time = |alpha| all.by_time(GrowthRatio::try_new(alpha).unwrap());
    assert_eq!(by_time(0.4).unwrap(), 6);
    // Five of ten would be new; the sixth has the time of the fifth.
    assert_eq!(by_time(0.5).unwrap(), 6);
    for (alpha, n_old, n_new) in [(0.0, 10, 0), (1.0, 0, 10), (0.1, 10, 0)] {
        assert_eq!(
            by_time(alpha).unwrap_err().to_string(),
            format!(
                "split by time at alpha {alpha}: found {n_old} old and {n_new} new interactions, expected at least 2 of each"
            )
        );
    }
}

#[test]
fn samples_are_histories_with_the_item_that_follows() {
    let all = small();
    let split = all.leave_one_out();
    let (old, new): (Vec<_>, Vec<_>) = split.train.iter().partition(|row| **row < 4);
    let data = NextItemDataset::new(&all, &[old, new]);
    assert_eq!((data.n_items(), data.n_samples()), (6, 3));
    assert_eq!((data.part(0), data.part(1)), (0..1, 1..3));
    let shown: Vec<_> = data
        .samples()
        .iter()
        .map(|sample| {
            let target = all.items()[sample.target() as usize].clone();
            let user = all.users()[sample.user() as usize].clone();
            let mut seen = names_of(&all, sample.seen());
            seen.sort();
            (user, names_of(&all, sample.history()), target, seen)
        })
        .collect();
    let of = |user: &str, history: &[&str], target: &str, seen: &[&str]| {
        let owned = |of: &[&str]| of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        (
            user.to_owned(),
            owned(history),
            target.to_owned(),
            owned(seen),
        )
    };
    // What a user sees in the second part is unknown in the first.
    assert_eq!(
        shown,
        [
            of("a", &["0"], "2", &["0", "2"]),
            of("a", &["0", "2"], "3", &["0", "2", "3"]),
            of("c", &["0"], "5", &["0", "5"]),
        ]
    );
    assert!(data.samples()[1].seen().is_sorted());

    let held_out = NextItemDataset::held_out(&all, &split.validation);
    let [b, a] = held_out.samples() else { panic!() };
    assert_eq!(names_of(&all, b.seen()), ["1"]);
    // Item 2 is seen and comes again.
    assert_eq!(names_of(&all, &[a.target()]), ["2"]);
    assert!(a.seen().contains(&a.target()));
}

fn pair(views: &NextItemViews, sample: &NextItem) -> [NextItemView; 2] {
    Side::BOTH.map(|side| {
        let pairing = Pairing {
            part: 0,
            side,
            pair: Seed::new(1),
            partners: &[],
        };
        views.paired_view(sample, &pairing, &mut Seed::new(2).rng())
    })
}

#[test]
fn a_batch_holds_means_of_the_last_items() {
    let all = small();
    let split = all.leave_one_out();
    let data = NextItemDataset::held_out(&all, &split.test);
    let views = NextItemViews::default().with_n_recent(2);
    let [first, second] = data.samples() else {
        panic!()
    };
    let [[a, b], [c, d]] = [first, second].map(|sample| pair(&views, sample));
    assert_eq!(views.plain(first), a);
    assert_eq!(b, NextItemView::Item(first.target()));
    let batch: HistoryBatch<TestBackend> =
        NextItemCollate::new(all.items().len()).collate(&[a, c, b, d], &Default::default());
    assert!(batch.order.is_none());
    assert_eq!((batch.histories.n_rows(), batch.items.n_rows()), (2, 2));
    // Of user a: 0 2 3 2, of which the last two count, and then 1.
    let columns: Vec<f64> = to_vec(&batch.histories.forward.columns.clone().float());
    let columns: Vec<u32> = columns.iter().map(|&column| column as u32).collect();
    assert_eq!(names_of(&all, &columns), ["1", "0", "3", "2"]);
    assert_eq!(to_vec(&batch.histories.forward.values), [0.5; 4]);
    let mut excluded = names_of(&all, &batch.excluded[1]);
    excluded.sort();
    assert_eq!(excluded, ["0", "1", "2", "3"]);
    assert!(batch.excluded[1].is_sorted());
}

#[test]
fn movielens_100k_has_its_known_counts() {
    let Some(path) = shared("ml-100k/ml-100k.inter") else {
        return;
    };
    let all = read_interactions(path).unwrap();
    let counts = [all.users().len(), all.items().len(), all.rows().len()];
    assert_eq!(counts, [943, 1682, 100_000]);
    let split = all.leave_one_out();
    assert_eq!(
        (split.train.len(), split.validation.len(), split.test.len()),
        (98_114, 943, 943)
    );
    // The first interaction of each user has no history.
    assert_eq!(
        NextItemDataset::new(&all, &[split.train]).n_samples(),
        97_171
    );
    assert_eq!(
        NextItemDataset::held_out(&all, &split.test).n_samples(),
        943
    );
}
