//! Energy that the processor packages have used, by the powercap counters of Linux.

use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Folder of the counters.
const COUNTERS: &str = "/sys/class/powercap";

/// Meter of the energy that all processor packages use from its start on.
pub struct EnergyMeter {
    packages: Vec<Package>,
}

struct Package {
    folder: PathBuf,
    /// Value of the counter at the start, in microjoules.
    before: u64,
}

impl EnergyMeter {
    /// Starts to measure; `None` where there are no counters, or no permission to read them.
    pub fn start() -> Option<Self> {
        Self::start_in(Path::new(COUNTERS))
    }

    fn start_in(counters: &Path) -> Option<Self> {
        let mut packages = Vec::new();
        for entry in counters.read_dir().ok()?.flatten() {
            // intel-rapl:0 is a package, intel-rapl:0:1 a part of it; those of AMD have the same names.
            let name = entry.file_name();
            let is_package = name
                .to_str()
                .and_then(|name| name.strip_prefix("intel-rapl:"))
                .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            if is_package {
                let folder = entry.path();
                let before = number(&folder, "energy_uj")?;
                packages.push(Package { folder, before });
            }
        }
        (!packages.is_empty()).then_some(Self { packages })
    }

    /// Returns the energy that was used since the start, in joules; `None` if a counter cannot be read.
    pub fn joules(self) -> Option<f64> {
        let of = |package: &Package| {
            let now = number(&package.folder, "energy_uj")?;
            let taken = if now >= package.before {
                now - package.before
            } else {
                // The counter has started again at 0.
                number(&package.folder, "max_energy_range_uj")? - package.before + now
            };
            Some(taken as f64 / 1e6)
        };
        self.packages.iter().map(of).sum()
    }
}

fn number(folder: &Path, name: &str) -> Option<u64> {
    read_to_string(folder.join(name)).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir, write};

    #[test]
    fn packages_are_added_and_counters_begin_again() {
        let at = tempfile::tempdir().unwrap();
        assert!(EnergyMeter::start_in(at.path()).is_none());
        let set = |name: &str, value: &str| {
            let folder = at.path().join(name);
            if !folder.exists() {
                create_dir(&folder).unwrap();
                write(folder.join("max_energy_range_uj"), "10000000\n").unwrap();
            }
            write(folder.join("energy_uj"), value).unwrap();
        };
        for name in [
            "intel-rapl",
            "intel-rapl:0",
            "intel-rapl:0:0",
            "intel-rapl:1",
        ] {
            set(name, "9000000\n");
        }
        let meter = EnergyMeter::start_in(at.path()).unwrap();
        set("intel-rapl:0", "9500000\n");
        set("intel-rapl:0:0", "9999999\n");
        set("intel-rapl:1", "1000000\n");
        assert_eq!(meter.joules(), Some(2.5));
    }

    #[test]
    fn counters_that_cannot_be_read_are_none() {
        let at = tempfile::tempdir().unwrap();
        create_dir(at.path().join("intel-rapl:0")).unwrap();
        assert!(EnergyMeter::start_in(at.path()).is_none());
        assert!(EnergyMeter::start_in(&at.path().join("none")).is_none());
    }
}
