//! The command `cargo xtask results`: figures of the pages of results, checked and measured again.

mod figure;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{env, fs};

use anyhow::{Context, ensure};
use cargo_metadata::MetadataCommand;
use clap::Args;
use serde_json::{Deserializer, Value};

use crate::cargo;
use crate::findings::Findings;
use figure::Figure;

/// Path of the table of expected figures from the repository's root.
const TABLE: &str = "docs/results/expected.csv";
/// Name of the folder of a run, in the target folder.
const FOLDER: &str = "results";
/// Arguments of cargo that build and run the program of the repository.
const PROGRAM: [&str; 6] = ["run", "--release", "--quiet", "--package", "icl-cli", "--"];
/// Beginning of an argument that is a path in the folder of all data sets.
const DATA_FOLDER: &str = "$ICL_DATA_DIR/";
/// Remedy for a figure that is not met.
const REMEDY: &str = "Write the measured values on the pages and in docs/results/expected.csv, with \
                      commit and date. A tolerance comes from the spread of seeds before the check.";
const NO_DATA_FOLDER: &str = "ICL_DATA_DIR is not set, expected the folder of all data sets";

/// Options of `cargo xtask results`.
#[derive(Debug, Args)]
pub struct ResultsOptions {
    /// Measure only the figures that are marked as quick
    #[arg(long)]
    quick: bool,
    /// Program that measures, such as target/release/icl. Without it, that of the repository is built
    #[arg(long)]
    icl: Option<PathBuf>,
    /// Page whose figures are measured, as its path. Without it, all pages
    page: Option<PathBuf>,
}

/// Checks that each figure of the table is on its page as it is written in the table: on a line with its
/// words, as often as the table has it there.
///
/// # Errors
/// If the table or a page cannot be read.
pub fn changed_by_hand(root: &Path) -> anyhow::Result<Findings> {
    let mut problems = Vec::new();
    let figures = read(root)?;
    for figure in &figures {
        let Figure {
            page, words, value, ..
        } = figure;
        let is_same =
            |it: &&Figure| (&it.page, &it.words, &it.value) == (&figure.page, words, value);
        let text = fs::read_to_string(root.join(page));
        let text = text.with_context(|| page.display().to_string())?;
        let lines = text.lines().filter(|line| line.contains(words.as_str()));
        let n_found: usize = lines.map(|line| figure.n_in(line)).sum();
        let n_expected = figures.iter().filter(is_same).count();
        if n_found < n_expected {
            let (page, name) = (page.display(), figure.name());
            problems.push(format!(
                "{page}: {name}: found {value} {n_found} times on lines with {words:?}, expected {n_expected}; measure it (`cargo \
                 xtask results {page}`) and write the same value on the page and in {TABLE}"
            ));
        }
    }
    Ok(Findings::of(problems))
}

/// Measures the figures again. The exit code is 1 if another value is measured.
///
/// # Errors
/// If the table cannot be read, no figure is requested, or a run fails.
pub fn run(options: &ResultsOptions) -> anyhow::Result<ExitCode> {
    let metadata = MetadataCommand::new().no_deps().exec();
    let metadata = metadata.context("cargo metadata failed")?;
    let root: PathBuf = metadata.workspace_root.into();
    let mut figures = read(&root)?;
    figures.retain(|it| it.quick || !options.quick);
    figures.retain(|it| options.page.as_ref().is_none_or(|page| *page == it.page));
    ensure!(
        !figures.is_empty(),
        "found no such figure in {TABLE}, expected one"
    );
    let program = options.icl.as_deref().map(Path::canonicalize).transpose();
    let program = program.context("the program of --icl cannot be found")?;
    let folder: PathBuf = metadata.target_directory.join(FOLDER).into();
    let commands: BTreeSet<&str> = figures.iter().map(|it| it.command.as_str()).collect();
    let mut records = BTreeMap::new();
    for command in commands {
        eprintln!("icl {command}");
        let mut icl = match &program {
            Some(path) => Command::new(path),
            None => cargo::command(PROGRAM),
        };
        icl.current_dir(&root);
        records.insert(command, of_run(icl, &folder, command)?);
    }
    let problem = |it: &Figure| it.problem(&records[it.command.as_str()]);
    let findings = Findings::of(figures.iter().filter_map(problem).collect());
    print!("{}", findings.report(&format!("{} figures", figures.len())));
    if findings.problems.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("{REMEDY}");
    Ok(ExitCode::FAILURE)
}

/// Reads the figures of the table.
fn read(root: &Path) -> anyhow::Result<Vec<Figure>> {
    let mut reader = csv::Reader::from_path(root.join(TABLE)).context(TABLE)?;
    let figures: Result<_, _> = reader.deserialize().collect();
    figures.context(TABLE)
}

/// Runs a command of the program in a new folder and returns its records: of `icl run` one for each method and seed, of
/// `icl stream` one.
fn of_run(mut icl: Command, folder: &Path, command: &str) -> anyhow::Result<Vec<Value>> {
    // An earlier measurement that was interrupted has left its work next to the folder.
    let unfinished = folder.with_file_name(format!(".icl-{FOLDER}.partial"));
    for old in [folder, &unfinished] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
        }
    }
    for word in command.split(' ') {
        match word.strip_prefix(DATA_FOLDER) {
            Some(path) => {
                let folder = env::var_os("ICL_DATA_DIR").map(PathBuf::from);
                let folder =
                    folder.with_context(|| format!("`icl {command}`: {NO_DATA_FOLDER}"))?;
                icl.arg(folder.join(path));
            }
            None => {
                icl.arg(word);
            }
        }
    }
    icl.arg("--out").arg(folder);
    // Its tables are not shown.
    let status = cargo::status(icl.stdout(Stdio::null()))?;
    ensure!(status.success(), "`icl {command}`: {status}");
    let name = match command.starts_with("stream ") {
        true => "matrix.json",
        false => "record.jsonl",
    };
    let path = folder.join(name);
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let records: Result<_, _> = Deserializer::from_str(&text).into_iter().collect();
    records.with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: &str = "page,words,method,key,command,seeds,value,tolerance,commit,date,quick";

    fn root(table: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(TABLE);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{COLUMNS}\n{table}")).unwrap();
        root
    }

    #[test]
    fn figures_are_on_the_lines_of_their_methods() {
        let page = "Updating costs 0.87 nats on new data.\n\n| method | old | new |\n|---|---|---|\n\
                    | `icl` | 0.87 | 0.87 |\n| `icl-corrected` | 0.91 | 0.95 |\n";
        let line =
            |words: &str, value: &str| format!("a.md,{words},icl,risk,run,1,{value},0,c,d,true\n");
        for (table, expected) in [
            (line("`icl`", "0.87").repeat(2), 0),
            (line("nats on new data", "0.87"), 0),
            (line("`icl-corrected`", "0.95"), 0),
            // On the page, but of another method.
            (line("`icl`", "0.95"), 1),
            // Three that are equal, of which two are there.
            (line("`icl`", "0.87").repeat(3), 3),
        ] {
            let root = root(&table);
            fs::write(root.path().join("a.md"), page).unwrap();
            let problems = changed_by_hand(root.path()).unwrap().problems;
            assert_eq!(problems.len(), expected, "{problems:?}");
        }
        assert!(changed_by_hand(root(&line("", "1")).path()).is_err());
    }

    #[test]
    fn an_error_names_the_line() {
        let good = "a.md,,icl,risk,run,1,1,0.01,c,d,true\n";
        for wrong in [
            "a.md,1\n",
            &good.replace("0.01", "1 %"),
            &good.replace("true", "yes"),
        ] {
            let root = root(&format!("{good}{wrong}"));
            let error = format!("{:#}", read(root.path()).unwrap_err());
            assert!(error.contains("line: 3"), "{error}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn a_command_is_run_in_a_folder_and_its_records_are_read() {
        // Writes its arguments as records: that of `run` in lines, that of `stream` as one object.
        let script = r#"
            out=$(eval echo \${$#})
            mkdir -p "$out"
            case $1 in
              run) printf '{"method":"a","words":"%s"}\n{"method":"b"}\n' "$*" > "$out/record.jsonl" ;;
              stream) printf '{\n"method":"a",\n"experiences":[{"risk":1.5},{"risk":2.5}]}\n' > "$out/matrix.json" ;;
              *) exit 2 ;;
            esac
        "#;
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join(FOLDER);
        fs::create_dir(at.path().join(".icl-results.partial")).unwrap();
        let of = |command: &str| {
            let mut icl = Command::new("sh");
            icl.args(["-c", script, "icl"]);
            of_run(icl, &folder, command)
        };
        let records = of("run --seed 1").unwrap();
        assert_eq!(records.len(), 2);
        assert!(!at.path().join(".icl-results.partial").exists());
        let words = format!("run --seed 1 --out {}", folder.display());
        assert_eq!(records[0]["words"], words);
        let [record] = &of("stream --seed 1").unwrap()[..] else {
            panic!("expected one record");
        };
        assert_eq!(record.pointer("/experiences/1/risk").unwrap(), 2.5);
        assert!(!folder.join("record.jsonl").exists());
        let error = of("bench").unwrap_err().to_string();
        assert!(error.starts_with("`icl bench`: "), "{error}");
    }
}
