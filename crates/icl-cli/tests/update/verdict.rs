//! The verdict on held-out samples: its sentence, the encoder that is delivered, and the exit code.

use std::fs;
use std::path::Path;

use icl_core::Seed;
use rand::RngExt;
use tempfile::tempdir;

use crate::support::{Ran, icl, names, number, record, split, text};

/// Writes rows around four centres, all of them moved by `shift`.
pub fn write(path: &Path, n: usize, shift: f64) {
    let mut rng = Seed::new(n as u64).rng();
    let mut text = "a,b,c,d\n".to_owned();
    for _ in 0..n {
        let centre = rng.random_range(0..4) as f64;
        let row: Vec<String> = (0..4)
            .map(|_| {
                let noise: f64 = (0..3).map(|_| rng.random_range(-1.0..1.0)).sum();
                format!("{:.4}", 2.0 * centre + shift + noise)
            })
            .collect();
        text += &format!("{}\n", row.join(","));
    }
    fs::write(path, text).unwrap();
}

fn update(at: &Path, options: &str) -> Ran {
    let line =
        format!("update --from first/encoder.safetensors --old old.csv --new new.csv {options}");
    icl(at, &split(&line))
}

/// The first sentence of what an update prints, on one line.
fn sentence(ran: &Ran) -> String {
    let paragraph = ran.stdout.split("\n\n").nth(1).unwrap();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub const WORSE: &str = "--method fine-tuning --learning-rate 1 --epochs 2 --stop never";

#[test]
fn a_worse_encoder_is_not_delivered() {
    let at = tempdir().unwrap();
    let at = at.path();
    write(&at.join("old.csv"), 600, 0.0);
    write(&at.join("new.csv"), 400, 3.0);
    let train = "train --data old.csv --epochs 20 --layers 2 --width 16 --out first";
    icl(at, &split(train)).succeeded();
    let encoder = |out: &str| fs::read(at.join(out).join("encoder.safetensors")).unwrap();

    // Better on new data: it is written, and the answer is no failure.
    let better = update(at, "--epochs 10 --exit-code --out better").succeeded();
    assert!(sentence(&better).starts_with("The updated encoder is better on"));
    let of_better = record(&at.join("better"));
    assert_eq!(text(&of_better["verdict"]["new"], "answer"), "better");
    assert_eq!(of_better["is_rejected"], false);
    assert!(encoder("better") != encoder("first"));
    for part in ["old", "new"] {
        let risk = |key: &str| number(&of_better, &format!("{key}.{part}"));
        let mean = number(&of_better, &format!("verdict.{part}.mean"));
        let difference = risk("held_out_risk") - risk("held_out_before");
        assert!((mean - difference).abs() < 1e-12, "{mean} {difference}");
        assert_eq!(
            number(&of_better, &format!("verdict.{part}.n")),
            risk("n_held_out")
        );
    }

    // Worse: the encoder that came in is kept, byte for byte.
    let kept = update(at, &format!("{WORSE} --out kept")).succeeded();
    let said = sentence(&kept);
    assert!(
        said.contains("is worse on old") && said.contains("was kept; --accept would"),
        "{said}"
    );
    assert!(encoder("kept") == encoder("first"));
    let files = [
        "config.toml",
        "encoder.safetensors",
        "record.json",
        "rejected.safetensors",
        "report.html",
    ];
    assert_eq!(names(&at.join("kept")), files);
    let of_kept = record(&at.join("kept"));
    assert_eq!(text(&of_kept["verdict"]["old"], "answer"), "worse");
    assert_eq!(of_kept["is_rejected"], true);
    let page = fs::read_to_string(at.join("kept/report.html")).unwrap();
    assert!(page.contains("is worse on old") && page.contains("--accept would have taken"));
    let code = update(at, &format!("{WORSE} --exit-code --out code")).code;
    assert_eq!(code, Some(3));
    // What was not taken is an encoder all the same.
    let embed = "embed --from kept/rejected.safetensors --data new.csv --out rows.npy";
    icl(at, &split(embed)).succeeded();

    let taken = update(at, &format!("{WORSE} --accept --exit-code --out taken"));
    assert_eq!(taken.code, Some(3), "{}", taken.stderr);
    assert!(sentence(&taken).ends_with("since --accept was given."));
    assert!(encoder("taken") == fs::read(at.join("kept/rejected.safetensors")).unwrap());
    assert_eq!(record(&at.join("taken"))["is_rejected"], false);

    // Without held-out samples nothing is said.
    let blind = update(at, &format!("{WORSE} --hold-out 0 --exit-code --out blind")).succeeded();
    assert!(
        sentence(&blind).starts_with("No verdict:"),
        "{}",
        sentence(&blind)
    );
    assert!(record(&at.join("blind"))["verdict"].is_null());
    assert!(encoder("blind") != encoder("first"));
}
