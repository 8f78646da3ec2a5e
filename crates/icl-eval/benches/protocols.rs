//! Speed of k nearest neighbours and the linear probe on six embeddings of 4110 x 64. Run by
//! `cargo xtask bench protocols`. Both use as many threads as `RAYON_NUM_THREADS` says, else all. Nothing is
//! asserted: a machine's speed is no property of the program.

use std::error::Error;
use std::time::Instant;

use icl_core::Seed;
use icl_eval::{CrossValidated, KnnProtocolConfig, LinearProbeConfig, Matrix, stratified_folds};
use rand::RngExt;

const N: usize = 4110;
const WIDTH: usize = 64;
/// Number of embeddings: an untrained encoder, raw features and four methods.
const N_EMBEDDINGS: u64 = 6;

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
            "| {} | {seed} | {knn_s:.2} | {linear_s:.2} | {of_knn:.4}, {of_linear:.4} |",
            case.kind()
        );
    }
    println!("\nboth protocols on all six: {total:.1} s");
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

    /// Returns the mean accuracy on the folds and the seconds.
    fn measure(&self, protocol: &dyn CrossValidated) -> Result<(f64, f64), Box<dyn Error>> {
        let matrix = Matrix::try_new(self.values.clone(), WIDTH)?;
        let start = Instant::now();
        let found = protocol.evaluate_on_folds(&matrix, &self.labels, &self.folds)?;
        let seconds = start.elapsed().as_secs_f64();
        Ok((found.ok_or("two classes have an accuracy")?.mean, seconds))
    }
}
