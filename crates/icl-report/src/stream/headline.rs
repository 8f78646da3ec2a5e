//! A stream in words.

use icl_train::REFERENCE;

use crate::record::{StreamControl, StreamRecord};
use crate::summary::stream::StreamSummary;
use crate::text::number::{count, nats, plural};

/// Returns the answer of the page in one sentence.
pub(crate) fn headline(record: &StreamRecord, summary: &StreamSummary) -> String {
    let (n, method) = (record.names.len(), &record.method);
    if n == 1 {
        let risk = record.risk[0][0].map_or("was not measured".to_owned(), |risk| {
            format!("is {} nats", nats(risk))
        });
        return format!(
            "{method} has seen one experience: the risk on its held-out samples {risk}, and there is nothing to compare it \
             with yet."
        );
    }
    let control = summary.controls.iter().find(|of| of.method == REFERENCE);
    let distance = match (control, summary.own.mean_risk) {
        (Some(control), _) => match control.gap.filter(|gap| gap.is_finite()) {
            Some(gap) => format!("{method} is {} {REFERENCE}", compared(gap)),
            None => format!("the distance of {method} from {REFERENCE} is not known"),
        },
        (None, Some(risk)) => format!("the mean risk of {method} is {} nats", nats(risk)),
        (None, None) => format!("the mean risk of {method} is not known"),
    };
    let forgotten = match summary.forgotten {
        Some(change) => format!(
            "on earlier experiences it is {} right after each",
            compared(change)
        ),
        None => "how much it forgot is not known".to_owned(),
    };
    let of_control = control.map_or(String::new(), |control| {
        let passes = count(control.updates_cost);
        format!(", those of {REFERENCE} {passes}")
    });
    format!(
        "After {n} experiences {distance}; {forgotten}; {} of {} cost {} charged passes{of_control}.",
        summary.n_updates,
        plural(n - 1, "possible update"),
        count(summary.own.updates_cost),
    )
}

/// Says how a risk compares with another that is lower by `difference`, up to the word after "than".
pub(crate) fn compared(difference: f64) -> String {
    format!("{} than", by(difference)).replace("the same than", "the same as")
}

/// Writes a difference of risks in words: above 0 is worse.
pub(crate) fn by(difference: f64) -> String {
    in_words(difference, nats, " nats")
}

/// Writes a difference in words: above 0 is worse.
pub(crate) fn in_words(difference: f64, format: fn(f64) -> String, unit: &str) -> String {
    let size = format(difference.abs());
    if !difference.is_finite() {
        return "not known".to_owned();
    }
    let is_zero = !size.chars().any(|c| matches!(c, '1'..='9'));
    match difference {
        _ if is_zero => "the same".to_owned(),
        x if x > 0.0 => format!("worse by {size}{unit}"),
        _ => format!("better by {size}{unit}"),
    }
}

/// Returns the name of a control among the series of the charts.
pub(crate) fn series_of(control: &StreamControl, record: &StreamRecord) -> String {
    match control.method == record.method {
        true => format!("{}, control", control.method),
        false => control.method.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::stream;

    fn headline(record: &StreamRecord) -> String {
        super::headline(record, &StreamSummary::of(record))
    }

    /// The numbers of the sentence, by plain loops over the record.
    #[test]
    fn the_sentence_has_the_numbers_of_the_matrix() {
        let record = stream(5);
        let (mut gap, mut forgotten) = (0.0, 0.0);
        for j in 0..5 {
            gap += (record.risk[4][j].unwrap() - record.controls[0].risk[4][j].unwrap()) / 5.0;
            if j < 4 {
                forgotten += (record.risk[4][j].unwrap() - record.risk[j][j].unwrap()) / 4.0;
            }
        }
        assert!(gap > 0.005 && forgotten > 0.005, "{gap}, {forgotten}");
        let (mut own, mut other, mut n) = (0.0, 0.0, 0);
        for t in 1..5 {
            own += record.experiences[t].training.charged_passes;
            other += record.controls[0].charged_passes[t];
            n += usize::from(record.experiences[t].updated);
        }
        let expected = format!(
            "After 5 experiences warm is worse by {gap:.3} nats than retraining; on earlier experiences it is worse by \
             {forgotten:.3} nats than right after each; {n} of 4 possible updates cost {own} charged passes, those of \
             retraining {:.1} k.",
            other / 1000.0
        );
        assert_eq!(headline(&record), expected);
        assert!(own < 9000.0 && other > 10_000.0 && n == 2);
    }

    #[test]
    fn parts_that_are_missing_are_not_known() {
        let mut record = stream(5);
        record.controls[0].gap[4] = None;
        record.measures.clear();
        let said = headline(&record);
        assert!(said.contains(
            "the distance of warm from retraining is not known; how much it forgot is not"
        ));
        record.controls.clear();
        let mean: f64 = record.risk[4].iter().flatten().sum::<f64>() / 5.0;
        let said = headline(&record);
        assert!(said.starts_with(&format!(
            "After 5 experiences the mean risk of warm is {mean:.3} nats;"
        )));
        assert!(said.ends_with("charged passes."), "{said}");
        record.risk[4][2] = None;
        assert!(headline(&record).contains("the mean risk of warm is not known"));
    }

    #[test]
    fn one_experience_has_nothing_to_compare_with() {
        let mut record = stream(1);
        let risk = record.risk[0][0].unwrap();
        assert_eq!(
            headline(&record),
            format!(
                "warm has seen one experience: the risk on its held-out samples is {risk:.3} nats, and there is nothing \
                 to compare it with yet."
            )
        );
        record.risk[0][0] = None;
        assert!(headline(&record).contains("samples was not measured, and"));
    }

    #[test]
    fn differences_are_words() {
        assert_eq!(
            [0.03, -0.0204, 0.0004, f64::NAN].map(by),
            [
                "worse by 0.030 nats",
                "better by 0.020 nats",
                "the same",
                "not known"
            ]
        );
        assert_eq!(
            [0.03, 0.0].map(compared),
            ["worse by 0.030 nats than", "the same as"]
        );
    }
}
