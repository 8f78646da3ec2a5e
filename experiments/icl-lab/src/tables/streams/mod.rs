//! Tables of what `scripts/streams.sh` has run: risks in nats over held-out samples, and costs. Differences are paired
//! by seed, with a 95 % interval of their mean by Student's t.

mod overview;
mod page;
mod runs;
mod schedules;

pub use overview::overview;
pub use page::page;
pub use schedules::schedules;

#[cfg(test)]
mod tests {
    use std::path::Path;

    use icl_report::StreamRecord;
    use icl_report::testing::stream;

    use super::*;

    /// A stream of five days whose encoder is `above` nats above the made-up one, with an update every day.
    fn record(above: f64) -> StreamRecord {
        let mut record = stream(5);
        for of in record.risk.iter_mut().flatten().flatten() {
            *of += above;
        }
        for (step, risk) in record.experiences.iter_mut().zip(&record.risk) {
            step.updated = true;
            step.training.charged_passes = 100.0;
            step.risk = risk.last().copied().flatten();
        }
        for decision in &mut record.decisions {
            (decision.update, decision.n_samples) = (true, 96);
        }
        let mut warm = record.controls[0].clone();
        warm.method = "warm".to_owned();
        record.controls.push(warm);
        record
    }

    fn write(folder: &Path, key: &str, seed: u64, record: &StreamRecord) {
        let folder = folder.join(format!("toys-{key}-{seed}"));
        std::fs::create_dir_all(&folder).unwrap();
        let text = serde_json::to_string(record).unwrap();
        std::fs::write(folder.join("matrix.json"), text).unwrap();
    }

    /// Returns the cells of the first row that begins with these.
    fn row<'a>(text: &'a str, first: &str) -> Vec<&'a str> {
        let line = text.lines().find(|line| line.starts_with(first)).unwrap();
        line.trim_matches('|').split('|').map(str::trim).collect()
    }

    #[test]
    fn differences_are_paired_by_seed() {
        let at = tempfile::tempdir().unwrap();
        // Seeds differ by more than methods.
        for (seed, of_seed, of_warm) in [(3, 0.0, 0.1), (8, 0.5, 0.3)] {
            write(at.path(), "icl-own", seed, &record(of_seed));
            write(at.path(), "icl-equal", seed, &record(of_seed + 0.1));
            write(
                at.path(),
                "warm-equal",
                seed,
                &record(of_seed + 0.1 + of_warm),
            );
        }
        let text = page(at.path(), "toys").unwrap();
        assert!(text.starts_with("Seeds 3, 8. "), "{text}");
        // Student's t with one degree of freedom: 12.706 standard errors, each half of the seeds' difference.
        let warm = row(&text, "| warm | cost of icl");
        assert_eq!(warm[4], "0.200 ± 1.271");
        let icl = row(&text, "| icl | cost of icl");
        assert_eq!(icl[4], "0.000 ± 0.000");
        assert_eq!(row(&text, "| icl | own")[4], "−0.100 ± 0.000");
        let streams = [at.path().display().to_string(), "toys".to_owned()];
        let text = overview(&streams).unwrap();
        assert_eq!(row(&text, "| toys")[1], "0.200 ± 1.271");
        // An update costs 100 passes, and 8000 in retraining.
        assert_eq!(row(&text, "| [toys]")[1], "0.01");
    }

    #[test]
    fn schedules_need_the_risks_of_all_encoders() {
        let at = tempfile::tempdir().unwrap();
        let own = record(0.0);
        write(at.path(), "icl-own", 3, &own);
        write(at.path(), "icl-equal", 3, &own);
        let missing = schedules(at.path(), "toys").unwrap_err().to_string();
        assert!(missing.contains("icl-kept"), "{missing}");
        let mut kept = own.clone();
        for number in 0..4 {
            // What was not measured is 4 nats, with 96 samples a day.
            let cells = own.risk[number].iter().map(|of| Some(of.unwrap_or(4.0)));
            kept.risk = vec![cells.collect(); 5];
            write(at.path(), &format!("icl-kept{number:03}"), 3, &kept);
        }
        write(at.path(), "icl-regret0.1", 3, &own);
        let text = schedules(at.path(), "toys").unwrap();
        // The last two days. A new encoder loses 2.5 and 2.51 nats, an old one 4: the best schedule updates twice.
        let day = [own.risk[2][3].unwrap(), own.risk[3][4].unwrap()];
        let best = (day[0] + day[1]) / 2.0;
        let found = row(&text, "| best schedule");
        let expected = [0.03, 0.1, 0.3].map(|price| format!("{:.3}", best + price));
        assert_eq!([found[1], found[3], found[5]], expected);
        assert_eq!([found[2], found[4], found[6]], ["2.0"; 3]);
        let never = row(&text, "| never");
        assert_eq!(never[3], format!("{:.3}", 4.0 - best - 0.1));
        // Every second day, the encoder after the third serves both.
        assert_eq!(
            row(&text, "| every:2")[3],
            format!("{:.3}", (day[0] + 4.1) / 2.0 - best - 0.1)
        );
        assert_eq!(row(&text, "| regret |")[1..5], ["–", "–", "0.000", "2.0"]);
        kept.risk[4][0] = Some(1.0);
        write(at.path(), "icl-kept001", 3, &kept);
        let other = schedules(at.path(), "toys").unwrap_err().to_string();
        assert!(other.contains("icl-kept001-3"), "{other}");
    }
}
