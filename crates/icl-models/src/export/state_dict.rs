//! Names and layouts of PyTorch's state dicts.

/// Returns the name in the exported file of the tensor at this path of an MLP, a ConvNet, a GCN or a GIN, with
/// hidden noise or without; `None` for those of a projection head.
pub(super) fn name(path: &str) -> Option<String> {
    let path = path.strip_prefix("encoder.").unwrap_or(path);
    let (module, rest) = path.split_once('.')?;
    let (layer, part) = rest.split_once('.')?;
    match (module, part) {
        // Their normalisation has no γ and β.
        ("statistics", "mean") => Some(format!("norms.{layer}.running_mean")),
        ("statistics", "variance") => Some(format!("norms.{layer}.running_var")),
        ("convolutions", part) => Some(format!("convolutions.{layer}.lin.{part}")),
        ("layers", "weight") => Some(format!("layers.{layer}.linear.weight")),
        ("layers", "norm.statistics.mean") => Some(format!("layers.{layer}.norm.running_mean")),
        ("layers", "norm.statistics.variance") => Some(format!("layers.{layer}.norm.running_var")),
        ("layers", part) => Some(format!("layers.{layer}.{part}")),
        _ => None,
    }
}

/// Returns a matrix `[n_rows, n_columns]` as `[n_columns, n_rows]`.
pub(super) fn transposed(values: &[f32], [n_rows, n_columns]: [usize; 2]) -> Vec<f32> {
    let column = |column: usize| (0..n_rows).map(move |row| values[row * n_columns + column]);
    (0..n_columns).flat_map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_pytorch() {
        for (path, expected) in [
            ("layers.0.weight", Some("layers.0.linear.weight")),
            ("layers.1.norm.weight", Some("layers.1.norm.weight")),
            (
                "layers.1.norm.statistics.mean",
                Some("layers.1.norm.running_mean"),
            ),
            ("encoder.layers.2.second.bias", Some("layers.2.second.bias")),
            ("convolutions.0.weight", Some("convolutions.0.lin.weight")),
            ("encoder.statistics.3.variance", Some("norms.3.running_var")),
            ("projection.hidden.weight", None),
            ("head.hidden.norm.weight", None),
        ] {
            assert_eq!(name(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn rows_become_columns() {
        let found = transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3]);
        assert_eq!(found, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
