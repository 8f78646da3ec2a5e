//! A stream in words.

use icl_train::{Answer, PairedDifference, Verdict};

use crate::record::{StreamControl, StreamRecord};
use crate::summary::speed_up::SAME;
use crate::summary::stream::{StrategySummary, StreamSummary};
use crate::text::number::{count, duration, factor, nats, plural};

/// Returns the answer of the page: what to use, what it saves and what it costs.
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
    let cost = format!(
        "{} of {} cost {} passes ({})",
        summary.n_updates,
        plural(n - 1, "possible update"),
        count(summary.own.updates_cost),
        duration(summary.train_s),
    );
    let Some(choice) = &summary.choice else {
        let risk = match summary.own.mean_risk.filter(|risk| risk.is_finite()) {
            Some(risk) => format!("is {} nats", nats(risk)),
            None => "is not known".to_owned(),
        };
        let missing = match record.controls.is_empty() {
            true => "What they save is not known: no control was run, such as retraining",
            false => "What they save is not known: risks at the end are missing",
        };
        return format!(
            "After {n} experiences the mean risk of {method} {risk}; {cost}. {missing}."
        );
    };
    let strategies: Vec<&StrategySummary> = std::iter::once(&summary.own)
        .chain(&summary.controls)
        .collect();
    let reference = strategies[choice.reference];
    let other = &reference.method;
    let quality = |at: usize| match choice.answers[at] {
        Answer::NoClearDifference => format!("does not differ clearly from {other}"),
        Answer::Better | Answer::Worse => {
            let risks = strategies[at].mean_risk.zip(reference.mean_risk);
            let difference = risks.map_or(f64::NAN, |(own, of)| own - of);
            format!("is {} {other}", compared(difference))
        }
    };
    let ratio = reference.updates_cost / summary.own.updates_cost;
    let saves = match ratio {
        ratio if choice.reference == 0 || !ratio.is_finite() => String::new(),
        ratio if ratio >= SAME => format!("saves {}: ", factor(ratio)),
        _ => "saves nothing: ".to_owned(),
    };
    let passes = match choice.reference {
        0 => String::new(),
        _ => format!(", {other} {}", count(reference.updates_cost)),
    };
    let after = format!("after {n} experiences");
    match choice.best {
        0 if choice.reference == 0 => {
            format!("Use {method}: {after} it has the lowest risk. {cost}.")
        }
        0 => format!(
            "Use {method}: {after} it {}. It {saves}{cost}{passes}.",
            quality(0)
        ),
        best => {
            let name = &strategies[best].method;
            let advice = match strategies[best].updates_cost == 0.0 {
                true => format!("Keep the first encoder: {after} it {}", quality(best)),
                false if best == choice.reference => {
                    format!("Use {name}: {after} {method} {}", quality(0))
                }
                false => format!("Use {name}: {after} it {}", quality(best)),
            };
            format!("{advice}. {method} {saves}{cost}{passes}.")
        }
    }
}

/// Counts the verdicts on the updates; `None` if there is none.
pub(crate) fn verdicts(record: &StreamRecord) -> Option<String> {
    let experiences = &record.experiences;
    let verdicts: Vec<&Verdict> = experiences
        .iter()
        .filter_map(|it| it.verdict.as_ref())
        .collect();
    if verdicts.is_empty() {
        return None;
    }
    let answers = |of: fn(&Verdict) -> &PairedDifference| {
        let n = |answer| verdicts.iter().filter(|it| of(it).answer == answer).count();
        let [better, worse] = [Answer::Better, Answer::Worse].map(n);
        format!("{better} better, {worse} worse")
    };
    let kept = match experiences.iter().filter(|it| it.is_rejected).count() {
        0 => String::new(),
        n => format!("; {n} rejected"),
    };
    Some(format!(
        "Held-out verdict on {}: new data {}; old data {}{kept}.",
        plural(verdicts.len(), "update"),
        answers(|it| &it.new),
        answers(|it| &it.old),
    ))
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
    use crate::fixture::{stream, verdict};

    fn headline(record: &StreamRecord) -> String {
        super::headline(record, &StreamSummary::of(record))
    }

    /// The numbers of the sentence, by plain loops over the record.
    #[test]
    fn the_sentence_has_the_numbers_of_the_matrix() {
        let mut record = stream(5);
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
            "Use retraining: after 5 experiences warm is worse by {gap:.3} nats than retraining. warm saves {:.1}×: \
             {n} of 4 possible updates cost {own} passes (1.00 s), retraining {:.1} k.",
            other / own,
            other / 1000.0
        );
        assert_eq!(headline(&record), expected);
        // Worse on one experience and better on another, by more than their mean.
        for (j, risk) in record.risk[4].iter_mut().enumerate() {
            *risk = record.controls[0].risk[4][j].map(|risk| risk + [0.2, -0.1][j % 2]);
        }
        let said = headline(&record);
        let words = "Use warm: after 5 experiences it does not differ clearly from retraining. It saves 5.3×: 2 of 4";
        assert!(said.starts_with(words), "{said}");
        assert!(own < 9000.0 && other > 10_000.0 && n == 2);
    }

    #[test]
    fn parts_that_are_missing_are_not_known() {
        let mut record = stream(5);
        record.measures.clear();
        record.controls.clear();
        let mean: f64 = record.risk[4].iter().flatten().sum::<f64>() / 5.0;
        let said = headline(&record);
        assert!(said.starts_with(&format!(
            "After 5 experiences the mean risk of warm is {mean:.3} nats; 2 of 4 possible updates cost"
        )));
        assert!(
            said.ends_with("no control was run, such as retraining."),
            "{said}"
        );
        record.risk[4][2] = None;
        assert!(headline(&record).contains("the mean risk of warm is not known"));
    }

    #[test]
    fn verdicts_are_counted() {
        let mut record = stream(6);
        assert_eq!(verdicts(&record), None);
        record.experiences[1].verdict = Some(verdict(0.0, -0.1));
        assert_eq!(
            verdicts(&record).unwrap(),
            "Held-out verdict on 1 update: new data 1 better, 0 worse; old data 0 better, 0 worse."
        );
        record.experiences[2].verdict = Some(verdict(0.1, -0.1));
        record.experiences[2].is_rejected = true;
        record.experiences[4].verdict = Some(verdict(-0.1, 0.1));
        assert_eq!(
            verdicts(&record).unwrap(),
            "Held-out verdict on 3 updates: new data 2 better, 1 worse; old data 1 better, 1 worse; 1 rejected."
        );
        record.experiences[4].is_rejected = true;
        assert!(verdicts(&record).unwrap().ends_with("; 2 rejected."));
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
