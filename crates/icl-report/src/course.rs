//! Quantities that are recorded epoch by epoch, for documents on one or several runs.

use std::borrow::Cow;

use crate::chart::{AxisScale, Figure, Line, LineChart, Palette};
use crate::document::Block;
use crate::record::{TrainingCourse, UpdateFacts};
use crate::summary::change::above_chance;

/// Course of one training run.
pub(crate) struct Course<'a> {
    /// Series of the run in the charts.
    pub(crate) series: &'a str,
    /// Name of the run.
    pub(crate) label: String,
    /// Mean training loss of each epoch, in nats.
    pub(crate) losses: &'a [f64],
    /// Mean number of negatives K of the steps of each epoch; empty in older records.
    pub(crate) negatives: &'a [f64],
    /// Mean learning rate of each epoch; under meta-optimization that of the query step.
    pub(crate) rates: &'a [f64],
    /// Mean learning rate of the support steps of each epoch; empty without meta-optimization.
    pub(crate) support_rates: &'a [f64],
    /// Share of the old data that each epoch could draw from.
    pub(crate) old_fractions: &'a [f64],
}

impl<'a> Course<'a> {
    /// Returns the losses and numbers of negatives of a run.
    pub(crate) fn of<R>(series: &'a str, label: String, of: &'a TrainingCourse<R>) -> Self {
        Self {
            series,
            label,
            losses: &of.epoch_losses,
            negatives: &of.step_negatives,
            rates: &[],
            support_rates: &[],
            old_fractions: &[],
        }
    }

    /// Returns the course with the rates and the share of old data of an update.
    pub(crate) fn with_rates(self, of: &'a UpdateFacts) -> Self {
        Self {
            rates: &of.learning_rates,
            support_rates: &of.support_learning_rates,
            old_fractions: &of.old_fractions,
            ..self
        }
    }
}

/// Quantity of each epoch of a run.
type Series = for<'a> fn(&'a Course<'a>) -> Cow<'a, [f64]>;

/// Returns folded sections with the charts of what is recorded over the epochs: learning rates and the
/// share of old data where they vary, and training losses.
pub(crate) fn sections(courses: &[Course<'_>], palette: &Palette) -> Vec<Block> {
    let of = Courses { courses, palette };
    let sections = [
        of.section(
            "Learning rates over the epochs",
            "Mean of each epoch. Under meta-optimization the query step has one learning rate and the \
             support steps have another.",
            &[
                of.varying(
                    "Learning rate over the epochs",
                    "learning rate (of the query step)",
                    AxisScale::Logarithmic,
                    |course| course.rates.into(),
                ),
                of.varying(
                    "Learning rate of the support steps over the epochs",
                    "learning rate of the support steps",
                    AxisScale::Logarithmic,
                    |course| course.support_rates.into(),
                ),
            ],
        ),
        of.section(
            "Share of the old data over the epochs",
            "The part of the old data from which the batches of an epoch could be drawn.",
            &[of.varying(
                "Share of the old data over the epochs",
                "share of the old data to draw from",
                AxisScale::Linear,
                |course| course.old_fractions.into(),
            )],
        ),
        of.training_losses(),
    ];
    sections.into_iter().flatten().collect()
}

/// Runs that share their charts.
struct Courses<'a> {
    courses: &'a [Course<'a>],
    palette: &'a Palette,
}

impl Courses<'_> {
    /// Makes a folded section of the charts that there are; `None` without any.
    fn section(&self, title: &str, caption: &str, charts: &[Option<String>]) -> Option<Block> {
        let charts: Vec<String> = charts.iter().flatten().cloned().collect();
        let mut names: Vec<&str> = Vec::new();
        for course in self.courses {
            if !names.contains(&course.series) {
                names.push(course.series);
            }
        }
        let figure = Figure::new(caption, self.palette.legend(names), charts);
        let is_empty = figure.charts.is_empty();
        (!is_empty).then(|| Block::Details(title.into(), vec![Block::Figure(figure)]))
    }

    /// Makes the section of the training losses: above their values at chance, with the numbers of negatives below, if
    /// these vary in a run.
    fn training_losses(&self) -> Option<Block> {
        let title = "Training losses";
        let negatives = self.varying(
            "Number of negatives of each epoch",
            "number of negatives K",
            AxisScale::Linear,
            |course| course.negatives.into(),
        );
        if negatives.is_none() {
            let loss = self.over_epochs(
                "Training loss of each epoch",
                "training loss, nats",
                AxisScale::Linear,
                |course| course.losses.into(),
            );
            let caption = "Mean of each epoch. Different methods minimise different functions: compare the course of \
                           a line, not its height with that of another method.";
            return self.section(title, caption, &[loss]);
        }
        let loss = self.over_epochs(
            "Training loss minus ln(1 + K) of each epoch",
            "nats above chance",
            AxisScale::Linear,
            |course| above_chance(course.losses, course.negatives).into(),
        );
        let caption = "Mean of each epoch. The number of negatives K varies, and with it the loss of an encoder that \
                       knows nothing, ln(1 + K), which is subtracted. Different methods minimise different functions.";
        self.section(title, caption, &[loss, negatives])
    }

    /// Draws a quantity over the epochs if it varies in a run.
    fn varying(&self, title: &str, y_label: &str, height: AxisScale, of: Series) -> Option<String> {
        let varies = |course: &Course<'_>| is_varying(&of(course));
        let is_worth_it = self.courses.iter().any(varies);
        is_worth_it.then(|| self.over_epochs(title, y_label, height, of))?
    }

    /// Draws a quantity over the epochs; `None` if no run has it.
    fn over_epochs(
        &self,
        title: &str,
        y_label: &str,
        height: AxisScale,
        of: Series,
    ) -> Option<String> {
        let points = |course: &Course<'_>| -> Vec<(f64, f64)> {
            let values = of(course);
            let values = values.iter().enumerate();
            values.map(|(i, value)| ((i + 1) as f64, *value)).collect()
        };
        let x = ("epoch (logarithmic)", AxisScale::FromZero);
        Some(LineChart::new(title, x, (y_label, height), self.lines(points)?).svg())
    }

    /// Makes a line of each run that has points; `None` if none has.
    fn lines(&self, points: impl Fn(&Course<'_>) -> Vec<(f64, f64)>) -> Option<Vec<Line>> {
        let mut lines = Vec::new();
        for course in self.courses {
            let points = points(course);
            if !points.is_empty() && self.palette.is_own(course.series) {
                let colour = self.palette.colour(course.series);
                let line = Line::new(course.series, colour, points);
                lines.push(line.labelled(course.label.clone()));
            }
        }
        (!lines.is_empty()).then_some(lines)
    }
}

fn is_varying(values: &[f64]) -> bool {
    values.windows(2).any(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(course: Course<'_>) -> Vec<String> {
        let palette = Palette::new([course.series]);
        let title = |block: Block| match block {
            Block::Details(title, _) => title.plain(),
            other => panic!("{other:?}"),
        };
        sections(&[course], &palette)
            .into_iter()
            .map(title)
            .collect()
    }

    fn course<'a>(rates: &'a [f64], old_fractions: &'a [f64]) -> Course<'a> {
        Course {
            series: "warm",
            label: "warm, seed 0".to_owned(),
            losses: &[],
            negatives: &[],
            rates,
            support_rates: &[],
            old_fractions,
        }
    }

    #[test]
    fn only_what_varies_is_shown() {
        assert!(titles(course(&[1e-3; 3], &[1.0; 3])).is_empty());
        assert_eq!(
            titles(course(&[1e-3, 2e-3], &[0.2, 0.4])),
            [
                "Learning rates over the epochs",
                "Share of the old data over the epochs"
            ]
        );
    }

    #[test]
    fn losses_under_a_varying_number_of_negatives_are_above_chance() {
        let palette = Palette::new(["warm"]);
        let section = |negatives: &[f64]| {
            let of = Course {
                losses: &[2.0, 1.0],
                negatives,
                ..course(&[], &[])
            };
            match &sections(&[of], &palette)[..] {
                [Block::Details(_, blocks)] => match &blocks[..] {
                    [Block::Figure(figure)] => figure.charts.clone(),
                    other => panic!("{other:?}"),
                },
                other => panic!("{other:?}"),
            }
        };
        let [fixed] = &section(&[31.0; 2])[..] else {
            panic!("one chart")
        };
        assert!(fixed.contains("training loss, nats"));
        let [losses, negatives] = &section(&[1.0, 20.0])[..] else {
            panic!("two charts")
        };
        assert!(
            losses.contains("nats above chance") && negatives.contains("number of negatives K")
        );
    }
}
