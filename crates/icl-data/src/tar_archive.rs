//! Unpacking of tar archives.

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use icl_core::PartialFolder;
use tar::Archive;

use crate::disk::open_file;
use crate::error::DataError;
use crate::place::{FileRef, Found};

/// Unpacks a tar archive (`.tar`, `.tar.gz` or `.tgz`) into the folder `into`.
///
/// The folder is created if it does not exist. Only files and folders are unpacked; a link, or an
/// entry that points outside the folder, is an error.
///
/// The archive is first unpacked into a [`PartialFolder`] inside `into`. Existing files stay
/// untouched unless the whole archive can be read; then only files of the same names are replaced.
///
/// # Errors
/// [`DataError`]
/// - if the archive cannot be opened or is no regular file;
/// - if it holds more than 64 GiB;
/// - if it is cut or damaged, if it holds a link or an entry that points outside
///   the folder, or if the folder cannot be written.
pub fn unpack_tar(archive: &Path, into: &Path) -> Result<(), DataError> {
    let opened = open_file(&FileRef::on_disk(archive))?;
    let damaged = |source| {
        DataError::new(
            archive.display(),
            "a tar archive that cannot be unpacked",
            "an intact one and a writable folder",
        )
        .with_source(source)
    };
    let is_packed = archive
        .extension()
        .is_some_and(|ending| ending == "gz" || ending == "tgz");
    let opened = BufReader::new(opened);
    let reader: Box<dyn Read> = if is_packed {
        Box::new(MultiGzDecoder::new(opened))
    } else {
        Box::new(opened)
    };
    fs::create_dir_all(into).map_err(damaged)?;
    let name = into.join(archive.file_name().unwrap_or_default());
    let partial = PartialFolder::begin(PartialFolder::next_to(&name)).map_err(damaged)?;
    unpack_whole(reader, &partial.results())
        .and_then(|()| move_into(&partial.results(), into))
        .map_err(damaged)
}

/// Unpacks every entry and checks that the end of the archive is present.
fn unpack_whole(reader: Box<dyn Read>, next_to: &Path) -> io::Result<()> {
    let mut archive = Archive::new(Counted { reader, n_bytes: 0 });
    archive.set_preserve_permissions(false);
    archive.set_preserve_mtime(false);
    let mut end = 0;
    for entry in archive.entries()? {
        let mut entry = entry?;
        let kind = entry.header().entry_type();
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let wrong = |what| {
            let path = Found::new(&path);
            Err(io::Error::other(format!("entry {path} {what}")))
        };
        if !(kind.is_file() || kind.is_dir()) {
            return wrong("is neither a file nor a folder");
        }
        end = entry.raw_file_position() + entry.size().next_multiple_of(BLOCK);
        if !entry.unpack_in(next_to)? {
            return wrong("points outside the archive");
        }
    }
    // The rest is read as well, because gzip reports a cut file only at its end.
    let mut rest = archive.into_inner();
    io::copy(&mut rest, &mut io::sink())?;
    if rest.n_bytes < end + BLOCK {
        return Err(io::Error::other("its end is missing"));
    }
    Ok(())
}

/// Size of a block of the format, in bytes. An archive ends with empty blocks.
const BLOCK: u64 = 512;

/// A reader that counts the bytes read so far.
struct Counted {
    reader: Box<dyn Read>,
    n_bytes: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.n_bytes += n as u64;
        Ok(n)
    }
}

/// Moves the contents of one folder into another, merging folders of the same name.
fn move_into(from: &Path, into: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = into.join(entry.file_name());
        let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|at| at.is_dir());
        if entry.file_type()?.is_dir() && is_dir(&target) {
            move_into(&entry.path(), &target)?;
        } else {
            fs::rename(entry.path(), target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs::File;
    use std::io::Write;

    fn tar_gz(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, contents) in entries {
            let mut header = tar::Header::new_gnu();
            // The builder itself refuses the names that are tested here.
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(contents.len() as u64);
            header.set_mode(0o644);
            header.set_cksum();
            builder.append(&header, *contents).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn an_archive_is_unpacked_whole_or_not_at_all() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.tar.gz");
        let noise: Vec<u8> = (0..5000_u32).map(|i| (i * i % 251) as u8).collect();
        let bytes = tar_gz(&[("a/x.txt", b"one"), ("b/y.txt", &noise)]);
        fs::write(&path, &bytes).unwrap();
        let into = at.path().join("deep/out");
        unpack_tar(&path, &into).unwrap();
        unpack_tar(&path, &into).unwrap();
        assert_eq!(fs::read(into.join("a/x.txt")).unwrap(), b"one");
        assert_eq!(fs::read(into.join("b/y.txt")).unwrap(), noise);
        assert_eq!(fs::read_dir(&into).unwrap().count(), 2);
        for n in (0..bytes.len()).step_by(97) {
            File::create(&path).unwrap().write_all(&bytes[..n]).unwrap();
            let none = at.path().join("none");
            let error = unpack_tar(&path, &none).unwrap_err().to_string();
            assert!(error.contains("a.tar.gz: found"), "{error}");
            assert_eq!(fs::read_dir(&none).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_plain_archive_needs_its_end() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.tar");
        let mut bytes = Vec::new();
        let packed = tar_gz(&[("x.txt", b"one")]);
        MultiGzDecoder::new(&packed[..])
            .read_to_end(&mut bytes)
            .unwrap();
        fs::write(&path, &bytes).unwrap();
        unpack_tar(&path, &at.path().join("whole")).unwrap();
        fs::write(&path, &bytes[..1024]).unwrap();
        assert!(unpack_tar(&path, &at.path().join("cut")).is_err());
    }

    #[test]
    fn a_link_is_an_error() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.tar");
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Symlink);
        header.set_size(0);
        builder.append_link(&mut header, "x", "/etc").unwrap();
        fs::write(&path, builder.into_inner().unwrap()).unwrap();
        let error = unpack_tar(&path, &at.path().join("out")).unwrap_err();
        let said = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(said, "entry \"x\" is neither a file nor a folder");
    }

    #[test]
    fn nothing_is_written_outside() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("a.tar.gz");
        fs::write(&path, tar_gz(&[("../evil.txt", b"x")])).unwrap();
        let error = unpack_tar(&path, &at.path().join("out")).unwrap_err();
        let said = std::error::Error::source(&error).unwrap().to_string();
        assert!(said.contains("../evil.txt"), "{said}");
        assert!(!at.path().join("evil.txt").exists());
    }
}
