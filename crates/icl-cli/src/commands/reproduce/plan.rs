//! Which data sets and growth ratios of which targets can be run, and what cannot.

use anyhow::anyhow;
use icl_report::paper::{DataSet, Target};

use crate::commands::reproduce::arguments::{ReproduceArguments, Wanted};
use crate::commands::reproduce::source::Source;
use crate::commands::reproduce::targets;
use crate::process::failure::Failure;

/// What can be run.
#[derive(Debug)]
pub struct Plan {
    /// The targets, each with its data sets and growth ratios.
    pub parts: Vec<Part>,
    /// Where the data sets are.
    pub data: Vec<(DataSet, Source)>,
    /// What cannot be run, a sentence each.
    pub notes: Vec<String>,
}

/// A target that can be run, at least in part.
#[derive(Debug)]
pub struct Part {
    /// The target.
    pub target: Target,
    /// The data sets.
    pub data: Vec<DataSet>,
    /// The growth ratios.
    pub alphas: Vec<f64>,
}

impl Plan {
    /// What of the targets can be run with these arguments.
    ///
    /// # Errors
    /// If nothing can, or something that was asked for by name cannot.
    pub fn new(arguments: &ReproduceArguments) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        let mut parts = Vec::new();
        let named = named(&arguments.data)?;
        check_alphas(arguments)?;
        for target in targets(arguments.target) {
            match part(target, arguments, &named) {
                Ok(part) => parts.push(part),
                Err(note) => notes.push(note),
            }
        }
        if matches!(arguments.target, Wanted::One(_)) && !notes.is_empty() {
            return Err(Failure::input(anyhow!("{}", notes.join("; "))));
        }
        let mut data = Vec::new();
        for set in DataSet::ALL {
            let is_wanted = |part: &Part| part.data.contains(&set);
            if !parts.iter().any(is_wanted) {
                continue;
            }
            match Source::find(set, arguments) {
                Ok(source) => data.push((set, source)),
                Err(message) if arguments.target == Wanted::All => notes.push(message),
                Err(message) => return Err(Failure::input(anyhow!(message))),
            }
        }
        for part in &mut parts {
            part.data
                .retain(|set| data.iter().any(|(own, _)| own == set));
        }
        parts.retain(|part| !part.data.is_empty());
        if parts.is_empty() {
            return Err(Failure::input(anyhow!(
                "{}: nothing can be run: {}",
                "all",
                notes.join("; ")
            )));
        }
        Ok(Self { parts, data, notes })
    }

    /// Where a data set is.
    pub fn source(&self, data: DataSet) -> Option<&Source> {
        let of = self.data.iter().find(|(own, _)| *own == data);
        of.map(|(_, source)| source)
    }
}

/// The data sets of these names.
fn named(names: &[String]) -> Result<Vec<DataSet>, Failure> {
    let known = DataSet::ALL.map(DataSet::name).join(", ");
    names
        .iter()
        .map(|name| {
            DataSet::from_name(name).ok_or_else(|| {
                Failure::input(anyhow!(
                    "data: found \"{name}\", expected one of the paper's: {known}"
                ))
            })
        })
        .collect()
}

fn check_alphas(arguments: &ReproduceArguments) -> Result<(), Failure> {
    let targets = targets(arguments.target);
    let mut known: Vec<f64> = targets.iter().flat_map(|t| t.alphas()).copied().collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    match arguments.alpha.iter().find(|alpha| !known.contains(alpha)) {
        None => Ok(()),
        Some(alpha) => {
            let known: Vec<String> = known.iter().map(f64::to_string).collect();
            Err(Failure::input(anyhow!(
                "alpha: found {alpha}, expected one of {}",
                known.join(", ")
            )))
        }
    }
}

/// The part of a target that was asked for; else what is wrong with it.
fn part(target: Target, arguments: &ReproduceArguments, named: &[DataSet]) -> Result<Part, String> {
    let is_named = |set: &DataSet| named.is_empty() || named.contains(set);
    // Figure 5 shows no proteins in the paper; who asks for them gets them.
    let extra = match target {
        Target::Figure5 if named.contains(&DataSet::Proteins) => vec![DataSet::Proteins],
        _ => Vec::new(),
    };
    let sets = target.data_sets().iter().copied().filter(is_named);
    let sets: Vec<DataSet> = extra.into_iter().chain(sets).collect();
    let known = || {
        let known: Vec<&str> = target.data_sets().iter().map(|set| set.name()).collect();
        known.join(", ")
    };
    if sets.is_empty() {
        return Err(format!(
            "{}: found none of its data sets in --data, expected one of {}",
            target.name(),
            known()
        ));
    }
    let is_restricted = |alpha: &f64| arguments.alpha.is_empty() || arguments.alpha.contains(alpha);
    let alphas: Vec<f64> = target
        .alphas()
        .iter()
        .copied()
        .filter(is_restricted)
        .collect();
    if alphas.is_empty() {
        return Err(format!(
            "{}: none of its growth ratios is in --alpha",
            target.name()
        ));
    }
    Ok(Part {
        target,
        data: sets,
        alphas,
    })
}
