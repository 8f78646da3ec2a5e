//! The digest of an encoder, by which embeddings and later encoders name it.

use sha2::{Digest, Sha256};

/// Key of the digest in the metadata of an encoder's file.
pub(crate) const DIGEST: &str = "digest";
/// Key of the training.
pub(crate) const ORIGIN: &str = "origin";
/// Key of the encoders before it, the first one first.
pub(crate) const PARENTS: &str = "parents";

/// Returns the digest of an encoder, given its metadata in the order of their keys, and its tensors.
pub(crate) fn digest(
    metadata: &[(&str, &str)],
    mut tensors: Vec<(&str, &[usize], &[u8])>,
) -> String {
    tensors.sort_unstable_by_key(|(name, ..)| *name);
    let mut hash = Sha256::new();
    // Each text follows its length, so that no two lists of texts give the same bytes.
    let add = |hash: &mut Sha256, bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    let is_of_encoder = |key: &&str| ![DIGEST, ORIGIN, PARENTS].contains(key);
    for (key, value) in metadata.iter().filter(|(key, _)| is_of_encoder(key)) {
        add(&mut hash, key.as_bytes());
        add(&mut hash, value.as_bytes());
    }
    for (name, shape, content) in tensors {
        add(&mut hash, name.as_bytes());
        hash.update((shape.len() as u64).to_le_bytes());
        for size in shape {
            hash.update((*size as u64).to_le_bytes());
        }
        add(&mut hash, content);
    }
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made by hashlib of Python from the definition.
    const EXPECTED: &str = "c77c420fa805381babedad36e7ff39d7f7ba4e6d9034015d5af8b078c99c04c5";

    #[test]
    fn it_is_that_of_its_definition() {
        let metadata = [
            ("config", "{}"),
            ("digest", "not a part"),
            ("encoder", "mlp"),
            ("origin", "not a part"),
            ("parents", "not a part"),
        ];
        let values = [1.0_f32, -2.5, 0.0, 3.0].map(f32::to_le_bytes).concat();
        let tensors: Vec<(&str, &[usize], &[u8])> =
            vec![("b", &[2, 1], &values[..8]), ("a", &[2], &values[8..])];
        assert_eq!(digest(&metadata, tensors), EXPECTED);
    }
}
