//! The sentence of what an update cost, what it brought, and what more would bring.

use icl_train::StoppedBy;

use crate::record::UpdateRecord;
use crate::text::number::{count, nats, percent, seconds};

/// Writes the cost of an update, as a share of what retraining would cost where that is known, the held-out risk before
/// and after, and the gain of the last doubling of the cost; `None` if nothing was trained.
pub(super) fn bought(record: &UpdateRecord) -> Option<String> {
    let stopped_by = record.training.stopped_by?;
    let charged = record.training.charged_passes;
    let passes = count(charged);
    let time = seconds(record.training.train_s);
    let mut text = match record.retraining_passes {
        None => format!("Cost: {passes} passes, {time} s."),
        Some(retraining) => format!(
            "{} of retraining's cost ({passes} of {} passes, {time} s).",
            percent(charged / retraining),
            count(retraining),
        ),
    };
    if let (Some(before), Some(after)) = (record.held_out_before, record.update.held_out_risk) {
        let [old, new] = [
            (before.mean.old, after.mean.old),
            (before.mean.new, after.mean.new),
        ]
        .map(|(before, after)| format!("{} → {}", nats(before), nats(after)));
        text += &format!(" Held-out risk: old {old}, new {new} nats.");
    }
    if let Some(gain) = record.course.expected_gain {
        let word = if gain.gain < 0.0 { "lost" } else { "gained" };
        text += &format!(" The last doubling {word} {}", percent(gain.gain.abs()));
        text += &match stopped_by {
            StoppedBy::Budget | StoppedBy::Epochs => {
                format!(": another would cost {passes} passes (--more).")
            }
            _ => ".".to_owned(),
        };
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use icl_core::{ByOrigin, HeldOutRisk};
    use icl_train::ExpectedGain;

    use super::*;
    use crate::fixture::update;

    #[test]
    fn it_says_what_was_bought_and_what_more_would_bring() {
        let mut record = update(2.8, 2.25, 0.1);
        record.training.charged_passes = 20_100.0;
        record.training.train_s = 0.4;
        record.training.stopped_by = Some(StoppedBy::Budget);
        record.retraining_passes = Some(201_000.0);
        let risk = |old, new| {
            let mean = ByOrigin { all: old, old, new };
            HeldOutRisk {
                mean,
                standard_error: mean,
            }
        };
        record.held_out_before = Some(risk(0.55, 0.8));
        record.update.held_out_risk = Some(risk(0.54, 0.53));
        record.course.expected_gain = Some(ExpectedGain {
            gain: 0.041,
            standard_error: 0.01,
        });
        let text = bought(&record).unwrap();
        for words in [
            "of retraining's cost (20.1 k of 201.0 k passes, 0.4",
            "Held-out risk: old 0.550 → 0.540, new 0.800 → 0.530 nats.",
            "The last doubling gained 4.1 %: another would cost 20.1 k passes (--more).",
        ] {
            assert!(text.contains(words), "{text}");
        }
        assert!(text.starts_with("10"), "{text}");
        record.retraining_passes = None;
        record.training.stopped_by = Some(StoppedBy::Doubling);
        let text = bought(&record).unwrap();
        assert!(
            text.starts_with("Cost: 20.1 k passes") && text.ends_with("gained 4.1 %."),
            "{text}"
        );
        record.training.stopped_by = None;
        assert_eq!(bought(&record), None);
    }
}
