//! Quality and cost of each way to treat new data, in one sentence.

use icl_train::{DEFAULT, REFERENCE};

use crate::summary::protocols::with_article;
use crate::summary::{Comparison, MethodSummary};
use crate::text::number::{accuracy, count, nats};

/// Ways to treat new data: a method and its description.
const WAYS: [(&str, &str); 4] = [
    ("inference", "keeping the old encoder"),
    ("fine-tuning", "fine-tuning it on the new data"),
    (DEFAULT, "updating it"),
    (REFERENCE, "retraining"),
];

/// Compares keeping, fine-tuning, updating and retraining by held-out risk, accuracy and charged cost, as medians
/// over the seeds. Returns `None` where one of the four was not run or nothing was held out.
pub(crate) fn answer(comparison: &Comparison) -> Option<String> {
    let ways: Vec<(&MethodSummary, &str)> = WAYS
        .iter()
        .map(|(name, words)| {
            let of = comparison.methods.iter().find(|of| of.method == *name)?;
            Some((of, *words))
        })
        .collect::<Option<_>>()?;
    let risks = ways
        .iter()
        .map(|(of, words)| {
            let median = |quantity| of.over(quantity)?.median;
            let [old, new] = [median("held_out_risk.old")?, median("held_out_risk.new")?];
            let cost = median("charged_passes").filter(|cost| *cost > 0.0);
            let cost = cost.map_or_else(String::new, |cost| {
                format!(" for {} charged passes", count(cost))
            });
            let name = if of.method == DEFAULT {
                format!(" ({DEFAULT})")
            } else {
                String::new()
            };
            Some(format!("{words}{name} {} / {}{cost}", nats(old), nats(new)))
        })
        .collect::<Option<Vec<_>>>()?;
    let [first, second, third, last] = &risks[..] else {
        return None;
    };
    let risks =
        format!("Risk in nats on held-out old / new data: {first}, {second}, {third}, and {last}");
    Some(match accuracies(comparison, &ways) {
        Some(accuracies) => format!("{risks}; {accuracies}."),
        None => format!("{risks}."),
    })
}

/// Lists the accuracies of the ways on all data with the floors that hold for any data.
fn accuracies(comparison: &Comparison, ways: &[(&MethodSummary, &str)]) -> Option<String> {
    let protocol = comparison.protocol.as_ref()?;
    let values = ways.iter();
    let values = values.map(|(of, _)| Some(accuracy(of.accuracy(protocol)?.median?)));
    let values: Vec<String> = values.collect::<Option<_>>()?;
    let (last, others) = values.split_last()?;
    let floors: Vec<String> = comparison
        .floors(protocol)
        .filter(|(name, _)| ["raw features", "untrained encoder"].contains(name))
        .filter_map(|(name, floor)| Some(format!("{name} {}", accuracy(floor.median?))))
        .collect();
    let floors = match floors.is_empty() {
        true => String::new(),
        false => format!(" (floors: {})", floors.join(", ")),
    };
    Some(format!(
        "accuracy by {} {} and {last}{floors}",
        with_article(protocol),
        others.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{few_labels, held_out as with_held_out, record};
    use crate::record::RunRecord;

    fn answer(records: &[RunRecord]) -> Option<String> {
        super::answer(&Comparison::of(records).unwrap())
    }

    fn four() -> Vec<RunRecord> {
        let of = |method: &str, risk, passes, accuracy| {
            let mut record = few_labels(with_held_out(record(method, 1), risk), accuracy);
            record.training.charged_passes = passes;
            record
        };
        vec![
            of("inference", [0.89, 1.43], 0.0, 0.746),
            of("retraining", [0.75, 0.77], 420_000.0, 0.853),
            of("warm", [0.78, 0.86], 168_000.0, 0.843),
            of("fine-tuning", [1.04, 1.07], 22_000.0, 0.775),
            of("icl", [0.8, 0.9], 90_000.0, 0.84),
        ]
    }

    #[test]
    fn four_ways_are_compared_in_one_sentence() {
        let records = four();
        assert_eq!(
            answer(&records).unwrap(),
            "Risk in nats on held-out old / new data: keeping the old encoder 0.890 / 1.430, fine-tuning it on \
             the new data 1.040 / 1.070 for 22.0 k charged passes, updating it (icl) 0.800 / 0.900 for 90.0 k \
             charged passes, and retraining 0.750 / 0.770 for 420.0 k charged passes; accuracy by the nearest \
             neighbour from five labels a class 0.746, 0.775, 0.840 and 0.853 (floors: raw features 0.872, \
             untrained encoder 0.776)."
        );
    }

    #[test]
    fn without_one_of_them_or_held_out_data_there_is_none() {
        for missing in ["inference", "retraining", "fine-tuning", "icl"] {
            let mut records = four();
            records.retain(|record| record.method != missing);
            assert_eq!(answer(&records), None);
        }
        let mut records = four();
        records[0].update.held_out_risk = None;
        assert_eq!(answer(&records), None);
    }

    #[test]
    fn another_protocol_is_taken_where_no_labels_were_drawn() {
        let mut records = four();
        for record in &mut records {
            record.few_labels = None;
        }
        let text = answer(&records).unwrap();
        assert!(
            text.contains("; accuracy by the support vector machine 0."),
            "{text}"
        );
        for record in &mut records {
            record.added_protocols.clear();
            (record.linear_probe, record.knn) = (None, None);
        }
        let text = answer(&records).unwrap();
        assert!(text.ends_with("for 420.0 k charged passes."), "{text}");
    }
}
