//! An update in words.

use crate::summary::change::{Change, Turn, UpdateSummary, UpdateVerdict};
use crate::text::number::{nats, percent};

/// Describes an update in a few sentences, of which the first is the verdict.
pub(crate) fn sentences(of: &UpdateSummary) -> Vec<String> {
    let first = match of.verdict {
        UpdateVerdict::NotFinite => {
            return vec![
                "The exact risk is not a finite number: do not use this encoder.".to_owned(),
            ];
        }
        UpdateVerdict::NoneBetter => {
            "Keep the encoder that came in: the update found none with a lower risk."
        }
        UpdateVerdict::NotTrained => {
            "Nothing was trained: the parameters are those of the encoder that came in."
        }
        UpdateVerdict::Trained { old, new } => verdict(old, new),
    };
    let mut sentences = vec![first.to_owned(), course(of)];
    if matches!(of.verdict, UpdateVerdict::Trained { .. }) {
        sentences.extend(of.drift.map(drift));
    }
    sentences
}

fn verdict(old: Turn, new: Turn) -> &'static str {
    use Turn::{Better, Same, Worse};
    match (old, new) {
        (Better, Better) => "The updated encoder is better on old and on new data.",
        (Better, Same) => {
            "The updated encoder is better on old data, and as good as before, within 1 %, on new data."
        }
        (Same, Better) => {
            "The updated encoder is better on new data, and as good as before, within 1 %, on old data."
        }
        (Same, Same) => {
            "The updated encoder is as good as before, within 1 %, on old and on new data."
        }
        (Worse, Better) => "The update is a trade: better on new data, worse on old data.",
        (Better, Worse) => "The update is a trade: better on old data, worse on new data.",
        (Worse, Same) => {
            "The updated encoder is worse on old data and no better on new data: keep the old one."
        }
        (Same, Worse) => {
            "The updated encoder is worse on new data and no better on old data: keep the old one."
        }
        (Worse, Worse) => "The updated encoder is worse on old and on new data: keep the old one.",
    }
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
        "The exact risk over all data {}; on old data it {}, on new data it {}.",
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
    use crate::fixture::update;
    use crate::record::UpdateRecord;

    fn sentences(record: &UpdateRecord) -> Vec<String> {
        super::sentences(&UpdateSummary::of(record))
    }

    fn first(old: f64, new: f64) -> String {
        let mut record = update(2.0, 2.0, 0.0);
        (record.before.old, record.before.new) = (2.0, 2.0);
        (record.after.old, record.after.new) = (old, new);
        sentences(&record).remove(0)
    }

    #[test]
    fn every_turn_has_its_words() {
        let (better, same, worse) = (1.97, 1.99, 2.03);
        assert!(first(better, better).ends_with("is better on old and on new data."));
        assert!(first(same, better).contains("better on new data, and as good as before"));
        assert!(first(better, same).contains("better on old data, and as good as before"));
        assert!(first(same, 2.01).contains("is as good as before, within 1 %, on old"));
        assert!(first(worse, better).contains("a trade: better on new"));
        assert!(first(better, worse).contains("a trade: better on old"));
        for (old, new) in [(worse, same), (same, worse), (worse, worse)] {
            assert!(first(old, new).ends_with("keep the old one."));
        }
        assert!(first(f64::NAN, same).contains("not a finite number"));
    }

    #[test]
    fn the_numbers_are_said() {
        let said = sentences(&update(2.8, 2.25, 0.1));
        assert_eq!(
            said[1],
            "The exact risk over all data fell by 19.6 % from 2.800 to 2.250 nats; on old data it fell \
             by 20.4 % from 2.700 to 2.150 nats, on new data it fell by 19.0 % from 2.900 to 2.350 nats."
        );
        assert!(said[2].contains("rose from 2.100 to 2.200 nats while NCE-II fell"));
        let level = sentences(&update(2.8, 2.8, 0.0));
        assert!(level[1].contains("over all data stayed at 2.800 nats; on old"));
        assert_eq!((said.len(), level.len()), (3, 2));
    }
}
