//! Scalars in TensorBoard's format: events as protocol buffers, framed as TFRecord.

use crc32c::crc32c;

/// Version of the events that the first of a file names.
const FILE_VERSION: &str = "brain.Event:2";
/// Constant of TFRecord's masked checksum.
const MASK: u32 = 0xa282_ead8;

/// Wire type of a number of 64 bits.
const FIXED_64: u64 = 1;
/// Wire type of bytes with their number before them.
const BYTES: u64 = 2;
/// Wire type of a number of 32 bits.
const FIXED_32: u64 = 5;
/// Wire type of an integer of variable length.
const VARINT: u64 = 0;

/// Value at a step, a point of one of TensorBoard's charts.
#[derive(Debug, Clone, PartialEq)]
pub struct Scalar {
    /// Name of the chart; charts with the same text before `/` are in one group.
    pub tag: String,
    /// Place on the horizontal axis.
    pub step: u64,
    /// Value; the file has it in single precision.
    pub value: f64,
}

/// Returns the content of an event file: an event with the version, then one for each scalar, in their order.
/// TensorBoard reads files whose names contain `tfevents`.
///
/// All events have the same `wall_time`, in seconds since 1970; with 0 the file depends on the scalars alone.
/// An event is
///
/// ```text
/// record = length (u64) · masked CRC-32C of it · event · masked CRC-32C of it, all little-endian
/// masked(c) = (c rotated right by 15 bits) + 0xa282ead8 mod 2³²
/// event = 1: wall_time (double), 2: step (int64), 3: file_version, 5: summary { 1: value { 1: tag, 2: simple_value (float) } }
/// ```
///
/// Source: `tensorflow/core/util/event.proto`, `summary.proto` and the description of TFRecord.
///
/// ```
/// use icl_report::{Scalar, tensorboard_events};
///
/// let risk = Scalar { tag: "passes/risk".to_owned(), step: 240, value: 2.5 };
/// let file = tensorboard_events(0.0, &[risk]);
/// assert_eq!(&file[..8], &15_u64.to_le_bytes());
/// ```
pub fn tensorboard_events(wall_time: f64, scalars: &[Scalar]) -> Vec<u8> {
    let event = || {
        let mut event = Vec::new();
        // Protocol buffers leave out what has its default.
        if wall_time.to_bits() != 0 {
            field(&mut event, 1, FIXED_64);
            event.extend(wall_time.to_le_bytes());
        }
        event
    };
    let mut first = event();
    bytes(&mut first, 3, FILE_VERSION.as_bytes());
    let mut file = record(&first);
    for scalar in scalars {
        let mut value = Vec::new();
        bytes(&mut value, 1, scalar.tag.as_bytes());
        field(&mut value, 2, FIXED_32);
        value.extend((scalar.value as f32).to_le_bytes());
        let mut summary = Vec::new();
        bytes(&mut summary, 1, &value);
        let mut event = event();
        if scalar.step > 0 {
            field(&mut event, 2, VARINT);
            varint(&mut event, scalar.step);
        }
        bytes(&mut event, 5, &summary);
        file.extend(record(&event));
    }
    file
}

/// Frames an event.
fn record(event: &[u8]) -> Vec<u8> {
    let length = (event.len() as u64).to_le_bytes();
    let mut record = length.to_vec();
    record.extend(masked(&length));
    record.extend(event);
    record.extend(masked(event));
    record
}

fn masked(data: &[u8]) -> [u8; 4] {
    let checksum = crc32c(data).rotate_right(15);
    checksum.wrapping_add(MASK).to_le_bytes()
}

/// Writes a field's number and wire type.
fn field(message: &mut Vec<u8>, number: u64, wire_type: u64) {
    varint(message, (number << 3) | wire_type);
}

fn bytes(message: &mut Vec<u8>, number: u64, content: &[u8]) {
    field(message, number, BYTES);
    varint(message, content.len() as u64);
    message.extend(content);
}

/// Writes seven bits a byte, the lowest first; all bytes but the last have the highest bit.
fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    use serde_json::Value;

    /// The reference bytes are those that TensorBoard itself (version in the file) writes for the same scalars. Its
    /// `EventAccumulator` reads them back: `scripts/reference/tensorboard_events.py`.
    #[test]
    fn files_are_those_of_tensorboards_own_writer() {
        let text = include_str!("../../tests/reference/tensorboard.json");
        let reference: Value = serde_json::from_str(text).unwrap();
        assert_eq!(reference["tensorboard"], "2.21.0");
        let scalar = |of: &Value| Scalar {
            tag: of["tag"].as_str().unwrap().to_owned(),
            step: of["step"].as_u64().unwrap(),
            value: of["value"].as_f64().unwrap(),
        };
        let scalars: Vec<Scalar> = reference["scalars"]
            .as_array()
            .unwrap()
            .iter()
            .map(scalar)
            .collect();
        assert_eq!(scalars.len(), 6);
        for case in reference["cases"].as_array().unwrap() {
            let file = tensorboard_events(case["wall_time"].as_f64().unwrap(), &scalars);
            let found: String = file.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, case["hex"].as_str().unwrap());
        }
    }
}
