//! Interactions of users with items.

use std::path::Path;

use anyhow::Result;
use icl::data::{NextItemDataset, read_interactions};

use super::reader::{Format, Told};
use crate::parts::{Part, Valid, gzip};

/// Names of the files, of which an input has one.
const NAMES: [&str; 4] = ["toy.inter", "u.data", "ratings.dat", "toy.inter.gz"];

/// Interactions of two users, by user, item, rating and time.
const ROWS: [&str; 6] = [
    "1\t10\t3\t100",
    "1\t11\t4\t100",
    "2\t10\t1\t90",
    "2\t12\t5\t110",
    "1\t12\t2\t120",
    "2\t11\t2\t130",
];

/// Returns the format.
pub fn format() -> Result<Format> {
    let rows: String = ROWS.iter().map(|row| format!("{row}\n")).collect();
    let header = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n";
    let typed = vec![Part::new(NAMES[0], format!("{header}{rows}"))];
    let colons = rows.replace('\t', "::");
    Ok(Format {
        name: "interactions",
        valid: vec![
            Valid::plain(typed.clone()),
            Valid::plain(vec![Part::new(NAMES[1], rows)]),
            Valid::plain(vec![Part::new(NAMES[2], colons)]),
            Valid {
                parts: typed,
                pack: gzip,
            },
        ],
        words: &[
            "\t",
            "::",
            "\n",
            "\r\n",
            "nan",
            "inf",
            "1e999",
            "-0",
            "1099511627776",
            "\u{feff}",
            "\0",
            ":token",
            "user_id:token",
            "timestamp:float",
        ],
        memory: 0,
        read: Box::new(read),
    })
}

/// Reads a file, and makes the samples of what has been read.
fn read(folder: &Path) -> Result<(), Told> {
    let paths = NAMES.map(|name| folder.join(name));
    let path = paths.iter().find(|path| path.exists()).unwrap_or(&paths[0]);
    let interactions = read_interactions(path).map_err(Told::of)?;
    let split = interactions.leave_one_out();
    NextItemDataset::new(&interactions, &[split.train]);
    NextItemDataset::held_out(&interactions, &split.test);
    Ok(())
}
