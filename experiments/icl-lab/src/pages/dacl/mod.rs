//! Reproduction of tables of DACL (Verma et al., ICML 2021): records of their rows, the paper's numbers as
//! data, and the documents that compare both and decide on the paper's claims.

mod claims;
mod data_set;
#[cfg(test)]
mod fixture;
mod lars;
mod methods;
mod noise_picture;
mod page;
mod published;
mod record;
mod row;
mod runs;
mod seed_spread;
mod tables;
mod target;

pub use data_set::DaclDataSet;
pub use lars::scaled_lars_rate;
pub use noise_picture::NoisePicture;
pub use page::{DaclReproduction, dacl_document};
pub use record::{
    DACL_SCHEMA, DaclAccuracies, DaclRecord, DaclSettings, DaclTraining, parse_dacl_records,
};
pub use row::DaclRow;
pub use target::DaclTarget;
