//! Numbers that both sides make alike.

use burn::tensor::{Tensor, TensorData, backend::Backend};

/// Numbers in [0, 1): SplitMix64 (Steele, Lea and Flood, 2014), its upper 24 bits.
pub fn hashed(stream: u64) -> impl Iterator<Item = f64> {
    (1_u64..).map(move |index| {
        let z = (stream << 32)
            .wrapping_add(index)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f64 / f64::from(1 << 24)
    })
}

/// Anchors, and positives that are like them, both `[n, width]`.
pub fn embeddings<B: Backend>(n: usize, width: usize, device: &B::Device) -> [Tensor<B, 2>; 2] {
    let anchors: Vec<f64> = hashed(2).take(n * width).map(|x| x - 0.5).collect();
    let positives = anchors.iter().zip(hashed(3));
    let positives = positives
        .map(|(anchor, x)| 0.5 * anchor + 0.5 * (x - 0.5))
        .collect();
    [anchors, positives].map(|values| {
        let data = TensorData::new(values, [n, width]).convert::<f32>();
        Tensor::from_data(data, device)
    })
}
