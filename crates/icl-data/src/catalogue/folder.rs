//! Folder of downloaded data sets.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

/// Environment variable that names the folder of all data sets.
pub const DATA_DIR: &str = "ICL_DATA_DIR";

/// Returns the folder of all data sets: that of the variable `ICL_DATA_DIR`, else `icl` in the user's cache folder.
///
/// The cache folder is that of `XDG_CACHE_HOME`, else `.cache` in the home folder, on every system.
pub fn folder() -> PathBuf {
    folder_by(|name| env::var_os(name), env::home_dir())
}

fn folder_by(variable: impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> PathBuf {
    let variable = |name| {
        variable(name)
            .filter(|it| !it.is_empty())
            .map(PathBuf::from)
    };
    variable(DATA_DIR).unwrap_or_else(|| {
        let cache = variable("XDG_CACHE_HOME").or(home.map(|home| home.join(".cache")));
        cache.unwrap_or_default().join("icl")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_comes_before_the_cache_folder() {
        let of = |variables: &[(&str, &str)], home: Option<&str>| {
            let value = |name: &str| {
                variables
                    .iter()
                    .find(|it| it.0 == name)
                    .map(|it| it.1.into())
            };
            folder_by(value, home.map(PathBuf::from))
        };
        let cache = ("XDG_CACHE_HOME", "/c");
        assert_eq!(
            of(&[(DATA_DIR, "/d"), cache], Some("/h")),
            PathBuf::from("/d")
        );
        assert_eq!(
            of(&[(DATA_DIR, ""), cache], Some("/h")),
            PathBuf::from("/c/icl")
        );
        assert_eq!(of(&[], Some("/h")), PathBuf::from("/h/.cache/icl"));
        assert_eq!(of(&[], None), PathBuf::from("icl"));
    }
}
