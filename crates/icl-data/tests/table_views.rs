//! Views of the rows of public tables.

use std::borrow::Cow;

use icl_core::{Pairing, Seed, Side, Views};
use icl_data::{NoiseKind, TableOptions, TableSchema, TableViewsConfig, read_table};
use rand::RngExt;

use crate::data_dir::shared;

/// Share of the entries above 0 that geometric mixing sets to 0: the printed form erases as many as
/// the specification measured, the shifted form none.
#[test]
fn the_printed_geometric_form_erases_entries_of_public_tables() {
    for (file, target, expected) in [
        ("Spambase", "58", 0.53),
        ("DNA", "181", 0.74),
        ("Satellite", "37", 0.0),
    ] {
        let Some(path) = shared(&format!("tabular/{file}.csv.gz")) else {
            continue;
        };
        let options = TableOptions {
            target: Some(target.into()),
            ..TableOptions::default()
        };
        let table = read_table(path, &options).unwrap();
        let all: Vec<usize> = (0..table.n_rows()).collect();
        let data = TableSchema::fit(&table, &all, &[])
            .unwrap()
            .apply(&table)
            .unwrap();
        for is_exact in [true, false] {
            let views = TableViewsConfig::new()
                .with_noise(NoiseKind::Geometric)
                .with_exact(is_exact)
                .init(data.schema());
            let mut rng = Seed::new(1).child(file).rng();
            let (mut n_erased, mut n_entries) = (0, 0);
            for _ in 0..1000 {
                let [row, partner] = [0, 1].map(|_| data.row(rng.random_range(0..data.n_rows())));
                let pairing = Pairing {
                    part: 0,
                    side: Side::First,
                    pair: Seed::new(1),
                    partners: &[Cow::Owned(partner)],
                };
                let view = views.paired_view(&row, &pairing, &mut rng);
                let entries = row.iter().zip(view).zip(data.schema().statistics());
                for ((_, found), statistics) in entries.filter(|((value, _), _)| **value > 0.0) {
                    n_entries += 1;
                    n_erased += u32::from(found == statistics.standardize(0.0));
                }
            }
            let expected = if is_exact { expected } else { 0.0 };
            let share = f64::from(n_erased) / f64::from(n_entries);
            // Two digits are known, and the rows are drawn.
            assert!((share - expected).abs() < 0.02, "{file}: {share}");
        }
    }
}
