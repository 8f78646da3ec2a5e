//! Pages of records with extreme numbers, as a damaged or a hand-made `record.jsonl` may hold them.

use icl_core::{Rng, Seed};
use rand::Rng as _;
use serde_json::{Value, json};

use crate::comparison::comparison_document;
use crate::fixture::{assert_sound, comparison, few_labels, held_out, map};
use crate::record::{EmbeddingMap, RunRecord};
use crate::summary::Comparison;

/// Number of mutated comparisons.
const N_INPUTS: u64 = 250;
/// Maximum length of a page in bytes, about three times that of the page without mutations.
const LONGEST: usize = 1 << 20;

/// A comparison of four methods and two seeds with all parts of a record, and its map.
fn whole() -> (Vec<Value>, Value) {
    let methods = ["inference", "retraining", "warm", "icl-corrected"];
    let records = comparison()
        .into_iter()
        .filter(|record| record.seed < 3 && methods.contains(&record.method.as_str()));
    let records = records.map(|record| {
        let mut record = few_labels(held_out(record, [2.3, 2.4]), 0.9);
        record.course.evaluations.truncate(12);
        for at in &mut record.course.evaluations {
            at.charged_passes = at.sample_passes as f64;
        }
        record.training.charged_passes = record.course.sample_passes as f64;
        record.charged_to_target = record.passes_to_target.map(|passes| passes as f64);
        record.course.best_evaluation = Some(0);
        record.update.support_learning_rates = record.update.learning_rates.clone();
        record.update.support_moves = vec![1e-3; 4];
        serde_json::to_value(record).unwrap()
    });
    let map = serde_json::to_value(map(&["retraining", "warm"], 12)).unwrap();
    (records.collect(), map)
}

/// Writes the pointers (RFC 6901) to all numbers and nulls in a value.
fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) | Value::Null => found.push(at.to_owned()),
        Value::Array(entries) => {
            for (i, entry) in entries.iter().enumerate() {
                numbers(entry, &format!("{at}/{i}"), found);
            }
        }
        Value::Object(entries) => {
            for (name, entry) in entries {
                numbers(entry, &format!("{at}/{name}"), found);
            }
        }
        Value::String(_) | Value::Bool(_) => (),
    }
}

fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// Returns an extreme number that may stand in the place of another: a whole one for a whole one.
fn extreme(rng: &mut Rng, of: &Value) -> Value {
    const WHOLE: [u64; 6] = [0, 1, 1 << 32, 1 << 53, u64::MAX / 2, u64::MAX];
    const REAL: [f64; 12] = [
        0.0,
        -0.0,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        1e-300,
        1e15,
        1e300,
        1e308,
        -1e308,
        f64::MAX,
        f64::MIN,
    ];
    match of.is_u64() {
        true => json!(WHOLE[below(rng, WHOLE.len())]),
        false => match f64::from_bits(rng.next_u64()) {
            any if any.is_finite() && below(rng, 2) == 0 => json!(any),
            _ => json!(REAL[below(rng, REAL.len())]),
        },
    }
}

/// Changes some numbers of one record, or the same ones of all.
fn mutate(rng: &mut Rng, records: &mut [Value]) {
    for _ in 0..=below(rng, 6) {
        let chosen = below(rng, records.len());
        let mut found = Vec::new();
        numbers(&records[chosen], "", &mut found);
        let at = &found[below(rng, found.len())];
        let Some(old) = records[chosen].pointer(at) else {
            continue;
        };
        let new = extreme(rng, old);
        let is_shared = below(rng, 3) == 0;
        for (i, record) in records.iter_mut().enumerate() {
            if let Some(place) = record.pointer_mut(at).filter(|_| is_shared || i == chosen) {
                *place = new.clone();
            }
        }
    }
}

#[test]
fn pages_of_any_numbers_are_pages() {
    let (records, map) = whole();
    let mut n_pages = 0;
    for input in 0..N_INPUTS {
        let mut rng = Seed::new(15).at(input).rng();
        let (mut records, mut map) = (records.clone(), vec![map.clone()]);
        mutate(&mut rng, &mut records);
        if input % 4 == 0 {
            mutate(&mut rng, &mut map);
        }
        let records: Result<Vec<RunRecord>, _> =
            records.into_iter().map(serde_json::from_value).collect();
        let map: Result<EmbeddingMap, _> = serde_json::from_value(map.swap_remove(0));
        let (Ok(records), Ok(map)) = (records, map) else {
            continue;
        };
        let Ok(comparison) = Comparison::of(&records) else {
            continue;
        };
        let Ok(document) = comparison_document(&comparison, &records, Some(&map)) else {
            continue;
        };
        let (page, text) = (document.html(), document.terminal(100, true));
        assert!(page.len() < LONGEST, "input {input}: {} bytes", page.len());
        assert!(text.len() < LONGEST, "input {input}: {} bytes", text.len());
        assert!(document.markdown().len() < LONGEST, "input {input}");
        assert_sound(&page);
        n_pages += 1;
    }
    // Some mutations, such as those of the schema, are refused.
    assert!(n_pages > N_INPUTS / 2, "{n_pages} pages");
}
