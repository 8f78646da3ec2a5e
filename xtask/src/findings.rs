//! Findings of a check, and how they are shown.

/// Findings of one check.
#[derive(Debug, Default, PartialEq)]
pub struct Findings {
    /// Sentences each of which fails the check.
    pub problems: Vec<String>,
    /// Sentences that are shown and fail nothing.
    pub warnings: Vec<String>,
}

impl Findings {
    /// Returns findings without warnings.
    pub fn of(problems: Vec<String>) -> Self {
        Self {
            problems,
            ..Self::default()
        }
    }

    /// Returns one line with the verdict on the check of this name, and one for each finding.
    pub fn report(&self, name: &str) -> String {
        let verdict = if self.problems.is_empty() {
            "ok"
        } else {
            "FAILED"
        };
        let mut report = format!("{verdict:<7}{name}\n");
        for problem in &self.problems {
            report += &format!("       {problem}\n");
        }
        for warning in &self.warnings {
            report += &format!("       warning: {warning}\n");
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_fails_nothing() {
        let mut findings = Findings::default();
        assert_eq!(findings.report("lints"), "ok     lints\n");
        findings.warnings.push("long".into());
        assert_eq!(
            findings.report("lints"),
            "ok     lints\n       warning: long\n"
        );
        findings.problems.push("wrong".into());
        assert_eq!(
            findings.report("lints"),
            "FAILED lints\n       wrong\n       warning: long\n"
        );
    }
}
