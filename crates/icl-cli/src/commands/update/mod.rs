//! `icl update`: updates an encoder with new data.

mod budget;
mod old_sample;
mod on_backend;
mod options;

use anyhow::anyhow;
use icl_core::Seed;
use icl_data::TableNote;
use icl_models::DataOrigin;
use icl_report::CommandOutcome;

use crate::backend::on_backend;
use crate::domain::Domain;
use crate::domain::data::{Data, DataSet, absolute, tell_equal, tell_unlabelled};
use crate::domain::encoder_choice::{OnStoredEncoder, with_stored_encoder};
use crate::domain::encoder_file::EncoderFile;
use crate::domain::task_labels::{Part, TaskFile, labels_of_data};
use crate::files::encoder_work;
use crate::files::encoder_work::REPORT;
use crate::files::whole;
use crate::files::work_folder::WorkFolder;
use crate::options::command_line::command_line;
use crate::options::data::ReadingOptions;
use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::terminal::tell;

use on_backend::Update;
use options::Resolved;
pub use options::UpdateOptions;

/// Updates an encoder by a method, writes its folder and prints a table of the encoder before and after. Returns the
/// exit code.
///
/// # Errors
/// If an option, the encoder or the data cannot be used, the training fails, or it is interrupted.
pub fn update(options: UpdateOptions) -> Result<u8, Failure> {
    interrupt::watch()?;
    let resumed = encoder_work::resumed(options.execution.resumed())?;
    let resolved = options.resolve()?;
    let [old, new] = &resolved.data;
    let mut readings = resolved.options.readings()?;
    let labels = TaskFile::open(resolved.options.task.task.as_deref(), &mut readings)?;
    let [mut of_old, of_new] = readings;
    if let Some(sample) = &resolved.old_sample {
        of_old = sample.reading(of_old);
    }
    let data = read_both([(old, of_old), (new, of_new)])?;
    let work = OldAndNew {
        resolved: &resolved,
        labels: labels.as_ref(),
        resumed,
    };
    let outliers = resolved.options.reading.outliers;
    with_stored_encoder(resolved.from.as_ref(), data, outliers, work)
}

/// Reads the old and the new data. A column of a table that an option names may be in one of them alone.
///
/// # Errors
/// If they cannot be read, or neither has such a column.
fn read_both(data: [(&Vec<String>, ReadingOptions); 2]) -> Result<[Data; 2], Failure> {
    let names = data.each_ref().map(|(sources, _)| named(sources));
    let [old, new] = data.map(|(sources, reading)| {
        let reading = ReadingOptions {
            allows_absent: true,
            ..reading
        };
        Data::read_all(sources, &reading)
    });
    let [old, new] = [old?, new?];
    let absent = |data: &Data| -> Vec<TableNote> {
        let Data::Tables(table) = data else {
            return Vec::new();
        };
        let notes = table.notes().iter();
        let absent = notes.filter(|note| matches!(note, TableNote::Absent { .. }));
        absent.cloned().collect()
    };
    let of_new = absent(&new);
    match absent(&old).iter().find(|note| of_new.contains(note)) {
        None => Ok([old, new]),
        Some(note) => Err(Failure::input(anyhow!(
            "{} and {}: {note}, expected it in one of them",
            names[0],
            names[1]
        ))),
    }
}

/// Checks that old data whose sources the encoder's file names are still those of its training.
///
/// # Errors
/// If they are not.
fn check_remembered(resolved: &Resolved, found: &DataOrigin) -> Result<(), Failure> {
    match resolved.remembered {
        Some((n, digest)) if (n, digest) != (found.n_samples, found.digest) => {
            Err(Failure::input(anyhow!(
                "old: found {} samples with the digest {} in the sources that {} names, expected {n} with the digest \
                 {digest}, as in its training; give --old, with the options by which they were read",
                found.n_samples,
                found.digest,
                resolved.from
            )))
        }
        _ => Ok(()),
    }
}

/// Returns a name of several sources: the first, and the number of the others.
fn named(sources: &[String]) -> String {
    match sources {
        [one] => one.clone(),
        [first, others @ ..] => format!("{first} and {} more", others.len()),
        [] => String::new(),
    }
}

/// Update of an encoder from old and new data.
struct OldAndNew<'a> {
    resolved: &'a Resolved,
    /// File of labels, if there is one.
    labels: Option<&'a TaskFile>,
    resumed: Option<WorkFolder>,
}

impl OnStoredEncoder<2> for OldAndNew<'_> {
    type Output = u8;

    fn run<D: Domain>(
        self,
        from: &EncoderFile<D>,
        [old, new]: [D::Data; 2],
    ) -> Result<u8, Failure> {
        let Self {
            resolved,
            labels,
            resumed,
        } = self;
        from.check_data(&old)?;
        let mut options = resolved.options.clone();
        options.hold_out.inherit(from.hold_out());
        options.hold_out.check()?;
        options.task.check(options.hold_out.share())?;
        for data in [&old, &new] {
            if labels.is_none() {
                tell_unlabelled(data);
            }
        }
        let (data, increment) = old.join(&new)?;
        let increment = match &resolved.old_sample {
            None => increment,
            Some(sample) => sample.weigh(increment)?,
        };
        tell_equal(&data, &increment)?;
        let part = |name, samples, of: &D::Data| Part {
            name,
            samples,
            rows: Some(of.positions()),
        };
        let parts = [
            part("old", increment.old(), &old),
            part("new", increment.new_data(), &new),
        ];
        let labels = match labels {
            Some(file) => Some(file.labels(&data, &parts)?),
            None => labels_of_data(&data),
        };
        let seed = Seed::new(resolved.training.seed).child("data");
        let of_old = old.contents_in(&data, increment.old())?;
        let of_new = new.contents_in(&data, increment.new_data())?;
        let origin = |part, at: usize, of: &D::Data, contents: &[u64]| {
            let sources = &resolved.data[at];
            let name = match &sources[..] {
                [_] => of.name().to_owned(),
                several => named(several),
            };
            let origin = DataOrigin::new(part, &name, contents.iter().copied());
            Ok::<_, Failure>(origin.with_sources(absolute(sources)?))
        };
        let n_old = resolved.old_sample.as_ref().map(|sample| sample.n_old);
        let sources = vec![
            DataOrigin {
                stands_for: n_old,
                ..origin("old", 0, &old, &of_old)?
            },
            origin("new", 1, &new, &of_new)?,
        ];
        check_remembered(resolved, &sources[0])?;
        if resumed.is_none() {
            from.tell_other_data("old", &sources[0])?;
        }
        let contents = || Ok([of_old, of_new].concat());
        let division = options.hold_out.divide(increment.clone(), contents, seed)?;
        let increment = &division.trained;
        let (n_old, batch_size) = (increment.old().len(), resolved.training.settings.batch_size);
        if resolved.old_sample.is_some() && n_old < batch_size {
            tell(format_args!(
                "warning: old-sample: {n_old} samples stand for {} in the training, fewer than a batch of {batch_size} \
                 holds: the update will fit these alone",
                increment.n_old()
            ));
        }
        let outliers = options.reading.outliers;
        let estimated = from.domain.standardized(&data, increment.old(), outliers)?;
        let (standardized, data) = match estimated {
            Some((domain, data)) => (Some(domain), data),
            None => (None, data),
        };
        let domain = standardized.as_ref().unwrap_or(&from.domain);
        let grown = domain.grown(&data);
        let input = [
            ("checksum of the encoder", from.checksum()),
            ("checksum of the old data", old.checksum()),
            ("checksum of the new data", new.checksum()),
            (
                "checksum of the labels",
                whole::checksum(options.task.task.as_deref())?,
            ),
        ];
        let config = toml::to_string(&options).map_err(Failure::input)?;
        let command = command_line("update", &options)?;
        let destination = options.output.folder.destination("update");
        let work = encoder_work::begin(resumed, destination, &config, &input)?;
        if let Some(folder) = &options.more {
            encoder_work::take_state(folder, &work)?;
        }
        let task = Update {
            resolved,
            from,
            domain: grown.as_ref().unwrap_or(domain),
            sources,
            command,
            data: &data,
            increment,
            held_out: division
                .held_out
                .as_ref()
                .zip(division.measured.as_ref())
                .map(Into::into),
            share: division.share,
            labels: labels.as_deref(),
            work: &work,
        };
        let updated = on_backend(&resolved.training.backend, task).and_then(|record| {
            encoder_work::write_results(&work, &config, &record)?;
            if resolved.options.output.tensorboard {
                encoder_work::write_events(&work, &icl_report::update_scalars(&record))?;
            }
            let document = icl_report::update_document(&record)
                .map_err(|error| Failure::Other(error.into()))?;
            whole::write(&work.results().join(REPORT), document.html().as_bytes())?;
            let code = resolved.options.verdict.code(record.verdict.as_ref());
            Ok((document, CommandOutcome::of_update(&record, code)))
        });
        let (document, outcome) = match updated {
            Ok(updated) => updated,
            Err(failure) => return Err(work.fail(failure, "update")),
        };
        let folder = work.publish(Some("update"))?;
        let code = outcome.exit;
        let document = (&document, options.output.folder.wide);
        options
            .output
            .json
            .print(outcome, document, None, &folder)?;
        Ok(code)
    }
}
