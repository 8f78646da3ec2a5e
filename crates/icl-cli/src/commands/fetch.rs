//! `icl fetch`: downloads public data sets, or says what to download by other means.

use std::io;
use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use comfy_table::{Table, presets};
use icl_core::AtomicFile;
use icl_data::catalogue;
use icl_data::catalogue::{CatalogueEntry, CatalogueFile, CatalogueKind};

use crate::options::data::DataDirOption;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::interrupt::Interruptible;
use crate::process::terminal::{print, tell};

const DETAILS: &str = "\
Every file is checked by its length and MD5 sum, as far as its publisher gives them, and is complete or absent. \
Without a network, it says which files to download by other means, and where to put them.";

/// Options of `icl fetch`.
#[derive(Debug, Args)]
#[command(after_help = DETAILS)]
pub struct FetchOptions {
    /// Names of data sets. Without any, list all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    data_dir: DataDirOption,
}

/// Downloads the missing files of the named data sets; each file is complete and checked, or absent.
///
/// # Errors
/// If a name is not known, or a file cannot be downloaded, is not what it should be or cannot be
/// written.
pub fn fetch(options: &FetchOptions) -> Result<(), Failure> {
    let root = options.data_dir.folder();
    if options.names.is_empty() {
        return print(list(&root));
    }
    let entries = options.names.iter().map(|name| catalogue::find(name));
    let entries: Vec<&CatalogueEntry> =
        entries.collect::<Result<_, _>>().map_err(Failure::input)?;
    interrupt::watch()?;
    for entry in entries {
        let n_new = fetch_entry(entry, &root)?;
        let what = if n_new == 0 {
            "already there"
        } else {
            "downloaded"
        };
        print(format_args!(
            "{}: {what}: {}",
            entry.name,
            entry.path(&root).display()
        ))?;
    }
    Ok(())
}

/// Lists the data sets.
fn list(root: &Path) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["name", "from", "put at", "source"]);
    for entry in catalogue::entries() {
        let urls: Vec<&str> = entry.files.iter().map(|file| file.url).collect();
        let path = entry.path(root).display().to_string();
        table.add_row([entry.name, &urls.join("\n"), &path, entry.source]);
    }
    table
}

/// Downloads the missing files of a data set; their number.
fn fetch_entry(entry: &CatalogueEntry, root: &Path) -> Result<usize, Failure> {
    let folder = root.join(entry.folder);
    std::fs::create_dir_all(&folder)
        .map_err(|error| Failure::file(&folder, "cannot be made", error))?;
    let mut n_new = 0;
    for (at, file) in entry.files.iter().enumerate() {
        let path = entry.file_path(root, file);
        if path.exists() {
            file.verify(&path).map_err(Failure::input)?;
        } else {
            n_new += 1;
            let missing = || missing(entry, &entry.files[at..], root);
            let fetched = download(file, file.url, &path, entry.kind, &missing);
            if fetched.is_err() {
                // Nothing is left of a data set that cannot be downloaded, not even an empty folder.
                let _ = std::fs::remove_dir(&folder);
            }
            fetched?;
        }
        if file.is_tar_gz && !entry.path(root).exists() {
            icl_data::unpack_tar(&path, &folder).map_err(Failure::input)?;
        }
    }
    Ok(n_new)
}

/// Says which of these files of an entry are missing, and where to put them.
fn missing(entry: &CatalogueEntry, files: &[CatalogueFile], root: &Path) -> String {
    let mut text = "download by other means:".to_owned();
    for file in files {
        let path = entry.file_path(root, file);
        if path.exists() {
            continue;
        }
        text += &format!(" {} to {}", file.url, path.display());
        if let Some(n_bytes) = file.n_bytes {
            text += &format!(", {n_bytes} bytes");
        }
        if let Some(md5) = file.md5 {
            text += &format!(", MD5 {md5}");
        }
        text.push(';');
    }
    text.trim_end_matches(';').to_owned()
}

/// Downloads a file, checks it and gives it its name; `missing` says what to do if that fails.
fn download(
    file: &CatalogueFile,
    url: &str,
    path: &Path,
    kind: CatalogueKind,
    missing: &dyn Fn() -> String,
) -> Result<(), Failure> {
    tell(format_args!("{url}"));
    let unwritable = |error: io::Error| Failure::file(path, "cannot be written", error);
    let mut part = AtomicFile::begin(path).map_err(unwritable)?;
    let received = ureq::get(url)
        .call()
        .map_err(io::Error::other)
        .and_then(|mut response| {
            let mut body = Interruptible(response.body_mut().as_reader());
            io::copy(&mut body, &mut part)
        });
    if interrupt::requested() {
        return Err(Failure::Interrupted(anyhow!(
            "{url}: stopped; nothing was written"
        )));
    }
    received.map_err(|error| {
        Failure::Other(anyhow!(
            "{url}: cannot be downloaded ({error}); {}",
            missing()
        ))
    })?;
    let mut checked = file.verify(part.unfinished());
    // Graphs come without a checksum: it has to suffice that they can be read.
    if checked.is_ok() && kind == CatalogueKind::Graphs {
        checked = icl_data::read_tu(part.unfinished()).map(drop);
    }
    checked.map_err(|error| Failure::Other(anyhow!("{url}: {error}; {}", missing())))?;
    part.replace().map_err(unwritable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    const FOX: &str = "The quick brown fox jumps over the lazy dog";

    fn fox() -> CatalogueFile {
        CatalogueFile {
            url: "",
            name: "fox.txt",
            n_bytes: Some(43),
            md5: Some("9e107d9d372bb6826bd81d3542a419d6"),
            is_tar_gz: false,
        }
    }

    /// Starts a server that gives one answer; its address.
    fn serve(status: &'static str, body: &'static str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            stream
                .write_all(format!("{head}{body}").as_bytes())
                .unwrap();
        });
        format!("http://{address}/fox.txt")
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    /// Downloads the file.
    fn fetch_fox(url: &str, path: &Path, kind: CatalogueKind) -> Result<(), Failure> {
        download(&fox(), url, path, kind, &|| "do it by hand".to_owned())
    }

    #[test]
    fn a_file_is_whole_or_not_there() {
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("fox.txt");
        let (images, graphs) = (CatalogueKind::Images, CatalogueKind::Graphs);
        for (status, body, kind, message) in [
            (
                "200 OK",
                "The quick brown fox",
                images,
                "found 19 bytes, expected 43",
            ),
            (
                "200 OK",
                "The quick brown fox jumps over the lazy cat",
                images,
                "found contents of MD5 sum",
            ),
            ("200 OK", FOX, graphs, "zip archive"),
            (
                "404 Not Found",
                "",
                images,
                "cannot be downloaded (http status: 404)",
            ),
        ] {
            let error = fetch_fox(&serve(status, body), &path, kind).unwrap_err();
            assert_eq!(error.exit_code(), 1);
            let error = error.to_string();
            assert!(error.contains(message), "{error}");
            assert!(error.ends_with("; do it by hand"), "{error}");
            assert_eq!(names(at.path()), 0);
        }
        fetch_fox(&serve("200 OK", FOX), &path, images).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), FOX);
        assert_eq!(names(at.path()), 1);
    }

    #[test]
    fn without_a_server_it_says_what_to_do() {
        let at = tempfile::tempdir().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let url = format!("http://127.0.0.1:{port}/fox.txt");
        let path = at.path().join("fox.txt");
        let error = fetch_fox(&url, &path, CatalogueKind::Images).unwrap_err();
        let error = error.to_string();
        assert!(
            error.starts_with(&format!("{url}: cannot be downloaded")),
            "{error}"
        );
        assert_eq!(names(at.path()), 0);
    }

    #[test]
    fn every_missing_file_is_named() {
        let mnist = catalogue::find("MNIST").unwrap();
        let at = tempfile::tempdir().unwrap();
        let first = mnist.file_path(at.path(), &mnist.files[0]);
        std::fs::create_dir_all(first.parent().unwrap()).unwrap();
        std::fs::write(&first, "there").unwrap();
        let text = missing(mnist, mnist.files, at.path());
        assert!(!text.contains(mnist.files[0].url), "{text}");
        for file in &mnist.files[1..] {
            let place = mnist.file_path(at.path(), file);
            let expected = format!(
                "{} to {}, {} bytes, MD5 {}",
                file.url,
                place.display(),
                file.n_bytes.unwrap(),
                file.md5.unwrap()
            );
            assert!(text.contains(&expected), "{text}");
        }
    }
}
