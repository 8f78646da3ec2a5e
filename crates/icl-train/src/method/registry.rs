//! The registry: the methods that have a name.

use icl_core::RateChoice;

use crate::error::{TrainError, TrainErrorKind};
use crate::method::loss::{Loss, LossKind};
use crate::method::optimizer_choice::OptimizerChoice;
use crate::method::point::Method;
use crate::method::sampling::Sampling;
use crate::method::start::Start;

/// Name of the reference method, whose quality is the target of all others: training from scratch on all
/// data.
pub const REFERENCE: &str = "retraining";

/// Name of the default method, [`Method::icl`].
pub const DEFAULT: &str = "icl";

/// Share of the old data in an epoch of `warm-sub`.
const FRESH_SHARE: f64 = 0.2;

/// Returns the methods of the registry, in the order in which they are shown.
///
/// All start from θ₀ except `retraining`, `icl` with frozen statistics of normalisation
/// ([`Start::FrozenNorm`]), and all have a fixed learning rate and the plain optimizer unless the table says
/// otherwise.
///
/// | name | sampling | loss | optimizer | rate |
/// |---|---|---|---|---|
/// | `inference` | | none: θ₀ is used as it is | | |
/// | `retraining` | all, from scratch | NCE-I | | |
/// | `warm` | all | NCE-I | | |
/// | `warm-sub` | new, and a fresh fifth of the old data | NCE-I | | |
/// | `fine-tuning` | new | NCE-I | | |
/// | `replay` | new, and a buffer of old samples | NCE-I | | |
/// | `distillation` | new | NCE-I with distillation | | |
/// | `icl-published` | stratified | Eq. 9 as published | meta | learned as published |
/// | `icl-corrected` | stratified | Eq. 9 with its dropped term | meta | learned |
/// | `icl` | new, and a widening share of the old data | NCE-I | | |
/// | `warm-cosine` | all | NCE-I | | cosine |
/// | `warm-hypergradient` | all | NCE-I | | hypergradient |
/// | `warm-lrl-published` | all | NCE-I | | learned as published |
/// | `warm-lrl` | all | NCE-I | | learned |
///
/// `icl-published` and `icl-corrected` have ablations, as in the tables of the paper: the suffixes
/// `-wo-lrl` (fixed learning rate), `-wo-m` (plain optimizer) and `-wo-m-lrl` (both).
///
/// ```
/// use icl_train::{Method, methods};
///
/// let names: Vec<String> = methods().into_iter().map(|method| method.name).collect();
/// assert!(names.contains(&"icl-corrected-wo-m".to_owned()));
/// assert_eq!(Method::named("icl")?.to_string(), Method::icl().to_string());
/// # Ok::<(), icl_train::TrainError>(())
/// ```
pub fn methods() -> Vec<Method> {
    use LossKind::{Corrected, InfoNce, Published};
    use OptimizerChoice::Plain;
    use RateChoice::{Cosine, Fixed, Hypergradient, Learned, LearnedAsPublished};
    use Sampling::{All, Buffer, New, Share, Stratified};
    let named = |name: &str, method| Method {
        name: name.to_owned(),
        ..method
    };
    let plain = |name: &str, sampling, loss: Loss| named(name, Method::new(sampling, loss));
    let warm = |name: &str, rate| Method {
        rate,
        ..plain(name, All, InfoNce.into())
    };
    let ablated = |name: &str, loss: LossKind, learned| {
        let meta = OptimizerChoice::Meta(None);
        let ablations = [
            ("", meta, learned),
            ("-wo-lrl", meta, Fixed),
            ("-wo-m", Plain, learned),
            ("-wo-m-lrl", Plain, Fixed),
        ];
        ablations.map(|(suffix, optimizer, rate)| Method {
            optimizer,
            rate,
            ..plain(&format!("{name}{suffix}"), Stratified, loss.into())
        })
    };
    let inference = Method {
        loss: None,
        ..plain("inference", All, InfoNce.into())
    };
    let baselines = [
        inference,
        Method::retraining(),
        warm("warm", Fixed),
        plain("warm-sub", Share(FRESH_SHARE), InfoNce.into()),
        plain("fine-tuning", New, InfoNce.into()),
        plain("replay", Buffer, InfoNce.into()),
        plain("distillation", New, InfoNce.with_distillation()),
    ];
    let controls = [
        Method::icl(),
        warm("warm-cosine", Cosine),
        warm("warm-hypergradient", Hypergradient),
        warm("warm-lrl-published", LearnedAsPublished),
        warm("warm-lrl", Learned),
    ];
    baselines
        .into_iter()
        .chain(ablated("icl-published", Published, LearnedAsPublished))
        .chain(ablated("icl-corrected", Corrected, Learned))
        .chain(controls)
        .collect()
}

impl Method {
    /// Returns the default method, `icl`: a warm start with frozen statistics of normalisation
    /// ([`Start::FrozenNorm`]) on the new data and a share of the old data, which widens with the cost of the
    /// training ([`Sampling::Widening`]).
    pub fn icl() -> Self {
        Self {
            name: DEFAULT.to_owned(),
            start: Start::FrozenNorm,
            ..Self::new(Sampling::Widening(None), LossKind::InfoNce)
        }
    }

    /// Returns the reference method, `retraining`: training from scratch on all data. Its quality is the
    /// target of all others.
    pub fn retraining() -> Self {
        Self {
            name: REFERENCE.to_owned(),
            start: Start::Scratch,
            ..Self::new(Sampling::All, LossKind::InfoNce)
        }
    }

    /// Finds a method by its name in the registry, or reads a point of the five axes, which contains a
    /// `=`.
    ///
    /// # Errors
    /// [`TrainError`] if the text is neither a name nor a point.
    pub fn named(text: &str) -> Result<Self, TrainError> {
        if text.contains('=') {
            return text.parse();
        }
        let known = methods();
        match known.iter().position(|method| method.name == text) {
            Some(at) => Ok(known[at].clone()),
            None => {
                let names: Vec<String> = known.into_iter().map(|method| method.name).collect();
                let names = names.join(", ");
                let point = "a point such as start=trained,sampling=share:0.2,loss=corrected";
                let expected = format!("one of {names} or {point}");
                let error = TrainError::new("", format!("\"{text}\""), expected);
                Err(error.with_kind(TrainErrorKind::UnknownMethod))
            }
        }
    }
}

/// Reads a comma-separated list of methods: names of the registry and points of the five axes.
///
/// Points contain commas, too. A point ends before a name, and before an axis that it already has.
///
/// ```
/// let methods = icl_train::parse_methods("warm,sampling=new,rate=cosine,icl")?;
/// assert_eq!(methods.len(), 3);
/// # Ok::<(), icl_train::TrainError>(())
/// ```
///
/// # Errors
/// [`TrainError`] for the first item that is neither a name nor a point.
pub fn parse_methods(text: &str) -> Result<Vec<Method>, TrainError> {
    let mut texts: Vec<Vec<&str>> = Vec::new();
    for piece in text.split(',').map(str::trim) {
        let axis = piece.split_once('=').map(|(axis, _)| axis);
        let has_axis = |other: &&str| other.split_once('=').map(|(axis, _)| axis) == axis;
        match texts.last_mut() {
            Some(point)
                if axis.is_some() && point[0].contains('=') && !point.iter().any(has_axis) =>
            {
                point.push(piece);
            }
            _ => texts.push(vec![piece]),
        }
    }
    texts
        .iter()
        .map(|text| Method::named(&text.join(",")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<_> = methods().into_iter().map(|method| method.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), methods().len());
        for method in methods() {
            assert_eq!(Method::named(&method.name), Ok(method));
        }
        let error = Method::named("no-such-method").unwrap_err().to_string();
        assert!(error.contains("found \"no-such-method\", expected one of inference, "));
    }

    #[test]
    fn a_list_holds_names_and_points() {
        let names = |text| -> Vec<String> {
            let methods = parse_methods(text).unwrap().into_iter();
            methods.map(|method| method.name).collect()
        };
        let of = |text: &str| text.parse::<Method>().unwrap().name;
        assert_eq!(names("warm"), ["warm"]);
        assert_eq!(
            names("warm,sampling=new,rate=cosine, icl,loss=none,loss=corrected,sampling=buffer"),
            [
                "warm".to_owned(),
                of("sampling=new,rate=cosine"),
                "icl".to_owned(),
                of("loss=none"),
                of("loss=corrected,sampling=buffer"),
            ]
        );
        for text in ["", "warm,", ",warm", "warm,cold", "sampling=new,rate=slow"] {
            assert!(parse_methods(text).is_err(), "{text}");
        }
    }

    #[test]
    fn those_with_a_name_of_their_own_are_in_the_registry() {
        for method in [Method::icl(), Method::retraining()] {
            assert_eq!(Method::named(&method.name), Ok(method));
        }
    }
}
