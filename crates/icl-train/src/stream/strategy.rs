//! Strategies of a stream: who trains, when, at what cost, and on which old samples.

use crate::error::TrainError;
use crate::method::Method;
use crate::stream::decision::Decision;
use crate::stream::keep::Keep;
use crate::stream::policy::Policy;
use crate::stream::when::When;

/// Strategy of a stream. Several can go through the same experiences: one that is chosen, and controls as its
/// references.
#[derive(Debug, Clone, PartialEq)]
pub struct Strategy {
    /// Name, in messages and of files.
    pub name: String,
    /// Method of the updates; `None`: the first encoder stays as it is.
    pub method: Option<Method>,
    /// Moment and cost of the updates.
    pub policy: Policy,
    /// Old samples that later updates may use.
    pub keep: Keep,
}

impl Strategy {
    /// Creates a control, which keeps all samples and has no budget: a method by its name or its point, which updates
    /// at every experience, or `never`, the first encoder without updates.
    ///
    /// # Errors
    /// [`TrainError`] if the text names no method.
    pub fn control(text: &str) -> Result<Self, TrainError> {
        let (method, when) = match text.parse() {
            Ok(when @ When::Never) => (None, when),
            _ => (Some(Method::named(text)?), When::Always),
        };
        let name = method
            .as_ref()
            .map_or_else(|| when.to_string(), |it| it.name.clone());
        Ok(Self {
            name,
            method,
            policy: Policy {
                when,
                ..Policy::default()
            },
            keep: Keep::All,
        })
    }

    /// Returns the method by which to update after a decision, by [`Stream::next`](crate::Stream::next); `None` to
    /// let the experience [`wait`](crate::Stream::wait).
    pub fn due(&self, decision: &Decision) -> Option<&Method> {
        self.method.as_ref().filter(|_| decision.update)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_control_updates_at_every_experience_or_never() {
        let never = Strategy::control("never").unwrap();
        assert_eq!((never.policy.when, never.method), (When::Never, None));
        let warm = Strategy::control("warm").unwrap();
        assert_eq!(warm.policy, Policy::default());
        assert_eq!((&warm.name[..], warm.keep), ("warm", Keep::All));
        assert_eq!(warm.method, Some(Method::named("warm").unwrap()));
        // A rule for the moment is no control.
        assert!(Strategy::control("always").is_err());
    }
}
