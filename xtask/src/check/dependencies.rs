//! Advisories, licences and sources of the dependencies, by cargo-deny and `deny.toml`.

use std::path::Path;
use std::process::Stdio;

use crate::cargo;
use crate::findings::Findings;

/// Remedy for a finding of cargo-deny, which names the crate itself.
const UPDATE: &str = "update the crate that it names (`cargo update -p CRATE`) or replace it; deny.toml has the rules";

/// Checks the dependencies. What needs the network or cargo-deny and does not have it is skipped with a warning.
///
/// # Errors
/// If cargo cannot be started.
pub(super) fn check(root: &Path) -> anyhow::Result<Findings> {
    let mut findings = Findings::default();
    let mut skip = |what: &str| findings.warnings.push(what.to_owned());
    if !is_quiet_success(root, ["deny", "--version"])? {
        skip("skipped: cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(findings);
    }
    // Licences are read from the sources of all crates, those of other platforms included.
    if !is_quiet_success(root, ["fetch", "--locked"])? {
        skip("skipped: not all crates could be downloaded");
        return Ok(findings);
    }
    let has_advisories = is_quiet_success(root, ["deny", "fetch", "db"])?;
    if !has_advisories {
        skip("advisories skipped: their database could not be downloaded");
    }
    let mut check = cargo::command(["deny", "--log-level", "error", "check"]);
    check.args(["licenses", "bans", "sources"]);
    check.args(has_advisories.then_some("advisories"));
    let status = cargo::status(check.current_dir(root))?;
    if !status.success() {
        findings
            .problems
            .push(format!("`cargo deny check`: {status}; {UPDATE}"));
    }
    Ok(findings)
}

/// Runs cargo without its output and returns whether it succeeded.
fn is_quiet_success<const N: usize>(root: &Path, arguments: [&str; N]) -> anyhow::Result<bool> {
    let mut command = cargo::command(arguments);
    command
        .current_dir(root)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(cargo::status(&mut command)?.success())
}
