//! Speed of the protocols: k nearest neighbours and the linear probe on six embeddings of 4110 x 64, and the support
//! vector machine beside scikit-learn's. Run by `cargo xtask bench protocols`.
//!
//! Both sides of the machine take turns, on the same embeddings and folds, so that other work on the machine falls
//! on both. Both use as many threads: `RAYON_NUM_THREADS`, else all. The other side needs a Python with
//! scikit-learn: `PYTHON`, else `python3`; without it its rows are missing. Nothing is asserted: a machine's speed
//! is no property of the program.

use std::error::Error;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use icl_core::Seed;
use icl_eval::{
    CrossValidated, KnnProtocolConfig, LinearProbeConfig, Matrix, SvmProtocolConfig,
    stratified_folds,
};
use rand::RngExt;
use serde::Deserialize;
use serde_json::json;

const N: usize = 4110;
const WIDTH: usize = 64;
/// Number of embeddings: an untrained encoder, raw features and four methods.
const N_EMBEDDINGS: u64 = 6;
const GRID: [f64; 7] = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3];

fn main() -> Result<(), Box<dyn Error>> {
    let n_threads = match std::env::var("RAYON_NUM_THREADS") {
        Ok(n) => n.parse()?,
        Err(_) => std::thread::available_parallelism()?.get(),
    };
    println!("{N} x {WIDTH}, two classes, {n_threads} threads\n");
    println!("| embeddings | seed | k nearest neighbours, s | linear probe, s | accuracies |");
    println!("|---|---|---|---|---|");
    let knn = KnnProtocolConfig::default().try_init()?;
    let linear = LinearProbeConfig::default().try_init()?;
    let mut total = 0.0;
    for seed in 0..N_EMBEDDINGS {
        let case = Case::new(seed)?;
        let (of_knn, knn_s) = case.measure(&knn)?;
        let (of_linear, linear_s) = case.measure(&linear)?;
        total += knn_s + linear_s;
        println!(
            "| {} | {seed} | {knn_s:.2} | {linear_s:.2} | {:.4}, {:.4} |",
            case.kind(),
            mean(&of_knn.0),
            mean(&of_linear.0)
        );
    }
    println!("\nboth protocols on all six: {total:.1} s\n");

    let mut peer = Peer::start(n_threads);
    let name = peer
        .as_ref()
        .map_or("no scikit-learn found", |peer| &peer.name);
    println!("Support vector machine beside GridSearchCV(SVC(), n_jobs={n_threads}), {name}\n");
    println!("| embeddings | seed | icl, s | scikit-learn, s | ratio | accuracies | chosen C |");
    println!("|---|---|---|---|---|---|---|");
    let svm = SvmProtocolConfig::default()
        .with_grid(GRID.to_vec())
        .try_init()?;
    for seed in 0..2 {
        let case = Case::new(seed)?;
        // Before and after the other side's turn.
        let (ours, before) = case.measure(&svm)?;
        let theirs = peer.as_mut().map(|peer| peer.turn(&case)).transpose()?;
        let (_, after) = case.measure(&svm)?;
        let seconds = 0.5 * (before + after);
        let Some(theirs) = theirs else {
            println!("| {} | {seed} | {seconds:.1} | | | | |", case.kind());
            continue;
        };
        let differ = |equal: bool| if equal { "equal" } else { "not equal" };
        println!(
            "| {} | {seed} | {seconds:.1} ({before:.1}, {after:.1}) | {:.1} | {:.1} | {}: {:.4}, {:.4} | {} |",
            case.kind(),
            theirs.seconds,
            theirs.seconds / seconds,
            differ(close(&ours.0, &theirs.accuracies)),
            mean(&ours.0),
            mean(&theirs.accuracies),
            differ(ours.1 == theirs.chosen_c),
        );
    }
    Ok(())
}

/// Embeddings with their folds.
struct Case {
    seed: u64,
    values: Vec<f64>,
    labels: Vec<usize>,
    folds: Vec<usize>,
}

impl Case {
    /// Draws embeddings: with an even seed two normal clouds that overlap; with an odd one like a graph encoder's sums
    /// over nodes, positive, with heavy tails and strongly correlated.
    fn new(seed: u64) -> Result<Self, Box<dyn Error>> {
        let mut rng = Seed::new(seed).rng();
        // By Box and Muller.
        let mut normal = move || {
            let [a, b]: [f64; 2] = [
                rng.random_range(f64::EPSILON..1.0),
                rng.random_range(0.0..1.0),
            ];
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        let labels: Vec<usize> = (0..N).map(|_| usize::from(normal() > 0.25)).collect();
        let directions: Vec<[f64; 5]> = (0..WIDTH)
            .map(|_| std::array::from_fn(|_| normal().abs()))
            .collect();
        let mut values = Vec::with_capacity(N * WIDTH);
        for &label in &labels {
            let shift = label as f64;
            let n_nodes = (3.4 - 0.8 * shift + 0.7 * normal()).exp();
            let profile: [f64; 5] = std::array::from_fn(|_| normal().abs() + 0.15 * shift);
            for direction in &directions {
                let noise = normal();
                values.push(if seed.is_multiple_of(2) {
                    noise + 0.16 * shift * direction[0]
                } else {
                    let pairs = profile.iter().zip(direction);
                    let pooled: f64 = pairs.map(|(x, y)| x * y).sum();
                    (0.05 * n_nodes * pooled + 0.3 * noise).max(0.0)
                });
            }
        }
        let folds = stratified_folds(&labels, 5);
        Ok(Self {
            seed,
            values,
            labels,
            folds,
        })
    }

    fn kind(&self) -> &'static str {
        if self.seed.is_multiple_of(2) {
            "clouds"
        } else {
            "heavy tails"
        }
    }

    /// Returns the accuracies on the folds and the chosen C, and the seconds.
    #[expect(clippy::type_complexity, reason = "two lists and a time")]
    fn measure(
        &self,
        protocol: &dyn CrossValidated,
    ) -> Result<((Vec<f64>, Vec<f64>), f64), Box<dyn Error>> {
        let matrix = Matrix::try_new(self.values.clone(), WIDTH)?;
        let start = Instant::now();
        let found = protocol.evaluate_on_folds(&matrix, &self.labels, &self.folds)?;
        let seconds = start.elapsed().as_secs_f64();
        let found = found.ok_or("two classes have an accuracy")?;
        Ok(((found.per_fold, found.chosen_c), seconds))
    }
}

#[derive(Deserialize)]
struct Answer {
    seconds: f64,
    accuracies: Vec<f64>,
    chosen_c: Vec<f64>,
}

/// scikit-learn's side: a process that takes a turn whenever it is told to.
struct Peer {
    name: String,
    // In this order: the process ends when its input does.
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Peer {
    /// None if there is no Python with scikit-learn.
    fn start(n_threads: usize) -> Option<Self> {
        let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/peer/protocols.py");
        let mut process = Command::new(python)
            .arg(script)
            .arg(n_threads.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let input = process.stdin.take()?;
        let mut output = BufReader::new(process.stdout.take()?).lines();
        let name = output.next()?.ok()?;
        Some(Self {
            name,
            input,
            output,
            _process: process,
        })
    }

    fn turn(&mut self, case: &Case) -> Result<Answer, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("icl-bench-{}.json", std::process::id()));
        let text = json!({
            "embeddings": case.values,
            "width": WIDTH,
            "labels": case.labels,
            "folds": case.folds,
            "grid": GRID,
        });
        std::fs::write(&path, text.to_string())?;
        writeln!(self.input, "{}", path.display())?;
        let answer = self
            .output
            .next()
            .ok_or("scikit-learn's process has ended")??;
        std::fs::remove_file(&path)?;
        Ok(serde_json::from_str(&answer)?)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}
