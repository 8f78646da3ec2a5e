//! Damage to the bytes, the header and the metadata of an encoder's file.

#![cfg(test)]

use icl_core::Rng;
use rand::RngExt;
use serde_json::{Map, Value, json};

/// Returns a file with a damage that is drawn.
pub fn damaged(whole: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    let n_header = 8 + header_length(whole);
    match rng.random_range(0..10) {
        0 => bytes.truncate(rng.random_range(0..bytes.len())),
        1 | 2 => {
            let end = [n_header, bytes.len()][rng.random_range(0..2)];
            for _ in 0..rng.random_range(1..5) {
                bytes[rng.random_range(0..end)] = rng.random();
            }
        }
        3 => {
            let begin = rng.random_range(0..bytes.len());
            let end = (begin + rng.random_range(1..40)).min(bytes.len());
            let part: Vec<u8> = bytes.drain(begin..end).collect();
            if rng.random() {
                let at = rng.random_range(0..=bytes.len());
                bytes.splice(at..at, part);
            }
        }
        4 | 5 => {
            let numbers = [
                f32::NAN,
                f32::INFINITY,
                -1.0,
                0.0,
                f32::MAX,
                f32::MIN_POSITIVE,
            ];
            for _ in 0..rng.random_range(1..5) {
                let at = n_header + 4 * rng.random_range(0..(bytes.len() - n_header) / 4);
                let number = numbers[rng.random_range(0..numbers.len())];
                bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            }
        }
        _ => return with_other_header(whole, rng),
    }
    bytes
}

fn header_length(bytes: &[u8]) -> usize {
    u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize
}

/// Returns a file with a change of the header: in the description of a tensor, in the metadata, or inside the JSON of
/// one of their values.
pub fn with_other_header(whole: &[u8], rng: &mut Rng) -> Vec<u8> {
    let end = 8 + header_length(whole);
    let mut header: Value = serde_json::from_slice(&whole[8..end]).unwrap();
    let metadata = header["__metadata__"].as_object_mut().unwrap();
    let inner: Vec<String> = metadata
        .iter()
        .filter(|(_, text)| {
            text.as_str()
                .is_some_and(|text| text.starts_with(['{', '[']))
        })
        .map(|(key, _)| key.clone())
        .collect();
    match rng.random_range(0..4) {
        0 => change(&mut header, rng),
        1 => change(&mut header["__metadata__"], rng),
        _ => {
            let slot = &mut metadata[&inner[rng.random_range(0..inner.len())]];
            let mut value: Value = serde_json::from_str(slot.as_str().unwrap()).unwrap();
            for _ in 0..rng.random_range(1..3) {
                change(&mut value, rng);
            }
            *slot = value.to_string().into();
        }
    }
    with_header(whole, &header)
}

/// Returns a file without the digest of its content.
pub fn without_digest(whole: &[u8]) -> Vec<u8> {
    let mut header: Value = serde_json::from_slice(&whole[8..8 + header_length(whole)]).unwrap();
    let metadata = header["__metadata__"].as_object_mut().unwrap();
    metadata.remove("digest").unwrap();
    with_header(whole, &header)
}

fn with_header(whole: &[u8], header: &Value) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(&whole[8 + header_length(whole)..]);
    bytes
}

/// Changes a part of a value that is drawn.
fn change(value: &mut Value, rng: &mut Rng) {
    let goes_deeper = rng.random_range(0..4) > 0;
    match value {
        Value::Object(map) if !map.is_empty() => {
            let key = map.keys().nth(rng.random_range(0..map.len()));
            let key = key.unwrap().clone();
            match rng.random_range(0..8) {
                0 => drop(map.remove(&key)),
                1 => {
                    let moved = map.remove(&key).unwrap();
                    map.insert(format!("{key}\u{1b}\n"), moved);
                }
                _ if goes_deeper => change(&mut map[&key], rng),
                _ => map[&key] = junk(rng),
            }
        }
        Value::Array(items) if !items.is_empty() && goes_deeper => {
            let at = rng.random_range(0..items.len());
            change(&mut items[at], rng);
        }
        value => *value = junk(rng),
    }
}

/// Returns a value that hardly belongs anywhere.
fn junk(rng: &mut Rng) -> Value {
    let words = "expected\u{202e}\u{1b}[31m\n".repeat(2000);
    let all = [
        Value::Null,
        json!(true),
        json!(0),
        json!(1),
        json!(-1),
        json!(3),
        json!(16_384),
        json!(1_000_000_000_000_u64),
        json!(u64::MAX),
        json!(1e308),
        json!(1e-320),
        json!(0.5),
        json!("\u{1b}[2J\n\n\n\n"),
        json!(words),
        json!([]),
        json!(vec![7; 10_000]),
        json!({}),
        Value::Object(Map::from_iter([(words.clone(), Value::Null)])),
    ];
    all[rng.random_range(0..all.len())].clone()
}
