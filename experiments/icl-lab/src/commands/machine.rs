//! The machine and the day of a reproduction.

use time::OffsetDateTime;

/// Version of the program, as pages have it.
pub const VERSION: &str = concat!("icl ", env!("CARGO_PKG_VERSION"));

/// Returns the name of the processor, where the system reports it, and the number of its cores.
pub fn processor() -> String {
    let model = std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| model_name(&text));
    let cores = match std::thread::available_parallelism() {
        Ok(n) if n.get() == 1 => "1 core".to_owned(),
        Ok(n) => format!("{n} cores"),
        Err(_) => "cores unknown".to_owned(),
    };
    format!(
        "{}, {cores}",
        model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
    )
}

fn model_name(cpuinfo: &str) -> Option<String> {
    let line = cpuinfo
        .lines()
        .find(|line| line.starts_with("model name"))?;
    let (_, name) = line.split_once(':')?;
    Some(name.trim().to_owned())
}

/// Returns the date of today in UTC, as 2026-01-31.
pub fn today() -> String {
    OffsetDateTime::now_utc().date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found() {
        let text = "processor\t: 0\nmodel name\t: A CPU @ 2.10GHz\nprocessor\t: 1\n";
        assert_eq!(model_name(text).as_deref(), Some("A CPU @ 2.10GHz"));
        assert_eq!(model_name("Hardware: other"), None);
        assert_eq!(today().len(), 10);
    }
}
