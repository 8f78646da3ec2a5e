//! Arrows between the crates of the workspace: which of them may import which.

use cargo_metadata::{DependencyKind, Metadata};

/// Every crate of the house with those that it may import. An arrow that is not here is an error,
/// and so is a crate.
const ALLOWED: [(&str, &[&str]); 22] = [
    // The laboratory may use all of the product; nothing uses it.
    (
        "icl-lab",
        &[
            "icl",
            "icl-cli",
            "icl-report",
            "icl-train",
            "icl-eval",
            "icl-data",
            "icl-models",
            "icl-meta",
            "icl-core",
        ],
    ),
    (
        "icl-cli",
        &[
            "icl",
            "icl-report",
            "icl-train",
            "icl-eval",
            "icl-data",
            "icl-models",
            "icl-meta",
            "icl-core",
        ],
    ),
    // The library's front door; it knows neither the program nor reports.
    (
        "icl",
        &[
            "icl-train",
            "icl-eval",
            "icl-data",
            "icl-models",
            "icl-meta",
            "icl-core",
        ],
    ),
    // Records hold outcomes of training and of protocols.
    ("icl-report", &["icl-train", "icl-eval", "icl-core"]),
    // The trainer is generic over models, data and protocols.
    ("icl-train", &["icl-meta", "icl-core", "icl-kernels"]),
    ("icl-meta", &["icl-rl", "icl-core"]),
    ("icl-eval", &["icl-core"]),
    ("icl-data", &["icl-core"]),
    ("icl-models", &["icl-core", "icl-kernels"]),
    // An agent for continuous actions; it knows nothing of losses.
    ("icl-rl", &[]),
    ("icl-core", &["icl-kernels"]),
    // Operators of backends; nothing in them is of this project alone.
    ("icl-kernels", &[]),
    ("xtask", &[]),
    // The examples see what a user sees.
    ("mnist2", &["icl"]),
    ("imagenet2", &["icl"]),
    ("proteins", &["icl"]),
    ("reddit", &["icl"]),
    ("tabular", &["icl"]),
    ("own_encoder", &["icl"]),
    ("recommend", &["icl"]),
    // It reads generated inputs with the library and with the program.
    ("icl-fuzz", &["icl-cli", "icl"]),
    // It writes a report of its own.
    ("backend_compare", &["icl", "icl-report", "icl-train"]),
];

/// The test support in icl-core: the one arrow that tests may add.
const TEST_SUPPORT: (&str, &str) = ("icl-core", "testing");

/// The one arrow that benchmarks add: they measure an agent's decision beside everything else.
const BENCHMARKED: (&str, &str) = ("icl-cli", "icl-rl");

/// A package of the workspace.
#[derive(Debug, Clone, PartialEq)]
pub struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

/// A dependency of a package.
#[derive(Debug, Clone, PartialEq)]
struct Dependency {
    name: String,
    is_for_tests: bool,
    features: Vec<String>,
}

/// Returns the packages of the workspace.
pub fn packages(metadata: &Metadata) -> Vec<Package> {
    let package = |package: &cargo_metadata::Package| Package {
        name: package.name.to_string(),
        dependencies: package
            .dependencies
            .iter()
            .map(|dependency| Dependency {
                name: dependency.name.clone(),
                is_for_tests: dependency.kind == DependencyKind::Development,
                features: dependency.features.clone(),
            })
            .collect(),
    };
    metadata
        .workspace_packages()
        .into_iter()
        .map(package)
        .collect()
}

/// Returns what is wrong with these packages, a sentence each.
pub fn problems(packages: &[Package]) -> Vec<String> {
    let is_ours = |name: &str| {
        packages.iter().any(|package| package.name == name) || allowed_of(name).is_some()
    };
    let mut problems = Vec::new();
    for package in packages {
        let Some(allowed) = allowed_of(&package.name) else {
            problems.push(format!(
                "{}: this crate has no place in the house; give it one in xtask/src/check/arrows.rs",
                package.name
            ));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|it| is_ours(&it.name)) {
            if allowed.contains(&dependency.name.as_str())
                || (dependency.is_for_tests && dependency.is_allowed_in_tests_of(&package.name))
            {
                continue;
            }
            let (kind, expected) = if dependency.is_for_tests {
                let (core, testing) = TEST_SUPPORT;
                (" in tests", format!(", {core} with `{testing}` in tests"))
            } else {
                ("", String::new())
            };
            let allowed = match allowed {
                [] => "none of ours".to_owned(),
                some => some.join(", "),
            };
            problems.push(format!(
                "{} → {}{kind}: this arrow is not in the house; {} may import {allowed}{expected}",
                package.name, dependency.name, package.name
            ));
        }
    }
    problems
}

impl Dependency {
    fn is_allowed_in_tests_of(&self, package: &str) -> bool {
        let is_test_support =
            self.name == TEST_SUPPORT.0 && self.features.iter().any(|it| it == TEST_SUPPORT.1);
        self.name == package
            || (is_test_support && package != "xtask")
            || (package, self.name.as_str()) == BENCHMARKED
    }
}

fn allowed_of(name: &str) -> Option<&'static [&'static str]> {
    ALLOWED
        .into_iter()
        .find(|(package, _)| *package == name)
        .map(|(_, allowed)| allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, dependencies: &[Dependency]) -> Package {
        Package {
            name: name.into(),
            dependencies: dependencies.to_vec(),
        }
    }

    fn on(name: &str) -> Dependency {
        Dependency {
            name: name.into(),
            is_for_tests: false,
            features: Vec::new(),
        }
    }

    fn in_tests_on(name: &str, features: &[&str]) -> Dependency {
        Dependency {
            name: name.into(),
            is_for_tests: true,
            features: features.iter().map(|it| it.to_string()).collect(),
        }
    }

    #[test]
    fn the_house_as_designed_is_in_order() {
        let house = ALLOWED.map(|(name, allowed)| {
            let allowed: Vec<Dependency> = allowed.iter().map(|it| on(it)).collect();
            package(name, &allowed)
        });
        assert_eq!(problems(&house), Vec::<String>::new());
    }

    #[test]
    fn arrows_go_down_only() {
        for (from, to) in [
            ("icl-eval", "icl-models"),
            ("icl-core", "icl-meta"),
            ("icl-rl", "icl-core"),
            ("icl-meta", "icl-data"),
            ("icl-meta", "icl-train"),
            ("icl-train", "icl-data"),
            ("icl-train", "icl-models"),
            ("icl-train", "icl-eval"),
            ("icl-train", "icl-rl"),
            ("icl-train", "icl-report"),
            ("icl-report", "icl-data"),
            ("icl-report", "icl-meta"),
            ("icl-report", "icl"),
            ("icl-data", "icl"),
            ("icl", "icl-report"),
            ("icl", "icl-cli"),
            ("icl", "xtask"),
            ("icl", "icl-rl"),
            ("icl-cli", "icl-rl"),
            ("xtask", "icl-core"),
            ("icl-core", "icl-core"),
            ("proteins", "icl-data"),
            ("proteins", "icl-report"),
            ("backend_compare", "icl-cli"),
            ("own_encoder", "mnist2"),
            ("icl", "reddit"),
        ] {
            let problems = problems(&[package(from, &[on("burn"), on(to)])]);
            assert_eq!(problems.len(), 1, "{from} → {to}");
            assert!(problems[0].starts_with(&format!("{from} → {to}: ")));
        }
    }

    #[test]
    fn other_crates_are_none_of_its_business() {
        let house = [package(
            "icl-core",
            &[on("burn"), in_tests_on("icloud", &[])],
        )];
        assert_eq!(problems(&house), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_place_is_named() {
        let problems = problems(&[
            package("icl-utils", &[]),
            package("icl-meta", &[on("icl-utils")]),
        ]);
        assert_eq!(problems.len(), 2);
        assert!(problems[0].starts_with("icl-utils: "), "{problems:?}");
        assert!(
            problems[1].starts_with("icl-meta → icl-utils: "),
            "{problems:?}"
        );
    }

    #[test]
    fn tests_may_use_the_test_support_and_themselves() {
        let testing = in_tests_on("icl-core", &["testing"]);
        let house = [
            package("icl-rl", std::slice::from_ref(&testing)),
            package("icl-core", &[in_tests_on("icl-core", &["testing"])]),
            package("icl-models", &[in_tests_on("icl-models", &["flex"])]),
            package("icl-cli", &[in_tests_on("icl-rl", &[])]),
        ];
        assert_eq!(problems(&house), Vec::<String>::new());
        for (from, dependency) in [
            ("icl-rl", in_tests_on("icl-core", &[])),
            ("icl-eval", in_tests_on("icl-models", &["testing"])),
            ("icl-eval", in_tests_on("icl-rl", &[])),
            ("icl", in_tests_on("icl-rl", &[])),
            ("xtask", testing),
        ] {
            let problems = problems(&[package(from, &[dependency])]);
            assert_eq!(problems.len(), 1, "{from}");
            assert!(problems[0].contains(" in tests: "), "{problems:?}");
        }
    }
}
