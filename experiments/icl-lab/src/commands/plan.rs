//! The targets, data sets and growth ratios that can be run.

use crate::pages::paper::{DataSet, Target};
use anyhow::anyhow;
use icl_cli::parts::Failure;

use crate::commands::options::{ReproduceOptions, Wanted};
use crate::commands::source::Source;

/// Everything that can be run.
#[derive(Debug)]
pub struct Plan {
    /// Targets, each with its data sets and growth ratios.
    pub parts: Vec<Part>,
    /// Data sets on the disk.
    pub data: Vec<(DataSet, Source)>,
    /// A sentence for each part that cannot be run.
    pub notes: Vec<String>,
}

/// A target that can be run, at least in part.
#[derive(Debug)]
pub struct Part {
    /// Target.
    pub target: Target,
    /// Data sets.
    pub data: Vec<DataSet>,
    /// Growth ratios.
    pub alphas: Vec<f64>,
}

impl Plan {
    /// Plans the parts of the targets that can be run with these options.
    ///
    /// # Errors
    /// If nothing can be run, or not everything that is named.
    pub fn new(options: &ReproduceOptions) -> Result<Self, Failure> {
        let mut notes = Vec::new();
        let mut parts = Vec::new();
        let named = named(&options.sets.data_sets)?;
        check_alphas(options)?;
        for target in options.target().targets() {
            match part(target, options, &named) {
                Ok(part) => parts.push(part),
                Err(note) => notes.push(note),
            }
        }
        if matches!(options.target(), Wanted::One(_)) && !notes.is_empty() {
            return Err(Failure::input(anyhow!("{}", notes.join("; "))));
        }
        let mut data = Vec::new();
        for set in DataSet::ALL {
            let is_wanted = |part: &Part| part.data.contains(&set);
            if !parts.iter().any(is_wanted) {
                continue;
            }
            match Source::find(set, options) {
                Ok(source) => data.push((set, source)),
                Err(message) if options.target() == Wanted::All => notes.push(message),
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

    /// Returns a data set on the disk.
    pub fn source(&self, data: DataSet) -> Option<&Source> {
        let of = self.data.iter().find(|(own, _)| *own == data);
        of.map(|(_, source)| source)
    }
}

/// Returns the data sets of these names.
fn named(names: &[String]) -> Result<Vec<DataSet>, Failure> {
    let known = DataSet::ALL.map(DataSet::name).join(", ");
    names
        .iter()
        .map(|name| {
            DataSet::from_name(name).ok_or_else(|| {
                Failure::input(anyhow!(
                    "data-sets: found \"{name}\", expected one of the paper's: {known}"
                ))
            })
        })
        .collect()
}

fn check_alphas(options: &ReproduceOptions) -> Result<(), Failure> {
    let targets = options.target().targets();
    let mut known: Vec<f64> = targets.iter().flat_map(|t| t.alphas()).copied().collect();
    known.sort_by(f64::total_cmp);
    known.dedup();
    match options.alphas.iter().find(|alpha| !known.contains(alpha)) {
        None => Ok(()),
        Some(alpha) => {
            let known: Vec<String> = known.iter().map(f64::to_string).collect();
            Err(Failure::input(anyhow!(
                "alphas: found {alpha}, expected one of {}",
                known.join(", ")
            )))
        }
    }
}

/// Returns the requested part of a target; a message if there is none.
fn part(target: Target, options: &ReproduceOptions, named: &[DataSet]) -> Result<Part, String> {
    let is_named = |set: &DataSet| named.is_empty() || named.contains(set);
    // Figure 5 of the paper shows no proteins; they are run if they are named.
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
            "{}: found none of its data sets in --data-sets, expected one of {}",
            target.name(),
            known()
        ));
    }
    let is_restricted = |alpha: &f64| options.alphas.is_empty() || options.alphas.contains(alpha);
    let alphas: Vec<f64> = target
        .alphas()
        .iter()
        .copied()
        .filter(is_restricted)
        .collect();
    if alphas.is_empty() {
        return Err(format!(
            "{}: found none of its growth ratios in --alphas, expected at least one",
            target.name()
        ));
    }
    Ok(Part {
        target,
        data: sets,
        alphas,
    })
}
