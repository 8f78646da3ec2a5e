//! `icl fetch`: downloads public data sets, or says what to download by other means.

mod download;

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use comfy_table::{Table, presets};
use icl_data::catalogue;
use icl_data::catalogue::{CatalogueEntry, CatalogueFile};
use ureq::Agent;

use crate::files::new_folders::NewFolders;
use crate::options::choice::suggestion;
use crate::options::data::data_dir_help;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::print;

use download::{Patience, download};

const DETAILS: &str = "\
Downloads are by https alone. Every file is checked by its length and MD5 sum, graphs by the MD5 sum of their tables, \
as far as they are known, and is complete or absent. A server that is silent for a minute is given up. Without a \
network, it says which files to download by other means, and where to put them.";

/// Options of `icl fetch`.
#[derive(Debug, Clone, Args)]
#[command(after_help = DETAILS)]
pub struct FetchOptions {
    /// Names of data sets. Without any, list all
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[arg(long, value_name = "DIR", help_heading = "Data", help = data_dir_help())]
    data_dir: Option<PathBuf>,
}

/// Downloads the missing files of the named data sets; each file is complete and checked, or absent.
///
/// # Errors
/// If a name is not known, or a file cannot be downloaded, is not what it should be or cannot be
/// written.
pub fn fetch(options: &FetchOptions) -> Result<(), Failure> {
    let root = options.data_dir.clone();
    let root = root.unwrap_or_else(catalogue::folder);
    if options.names.is_empty() {
        return print(list(&root));
    }
    let entries = options.names.iter().map(|name| {
        catalogue::find(name).map_err(|error| {
            let known = catalogue::entries().iter().map(|entry| entry.name);
            Failure::input(anyhow!("{error}{}", suggestion(name, known)))
        })
    });
    let entries: Vec<&CatalogueEntry> = entries.collect::<Result<_, _>>()?;
    interrupt::watch()?;
    let agent = Patience::default().agent();
    for entry in entries {
        let n_new = fetch_entry(entry, &root, &agent)?;
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

/// Downloads the missing files of a data set; their number. Nothing is left of a data set that cannot be downloaded,
/// not even an empty folder.
fn fetch_entry(entry: &CatalogueEntry, root: &Path, agent: &Agent) -> Result<usize, Failure> {
    let folder = root.join(entry.folder);
    let created = NewFolders::create(&folder);
    let created = created.map_err(|error| Failure::file(&folder, "cannot be made", error))?;
    let mut n_new = 0;
    for (at, file) in entry.files.iter().enumerate() {
        let path = entry.file_path(root, file);
        if path.exists() {
            file.verify(&path).map_err(Failure::input)?;
        } else {
            n_new += 1;
            let missing = || missing(entry, &entry.files[at..], root);
            download(agent, file, file.url, &path, entry.kind, &missing)?;
        }
        if file.is_tar_gz && !entry.path(root).exists() {
            icl_data::unpack_tar(&path, &folder).map_err(Failure::input)?;
        }
    }
    drop(created);
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
        if let Some(md5) = file.tables_md5 {
            text += &format!(", MD5 {md5} of its tables");
        }
        text.push(';');
    }
    text.trim_end_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
