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

/// Checks whether a place in a source file belongs to the crate `parquet`, whose folder is named after it.
fn is_decoder(place: &Location<'_>) -> bool {
    Path::new(place.file()).components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name == "parquet" || name.starts_with("parquet-")
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
