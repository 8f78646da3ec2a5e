//! The correction of p-values for the number of tests.

/// Returns Holm's adjusted p-values (1979): with each test rejected whose value is at most 5 %, the chance of any false
/// alarm is at most 5 %, however the tests depend on each other.
///
/// ```text
/// p₍ᵢ₎ ↦ max over j ≤ i of min(1, (m − j + 1)·p₍ⱼ₎)         p₍₁₎ ≤ … ≤ p₍ₘ₎
/// ```
pub(super) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (place, test) in order.into_iter().enumerate() {
        let n_left = (p_values.len() - place) as f64;
        largest = largest.max((n_left * p_values[test]).min(1.0));
        adjusted[test] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of R's `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")`.
    #[test]
    fn adjusted_values_are_those_of_r() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]);
        assert_eq!(holm(&[0.7, 0.6]), [1.0, 1.0]);
        assert_eq!(holm(&[0.04]), [0.04]);
        assert_eq!(holm(&[]), [0.0; 0]);
    }
}
