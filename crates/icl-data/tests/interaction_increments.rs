//! Interactions that are split, written, renumbered and joined, and the histories of what is joined.

use std::fs;

use icl_core::{GrowthRatio, Increment, Seed};
use icl_data::{DataErrorKind, Interactions, NextItemDataset, Split, read_interactions};

/// Reads lines of a user, an item and a time.
fn read(name: &str, lines: &[&str]) -> Interactions {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{name}.inter"));
    let rows: String = lines
        .iter()
        .map(|line| format!("{}\n", line.replace(' ', "\t")))
        .collect();
    let header = "user_id:token\titem_id:token\ttimestamp:float";
    fs::write(&path, format!("{header}\n{rows}")).unwrap();
    read_interactions(&path).unwrap()
}

/// Rows as names and times.
fn named(of: &Interactions) -> Vec<String> {
    let rows = of.rows().iter();
    rows.map(|row| {
        let (user, item) = (row.user as usize, row.item as usize);
        format!("{} {} {}", of.users()[user], of.items()[item], row.time)
    })
    .collect()
}

/// Samples as the user, the history and the target.
fn samples(of: &Interactions, data: &NextItemDataset) -> Vec<String> {
    let name = |item: &u32| of.items()[*item as usize].clone();
    let one = |sample: &icl_data::NextItem| {
        let history: Vec<String> = sample.history().iter().map(name).collect();
        let user = &of.users()[sample.user() as usize];
        format!("{user} {} > {}", history.concat(), name(&sample.target()))
    };
    data.samples().iter().map(one).collect()
}

fn old() -> Interactions {
    read(
        "old",
        &["u p 1", "v q 2", "u q 3", "v p 4", "u r 5", "w r 5"],
    )
}

#[test]
fn old_and_new_are_joined_by_names_and_time() {
    let new = read("new", &["x s 9", "v s 5", "u t 3.5", "w p 6", "u p 1"]);
    let joined = Interactions::join(&old(), &new).unwrap();
    let all = &joined.interactions;
    assert_eq!(all.name(), "old+new");
    assert_eq!(all.users(), ["u", "v", "w", "x"]);
    // New items in the order of their first new interactions.
    assert_eq!(all.items(), ["p", "q", "r", "t", "s"]);
    assert_eq!(
        named(all),
        [
            "u p 1", "u p 1", "v q 2", "u q 3", "u t 3.5", "v p 4", "u r 5", "w r 5", "v s 5",
            "w p 6", "x s 9"
        ]
    );
    assert_eq!(joined.parts, [vec![0, 2, 3, 5, 6, 7], vec![1, 4, 8, 9, 10]]);
    assert_eq!(joined.n_late(), 2);

    // Old samples are those of the old file; histories of new ones hold all that is earlier.
    let data = NextItemDataset::new(all, &joined.parts);
    let alone = old();
    let rows = (0..alone.rows().len()).collect();
    let of_old = samples(&alone, &NextItemDataset::new(&alone, &[rows]));
    assert_eq!(of_old, ["u p > q", "v q > p", "u pq > r"]);
    let of_all = samples(all, &data);
    assert_eq!(of_all[data.part(0)], of_old);
    assert_eq!(
        of_all[data.part(1)],
        ["u p > p", "u ppq > t", "v qp > s", "w r > p"]
    );
    assert_eq!(data.rows(), [3, 5, 6, 1, 4, 8, 9]);
}

#[test]
fn too_little_cannot_be_joined() {
    let new = read("new", &["x s 9"]);
    let error = Interactions::join(&old(), &new).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data set \"new\": found 1 interactions, expected at least 2"
    );
}

#[test]
fn new_samples_that_repeat_old_ones_are_counted() {
    // At another time it is another sample.
    let new = read("new", &["u q 3", "v p 9"]);
    let joined = Interactions::join(&old(), &new).unwrap();
    let data = NextItemDataset::new(&joined.interactions, &joined.parts);
    let [of_old, of_new] = [0, 1].map(|part| data.part(part).collect());
    let increment = Increment::try_new(of_old, of_new).unwrap();
    assert_eq!(data.n_equal(&increment), 1);
}

#[test]
fn known_items_keep_their_numbers() {
    let known = ["z", "r", "p"].map(String::from);
    let numbered = old().numbered_by(&known);
    assert_eq!(numbered.items(), ["z", "r", "p", "q"]);
    assert_eq!(named(&numbered), named(&old()));
    assert_eq!(numbered.numbered_by(&known), numbered);
    assert_ne!(numbered.checksum(), old().checksum());
    assert_eq!(old().checksum(), old().checksum());
}

#[test]
fn what_is_written_is_read_again() {
    let at = tempfile::tempdir().unwrap();
    let all = read(
        "all",
        &["u p 0.1", "v q -2.5e-7", "u q 978300760", "v p 1e300"],
    );
    let path = at.path().join("part.inter");
    all.write(&[0, 2, 3], &path).unwrap();
    let part = read_interactions(&path).unwrap();
    let names = named(&all);
    assert_eq!(named(&part), [&*names[0], &*names[2], &*names[3]]);
    let error = all.write(&[0], &path).unwrap_err();
    assert_eq!(error.kind(), DataErrorKind::Unwritable, "{error}");

    // A name of ratings.dat may hold the separator of the written file.
    let path = at.path().join("ratings.dat");
    fs::write(&path, "a\tb::x::5::1\nc::x::5::2\n").unwrap();
    let ratings = read_interactions(&path).unwrap();
    let error = ratings.write(&[0], at.path().join("b.inter")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "data set \"ratings\": found a tab in the name of the user \"a\\tb\", expected none: tabs separate the columns"
    );
}

#[test]
fn interactions_are_split_by_time_or_at_random() {
    let all = old();
    let split = |text: &str, alpha, seed| {
        let split: Split = text.parse().unwrap();
        let alpha = GrowthRatio::try_new(alpha).unwrap();
        all.increment(split, alpha, Seed::new(seed))
    };
    for alpha in [0.4, 0.5] {
        let increment = split("time", alpha, 1).unwrap();
        let boundary = all.by_time(GrowthRatio::try_new(alpha).unwrap()).unwrap();
        assert_eq!(increment.old(), (0..boundary).collect::<Vec<_>>());
        assert_eq!(increment, split("time", alpha, 2).unwrap());
    }
    // The first interactions of u, v and w are old, and three of the other five.
    let all = read(
        "all",
        &[
            "u p 1", "v q 2", "u q 3", "v p 4", "u r 5", "w r 5", "w q 6", "w p 7",
        ],
    );
    let split = |text: &str, alpha, seed| {
        let split: Split = text.parse().unwrap();
        let alpha = GrowthRatio::try_new(alpha).unwrap();
        all.increment(split, alpha, Seed::new(seed))
    };
    let increment = split("random", 0.4, 1).unwrap();
    assert_eq!((increment.old().len(), increment.new_data().len()), (6, 2));
    assert!([0, 1, 5].iter().all(|row| increment.old().contains(row)));
    assert!(increment.old().is_sorted() && increment.new_data().is_sorted());
    let mut others = (2..20).map(|seed| split("random", 0.4, seed).unwrap());
    assert!(others.any(|other| other != increment));

    for (text, expected) in [
        ("class", "graphs, images or a table"),
        ("size", "graphs, images or a table"),
        ("column:a", "a table with this column"),
    ] {
        assert_eq!(
            split(text, 0.5, 1).unwrap_err().to_string(),
            format!("split \"{text}\": found interactions, expected {expected}")
        );
    }
}
