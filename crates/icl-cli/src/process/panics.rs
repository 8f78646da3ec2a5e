//! Messages about panics.

use std::panic::{Location, set_hook, take_hook};
use std::path::Path;

/// Silences panics of the decoder of Parquet files: the reader of tables catches them, and one error tells of
/// the damaged file. Other panics are reported as before.
pub fn silence_decoders() {
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(is_decoder) {
            report(panic);
        }
    }));
}

/// Crates that decode Parquet files and their pages.
const DECODERS: [&str; 4] = ["parquet", "bytes", "ruzstd", "snap"];

/// Checks whether a place in a source file belongs to one of these crates, whose folders have their names and versions.
fn is_decoder(place: &Location<'_>) -> bool {
    Path::new(place.file()).components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        let crate_name = name.rsplit_once('-').map_or(&*name, |(before, _)| before);
        DECODERS.contains(&crate_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_panics_are_reported() {
        assert!(!is_decoder(Location::caller()));
    }
}
