//! The command line.

use clap::Parser;

use crate::case::Case;

/// Every backend of this binary beside PyTorch and PyTorch Geometric, doing the same work.
#[derive(Parser)]
#[command(name = "backends")]
pub struct Arguments {
    /// Few rounds of the smaller cases
    #[arg(long)]
    pub quick: bool,
    /// Only the cases whose name holds this, be it in capitals or not
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    /// Only these backends, parted by commas; else all of this binary
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub backends: Option<Vec<String>>,
    /// Be this backend's side of a case
    #[arg(long, hide = true, requires = "case")]
    pub side: Option<String>,
    /// The case, as the other side is told it
    #[arg(long, hide = true, requires = "side")]
    pub case: Option<String>,
    /// Cargo gives it to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

impl Arguments {
    /// Whether this case is asked for.
    pub fn wants(&self, case: &Case) -> bool {
        let name = case.to_string().to_lowercase();
        let is_named = self
            .only
            .as_ref()
            .is_none_or(|text| name.contains(&text.to_lowercase()));
        is_named && (case.is_small() || !self.quick)
    }
}
