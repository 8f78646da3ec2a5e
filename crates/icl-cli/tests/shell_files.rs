//! Completions of shells, and manual pages.

use std::fs;

use tempfile::tempdir;

use crate::support::{icl, names, split};

#[test]
fn completions_have_the_options_of_all_commands() {
    let at = tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = icl(at.path(), &["completions", shell]).succeeded();
        for word in ["compare-backends", "learning-rate", "meta-order"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
        assert!(!ran.stdout.contains("probe-backend"), "{shell}");
        assert_eq!(ran.stderr, "");
    }
    let bash = icl(at.path(), &["completions", "bash"]).succeeded().stdout;
    assert!(bash.contains("--learning-rate"));
    icl(at.path(), &["completions", "csh"]).rejected_at_length("[possible values: bash, ");
    assert!(names(at.path()).is_empty());
}

#[test]
fn every_command_has_a_manual_page() {
    let at = tempdir().unwrap();
    let line = split("man --out share/man1");
    icl(at.path(), &line).succeeded();
    let folder = at.path().join("share/man1");
    let pages = names(&folder);
    assert!(pages.len() > 15, "{pages:?}");
    for name in &pages {
        let page = fs::read_to_string(folder.join(name)).unwrap();
        let command = name.strip_suffix(".1").unwrap();
        let title = format!(".TH {command} 1");
        assert!(page.contains(&title), "{name}: {page}");
        // Text has a hyphen that is no minus.
        let words = command.replace('-', "\\-");
        assert!(page.contains(&format!("{words} \\- ")), "{name}: {page}");
    }
    let train = fs::read_to_string(folder.join("icl-train.1")).unwrap();
    for words in [
        "Smallest gain of a doubling",
        "icl train \\-\\-data photos/",
    ] {
        assert!(train.contains(words), "{train}");
    }
    // Other files stay, and pages unless it is forced.
    fs::write(folder.join("ls.1"), "theirs").unwrap();
    icl(at.path(), &line).rejected("out: found a file at ");
    fs::write(folder.join("icl-train.1"), "").unwrap();
    icl(at.path(), &split("man --out share/man1 --force")).succeeded();
    assert_eq!(
        fs::read_to_string(folder.join("icl-train.1")).unwrap(),
        train
    );
    assert_eq!(fs::read_to_string(folder.join("ls.1")).unwrap(), "theirs");
    assert_eq!(names(&folder).len(), pages.len() + 1);
    icl(at.path(), &split("man --out share/man1/ls.1")).rejected("out: cannot write ");
}
