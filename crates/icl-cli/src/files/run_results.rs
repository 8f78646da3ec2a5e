//! Names of the results of `icl run`.

use crate::files::work_place::CONFIG;

/// The record, a line for each method and seed.
pub const RECORD: &str = "record.jsonl";
/// The comparison of the methods over the seeds.
pub const COMPARISON: &str = "comparison.json";
/// The report.
pub const REPORT: &str = "report.html";
/// The coordinates of the report's map.
pub const MAP: &str = "map.json";
/// Beginning of the names of encoders.
pub const ENCODER: &str = "encoder-";

/// Whether `icl run` writes a file of this name.
pub fn is_result(name: &str) -> bool {
    [CONFIG, RECORD, COMPARISON, REPORT, MAP].contains(&name)
        || name.starts_with(ENCODER) && name.ends_with(".safetensors")
}
