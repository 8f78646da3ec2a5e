//! Checks of downloaded files: lengths and sums.

use std::io::{self, Read};
use std::path::Path;

use super::CatalogueFile;
use crate::disk::open_file;
use crate::error::{DataError, unreadable};
use crate::graph::tables_md5;
use crate::place::FileRef;

/// Length of the largest file whose length is not known, in bytes: 64 MiB. The archives of graphs have up to 6 MiB.
const MAX_UNKNOWN_BYTES: u64 = 64 << 20;

impl CatalogueFile {
    /// Returns the number of bytes after which a download ends: the length, or 64 MiB where it is not known.
    pub fn max_bytes(&self) -> u64 {
        self.n_bytes.unwrap_or(MAX_UNKNOWN_BYTES)
    }

    /// Checks the length, the MD5 sum and the sum of the tables of the downloaded file at `path`, as far as they are
    /// known.
    ///
    /// # Errors
    /// [`DataError`]
    /// - if the file cannot be read;
    /// - if its length differs;
    /// - if its sum differs;
    /// - the errors of [`read_tu`](crate::read_tu) if its tables are known and it is no archive with tables;
    /// - if the sum of its tables differs.
    pub fn verify(&self, path: &Path) -> Result<(), DataError> {
        let file = FileRef::on_disk(path);
        let (n_bytes, sum) =
            md5_of(open_file(&file)?).map_err(|source| unreadable(&file, source))?;
        match (self.n_bytes, self.md5) {
            (Some(expected), _) if n_bytes != expected => {
                Err(DataError::new(file, format!("{n_bytes} bytes"), expected))
            }
            (_, Some(expected)) if sum != expected => Err(DataError::new(
                file,
                format!("contents of MD5 sum {sum}"),
                expected,
            )),
            _ => self.verify_tables(path),
        }
    }

    fn verify_tables(&self, path: &Path) -> Result<(), DataError> {
        let Some(expected) = self.tables_md5 else {
            return Ok(());
        };
        let found = tables_md5(path)?;
        if found == expected {
            return Ok(());
        }
        Err(DataError::new(
            FileRef::on_disk(path),
            format!("tables of MD5 sum {found}"),
            expected,
        ))
    }
}

/// Returns the number of bytes of `reader` and their MD5 sum in hexadecimal digits.
fn md5_of(mut reader: impl Read) -> io::Result<(u64, String)> {
    let mut sum = md5::Context::new();
    let mut buffer = vec![0; 1 << 16];
    let mut n_bytes = 0;
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok((n_bytes, format!("{:x}", sum.finalize()))),
            Ok(n) => {
                sum.consume(&buffer[..n]);
                n_bytes += n as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::DataErrorKind;

    /// "The quick brown fox jumps over the lazy dog", whose sum is well known.
    const FOX: CatalogueFile = CatalogueFile {
        url: "",
        name: "fox.txt",
        n_bytes: Some(43),
        md5: Some("9e107d9d372bb6826bd81d3542a419d6"),
        tables_md5: None,
        is_tar_gz: false,
    };

    #[test]
    fn a_file_is_known_by_its_length_and_sum() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fox.part");
        let with = |text: &str, file: CatalogueFile| {
            std::fs::write(&path, text).unwrap();
            let checked = file.verify(&path);
            let text = checked.map_err(|error| error.to_string());
            text.map_err(|text| text.replace(&path.display().to_string(), "P"))
        };
        let text = "The quick brown fox jumps over the lazy dog";
        assert_eq!(with(text, FOX), Ok(()));
        assert_eq!(
            with("The quick brown fox", FOX).unwrap_err(),
            "P: found 19 bytes, expected 43"
        );
        assert_eq!(
            with("The quick brown fox jumps over the lazy cat", FOX).unwrap_err(),
            "P: found contents of MD5 sum 71bd588d5ad9b6abe87b831b45f8fa95, expected \
             9e107d9d372bb6826bd81d3542a419d6"
        );
        let unknown = CatalogueFile {
            n_bytes: None,
            md5: None,
            ..FOX
        };
        assert_eq!(with("anything", unknown), Ok(()));
        std::fs::remove_file(&path).unwrap();
        let error = FOX.verify(&path).unwrap_err();
        assert_eq!(error.kind(), DataErrorKind::Unreadable);
    }

    #[test]
    fn graphs_are_known_by_their_tables_in_any_archive() {
        // Not the publishers' archive, but their tables.
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/MUTAG.zip");
        let of = |name: &str| crate::catalogue::find(name).unwrap().files[0];
        assert!(of("MUTAG").verify(&archive).is_ok());
        assert!(of("REDDIT-BINARY").verify(&archive).is_ok());
        let error = of("PROTEINS").verify(&archive).unwrap_err();
        let found = "found tables of MD5 sum 86f16163884fab8899afb3e7db288402, expected 67932da7";
        assert!(error.to_string().contains(found), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fox.txt");
        std::fs::write(&path, "no archive").unwrap();
        let error = of("MUTAG").verify(&path).unwrap_err();
        assert!(error.to_string().contains("zip archive"), "{error}");
    }
}
