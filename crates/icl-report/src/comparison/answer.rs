//! The answer of a comparison: the method to use, what it saves and what it costs.

use icl_train::{Answer, REFERENCE};

use crate::comparison::headline::listed;
use crate::summary::choice::{Choice, Measured};
use crate::summary::speed_up::SAME;
use crate::text::number::{count, duration, factor, plural};

/// Says which method to use, what it saves and what it costs. No method is better than another within the noise of the
/// seeds: of methods without a clear difference it is the cheapest.
pub(crate) fn answer(choice: &Choice) -> String {
    let [best, reference] = [choice.best, choice.reference].map(|at| &choice.methods[at]);
    let other = &reference.method;
    let data = match choice.is_held_out {
        true => "held-out old and new data",
        false => "old and new data",
    };
    if choice.methods.len() == 1 {
        return format!(
            "Only {other} was run, for {}: there is nothing to compare it with.",
            cost(best)
        );
    }
    if choice.best == choice.reference {
        return format!(
            "Use {other}, which costs {}: every other method is clearly worse on {data}, so nothing is saved.",
            cost(best)
        );
    }
    let seeds = plural(best.excess.len(), "seed");
    let quality = format!("{} {other} on {data} ({seeds})", quality(best));
    if best.passes == 0.0 {
        return format!(
            "Keep the old encoder: it {quality}. That saves all of the cost of {other}, {}.",
            cost(reference),
        );
    }
    let factor_saved = reference.passes / best.passes;
    let saved = match factor_saved >= SAME {
        true => format!(
            "It saves {}: it costs {}, {other} {}",
            factor(factor_saved),
            cost(best),
            cost(reference)
        ),
        false => format!(
            "It saves nothing: it costs {}, as much as {other}",
            cost(best)
        ),
    };
    let names: Vec<&str> = choice.as_good.iter().map(String::as_str).collect();
    let as_good = match &names[..] {
        [] => String::new(),
        [one] => format!("; {one} costs the same and is no worse"),
        names => format!("; {} cost the same and are no worse", listed(names)),
    };
    format!("Use {}: it {quality}. {saved}{as_good}.", best.method)
}

/// Says how the risks of a method compare with those of the one that it is measured against.
fn quality(of: &Measured) -> &'static str {
    use Answer::{Better, NoClearDifference};
    match of.answers {
        [Better, Better] => "is better than",
        [Better, NoClearDifference] | [NoClearDifference, Better] => "is no worse than",
        _ => "does not differ clearly from",
    }
}

fn cost(of: &Measured) -> String {
    format!("{} passes ({})", count(of.passes), duration(of.train_s))
}

/// Says what the differences of the chart rest on.
pub(crate) fn basis(choice: &Choice) -> String {
    let reference = &choice.methods[choice.reference];
    let n = reference.excess.len();
    let samples = match choice.is_held_out {
        true => "on held-out samples, which no method has seen",
        false => "on the training samples, since none were held out",
    };
    let noise = match (n, choice.is_held_out) {
        (1, true) => " and twice the standard errors over the samples",
        (1, false) => "",
        _ => " and the 95 % interval of the paired differences over the seeds",
    };
    let name = match reference.method.as_str() {
        REFERENCE => "retraining's".to_owned(),
        other => format!("that of {other}, the lowest here"),
    };
    format!(
        "Risk above {name}, in %, on old or on new data, where it is more, measured {samples}. Further left is better; \
         a dot is a seed, the bar their median. Differences count beyond 1 %{noise}."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{held_out, record};
    use crate::record::RunRecord;

    /// One seed of each method with a risk on old and on new held-out data, and charged passes.
    fn said(methods: &[(&str, [f64; 2], f64)]) -> String {
        let of = |(name, risks, passes): &(&str, [f64; 2], f64)| {
            let mut record = held_out(record(name, 1), *risks);
            record.training.charged_passes = *passes;
            record.training.train_s = passes / 1000.0;
            record
        };
        let records: Vec<RunRecord> = methods.iter().map(of).collect();
        answer(&Choice::of(&records).unwrap())
    }

    const RETRAINING: (&str, [f64; 2], f64) = ("retraining", [0.75, 0.77], 420_000.0);

    #[test]
    fn it_says_what_to_use_what_it_saves_and_what_it_costs() {
        let (kept, tuned) = (
            ("inference", [0.89, 1.43], 0.0),
            ("fine-tuning", [1.04, 1.07], 2e4),
        );
        let icl = ("icl", [0.76, 0.78], 42_000.0);
        assert_eq!(
            said(&[kept, RETRAINING, tuned, icl]),
            "Use icl: it does not differ clearly from retraining on held-out old and new data (1 seed). It saves \
             10.0×: it costs 42.0 k passes (42.0 s), retraining 420.0 k passes (7.00 min)."
        );
        let warm = ("warm", [0.74, 0.76], 42_000.0);
        let text = said(&[kept, RETRAINING, warm, icl]);
        assert!(
            text.ends_with("; warm costs the same and is no worse."),
            "{text}"
        );
        assert_eq!(
            said(&[kept, RETRAINING, tuned]),
            "Use retraining, which costs 420.0 k passes (7.00 min): every other method is clearly worse on held-out \
             old and new data, so nothing is saved."
        );
    }

    #[test]
    fn none_saved_anything_is_an_answer() {
        let slow = ("icl", [0.6, 0.6], 420_000.0);
        assert_eq!(
            said(&[RETRAINING, slow]),
            "Use icl: it is better than retraining on held-out old and new data (1 seed). It saves nothing: it costs \
             420.0 k passes (7.00 min), as much as retraining."
        );
        assert_eq!(
            said(&[RETRAINING, ("inference", [0.75, 0.77], 0.0), slow]),
            "Keep the old encoder: it does not differ clearly from retraining on held-out old and new data (1 seed). \
             That saves all of the cost of retraining, 420.0 k passes (7.00 min)."
        );
        assert!(said(&[slow]).starts_with("Only icl was run, for 420.0 k passes"));
    }
}
