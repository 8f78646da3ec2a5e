//! The formats whose readers are tried.

mod auc_curve;
mod checkpoint;
mod cifar;
mod encoder;
mod graphs;
mod idx;
mod image_folder;
mod interactions;
mod manifest;
mod npy;
mod options;
mod parquet;
mod program;
mod reader;
mod results;
mod table;
mod texts;
mod weights;

pub use reader::{Format, Make, Reader, Told};

/// Returns the names of all formats, and what makes each of them.
///
/// Making a format may train an encoder of a few parameters, so that its file is a valid input.
pub fn formats() -> Vec<(&'static str, Make)> {
    vec![
        ("tu", graphs::format),
        ("idx", idx::format),
        ("cifar", cifar::format),
        ("images", image_folder::format),
        ("table", table::format),
        ("parquet", parquet::format),
        ("interactions", interactions::format),
        ("texts", texts::format),
        ("npy", npy::format),
        ("pth", weights::format),
        ("encoder", encoder::format),
        ("toml", options::format),
        ("manifest", manifest::format),
        ("curve", auc_curve::format),
        ("record", results::format),
        ("checkpoint", checkpoint::format),
    ]
}
