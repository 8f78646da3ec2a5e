//! `icl update`: brings an encoder up to date with new data.

mod options;
mod task;

use icl::data::GraphDataset;

use crate::backend::on_backend;
use crate::checksum::checksum;
use crate::encoder_work::{self, REPORT};
use crate::failure::Failure;
use crate::run::read_data;
use crate::streams::print;
use crate::{encoder_file, interrupt};

pub use options::UpdateOptions;
use task::Update;

/// Updates an encoder by a method, writes its folder and prints what it was before and is after.
///
/// # Errors
/// If an option, the encoder or the data cannot be used, the training fails, or somebody interrupts
/// it.
pub fn update(options: UpdateOptions) -> Result<(), Failure> {
    interrupt::watch()?;
    let (options, resumed) = encoder_work::options(options)?;
    let resolved = options.resolve()?;
    let from = encoder_file::read(resolved.from.as_ref())?;
    let [old, new] = &resolved.data;
    let (old, new) = (read_data(old)?, read_data(new)?);
    from.check_data(&old)?;
    let (data, increment) = GraphDataset::join(&old, &new).map_err(Failure::input)?;
    let input = [
        ("checksum of the encoder", from.checksum.clone()),
        ("checksum of the old data", checksum(&old)),
        ("checksum of the new data", checksum(&new)),
    ];
    let training = &resolved.training;
    let work = encoder_work::folder(resumed, training, &resolved.options, &input)?;
    let task = Update {
        resolved: &resolved,
        from: &from,
        names: [old.name(), new.name()],
        data: &data,
        increment: &increment,
        work: &work,
    };
    let updated = on_backend(&training.backend, task).and_then(|record| {
        encoder_work::write_results(&work, &resolved.options, &record)?;
        let html =
            icl::report::update_html(&record).map_err(|error| Failure::Other(error.into()))?;
        encoder_work::write(&work.results().join(REPORT), html.as_bytes())?;
        Ok(record)
    });
    let record = match updated {
        Ok(record) => record,
        Err(failure) => return Err(work.fail(failure, "update")),
    };
    let folder = work.publish()?;
    let table = icl::report::update_table(&record);
    print(format_args!("{table}\nwritten to {}", folder.display()))
}
