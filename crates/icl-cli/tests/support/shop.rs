//! Small files of interactions and of pairs of texts, written by no code of the program.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// First line of a file of interactions.
pub const HEADER: &str = "user_id:token\titem_id:token\ttimestamp:float\n";

/// Names of the items that only the new interactions have.
pub const NEW_ITEMS: [&str; 4] = ["n0", "n1", "n2", "n3"];

/// Writes `old.inter`, 24 users with 8 interactions and one of three tastes each, and `new.inter`, 6 interactions of 16 users
/// each, of whom 8 are new, also with new items, in no order of time.
pub fn write_interactions(at: &Path) {
    let lines = |users: std::ops::Range<usize>, n: usize, begin: usize| {
        let mut lines = Vec::new();
        for user in users {
            for choice in 0..n {
                let place = user * 5 + choice * choice + choice / 2;
                let item = match begin > 0 && choice % 3 == 2 {
                    true => NEW_ITEMS[place % 4].to_owned(),
                    false => format!("{}-{}", user % 3, place % 6),
                };
                let time = begin + 10 * choice + user;
                lines.push(format!("u{user}\t{item}\t{time}\n"));
            }
        }
        lines.reverse();
        lines.concat()
    };
    let [old, new] = [lines(0..24, 8, 0), lines(16..32, 6, 1000)];
    fs::write(at.join("old.inter"), format!("{HEADER}{old}")).unwrap();
    fs::write(at.join("new.inter"), format!("{HEADER}{new}")).unwrap();
    let all = format!("{HEADER}{old}{new}");
    fs::write(at.join("all.inter"), all).unwrap();
}

/// Writes `old.csv`, 40 titles and bodies on four subjects, and `new.csv`, 24 on six.
pub fn write_texts(at: &Path) {
    let subjects = ["rain", "goal", "bank", "star", "song", "train"];
    let text = |n_subjects: usize, n: usize| {
        let mut text = "id,title,body\n".to_owned();
        for index in 0..n {
            let (subject, place) = (subjects[index % n_subjects], index / n_subjects);
            let (a, b) = (place % 5, place % 3);
            let title = format!("The {subject} {subject}{a} of w{index}");
            writeln!(
                text,
                "{index},{title},\"{subject}{b}, a {subject} and {subject}{a}\""
            )
            .unwrap();
        }
        text
    };
    fs::write(at.join("old.csv"), text(4, 40)).unwrap();
    fs::write(at.join("new.csv"), text(6, 24)).unwrap();
}
