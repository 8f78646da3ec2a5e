//! Charts of an update.

use icl_train::{Evaluation, PairedDifference};

use crate::chart::{AxisScale, ChartRow, Figure, Legend, Line, LineChart, Palette, RowChart};
use crate::record::UpdateRecord;
use crate::text::number::{nats, percent, plural, with_sign};

/// Name and quantity that is followed over the update.
type Followed = (&'static str, fn(&Evaluation) -> f64);

const RISKS: [Followed; 3] = [
    ("all data", |evaluation| evaluation.risk.all),
    ("old data", |evaluation| evaluation.risk.old),
    ("new data", |evaluation| evaluation.risk.new),
];

/// Parts of the exact risk on old data.
const PARTS: [Followed; 2] = [
    ("NCE-I under the old noise, on old data", |evaluation| {
        evaluation.risk.nce1_old
    }),
    ("NCE-II on old data", |evaluation| evaluation.risk.nce2_old),
];

/// Draws what the verdict rests on: the differences of the held-out losses with their intervals; `None` without them.
pub(crate) fn differences(record: &UpdateRecord) -> Option<Figure> {
    let verdict = record.verdict?;
    let palette = Palette::new(RISKS.map(|(name, _)| name));
    let row = |name: &str, of: &PairedDifference| {
        let [low, high] = of.interval;
        let [mean, from, to] = [of.mean, low, high].map(|of| with_sign(of, nats));
        let text = format!("{mean} ({from} to {to})");
        let spread = Some((low, Some(high)));
        ChartRow::bar(name, palette.colour(name), Some(of.mean), spread, text)
    };
    let chart = RowChart::new(
        "Change of the held-out risk with its interval",
        "held-out risk after minus before, nats",
        vec![row("old data", &verdict.old), row("new data", &verdict.new)],
    );
    let caption = format!(
        "Left of 0 the updated encoder is better. Paired differences on {} and {} that were held out, with {} \
         intervals: one that holds 0 is no clear difference.",
        plural(verdict.old.n, "old sample"),
        plural(verdict.new.n, "new one"),
        percent(verdict.level),
    );
    Some(Figure::new(caption, Legend::default(), vec![chart.svg()]))
}

/// Draws the exact risk over the update; `None` if nothing was measured on the way.
pub(crate) fn course(record: &UpdateRecord) -> Option<Figure> {
    over_passes(
        record,
        "Exact risk over all, old and new data against sample passes",
        ("exact risk, nats (logarithmic)", AxisScale::Logarithmic),
        &RISKS,
        "Over the training samples. Lower is better. The flat piece at the left is the risk before the first step.",
    )
}

/// Draws the change of the parts of the exact risk on old data. The parts differ so much that without a common start
/// they would be two flat lines.
pub(crate) fn parts(record: &UpdateRecord) -> Option<Figure> {
    over_passes(
        record,
        "Change of the parts of the exact risk on old data against sample passes",
        ("change of the parts on old data, nats", AxisScale::Linear),
        &PARTS,
        "The exact risk on old data is the sum of these two. Each is drawn as its change since the start.",
    )
}

/// Draws quantities against sample passes, on a linear axis as changes since the start.
fn over_passes(
    record: &UpdateRecord,
    title: &str,
    (y_label, height): (&str, AxisScale),
    followed: &[Followed],
    caption: &str,
) -> Option<Figure> {
    let evaluations = &record.course.evaluations;
    let first = evaluations.first().filter(|_| evaluations.len() > 1)?;
    let palette = Palette::new(followed.iter().map(|(name, _)| *name));
    let line = |(name, of): &Followed| {
        let start = match height {
            AxisScale::Linear => of(first),
            _ => 0.0,
        };
        let points = evaluations.iter();
        let points = points.map(|e| (e.sample_passes as f64, of(e) - start));
        Line::new(*name, palette.colour(name), points.collect())
    };
    let passes = (
        "sample passes (logarithmic, 0 at the left)",
        AxisScale::FromZero,
    );
    let lines = followed.iter().map(line).collect();
    let chart = LineChart::new(title, passes, (y_label, height), lines);
    let legend = palette.legend(followed.iter().map(|(name, _)| *name));
    Some(Figure::new(caption, legend, vec![chart.svg()]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{update, verdict};

    #[test]
    fn the_verdict_has_its_chart() {
        let mut record = update(2.8, 2.25, 0.1);
        assert_eq!(differences(&record), None);
        record.verdict = Some(verdict(0.1, -0.2));
        let chart = differences(&record).unwrap().charts.concat();
        for words in [">+0.100 (+0.099 to +0.101)<", ">−0.200 (−0.201 to −0.199)<"] {
            assert!(chart.contains(words), "{words}: {chart}");
        }
        assert_eq!(chart.matches("class=\"whisker\"").count(), 2);
    }

    /// The parts begin at 2.1 and 0.6: as levels they were two flat lines on an axis from 0 to 2.
    #[test]
    fn parts_are_drawn_as_changes() {
        let figure = parts(&update(2.8, 2.25, 0.1)).unwrap();
        let image = roxmltree::Document::parse(&figure.charts[0]).unwrap();
        let texts = image
            .descendants()
            .filter(|node| node.attribute("text-anchor") == Some("end"));
        let ticks: Vec<f64> = texts
            .filter_map(|node| node.text()?.replace('−', "-").parse().ok())
            .collect();
        assert!(
            ticks.len() > 2 && ticks.iter().all(|tick| tick.abs() < 0.8),
            "{ticks:?}"
        );
    }
}
