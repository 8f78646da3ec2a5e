//! The Ornstein–Uhlenbeck process N: exploration noise that is correlated in time.

use burn::config::Config;
use rand::Rng;
use rand::RngExt;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::error::RlError;

/// Configuration of an [`OuNoise`].
///
/// The defaults of θ and σ are those of Lillicrap et al. (2016).
#[derive(Config, Debug, PartialEq)]
pub struct OuNoiseConfig {
    /// Rate θ of return to the mean per unit of time, a finite number above 0.
    #[config(default = 0.15)]
    pub theta: f64,
    /// Strength σ of the diffusion, a finite number of at least 0 (0 for no noise).
    #[config(default = 0.2)]
    pub sigma: f64,
    /// Time Δt between two draws, a finite number above 0.
    #[config(default = 1.0)]
    pub dt: f64,
    /// Mean m that the process returns to, a finite number.
    #[config(default = 0.0)]
    pub mean: f64,
    /// Factor of σ from one draw to the next, in (0, 1] (1 for no decay).
    #[config(default = 1.0)]
    pub decay: f64,
}

impl OuNoiseConfig {
    /// Creates the process.
    ///
    /// # Errors
    /// [`RlError::Invalid`] for the first field that is outside its documented range.
    pub fn try_init(&self) -> Result<OuNoise, RlError> {
        let above_zero = |x: f64| x.is_finite() && x > 0.0;
        let checks = [
            (
                "noise.theta",
                self.theta,
                above_zero(self.theta),
                "a number above 0",
            ),
            (
                "noise.sigma",
                self.sigma,
                self.sigma.is_finite() && self.sigma >= 0.0,
                "a number of at least 0",
            ),
            ("noise.dt", self.dt, above_zero(self.dt), "a number above 0"),
            (
                "noise.mean",
                self.mean,
                self.mean.is_finite(),
                "a finite number",
            ),
            (
                "noise.decay",
                self.decay,
                self.decay > 0.0 && self.decay <= 1.0,
                "a number above 0, at most 1",
            ),
        ];
        for (field, found, is_right, expected) in checks {
            if !is_right {
                return Err(RlError::of_field(field, found, expected));
            }
        }
        let keep = (-self.theta * self.dt).exp();
        // 1 − exp(−2 θ Δt) without the cancellation at small θ Δt.
        let variance = -(-2.0 * self.theta * self.dt).exp_m1() / (2.0 * self.theta);
        Ok(OuNoise {
            mean: self.mean,
            keep,
            spread: self.sigma * variance.sqrt(),
            decay: self.decay,
        })
    }

    /// Creates the process.
    ///
    /// # Panics
    /// If [`try_init`](Self::try_init) returns an error, with the message of the error.
    pub fn init(&self) -> OuNoise {
        self.try_init().unwrap_or_else(|error| panic!("{error}"))
    }
}

/// An Ornstein–Uhlenbeck process, sampled exactly at steps of Δt.
///
/// ```text
/// dx = θ (m − x) dt + σ dW
///
/// x_{k+1} = m + e^{−θΔt} (x_k − m) + d^k σ √((1 − e^{−2θΔt}) / 2θ) ξ_k        ξ_k ~ N(0, 1)
/// ```
///
/// with d the decay. For d = 1 the draws have the distribution of the continuous process at any Δt: in
/// the limit, the mean m, the variance σ²/2θ and the correlation e^{−θΔt·lag}. The common scheme of Euler
/// and Maruyama has them only for Δt → 0.
///
/// The state is passed to each draw and returned by it; the process itself is constant.
///
/// ```
/// use icl_rl::OuNoiseConfig;
/// use rand::SeedableRng;
///
/// let noise = OuNoiseConfig::new().with_sigma(0.1).init();
/// let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
/// let state = noise.next(noise.start(), &mut rng);
/// assert_ne!(state.value, 0.0);
/// ```
///
/// Source: Uhlenbeck and Ornstein (1930); as exploration noise Lillicrap et al. (2016).
#[derive(Debug, Clone, PartialEq)]
pub struct OuNoise {
    mean: f64,
    keep: f64,
    spread: f64,
    decay: f64,
}

/// State of an [`OuNoise`] after k draws.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OuState {
    /// Noise x_k.
    pub value: f64,
    /// Factor d^k of σ for the next draw.
    pub scale: f64,
}

impl OuNoise {
    /// Returns the state before the first draw: at the mean, with the full σ.
    pub fn start(&self) -> OuState {
        OuState {
            value: self.mean,
            scale: 1.0,
        }
    }

    /// Returns the state at the beginning of the next episode: at the mean, with σ decayed as in `state`.
    pub fn restart(&self, state: OuState) -> OuState {
        OuState {
            value: self.mean,
            ..state
        }
    }

    /// Draws the state one step of Δt later.
    pub fn next(&self, state: OuState, rng: &mut impl Rng) -> OuState {
        let normal: f64 = rng.sample(StandardNormal);
        OuState {
            value: self.mean
                + self.keep * (state.value - self.mean)
                + state.scale * self.spread * normal,
            scale: state.scale * self.decay,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_pcg::Pcg64;

    /// Four standard errors: about one seed in 16 000 would fail.
    const ERRORS: f64 = 4.0;

    #[test]
    fn the_stationary_process_has_its_closed_form_moments() {
        let (theta, sigma, dt, mean) = (0.4, 0.3, 0.5, -0.7);
        let noise = OuNoiseConfig::new()
            .with_theta(theta)
            .with_sigma(sigma)
            .with_dt(dt)
            .with_mean(mean)
            .init();
        let mut rng = Pcg64::seed_from_u64(11);
        let n = 400_000;
        let mut state = noise.start();
        let mut draws = Vec::with_capacity(n);
        for step in 0..n + 1000 {
            state = noise.next(state, &mut rng);
            if step >= 1000 {
                draws.push(state.value);
            }
        }
        let variance = sigma * sigma / (2.0 * theta);
        let k = f64::exp(-theta * dt);
        let count = n as f64;

        let found_mean = draws.iter().sum::<f64>() / count;
        // Var(mean) = s²/n · (1 + k)/(1 − k) for correlations k^lag.
        let error = (variance / count * (1.0 + k) / (1.0 - k)).sqrt();
        assert!((found_mean - mean).abs() < ERRORS * error, "{found_mean}");

        let found_variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        // Var(s²) = 2 s⁴/n · (1 + k²)/(1 − k²) for a Gaussian process with correlations k^lag.
        let error = variance * (2.0 / count * (1.0 + k * k) / (1.0 - k * k)).sqrt();
        assert!(
            (found_variance - variance).abs() < ERRORS * error,
            "{found_variance} for {variance}"
        );

        for lag in [1_usize, 2, 5, 10] {
            let products = draws
                .iter()
                .zip(&draws[lag..])
                .map(|(a, b)| (a - mean) * (b - mean));
            let found = products.sum::<f64>() / (n - lag) as f64 / found_variance;
            let rho = f64::exp(-theta * dt * lag as f64);
            // Bartlett's formula for an AR(1) process.
            let squared =
                ((1.0 + k * k) * (1.0 - rho * rho)) / (1.0 - k * k) - 2.0 * lag as f64 * rho * rho;
            let error = (squared / count).sqrt();
            assert!(
                (found - rho).abs() < ERRORS * error,
                "lag {lag}: {found} for {rho}"
            );
        }
    }

    #[test]
    fn the_way_to_the_limit_is_that_of_the_continuous_process() {
        let (theta, sigma, dt) = (0.8, 0.5, 0.25);
        let noise = OuNoiseConfig::new()
            .with_theta(theta)
            .with_sigma(sigma)
            .with_dt(dt)
            .with_mean(1.0)
            .init();
        let mut rng = Pcg64::seed_from_u64(5);
        let (n_paths, n_steps, from) = (40_000, 6, -2.0);
        let ends: Vec<f64> = (0..n_paths)
            .map(|_| {
                let start = OuState {
                    value: from,
                    scale: 1.0,
                };
                let end = (0..n_steps).fold(start, |state, _| noise.next(state, &mut rng));
                end.value
            })
            .collect();
        let (count, t) = (n_paths as f64, dt * n_steps as f64);
        let mean = 1.0 + (from - 1.0) * f64::exp(-theta * t);
        let variance = sigma * sigma / (2.0 * theta) * (1.0 - f64::exp(-2.0 * theta * t));
        let found_mean = ends.iter().sum::<f64>() / count;
        assert!((found_mean - mean).abs() < ERRORS * (variance / count).sqrt());
        let found_variance = ends.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        assert!((found_variance - variance).abs() < ERRORS * variance * (2.0 / count).sqrt());
    }

    #[test]
    fn decay_shrinks_what_is_drawn_and_survives_a_restart() {
        let noise = OuNoiseConfig::new().with_decay(0.5).init();
        let mut rng = Pcg64::seed_from_u64(5);
        let third = (0..3).fold(noise.start(), |state, _| noise.next(state, &mut rng));
        assert_eq!(third.scale, 0.125);
        let again = noise.restart(third);
        assert_eq!((again.value, again.scale), (0.0, 0.125));

        // By hand: σ = 0.2, θ = 0.15, Δt = 1, the same normal draw, an eighth of σ.
        let mut same = rng.clone();
        let normal: f64 = same.sample(StandardNormal);
        let expected = 0.125 * 0.2 * ((1.0 - f64::exp(-0.3)) / 0.3).sqrt() * normal;
        let found = noise.next(again, &mut rng).value;
        assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
    }

    #[test]
    fn without_sigma_it_stays_at_the_mean() {
        let noise = OuNoiseConfig::new().with_sigma(0.0).with_mean(0.3).init();
        let mut rng = Pcg64::seed_from_u64(5);
        assert_eq!(noise.next(noise.start(), &mut rng).value, 0.3);
    }

    #[test]
    fn every_range_is_checked() {
        let base = OuNoiseConfig::new;
        let cases = [
            (base().with_theta(0.0), "noise.theta"),
            (base().with_theta(f64::NAN), "noise.theta"),
            (base().with_sigma(-0.1), "noise.sigma"),
            (base().with_sigma(f64::INFINITY), "noise.sigma"),
            (base().with_dt(0.0), "noise.dt"),
            (base().with_mean(f64::NAN), "noise.mean"),
            (base().with_decay(0.0), "noise.decay"),
            (base().with_decay(1.1), "noise.decay"),
            (base().with_decay(f64::NAN), "noise.decay"),
        ];
        for (config, name) in cases {
            match config.try_init() {
                Err(RlError::Invalid { place, .. }) => assert_eq!(place, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    #[should_panic(expected = "noise.sigma: found -1, expected a number of at least 0")]
    fn init_panics_with_the_same_words() {
        OuNoiseConfig::new().with_sigma(-1.0).init();
    }
}
