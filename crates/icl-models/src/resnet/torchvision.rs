//! The names of torchvision's `resnet18`.

/// Returns the name in torchvision's state dict of the tensor at this path of the module; `None` for those of a
/// projection head, which torchvision's network does not have.
pub(crate) fn torchvision_name(path: &str) -> Option<String> {
    if let Some(part) = path.strip_prefix("classifier.") {
        return Some(format!("fc.{part}"));
    }
    let (layer, part) = match path.split_once(".norm.") {
        Some((layer, "statistics.mean")) => (layer, "running_mean"),
        Some((layer, "statistics.variance")) => (layer, "running_var"),
        Some((layer, part)) => (layer, part),
        None => (path.strip_suffix(".weight")?, "weight"),
    };
    let is_norm = path.contains(".norm.");
    let name = |convolution: &str, norm: &str| match is_norm {
        true => format!("{norm}.{part}"),
        false => format!("{convolution}.{part}"),
    };
    if layer == "stem.convolution" {
        return Some(name("conv1", "bn1"));
    }
    let (index, layer) = layer.strip_prefix("blocks.")?.split_once('.')?;
    let index: usize = index.parse().ok()?;
    let within = match layer {
        "first" => name("conv1", "bn1"),
        "second" => name("conv2", "bn2"),
        "shortcut" => name("downsample.0", "downsample.1"),
        _ => return None,
    };
    Some(format!("layer{}.{}.{within}", index / 2 + 1, index % 2))
}
