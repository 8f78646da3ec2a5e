//! An update in words.

use icl_train::{Answer, PairedDifference, Verdict};

use crate::summary::change::{Change, UpdateSummary, UpdateVerdict};
use crate::text::number::{nats, percent, plural, with_sign};

/// Describes an update in a few sentences, of which the first is the verdict: it comes from held-out samples alone.
pub(crate) fn sentences(of: &UpdateSummary) -> Vec<String> {
    let first = match of.verdict {
        UpdateVerdict::NotFinite => {
            return vec![
                "The exact risk is not a finite number: do not use this encoder.".to_owned(),
            ];
        }
        UpdateVerdict::NoneBetter => {
            "Keep the encoder that came in: the update found none with a lower risk.".to_owned()
        }
        UpdateVerdict::NotTrained => {
            "Nothing was trained: the parameters are those of the encoder that came in.".to_owned()
        }
        UpdateVerdict::Trained(None) => {
            "No verdict: too few samples were held out to say whether the updated encoder is better.".to_owned()
        }
        UpdateVerdict::Trained(Some(verdict)) => {
            let kept = of.is_rejected.then_some(["came in", "rejected.safetensors"]);
            verdict_sentences(&verdict, kept)
        }
    };
    let mut sentences = vec![first];
    if let UpdateVerdict::Trained(verdict) = of.verdict {
        sentences.extend(verdict.as_ref().map(differences));
        sentences.push(course(of));
        sentences.extend(of.drift.map(drift));
    } else {
        sentences.push(course(of));
    }
    sentences
}

/// Says on which data an updated encoder is better or worse than the one before, and where it is worse, which of them
/// is used. `kept` has words for an encoder that was kept, such as `came in`, and the file of the updated one; `None`
/// where the updated one is used all the same.
pub fn verdict_sentences(verdict: &Verdict, kept: Option<[&str; 2]>) -> String {
    use Answer::{Better, NoClearDifference, Worse};
    let updated = match (verdict.old.answer, verdict.new.answer) {
        (Better, Better) => "is better on old and on new data",
        (Better, NoClearDifference) => {
            "is better on old data; on new data there is no clear difference"
        }
        (NoClearDifference, Better) => {
            "is better on new data; on old data there is no clear difference"
        }
        (NoClearDifference, NoClearDifference) => {
            "does not differ clearly from the one before, neither on old nor on new data"
        }
        (Worse, Better) => "is worse on old data and better on new data",
        (Better, Worse) => "is worse on new data and better on old data",
        (Worse, NoClearDifference) => "is worse on old data and not clearly better on new data",
        (NoClearDifference, Worse) => "is worse on new data and not clearly better on old data",
        (Worse, Worse) => "is worse on old and on new data",
    };
    let consequence = match (verdict.is_worse(), kept) {
        (false, _) => String::new(),
        (true, None) => " It is delivered all the same, since --accept was given.".to_owned(),
        (true, Some([kept, file])) => format!(
            " The encoder that {kept} was kept; --accept would have taken the updated one, which is {file}."
        ),
    };
    format!("The updated encoder {updated}.{consequence}")
}

/// Says what the answer rests on.
fn differences(verdict: &Verdict) -> String {
    let of = |name: &str, it: &PairedDifference| {
        let [low, high] = it.interval.map(|end| with_sign(end, nats));
        format!(
            "{} nats on {} ({low} to {high})",
            with_sign(it.mean, nats),
            plural(it.n, name),
        )
    };
    format!(
        "Held-out loss, after minus before, with {} intervals: {}, {}.",
        percent(verdict.level),
        of("old sample", &verdict.old),
        of("new sample", &verdict.new)
    )
}

/// Says how the exact risk changed.
fn course(of: &UpdateSummary) -> String {
    let went = |of: Change| {
        let [from, to] = [of.before, of.after].map(nats);
        if from == to {
            return format!("stayed at {to} nats");
        }
        let word = if of.after < of.before { "fell" } else { "rose" };
        let share = of
            .share()
            .map(|share| format!(" by {}", percent(share.abs())));
        format!(
            "{word}{} from {from} to {to} nats",
            share.unwrap_or_default()
        )
    };
    format!(
        "Over the training samples the exact risk {}; on old ones it {}, on new ones it {}.",
        went(of.all),
        went(of.old),
        went(of.new),
    )
}

/// Describes the drift of objectives that drop L^{I,X}, which rises while L^{II} falls.
fn drift(nce1_old: Change) -> String {
    format!(
        "On old data NCE-I under the old noise rose from {} to {} nats while NCE-II fell: some of \
         what the encoder had learned about the old data alone is gone.",
        nats(nce1_old.before),
        nats(nce1_old.after)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{update, verdict};
    use crate::record::UpdateRecord;

    fn sentences(record: &UpdateRecord) -> Vec<String> {
        super::sentences(&UpdateSummary::of(record))
    }

    /// The first sentence for encoders whose losses change by these, on old and on new samples.
    fn first(old: f64, new: f64, is_rejected: bool) -> String {
        let mut record = update(2.0, 2.0, 0.0);
        // The training samples say the contrary.
        (record.after.old, record.after.new) = (2.0 - old, 2.0 - new);
        record.verdict = Some(verdict(old, new));
        record.is_rejected = is_rejected;
        sentences(&record).remove(0)
    }

    #[test]
    fn every_answer_has_its_words() {
        let (better, same, worse) = (-0.1, 0.0, 0.1);
        let said = |old, new| first(old, new, false);
        assert!(said(better, better).ends_with("is better on old and on new data."));
        assert!(said(same, better).contains("better on new data; on old data there is no clear"));
        assert!(said(better, same).contains("better on old data; on new data there is no clear"));
        assert!(said(same, same).ends_with("neither on old nor on new data."));
        for (old, new, words) in [
            (
                worse,
                better,
                "is worse on old data and better on new data. ",
            ),
            (
                better,
                worse,
                "is worse on new data and better on old data. ",
            ),
            (
                worse,
                same,
                "is worse on old data and not clearly better on new data. ",
            ),
            (
                same,
                worse,
                "is worse on new data and not clearly better on old data. ",
            ),
            (worse, worse, "is worse on old and on new data. "),
        ] {
            let (kept, taken) = (first(old, new, true), said(old, new));
            assert!(
                kept.contains(words) && taken.contains(words),
                "{kept} {taken}"
            );
            assert!(
                kept.contains("was kept; --accept would have taken"),
                "{kept}"
            );
            assert!(taken.ends_with("since --accept was given."), "{taken}");
        }
        let mut record = update(2.0, 1.0, 0.0);
        assert!(sentences(&record)[0].starts_with("No verdict: too few samples were held out"));
        record.verdict = Some(verdict(-0.1, 0.0));
        assert_eq!(
            sentences(&record)[1],
            "Held-out loss, after minus before, with 96.0 % intervals: −0.100 nats on 40 old samples (−0.101 to −0.099), \
             0.000 nats on 40 new samples (−0.001 to +0.001)."
        );
        record.after.old = f64::NAN;
        assert!(sentences(&record)[0].contains("not a finite number"));
    }

    #[test]
    fn the_numbers_are_said() {
        let said = sentences(&update(2.8, 2.25, 0.1));
        assert_eq!(
            said[1],
            "Over the training samples the exact risk fell by 19.6 % from 2.800 to 2.250 nats; on old ones it fell \
             by 20.4 % from 2.700 to 2.150 nats, on new ones it fell by 19.0 % from 2.900 to 2.350 nats."
        );
        assert!(said[2].contains("rose from 2.100 to 2.200 nats while NCE-II fell"));
        let level = sentences(&update(2.8, 2.8, 0.0));
        assert!(level[1].contains("exact risk stayed at 2.800 nats; on old"));
        assert_eq!((said.len(), level.len()), (3, 2));
    }
}
