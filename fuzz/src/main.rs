//! Reads generated inputs: `icl-fuzz FORMAT --inputs N`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, bail};
use clap::Parser;
use icl_fuzz::{Campaign, Summary, formats};

/// Reads generated inputs of a format, and checks that its reader keeps its promise.
///
/// Each format is read in a process of its own: its memory is measured, and an abort ends no other. The exit code is 1 if
/// a promise was broken; the input lies in a folder that is named then.
#[derive(Parser)]
struct Arguments {
    /// Formats, or `all`
    #[arg(required = true, value_name = "FORMAT")]
    formats: Vec<String>,
    /// Number of inputs of each format
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    inputs: u64,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// Folder for the inputs that break a promise
    #[arg(long, default_value = "target/fuzz", value_name = "DIR")]
    out: PathBuf,
    /// Read in this process, which the one without this option starts
    #[arg(long, hide = true)]
    here: bool,
}

/// Folder of the inputs that broke a promise once.
const FOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/found");

/// File in which a process leaves its summary.
const SUMMARY: &str = "summary.json";

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    if arguments.here {
        for name in &arguments.formats {
            read_here(name, &arguments)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let names = names(&arguments.formats)?;
    let queue = Mutex::new(names.iter());
    let n_processes = std::thread::available_parallelism()?.get().min(names.len());
    let work = || -> Result<bool> {
        let mut is_kept = true;
        loop {
            let name = match queue.lock() {
                Ok(mut queue) => queue.next(),
                Err(_) => bail!("another thread panicked"),
            };
            let Some(name) = name else {
                return Ok(is_kept);
            };
            is_kept &= read_apart(name, &arguments)?;
        }
    };
    let is_kept = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_processes).map(|_| scope.spawn(work)).collect();
        let mut is_kept = true;
        for worker in workers {
            match worker.join() {
                Ok(result) => is_kept &= result?,
                Err(_) => bail!("a thread panicked"),
            }
        }
        Ok(is_kept)
    })?;
    Ok(if is_kept {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn names(given: &[String]) -> Result<Vec<&'static str>> {
    let all: Vec<&'static str> = formats().iter().map(|(name, _)| *name).collect();
    if given == ["all"] {
        return Ok(all);
    }
    let known = |name: &String| all.iter().copied().find(|known| known == name);
    let named = given.iter().map(|name| {
        known(name)
            .with_context(|| format!("found format {name}, expected one of {}", all.join(", ")))
    });
    named.collect()
}

/// Reads the inputs of a format in this process.
fn read_here(name: &str, arguments: &Arguments) -> Result<()> {
    let all = formats();
    let (_, make) = all
        .iter()
        .find(|(known, _)| *known == name)
        .context("no such format")?;
    let format = make()?;
    let campaign = Campaign {
        format: &format,
        n_inputs: arguments.inputs,
        seed: arguments.seed,
    };
    let folder = arguments.out.join(name);
    let summary = campaign.run(Path::new(FOUND), &folder)?;
    std::fs::write(folder.join(SUMMARY), serde_json::to_vec(&summary)?)?;
    Ok(())
}

/// Reads them in a process of its own, prints what came of it, and returns whether the promise was kept.
fn read_apart(name: &str, arguments: &Arguments) -> Result<bool> {
    let folder = arguments.out.join(name);
    std::fs::create_dir_all(&folder)?;
    let log = folder.join("log.txt");
    let summary = folder.join(SUMMARY);
    if summary.exists() {
        std::fs::remove_file(&summary)?;
    }
    let status = Command::new(std::env::current_exe()?)
        .args([name, "--here", "--inputs", &arguments.inputs.to_string()])
        .args(["--seed", &arguments.seed.to_string(), "--out"])
        .arg(&arguments.out)
        .stdout(Stdio::null())
        .stderr(File::create(&log)?)
        .status()?;
    if !status.success() {
        let text = std::fs::read_to_string(&log)?;
        let last: Vec<&str> = text.lines().rev().take(5).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        let current = std::fs::read_to_string(folder.join("current.txt")).unwrap_or_default();
        println!(
            "{name}: {status}; its last input is in {current}\n{}",
            last.join("\n")
        );
        return Ok(false);
    }
    let summary: Summary = serde_json::from_slice(&std::fs::read(&summary)?)?;
    println!(
        "{:<12} {:>8} inputs, {:>6} accepted, at most {:>6.1} MiB and {:>6.3} s each, {} breaches",
        summary.format,
        summary.n_inputs,
        summary.n_accepted,
        summary.n_bytes as f64 / f64::from(1 << 20),
        summary.seconds,
        summary.breaches.len()
    );
    for (breach, input) in &summary.breaches {
        println!("  {input}: found {breach}");
    }
    Ok(summary.breaches.is_empty())
}
