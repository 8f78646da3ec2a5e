//! Content of samples as a number, by which they are held out for good.

use rayon::prelude::*;

/// Hash of the content of a sample, the same on every machine, in every order and with any other samples.
///
/// It decides which samples are held out for good ([`Increment::hold_out_by`](icl_core::Increment::hold_out_by)): what
/// was held out yesterday is held out today, however many rows have arrived, and equal samples are on one side. The
/// program `icl` writes the name of the rule, [`RULE`](Self::RULE), into the files of its encoders.
///
/// The hash is the first eight bytes of the MD5 of the bytes below as one number, the first byte being the most
/// significant. No adversary chooses samples here; a fixed definition with implementations everywhere matters. The
/// bytes begin with those of the name of the rule. `count` is a whole number of 64 bits, `number` the bits of double
/// precision with −0 as 0, both with the least significant byte first, and `text` its `count` of bytes and the bytes
/// (UTF-8).
///
/// | sample | bytes after the name of the rule |
/// |---|---|
/// | row of a table | for each column in the order of the bytes of their names, unless its value is missing: `text` name, then a byte `n` and `number`, or a byte `t` and `text`. The class and the columns that number the rows are left out; constant columns are not. A value is missing if it is empty, `?`, `n/a`, `na`, `nan` or `null` in any case; it is a number if it can be read as one, whatever the other rows have |
/// | graph | `count` of nodes; for each node `count` of its neighbours, their numbers from 0 in ascending order, each a `count`, `count` 1 and its label as a `count` in two's complement or `count` 0 without one, `count` of its attributes, each a `number` |
/// | image | `count`s of columns, rows and channels, `text` of the pixels, row by row |
/// | interaction | `text` user, `text` item |
/// | pair of texts | both as `text`, without blanks around them |
///
/// ```
/// use icl_core::Increment;
/// use icl_data::ContentHash;
///
/// let rows = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
/// let content = |index: usize| ContentHash::new().text(rows[index].as_bytes()).finish();
/// let all = Increment::before((0..rows.len()).collect())?;
/// let (rest, [held_out, _]) = all.hold_out_by(0.4, content)?;
/// assert_eq!(rest.old().len() + held_out.len(), rows.len());
/// # Ok::<(), icl_core::Error>(())
/// ```
#[derive(Clone)]
pub struct ContentHash(md5::Context);

impl ContentHash {
    /// Name of the rule. A change of the definition has another one.
    pub const RULE: &'static str = "content-hash-1";

    /// Begins the content of a sample.
    #[must_use]
    pub fn new() -> Self {
        let mut context = md5::Context::new();
        context.consume(Self::RULE);
        Self(context)
    }

    /// Adds a whole number.
    #[must_use]
    pub fn count(mut self, count: u64) -> Self {
        self.0.consume(count.to_le_bytes());
        self
    }

    /// Adds a number.
    #[must_use]
    pub fn number(mut self, number: f64) -> Self {
        // Some files write 0 as −0; −0 + 0 is 0.
        self.0.consume((number + 0.0).to_le_bytes());
        self
    }

    /// Adds bytes with their number, such as those of a text or an image.
    #[must_use]
    pub fn text(mut self, bytes: &[u8]) -> Self {
        self.0.consume((bytes.len() as u64).to_le_bytes());
        self.0.consume(bytes);
        self
    }

    /// Adds a byte that says what follows.
    pub(crate) fn tag(mut self, tag: u8) -> Self {
        self.0.consume([tag]);
        self
    }

    /// Returns the hash of all that was added.
    pub fn finish(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0.finalize().0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }
}

impl Default for ContentHash {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentHash").finish_non_exhaustive()
    }
}

/// Returns the hashes of `n` samples in their order, computed by several threads.
pub(crate) fn contents<T: Send>(n: usize, content: impl Fn(usize) -> T + Send + Sync) -> Vec<T> {
    (0..n).into_par_iter().map(content).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::path::Path;

    use crate::{Graph, Image, Missing, TableOptions, TableSchema, embedded, read_table, read_tu};

    // Values of `scripts/reference/content_hash.py`, which uses hashlib and struct of Python.
    const EMPTY: u64 = 0xb5bd_f6b1_8655_f2b9;
    const ROWS: [u64; 3] = [
        0xc94b_ac16_4c44_23b3,
        0x3ac3_d002_1beb_5d42,
        0x5a86_d101_00e0_a792,
    ];
    const GRAPHS: [u64; 2] = [0x3a4c_774d_d571_25bb, 0x5dd9_cb21_c4dd_c747];
    const IMAGE: [u64; 1] = [0x37a8_43aa_e3f0_8aa4];
    const PAIR: u64 = 0x41dc_6fed_5651_249e;

    fn written(at: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            std::fs::write(at.join(name), text).unwrap();
        }
    }

    /// The contents of the rows of a table by the schema of all of its rows.
    fn of_table(text: &str) -> Vec<u64> {
        let at = tempfile::tempdir().unwrap();
        written(at.path(), &[("t.csv", text)]);
        let options = TableOptions {
            missing: Missing::Mean,
            ..TableOptions::default()
        };
        let raw = read_table(at.path().join("t.csv"), &options).unwrap();
        let all: Vec<usize> = (0..raw.n_rows()).collect();
        let schema = TableSchema::fit(&raw, &all, &[]).unwrap();
        schema.apply(&raw).unwrap().contents()
    }

    #[test]
    fn it_is_what_another_implementation_calculates() {
        assert_eq!(ContentHash::new().finish(), EMPTY);
        assert_eq!(
            of_table("size,colour,note\n1.50,red,\n-0,blue,NA\n2e3,7,x y\n"),
            ROWS
        );
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("G");
        std::fs::create_dir(&folder).unwrap();
        written(
            &folder,
            &[
                ("G_A.txt", "1, 2\n2, 3\n4, 5\n"),
                ("G_graph_indicator.txt", "1\n1\n1\n2\n2\n"),
                ("G_node_labels.txt", "-3\n8\n8\n0\n8\n"),
                ("G_node_attributes.txt", "0.5\n1\n-0\n2\n1e-3\n"),
            ],
        );
        assert_eq!(read_tu(&folder).unwrap().contents(), GRAPHS);
        let image = crate::ImageDataset::of_numbers(
            "i".to_owned(),
            vec![Image::new(3, 2, 1, vec![0, 1, 2, 253, 254, 255])],
            &[0],
            1,
        );
        assert_eq!(image.contents().unwrap(), IMAGE);
        let pair = ContentHash::new()
            .text("user 1".as_bytes())
            .text("über".as_bytes());
        assert_eq!(pair.finish(), PAIR);
    }

    #[test]
    fn a_row_has_one_content_in_any_order_with_any_others() {
        let first = of_table("a,b,c\n1,x,0.5\n2,y,7\n1,x,0.5\n3,z,9\n");
        assert_eq!(first[0], first[2]);
        assert_ne!(first[0], first[1]);
        // Other columns first, a text in the column of numbers, 2 written as 2.0, and an index that pandas added.
        let other = of_table("Unnamed: 0,c,b,a\n0,7,y,2.0\n1,9,z,3\n2,0.50,x,1\n3,1,x,many\n");
        assert_eq!(
            [other[0], other[1], other[2]],
            [first[1], first[3], first[0]]
        );
    }

    #[test]
    fn a_graph_keeps_its_content_whatever_its_features_become() {
        let data = embedded::graphs("ENZYMES")
            .or_else(|_| embedded::graphs("MUTAG"))
            .unwrap();
        let contents = data.contents();
        assert_eq!(data.standardized_over(&[0, 1]).contents(), contents);
        let path = Graph::try_new(&[[0, 1]], vec![1.0, 2.0], 1, 0).unwrap();
        let labelled = Graph::try_new(&[[1, 0]], vec![1.0, 2.0], 1, 1).unwrap();
        let other = Graph::try_new(&[], vec![1.0, 2.0], 1, 0).unwrap();
        assert_eq!(path.content(), labelled.content());
        assert_ne!(path.content(), other.content());
    }
}
