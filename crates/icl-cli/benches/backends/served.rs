//! This executable as the side of one backend, in a process of its own.

use std::error::Error;
use std::io::Write;
use std::time::Instant;

use burn::backend::Autodiff;
use burn::tensor::backend::Backend;

use crate::case::Case;
use crate::machine::{peak_memory_mib, processor_ms};
use crate::work;
use crate::work::repeated::Work;

/// Prepares a case, reports it, and answers questions until the input ends. The protocol is that of
/// `scripts/peer/backends.py`.
pub fn serve(backend: &str, case: &str) -> Result<(), Box<dyn Error>> {
    let found = Case::all().find(|known| known.words() == case);
    let case = found
        .ok_or_else(|| format!("found the case \"{case}\", expected one of this benchmark"))?;
    match backend {
        #[cfg(feature = "flex")]
        "flex" => on::<burn::backend::Flex>(&case),
        #[cfg(feature = "tch")]
        "tch" => on::<burn::backend::LibTorch>(&case),
        #[cfg(feature = "wgpu")]
        "wgpu" => on::<burn::backend::Wgpu>(&case),
        #[cfg(feature = "vulkan")]
        "vulkan" => on::<burn::backend::Vulkan>(&case),
        #[cfg(feature = "cuda")]
        "cuda" => on::<burn::backend::Cuda>(&case),
        other => Err(format!("found the backend \"{other}\", expected one of this binary").into()),
    }
}

fn on<B: Backend>(case: &Case) -> Result<(), Box<dyn Error>> {
    let at_start = peak_memory_mib();
    let mut work = work::of::<Autodiff<B>>(case, &Default::default())?;
    (work.repeat)();
    let mut output = std::io::stdout();
    writeln!(output, "ready\t\t{}", work.facts)?;
    for line in std::io::stdin().lines() {
        match line?.split_once(' ') {
            Some(("turn", limit_ms)) => {
                let [time, processors] = turn_ms(&mut work, limit_ms.parse()?);
                writeln!(output, "{time} {processors}")?;
            }
            _ => writeln!(output, "{} {at_start}", peak_memory_mib())?,
        }
    }
    Ok(())
}

/// Returns the mean time of a repetition in milliseconds, over all repetitions that begin within
/// `limit_ms`: of the clock, and of all processors together.
fn turn_ms(work: &mut Work, limit_ms: f64) -> [f64; 2] {
    let worked = processor_ms();
    let start = Instant::now();
    let mut n_repetitions = 0;
    loop {
        (work.repeat)();
        n_repetitions += 1;
        let gone_ms = start.elapsed().as_secs_f64() * 1e3;
        if gone_ms >= limit_ms {
            return [gone_ms, processor_ms() - worked].map(|ms| ms / f64::from(n_repetitions));
        }
    }
}
