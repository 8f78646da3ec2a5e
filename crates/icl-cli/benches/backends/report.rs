//! The results as tables.

use crate::case::{Case, Growth, Topic};
use crate::rounds::{Figures, Outcome};

/// Maximum difference of two numbers that agree, relative to the larger one.
const TOLERANCE: f64 = 1e-4;

/// Tables of times, printed case by case, and the results of all cases for the last tables.
#[derive(Default)]
pub struct Report {
    topic: Option<Topic>,
    cases: Vec<(Case, Vec<Outcome>)>,
}

impl Report {
    /// Prints the rows of a case.
    pub fn case(&mut self, case: Case, outcomes: Vec<Outcome>) {
        let topic = case.topic();
        if self.topic.replace(topic) != Some(topic) {
            println!("\n## {topic}\n");
            println!(
                "| case | side | rounds | median, ms | least | 10–90 % | time over PyTorch's \
                 [10–90 % of rounds] | goal | of all processors, ms (over PyTorch's) | peak memory, MiB (before the case) |"
            );
            println!("|---|---|---|---|---|---|---|---|---|---|");
        }
        for outcome in &outcomes {
            println!("{}", row(&case, outcome, &outcomes));
        }
        self.cases.push((case, outcomes));
    }

    /// Prints how cost grows and whether all sides did the same work.
    pub fn end(&self) {
        let growths: Vec<(Growth, &[Outcome])> = self
            .cases
            .iter()
            .filter_map(|(case, outcomes)| Some((case.growth()?, outcomes.as_slice())))
            .collect();
        // Sizes of the same work follow each other; one size does not grow.
        let grown = growths.chunk_by(|(one, _), (next, _)| one.of == next.of);
        let mut grown = grown.filter(|sizes| sizes.len() > 1).peekable();
        if grown.peek().is_some() {
            println!("\n## How cost grows");
        }
        grown.for_each(growth_table);
        println!("\n## The same work\n");
        println!("| case | work | the same on | not on | PyTorch's form |");
        println!("|---|---|---|---|---|");
        for (case, outcomes) in &self.cases {
            println!("{}", same_work(case, outcomes));
        }
    }
}

fn row(case: &Case, outcome: &Outcome, all: &[Outcome]) -> String {
    let side = &outcome.side;
    let figures = match &outcome.result {
        Ok(figures) => figures,
        Err(error) => {
            let reason = error.to_string().replace('|', "/");
            return format!("| {case} | {side} | failed: {reason} | – | – | – | – | – | – | – |");
        }
    };
    let Spread {
        median,
        least,
        low,
        high,
    } = Spread::of(figures.times_ms.clone());
    let reference = outcome.reference.and_then(|name| figures_of(name, all));
    let ratio = reference.map(|reference| {
        let of_rounds = figures.times_ms.iter().zip(&reference.times_ms);
        let spread = Spread::of(of_rounds.map(|(own, other)| own / other).collect());
        let of_medians = median / Spread::of(reference.times_ms.clone()).median;
        (of_medians, spread)
    });
    let ratio_text = ratio.map_or("–".to_owned(), |(ratio, spread)| {
        format!("{ratio:.2} [{:.2}–{:.2}]", spread.low, spread.high)
    });
    let goal_text = match (outcome.role.goal(case), ratio) {
        (Some(goal), Some((ratio, _))) if ratio <= goal => format!("{goal}: met"),
        (Some(goal), Some(_)) => format!("{goal}: **missed**"),
        _ => "–".to_owned(),
    };
    let processors = |figures: &Figures| Spread::of(figures.processors_ms.clone()).median;
    let processors_text = reference.map_or("–".to_owned(), |reference| {
        format!("{:.2}", processors(figures) / processors(reference))
    });
    format!(
        "| {case} | {side} | {} | {} | {} | {}–{} | {ratio_text} | {goal_text} | {} ({processors_text}) | {} ({}) |",
        figures.times_ms.len(),
        digits(median),
        digits(least),
        digits(low),
        digits(high),
        digits(processors(figures)),
        figures.memory.peak,
        figures.memory.at_start,
    )
}

fn figures_of<'a>(side: &str, all: &'a [Outcome]) -> Option<&'a Figures> {
    let outcome = all.iter().find(|outcome| outcome.side == side)?;
    outcome.result.as_ref().ok()
}

/// Prints a column for each size, a row for each side, and the exponent between the first and the last size.
fn growth_table(sizes: &[(Growth, &[Outcome])]) {
    let [(first, outcomes), .., (last, _)] = sizes else {
        return;
    };
    println!(
        "\n{}: median in ms, and peak memory above that before the case in MiB\n",
        first.of
    );
    let heads: Vec<String> = sizes
        .iter()
        .map(|(growth, _)| format!("{} {}", growth.by, growth.size))
        .collect();
    println!(
        "| side | {} | time grows as the size to the power of |",
        heads.join(" | ")
    );
    println!("|---|{}---|", "---|".repeat(heads.len()));
    for Outcome { side, .. } in *outcomes {
        let medians: Vec<Option<(f64, usize)>> = sizes
            .iter()
            .map(|(_, outcomes)| {
                let Figures {
                    times_ms, memory, ..
                } = figures_of(side, outcomes)?;
                let added = memory.peak.saturating_sub(memory.at_start);
                Some((Spread::of(times_ms.clone()).median, added))
            })
            .collect();
        let cells = medians.iter().map(|cell| match cell {
            Some((median, added)) => format!("{}, {added} MiB", digits(*median)),
            None => "–".to_owned(),
        });
        let power = match (medians.first(), medians.last()) {
            (Some(Some((short, _))), Some(Some((long, _)))) => {
                let by = last.size as f64 / first.size as f64;
                format!("{:.2}", (long / short).ln() / by.ln())
            }
            _ => "–".to_owned(),
        };
        println!(
            "| {side} | {} | {power} |",
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
}

fn same_work(case: &Case, outcomes: &[Outcome]) -> String {
    let ready: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| Some((&outcome.side, &outcome.result.as_ref().ok()?.ready)))
        .collect();
    let Some((_, first)) = ready.first() else {
        return format!("| {case} | – | – | – | – |");
    };
    let names = |agrees: bool| {
        let chosen = ready
            .iter()
            .filter(|(_, other)| agree(&first.facts, &other.facts) == agrees)
            .map(|(side, other)| match agrees {
                true => (*side).clone(),
                false => format!("{side} ({})", other.facts),
            });
        let names = chosen.collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            "–".to_owned()
        } else {
            names
        }
    };
    let forms: Vec<String> = ready
        .iter()
        .filter(|(_, it)| !it.form.is_empty())
        .map(|(side, it)| format!("{side}: {}", it.form))
        .collect();
    format!(
        "| {case} | {} | {} | {} | {} |",
        first.facts,
        names(true),
        names(false),
        forms.join("; ")
    )
}

/// Whether two texts hold the same numbers.
fn agree(left: &str, right: &str) -> bool {
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace()
            .filter_map(|word| word.trim_end_matches([',', ';']).parse().ok())
            .collect()
    };
    let (left, right) = (numbers(left), numbers(right));
    left.len() == right.len()
        && left
            .iter()
            .zip(&right)
            .all(|(a, b)| (a - b).abs() <= TOLERANCE * a.abs().max(b.abs()))
}

/// Writes a number with three digits, or all before the point.
fn digits(x: f64) -> String {
    let n_before = x.abs().max(1e-9).log10().floor() as i32 + 1;
    format!("{x:.*}", (3 - n_before).clamp(0, 5) as usize)
}

/// Summary of the values of all rounds.
#[derive(Debug, Clone, Copy)]
struct Spread {
    median: f64,
    least: f64,
    /// First decile.
    low: f64,
    /// Ninth decile.
    high: f64,
}

impl Spread {
    /// Summarises values.
    ///
    /// # Panics
    /// If there are no values.
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        // Linear between two values.
        let quantile = |share: f64| {
            let place = share * (values.len() - 1) as f64;
            let (below, above) = (place.floor() as usize, place.ceil() as usize);
            values[below] + (values[above] - values[below]) * place.fract()
        };
        Self {
            median: quantile(0.5),
            least: values[0],
            low: quantile(0.1),
            high: quantile(0.9),
        }
    }
}
