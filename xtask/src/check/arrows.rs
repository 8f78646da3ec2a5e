//! Arrows between the crates of the workspace: which of them may import which.

use cargo_metadata::{Dependency, DependencyKind, Metadata, Package};

use crate::findings::Findings;

/// Every crate of the workspace with those of them that it may import. Any other import of a crate of the
/// workspace is an error, and so is a crate that is not here.
const ALLOWED: [(&str, &str); 24] = [
    // The laboratory may use all of the product; nothing uses it.
    (
        "icl-lab",
        "icl icl-cli icl-report icl-train icl-eval icl-data icl-models icl-meta icl-core",
    ),
    (
        "icl-cli",
        "icl icl-report icl-train icl-eval icl-data icl-models icl-meta icl-core",
    ),
    // The library's front door; it knows neither the program nor reports.
    (
        "icl",
        "icl-train icl-eval icl-data icl-models icl-meta icl-core",
    ),
    // Records hold outcomes of training and of protocols.
    ("icl-report", "icl-train icl-eval icl-core"),
    // The trainer is generic over models, data and protocols.
    ("icl-train", "icl-meta icl-core icl-kernels"),
    ("icl-meta", "icl-rl icl-core"),
    ("icl-eval", "icl-core"),
    ("icl-data", "icl-core"),
    ("icl-models", "icl-core icl-kernels"),
    // An agent for continuous actions; it knows nothing of losses.
    ("icl-rl", ""),
    ("icl-core", "icl-kernels"),
    // Operators of backends; nothing in them is of this project alone.
    ("icl-kernels", ""),
    ("xtask", ""),
    // The examples see what a user sees.
    ("graphs", "icl"),
    ("images", "icl"),
    ("tabular", "icl"),
    ("own_encoder", "icl"),
    ("plain_loop", "icl"),
    ("recommend", "icl"),
    ("learner", "icl"),
    ("metric_learning", "icl"),
    ("from_pytorch", "icl"),
    // It reads generated inputs with the library and with the program.
    ("icl-fuzz", "icl-cli icl"),
    // It writes a report of its own.
    ("backend_compare", "icl icl-report icl-train"),
];

/// The test support in icl-core: the one arrow that tests may add.
const TEST_SUPPORT: (&str, &str) = ("icl-core", "testing");

/// The one arrow that benchmarks add: they measure an agent's decision next to everything else.
const BENCHMARKED: (&str, &str) = ("icl-cli", "icl-rl");

/// Crates that users without Burn, or with another version of it, depend on: whatever brings Burn is optional.
const WITHOUT_TENSORS: [&str; 2] = ["icl-core", "icl-eval"];

/// Checks the arrows between the packages of the workspace, and that no backend is needed where there are no tensors.
pub fn check(metadata: &Metadata) -> Findings {
    let packages = metadata.workspace_packages();
    let mut problems = problems(&packages);
    problems.extend(packages.iter().flat_map(|it| tensors(it)));
    Findings::of(problems)
}

/// Returns a sentence for each dependency by which a crate without tensors would need Burn.
fn tensors(package: &Package) -> Vec<String> {
    let needs = |it: &&Dependency| match WITHOUT_TENSORS.contains(&it.name.as_str()) {
        true => it.uses_default_features || !it.features.is_empty(),
        false => ["burn", "cubecl", "icl-"]
            .iter()
            .any(|start| it.name.starts_with(start)),
    };
    let is_checked = WITHOUT_TENSORS.contains(&package.name.as_str());
    let dependencies = package.dependencies.iter().filter(|_| is_checked);
    dependencies
        .filter(|it| it.kind == DependencyKind::Normal && !it.optional)
        .filter(needs)
        .map(|it| {
            format!(
                "{} → {}: this crate must build without Burn; make the dependency optional, or turn its default \
                 features off",
                package.name, it.name
            )
        })
        .collect()
}

/// Returns what is wrong with these packages, a sentence each.
fn problems(packages: &[&Package]) -> Vec<String> {
    let allowed_of = |name: &str| ALLOWED.into_iter().find(|it| it.0 == name).map(|it| it.1);
    let is_ours = |it: &&Dependency| {
        packages.iter().any(|package| *package.name == it.name) || allowed_of(&it.name).is_some()
    };
    let mut problems = Vec::new();
    for package in packages {
        let name = package.name.as_str();
        let Some(allowed) = allowed_of(name) else {
            problems.push(format!(
                "{name}: this crate is not in the table of allowed dependencies; add it in xtask/src/check/arrows.rs"
            ));
            continue;
        };
        for dependency in package.dependencies.iter().filter(is_ours) {
            let is_for_tests = dependency.kind == DependencyKind::Development;
            if allowed.split(' ').any(|it| it == dependency.name)
                || is_for_tests && is_allowed_in_tests(name, dependency)
            {
                continue;
            }
            let (kind, expected) = match is_for_tests {
                true => (
                    " in tests",
                    format!(", {} with `{}` in tests", TEST_SUPPORT.0, TEST_SUPPORT.1),
                ),
                false => ("", String::new()),
            };
            let allowed = if allowed.is_empty() {
                "none of ours"
            } else {
                allowed
            };
            problems.push(format!(
                "{name} → {}{kind}: this dependency is not allowed; {name} may import {allowed}{expected}; move the \
                 item to a crate that both may import, or change the table in xtask/src/check/arrows.rs and say why",
                dependency.name
            ));
        }
    }
    problems
}

fn is_allowed_in_tests(package: &str, dependency: &Dependency) -> bool {
    let has_support = dependency.features.iter().any(|it| it == TEST_SUPPORT.1);
    let is_support = dependency.name == TEST_SUPPORT.0 && has_support;
    dependency.name == package
        || (is_support && package != "xtask")
        || (package, dependency.name.as_str()) == BENCHMARKED
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A package with dependencies such as `icl-core`, or `icl-core test testing` with a feature in tests.
    fn package(name: &str, dependencies: &[&str]) -> Package {
        let dependency = |it: &&str| -> Value {
            let words: Vec<&str> = it.split(' ').collect();
            let kind = words.get(1).map(|_| "dev");
            json!({
                "name": words[0], "req": "*", "kind": kind, "optional": false,
                "uses_default_features": true, "features": words.get(2..).unwrap_or_default(),
            })
        };
        let dependencies: Vec<Value> = dependencies.iter().map(dependency).collect();
        let package = json!({
            "name": name, "version": "0.1.0", "id": name, "dependencies": dependencies,
            "targets": [], "features": {}, "manifest_path": "Cargo.toml",
        });
        serde_json::from_value(package).unwrap()
    }

    /// The beginnings of the problems of one package.
    fn problems_of(name: &str, dependencies: &[&str]) -> Vec<String> {
        let problems = problems(&[&package(name, dependencies)]).into_iter();
        let beginning = |it: String| it.split(": ").next().unwrap_or_default().to_owned();
        problems.map(beginning).collect()
    }

    #[test]
    fn the_house_as_designed_is_in_order() {
        for (name, allowed) in ALLOWED {
            let allowed: Vec<&str> = allowed.split_whitespace().collect();
            assert_eq!(problems_of(name, &allowed), [""; 0]);
        }
        // Others are none of its business.
        assert_eq!(problems_of("icl-core", &["burn", "icloud test"]), [""; 0]);
    }

    #[test]
    fn arrows_go_down_only() {
        for (from, to) in [
            ("icl-eval", "icl-models"),
            ("icl-core", "icl-meta"),
            ("icl-rl", "icl-core"),
            ("icl-meta", "icl-train"),
            ("icl-train", "icl-data"),
            ("icl-report", "icl"),
            ("icl-kernels", "icl-core"),
            ("icl", "icl-report"),
            ("icl", "icl-rl"),
            ("icl-cli", "icl-lab"),
            ("xtask", "icl-core"),
            ("icl-core", "icl-core"),
            ("graphs", "icl-data"),
            ("own_encoder", "images"),
        ] {
            assert_eq!(problems_of(from, &["burn", to]), [format!("{from} → {to}")]);
        }
    }

    #[test]
    fn no_backend_comes_where_no_tensors_are() {
        let tensors_of =
            |name: &str, dependency: &str| tensors(&package(name, &[dependency])).len();
        for dependency in ["burn", "burn-flex", "icl-core", "icl-kernels"] {
            assert_eq!(tensors_of("icl-eval", dependency), 1, "{dependency}");
        }
        for (name, dependency) in [
            ("icl-eval", "rand"),
            ("icl-core", "icl-core test testing"),
            ("icl-data", "burn"),
        ] {
            assert_eq!(tensors_of(name, dependency), 0, "{name} {dependency}");
        }
    }

    #[test]
    fn a_crate_without_a_place_is_named() {
        let (utils, meta) = (
            package("icl-utils", &[]),
            package("icl-meta", &["icl-utils"]),
        );
        let problems = problems(&[&utils, &meta]);
        assert!(problems[0].starts_with("icl-utils: "), "{problems:?}");
        assert!(
            problems[1].starts_with("icl-meta → icl-utils: "),
            "{problems:?}"
        );
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn tests_may_use_the_test_support_and_themselves() {
        for (from, dependency) in [
            ("icl-rl", "icl-core test testing"),
            ("icl-models", "icl-models test flex"),
            ("icl-cli", "icl-rl test"),
        ] {
            assert_eq!(problems_of(from, &[dependency]), [""; 0]);
        }
        for (from, to, features) in [
            ("icl-rl", "icl-core", ""),
            ("icl-eval", "icl-models", " testing"),
            ("icl", "icl-rl", ""),
            ("xtask", "icl-core", " testing"),
        ] {
            let found = problems_of(from, &[&format!("{to} test{features}")]);
            assert_eq!(found, [format!("{from} → {to} in tests")]);
        }
    }
}
