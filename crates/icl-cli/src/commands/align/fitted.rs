//! A map that was fitted to most rows, with its measurements on the others.

use comfy_table::{CellAlignment, Table, presets};
use icl_core::Seed;
use icl_eval::{
    AlignmentForm, AlignmentMap, AlignmentSettings, CrossVersionRecall, FormComparison,
    HiddenLayer, Matrix, cross_version_recall, moved_most_first, remaining_distances,
};
use rand::seq::SliceRandom;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::options::choice;
use crate::process::failure::Failure;

/// One of so many rows is held out.
const ONE_OF: usize = 10;
/// Numbers of nearest rows at which retrieval is measured.
const KS: [usize; 2] = [1, 10];

/// Map that was fitted to most rows and measured on the others.
pub struct Fitted {
    pub map: AlignmentMap,
    pub form: AlignmentForm,
    /// Comparison of the forms by cross-validation of the fitted rows; `None` if the form was given.
    comparison: Option<FormComparison>,
    /// Cosine distance of each mapped row to its new one.
    pub distances: Vec<f64>,
    /// Rows in the order of these distances, the largest first.
    pub order: Vec<usize>,
    pub n_fitted: usize,
    pub n_held_out: usize,
    recall: Vec<RecallAt>,
}

/// Retrieval of the k nearest among held-out rows.
#[derive(Debug, Serialize)]
struct RecallAt {
    k: usize,
    /// Gallery of the old encoder; `None` if its width is another one.
    unmapped: Option<CrossVersionRecall>,
    mapped: CrossVersionRecall,
    /// Gallery of the new encoder.
    new: CrossVersionRecall,
}

/// The numbers in JSON.
#[derive(Serialize)]
struct InJson<'a> {
    form: &'static str,
    d_old: usize,
    d_new: usize,
    ridge: Option<f64>,
    hidden: Option<usize>,
    n_fitted: usize,
    n_held_out: usize,
    recall: &'a [RecallAt],
    median_distance: f64,
    moved_most: &'a [usize],
    comparison: Vec<FormAt>,
}

/// Mean cosine distance that maps of a form leave on rows that they were not fitted to.
#[derive(Serialize)]
struct FormAt {
    form: &'static str,
    mean_distance: f64,
}

/// Number of rows that are listed as those that moved most.
const NAMED: usize = 10;

impl Fitted {
    /// Fits a map to all rows but a tenth, at least 2, that the seed draws, and measures retrieval on these. With
    /// `is_auto` the forms are compared on the fitted rows alone, and the map has the best one.
    ///
    /// # Errors
    /// If no map can be fitted, or with `is_auto` no form compared.
    pub fn of(
        settings: &AlignmentSettings,
        is_auto: bool,
        old: &Matrix,
        new: &Matrix,
        seed: Seed,
    ) -> Result<Self, Failure> {
        let mut rows: Vec<usize> = (0..old.n_rows()).collect();
        rows.shuffle(&mut seed.child("hold-out").rng());
        let n_held_out = rows.len().div_ceil(ONE_OF).max(2).min(rows.len());
        let (fitted, held_out) = rows.split_at(rows.len() - n_held_out);
        let (fitted_old, fitted_new) = (old.select(fitted), new.select(fitted));
        let (settings, comparison) = if is_auto {
            let comparison =
                FormComparison::of(settings, &fitted_old, &fitted_new).map_err(Failure::input)?;
            let settings = settings.clone().with_form(comparison.best());
            (settings, Some(comparison))
        } else {
            (settings.clone(), None)
        };
        let map = settings
            .fit(&fitted_old, &fitted_new)
            .map_err(Failure::input)?;
        let mapped = map.apply(old).map_err(Failure::input)?;
        let [old_rows, new_rows, mapped_rows] = [old, new, &mapped].map(|of| of.select(held_out));
        let mut recall = Vec::new();
        for k in KS.into_iter().filter(|k| *k < n_held_out) {
            let of = |gallery| cross_version_recall(&new_rows, gallery, k).map_err(Failure::input);
            let has_width = old.n_columns() == new.n_columns();
            recall.push(RecallAt {
                k,
                unmapped: has_width.then(|| of(&old_rows)).transpose()?,
                mapped: of(&mapped_rows)?,
                new: of(&new_rows)?,
            });
        }
        let distances = remaining_distances(&mapped, new);
        Ok(Self {
            map,
            form: settings.form(),
            comparison,
            order: moved_most_first(&distances),
            distances,
            n_fitted: fitted.len(),
            n_held_out,
            recall,
        })
    }

    /// Returns the numbers as keys of JSON.
    ///
    /// # Errors
    /// Never for finite numbers.
    pub fn json(&self) -> Result<Map<String, Value>, Failure> {
        let found = InJson {
            form: choice::name(&self.form),
            d_old: self.map.d_old(),
            d_new: self.map.d_new(),
            ridge: self.map.ridge(),
            hidden: self.map.hidden().map(HiddenLayer::d_hidden),
            n_fitted: self.n_fitted,
            n_held_out: self.n_held_out,
            recall: &self.recall,
            median_distance: self.median_distance(),
            moved_most: self.moved_most(),
            comparison: self.compared(),
        };
        let text = serde_json::to_string(&found).map_err(Failure::input)?;
        serde_json::from_str(&text).map_err(Failure::input)
    }

    /// Writes the numbers for the terminal.
    pub fn text(&self) -> String {
        let form = choice::name(&self.form);
        let mut of_map = String::new();
        if let Some(ridge) = self.map.ridge() {
            of_map += &format!(", ridge {ridge:e}");
        }
        if let Some(hidden) = self.map.hidden() {
            of_map += &format!(", {} hidden units", hidden.d_hidden());
        }
        let mut table = Table::new();
        table.load_style(presets::UTF8_HORIZONTAL_ONLY);
        table.set_header(["gallery", "k", "own row found", "neighbours found"]);
        for at in &self.recall {
            let galleries = [
                ("old, unmapped", at.unmapped.as_ref()),
                ("old, mapped", Some(&at.mapped)),
                ("new", Some(&at.new)),
            ];
            for (gallery, recall) in galleries {
                let share = |of: fn(&CrossVersionRecall) -> f64| match recall {
                    Some(recall) => format!("{:.3}", of(recall)),
                    None => "other width".to_owned(),
                };
                let cells = [share(|it| it.own), share(|it| it.neighbours)];
                let [own, neighbours] = cells;
                table.add_row([gallery.to_owned(), at.k.to_string(), own, neighbours]);
            }
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let named: Vec<String> = self.moved_most().iter().map(usize::to_string).collect();
        format!(
            "{form} map [{}, {}]{of_map}, fitted to {} rows; recall@k of new queries \
             among {} held-out rows:\n{table}\nmedian distance \
             of mapped to new rows: {:.4}; moved most (rows from 0): {}{}",
            self.map.d_old(),
            self.map.d_new(),
            self.n_fitted,
            self.n_held_out,
            self.median_distance(),
            named.join(", "),
            self.forms_text()
        )
    }

    /// Writes the comparison of the forms.
    fn forms_text(&self) -> String {
        let compared = self.compared();
        if compared.is_empty() {
            return String::new();
        }
        let all: Vec<String> = compared
            .iter()
            .map(|at| format!("{} {:.4}", at.form, at.mean_distance))
            .collect();
        format!(
            "\nmean distance by cross-validation of the fitted rows: {}",
            all.join(", ")
        )
    }

    fn compared(&self) -> Vec<FormAt> {
        let forms = self.comparison.iter().flat_map(FormComparison::means);
        let at = |(form, mean_distance)| FormAt {
            form: choice::name(&form),
            mean_distance,
        };
        forms.map(at).collect()
    }

    fn moved_most(&self) -> &[usize] {
        &self.order[..self.order.len().min(NAMED)]
    }

    fn median_distance(&self) -> f64 {
        // The order is that of the distances.
        self.distances[self.order[self.order.len() / 2]]
    }
}
