//! The dual problem of a support vector machine with two classes, and its solver.

use pulp::{Arch, Simd, WithSimd};

use super::greatest::Greatest;
use super::held::{Held, Lanes, add};
use super::kernel::{Gram, LANES};
use super::pair_step::{clipped, curvature};
use crate::{EvalError, Watch};

/// Tolerance of the solver: the violation of the optimality conditions at which it stops.
const TOLERANCE: f64 = 1e-3;
/// Maximum number of iterations, as in libsvm.
const MAX_ITERATIONS: usize = 10_000_000;
/// Maximum number of iterations between two attempts to shrink, as in libsvm.
const SHRINK_EVERY: usize = 1000;
/// Number of iterations between two looks at the request to stop: some milliseconds.
const LOOK_EVERY: usize = 1024;

/// The soft-margin problem of two classes in its dual form, with penalty C:
///
/// ```text
/// minimise  ½ αᵀQα − Σᵢ αᵢ   over 0 ≤ αᵢ ≤ C with Σᵢ yᵢαᵢ = 0,   Qᵢⱼ = yᵢyⱼ k(xᵢ, xⱼ)
/// ```
///
/// The solver is that of libsvm (Chang and Lin, 2011): sequential minimal optimisation with second-order
/// working sets (Fan, Chen and Lin, 2005) from α = 0, with the same shrinking at the same steps. It does the same
/// arithmetic in the same order, so that it takes the same steps. Instead of the gradient g = Qα − 1 it holds
/// v = −y·g, which needs no signs.
pub(super) struct PairSolver<'a> {
    gram: &'a Gram,
    /// Number of samples of the first class, with y = +1; the others have y = −1.
    n_first: usize,
    c: f64,
    /// α of every sample.
    alpha: Vec<f64>,
    /// Part of y − v of every sample that comes from those with α = C.
    of_bounded: Lanes,
    /// All samples; the first are those that shrinking has not left out.
    order: Vec<usize>,
    n_active: usize,
    held: Held<'a>,
    /// v = −y·g of each held sample.
    values: Lanes,
    /// 0 where yα may grow, else −∞.
    may_grow: Lanes,
    /// 0 where yα may shrink, else ∞.
    may_shrink: Lanes,
    /// Whether all samples were taken back near the end.
    was_unshrunk: bool,
    /// Whether an α has reached C.
    is_bounded: bool,
}

/// The decision function f(x) = Σᵢ yᵢαᵢ k(xᵢ, x) − ρ of two classes, positive for the first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PairSolution {
    /// Coefficient yᵢαᵢ of each sample of the problem.
    pub(super) coefficients: Vec<f64>,
    /// Offset ρ.
    pub(super) rho: f64,
    /// Whether an α reached C on the way. If none did, every greater C has the same steps and the same solution.
    pub(super) is_bounded: bool,
}

/// All steps of a solver, compiled for the vector instructions of the processor found.
struct Steps<'s, 'a, 'w> {
    solver: &'s mut PairSolver<'a>,
    watch: &'s Watch<'w>,
}

impl WithSimd for Steps<'_, '_, '_> {
    type Output = Result<f64, EvalError>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Self::Output {
        self.solver.descend(self.watch)
    }
}

/// Two held samples to step along, or the violation of the optimality conditions if there are none.
type Selected = Result<(usize, usize), f64>;

impl<'a> PairSolver<'a> {
    /// Begins at α = 0. The first `n_first` samples of `gram` are those of the first class.
    pub(super) fn new(gram: &'a Gram, n_first: usize, c: f64) -> Self {
        let n = gram.n();
        let mut solver = Self {
            gram,
            n_first,
            c,
            alpha: vec![0.0; n],
            of_bounded: vec![[0.0; LANES]; n.div_ceil(LANES)],
            order: (0..n).collect(),
            held: Held::all(gram),
            values: Vec::new(),
            may_grow: Vec::new(),
            may_shrink: Vec::new(),
            n_active: n,
            was_unshrunk: false,
            is_bounded: false,
        };
        solver.values = solver.held.select(|i| solver.sign(i), 0.0);
        solver.note_all_bounds();
        solver
    }

    /// Solves the problem.
    ///
    /// # Errors
    /// - [`EvalError::NotConverged`] if it takes more than 10⁷ iterations or the kernel is not finite;
    /// - [`EvalError::Interrupted`] if the watch says so.
    pub(super) fn solve(mut self, watch: &Watch<'_>) -> Result<PairSolution, EvalError> {
        let violation = Arch::new().dispatch(Steps {
            solver: &mut self,
            watch,
        })?;
        let is_finite = self.values.as_flattened().iter().all(|v| v.is_finite());
        if is_finite && violation < TOLERANCE {
            return Ok(PairSolution {
                rho: self.rho(),
                is_bounded: self.is_bounded,
                coefficients: (0..self.alpha.len())
                    .map(|i| self.sign(i) * self.alpha[i])
                    .collect(),
            });
        }
        Err(EvalError::NotConverged {
            c: self.c,
            violation: if is_finite { violation } else { f64::NAN },
            tolerance: TOLERANCE,
        })
    }

    /// Steps until the violation of the optimality conditions is within the tolerance, or no step is left; returns
    /// the violation.
    #[inline(always)]
    fn descend(&mut self, watch: &Watch<'_>) -> Result<f64, EvalError> {
        let period = self.alpha.len().min(SHRINK_EVERY);
        let mut countdown = period + 1;
        let mut greatest = self.greatest();
        for iteration in 0..MAX_ITERATIONS {
            if iteration % LOOK_EVERY == 0 {
                watch.check()?;
            }
            countdown -= 1;
            if countdown == 0 {
                countdown = period;
                self.shrink();
                greatest = self.greatest();
            }
            let mut selected = self.select(&greatest);
            if selected.is_err() && self.n_active < self.alpha.len() {
                self.unshrink();
                selected = self.select(&self.greatest());
                countdown = 1;
            }
            let pair = match selected {
                Ok(pair) => pair,
                Err(violation) => return Ok(violation),
            };
            self.held.prepare(pair.0);
            self.held.prepare(pair.1);
            let changes = self.step(pair);
            greatest = self.update(pair, changes);
        }
        Ok(f64::INFINITY)
    }

    /// Returns the sample with the greatest v of those whose yα may grow.
    #[inline(always)]
    fn greatest(&self) -> Greatest {
        let mut greatest = Greatest::new();
        for (at, (v, up)) in self.values.iter().zip(&self.may_grow).enumerate() {
            greatest.take(at, std::array::from_fn(|lane| v[lane] + up[lane]));
        }
        greatest
    }

    /// Returns the sample with the greatest v and, of those whose yα may shrink, the one with which a step gains
    /// most.
    #[inline(always)]
    fn select(&mut self, greatest: &Greatest) -> Selected {
        let (i, value) = greatest.place().ok_or(0.0)?;
        self.held.prepare(i);
        let mut gain = Greatest::new();
        let mut least = [f64::INFINITY; LANES];
        let rows = self.held.row(i).iter().zip(&self.values);
        for (at, ((k, v), low)) in rows.zip(&self.may_shrink).enumerate() {
            let gains = std::array::from_fn(|lane| {
                let v = v[lane] + low[lane];
                least[lane] = if v < least[lane] { v } else { least[lane] };
                let difference = value - v;
                let gain = difference * difference / curvature(k[lane]);
                if difference > 0.0 {
                    gain
                } else {
                    f64::NEG_INFINITY
                }
            });
            gain.take(at, gains);
        }
        let violation = value - least.into_iter().fold(f64::INFINITY, f64::min);
        match gain.place() {
            Some((j, _)) if violation >= TOLERANCE => Ok((i, j)),
            _ => Err(violation),
        }
    }

    /// Steps along the pair (i, j) within the bounds, in the arithmetic of libsvm; returns the changes of yα.
    #[inline(always)]
    fn step(&mut self, (at_i, at_j): (usize, usize)) -> [f64; 2] {
        let [i, j] = [at_i, at_j].map(|at| self.held.samples()[at]);
        let values = self.values.as_flattened();
        let [g_i, g_j] = [(i, at_i), (j, at_j)].map(|(i, at)| -self.sign(i) * values[at]);
        let curvature = curvature(self.gram.entry(i, j));
        let c = self.c;
        let old = [self.alpha[i], self.alpha[j]];
        let is_other = self.sign(i) != self.sign(j);
        let [a, b] = clipped(old, is_other, [g_i, g_j], curvature, c);
        (self.alpha[i], self.alpha[j]) = (a, b);
        self.note_bounds(at_i);
        self.note_bounds(at_j);
        for (i, before, after) in [(i, old[0], a), (j, old[1], b)] {
            match (before >= c, after >= c) {
                (false, true) => {
                    self.is_bounded = true;
                    self.bound(i, c);
                }
                (true, false) => self.bound(i, -c),
                _ => (),
            }
        }
        [(a - old[0]) * self.sign(i), (b - old[1]) * self.sign(j)]
    }

    /// Notes that the α of a sample has arrived at C, or with −C that it has left it.
    #[inline(always)]
    fn bound(&mut self, i: usize, c: f64) {
        let change = self.sign(i) * c;
        add(&mut self.of_bounded, self.gram.row(i), change);
    }

    /// Updates v after changes of yᵢαᵢ and yⱼαⱼ, and returns the next sample with the greatest v.
    #[inline(always)]
    fn update(&mut self, (i, j): (usize, usize), [of_i, of_j]: [f64; 2]) -> Greatest {
        let mut greatest = Greatest::new();
        let rows = self.held.row(i).iter().zip(self.held.row(j));
        let state = self.values.iter_mut().zip(&self.may_grow);
        for (at, ((k_i, k_j), (v, up))) in rows.zip(state).enumerate() {
            for lane in 0..LANES {
                v[lane] -= f64::from(k_i[lane]) * of_i + f64::from(k_j[lane]) * of_j;
            }
            greatest.take(at, std::array::from_fn(|lane| v[lane] + up[lane]));
        }
        greatest
    }

    /// Leaves out samples at a bound that no step seems to move any more.
    #[inline(always)]
    fn shrink(&mut self) {
        let greatest = self.greatest().place().map_or(f64::NEG_INFINITY, |of| of.1);
        let values = self.values.as_flattened().iter();
        let values = values.zip(self.may_shrink.as_flattened());
        let least = values.fold(f64::INFINITY, |least, (v, low)| least.min(v + low));
        if !self.was_unshrunk && greatest - least <= 10.0 * TOLERANCE {
            self.was_unshrunk = true;
            self.unshrink();
        }
        let bounds = self.may_grow.as_flattened().iter();
        let bounds = bounds.zip(self.may_shrink.as_flattened());
        let values = self.values.as_flattened().iter().zip(bounds);
        let leaves = values.map(|(v, (up, low))| match (*up == 0.0, *low == 0.0) {
            (false, true) => *v > greatest,
            (true, false) => *v < least,
            _ => false,
        });
        let leaves = leaves.take(self.n_active).collect();
        self.leave_out(leaves);
    }

    /// Goes on without some of the held samples. Each is replaced by the last that stays, as in libsvm: the order
    /// decides between samples with equal v, which each step makes.
    fn leave_out(&mut self, mut leaves: Vec<bool>) {
        let mut n_active = self.n_active;
        let mut at = 0;
        while at < n_active {
            if leaves[at] {
                n_active -= 1;
                while n_active > at && leaves[n_active] {
                    n_active -= 1;
                }
                self.order.swap(at, n_active);
                self.values.as_flattened_mut().swap(at, n_active);
                leaves.swap(at, n_active);
            }
            at += 1;
        }
        if n_active < self.n_active {
            self.n_active = n_active;
            let values: Vec<f64> = self.values.as_flattened()[..n_active].to_vec();
            self.values = vec![[0.0; LANES]; n_active.div_ceil(LANES)];
            self.values.as_flattened_mut()[..n_active].copy_from_slice(&values);
            self.held = Held::some(self.gram, self.order[..n_active].to_vec());
            self.note_all_bounds();
        }
    }

    /// Takes all samples back, with their v from those of the others.
    #[inline(always)]
    fn unshrink(&mut self) {
        let n = self.alpha.len();
        if self.n_active == n {
            return;
        }
        let mut values: Lanes = self.of_bounded.clone();
        for (i, v) in values.as_flattened_mut().iter_mut().take(n).enumerate() {
            *v = self.sign(i) - *v;
        }
        let free = (0..n).filter(|&i| self.alpha[i] > 0.0 && self.alpha[i] < self.c);
        for i in free {
            let coefficient = self.sign(i) * self.alpha[i];
            add(&mut values, self.gram.row(i), -coefficient);
        }
        for (&i, &v) in self.held.samples().iter().zip(self.values.as_flattened()) {
            values.as_flattened_mut()[i] = v;
        }
        self.held = Held::some(self.gram, self.order.clone());
        self.values = self.held.select(|i| values.as_flattened()[i], 0.0);
        self.n_active = n;
        self.note_all_bounds();
    }

    /// Returns the offset: the mean of −v over the free samples or, if there are none, the middle of what the bounds
    /// allow. All samples must be held.
    fn rho(&self) -> f64 {
        let (mut least, mut greatest) = (f64::INFINITY, f64::NEG_INFINITY);
        let (mut n_free, mut sum) = (0_usize, 0.0);
        for (&i, v) in self.held.samples().iter().zip(self.values.as_flattened()) {
            match self.directions(i) {
                (true, true) => {
                    n_free += 1;
                    sum -= v;
                }
                (true, false) => least = least.min(-v),
                _ => greatest = greatest.max(-v),
            }
        }
        if n_free > 0 {
            sum / n_free as f64
        } else {
            (least + greatest) / 2.0
        }
    }

    /// Returns the class y of a sample.
    #[inline(always)]
    fn sign(&self, i: usize) -> f64 {
        if i < self.n_first { 1.0 } else { -1.0 }
    }

    /// Returns whether the yα of a sample may grow, and whether it may shrink.
    #[inline(always)]
    fn directions(&self, i: usize) -> (bool, bool) {
        let (below, above) = (self.alpha[i] < self.c, self.alpha[i] > 0.0);
        if i < self.n_first {
            (below, above)
        } else {
            (above, below)
        }
    }

    /// Notes in which directions a held sample may go.
    #[inline(always)]
    fn note_bounds(&mut self, at: usize) {
        let (grows, shrinks) = self.directions(self.held.samples()[at]);
        self.may_grow.as_flattened_mut()[at] = barrier(grows, f64::NEG_INFINITY);
        self.may_shrink.as_flattened_mut()[at] = barrier(shrinks, f64::INFINITY);
    }

    /// Notes in which directions the held samples may go, none of which is left out.
    fn note_all_bounds(&mut self) {
        let grows = |i| barrier(self.directions(i).0, f64::NEG_INFINITY);
        self.may_grow = self.held.select(grows, f64::NEG_INFINITY);
        let shrinks = |i| barrier(self.directions(i).1, f64::INFINITY);
        self.may_shrink = self.held.select(shrinks, f64::INFINITY);
    }
}

/// Returns what is added to v: nothing where a step is allowed, else an infinity that no choice takes.
#[inline(always)]
fn barrier(is_allowed: bool, infinity: f64) -> f64 {
    if is_allowed { 0.0 } else { infinity }
}

#[cfg(test)]
mod tests {
    use super::*;

    use icl_core::Seed;
    use rand::RngExt;

    use libsvm_rs::qmatrix::QMatrix;
    use libsvm_rs::solver::{Solver, SolverVariant};

    fn gram(x: &[f64], gamma: f64) -> Gram {
        Gram::of(x.len(), |i, j| (-gamma * (x[i] - x[j]).powi(2)).exp())
    }

    fn solve(gram: &Gram, n_first: usize, c: f64) -> Result<PairSolution, EvalError> {
        PairSolver::new(gram, n_first, c).solve(&Watch::new())
    }

    #[test]
    fn two_samples_have_a_closed_form() {
        // With one sample a class α₁ = α₂ = α, and the objective α²(1 − k) − 2α is least at
        // α = 1 / (1 − k) or at C. The kernel is symmetric, so ρ = 0.
        let k = (-1.0_f64).exp();
        for (c, alpha) in [(10.0, 1.0 / (1.0 - k)), (0.5, 0.5)] {
            let solution = solve(&gram(&[0.0, 1.0], 1.0), 1, c).unwrap();
            // Single precision of the kernel.
            assert!((solution.coefficients[0] - alpha).abs() < 1e-6);
            assert_eq!(solution.coefficients[1], -solution.coefficients[0]);
            assert!(solution.rho.abs() < 1e-6);
        }
    }

    #[test]
    fn contradictions_at_a_high_penalty_converge() {
        // Both classes lie on the same ten points, so that no machine tells them apart.
        let x: Vec<f64> = (0..60).map(|i| f64::from(i % 10)).collect();
        let solution = solve(&gram(&x, 0.1), 20, 1e3).unwrap();
        assert!(solution.coefficients.iter().sum::<f64>().abs() < 1e-6);
    }

    #[test]
    fn a_kernel_that_is_no_number_is_an_error() {
        let gram = Gram::of(2, |_, _| f64::NAN);
        let found = solve(&gram, 1, 1.0);
        assert!(matches!(found, Err(EvalError::NotConverged { .. })));
    }

    #[test]
    fn a_request_to_stop_is_answered() {
        let watch = Watch::new().stop_when(|| true);
        let gram = gram(&[0.0, 1.0], 1.0);
        let found = PairSolver::new(&gram, 1, 1.0).solve(&watch);
        assert_eq!(found, Err(EvalError::Interrupted));
    }

    /// The matrix Q of a problem, as the solver of libsvm-rs accesses it.
    struct Q {
        n: usize,
        values: Vec<f32>,
        diagonal: Vec<f64>,
    }

    impl QMatrix for Q {
        fn get_q(&mut self, i: usize, len: usize) -> &[f32] {
            &self.values[i * self.n..][..len]
        }

        fn get_qd(&self) -> &[f64] {
            &self.diagonal
        }

        fn swap_index(&mut self, i: usize, j: usize) {
            let n = self.n;
            for k in 0..n {
                self.values.swap(i * n + k, j * n + k);
            }
            for row in self.values.chunks_exact_mut(n) {
                row.swap(i, j);
            }
        }
    }

    /// Returns the coefficients yα and the offset that libsvm-rs finds.
    fn libsvm(gram: &Gram, n_first: usize, c: f64) -> PairSolution {
        libsvm_rs::set_quiet(true);
        let n = gram.n();
        let sign = |i: usize| if i < n_first { 1_i8 } else { -1 };
        let entry = |at: usize| {
            let (i, j) = (at / n, at % n);
            f32::from(sign(i) * sign(j)) * gram.entry(i, j)
        };
        let q = Q {
            n,
            values: (0..n * n).map(entry).collect(),
            diagonal: vec![1.0; n],
        };
        let signs: Vec<i8> = (0..n).map(sign).collect();
        let mut alpha = vec![0.0; n];
        let solution = Solver::solve(
            SolverVariant::Standard,
            n,
            Box::new(q),
            &vec![-1.0; n],
            &signs,
            &mut alpha,
            c,
            c,
            TOLERANCE,
            true,
        );
        let signed = alpha.iter().zip(&signs);
        PairSolution {
            coefficients: signed.map(|(a, &y)| a * f64::from(y)).collect(),
            rho: solution.rho,
            is_bounded: alpha.contains(&c),
        }
    }

    /// Two classes that overlap, of a number of samples that fills no lanes.
    fn overlapping() -> Gram {
        let mut rng = Seed::new(5).rng();
        let x: Vec<f64> = (0..203).map(|_| rng.random_range(0.0..40.0)).collect();
        gram(&x, 0.05)
    }

    /// The steps are those of libsvm. Once shrinking has restored what it left out, by sums that round otherwise,
    /// samples that a step has made equal may be taken in another order: both ends lie within the tolerance.
    #[test]
    fn the_solution_is_that_of_libsvm() {
        let gram = overlapping();
        for (c, within) in [
            (1e-3, 1e-9),
            (0.1, 1e-9),
            (1.0, 1e-9),
            (10.0, 1e-4),
            (1e3, 1e-4),
        ] {
            let expected = libsvm(&gram, 90, c);
            let found = solve(&gram, 90, c).unwrap();
            let [ours, theirs] = [&found, &expected].map(|of| objective(&gram, &of.coefficients));
            assert!(
                (ours - theirs).abs() <= within * theirs.abs(),
                "{ours} {theirs}, C = {c}"
            );
            assert!(
                violation(&gram, 90, &found.coefficients, c) < 1.01 * TOLERANCE,
                "C = {c}"
            );
            assert!(found.coefficients.iter().sum::<f64>().abs() < 1e-9 * c);
            if within < 1e-8 {
                assert!((found.rho - expected.rho).abs() < within, "C = {c}");
            }
        }
    }

    /// Σⱼ yⱼαⱼ k(xᵢ, xⱼ), by a plain loop.
    fn decision(gram: &Gram, coefficients: &[f64], i: usize) -> f64 {
        let terms = coefficients.iter().enumerate();
        terms.map(|(j, a)| a * f64::from(gram.entry(i, j))).sum()
    }

    /// ½ αᵀQα − Σᵢ αᵢ.
    fn objective(gram: &Gram, coefficients: &[f64]) -> f64 {
        let terms = coefficients.iter().enumerate();
        terms
            .map(|(i, a)| 0.5 * a * decision(gram, coefficients, i) - a.abs())
            .sum()
    }

    /// The violation of the optimality conditions: max over I_up of −yᵢgᵢ minus min over I_low of −yᵢgᵢ (Fan, Chen
    /// and Lin, 2005, section 2).
    fn violation(gram: &Gram, n_first: usize, coefficients: &[f64], c: f64) -> f64 {
        let (mut up, mut low) = (f64::NEG_INFINITY, f64::INFINITY);
        for (i, a) in coefficients.iter().enumerate() {
            let y = if i < n_first { 1.0 } else { -1.0 };
            let value = y - decision(gram, coefficients, i);
            let (least, most) = if y > 0.0 { (0.0, c) } else { (-c, 0.0) };
            if *a < most {
                up = up.max(value);
            }
            if *a > least {
                low = low.min(value);
            }
        }
        up - low
    }

    #[test]
    fn without_an_alpha_at_c_greater_c_change_nothing() {
        // Far apart, each α is at most 2.
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let gram = gram(&x, 5.0);
        let found = solve(&gram, 20, 10.0).unwrap();
        assert!(!found.is_bounded);
        assert_eq!(solve(&gram, 20, 1e3).unwrap(), found);
        assert!(solve(&gram, 20, 0.1).unwrap().is_bounded);
    }
}
