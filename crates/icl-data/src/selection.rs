//! Classes of samples: their numbers, their selection by names, and that of a number of samples that is balanced across
//! them.

use std::collections::HashMap;

use crate::error::DataError;
use crate::place::{Found, listed};

/// Smallest accepted number of samples: two old and two new ones.
const MIN_LIMIT: usize = 4;

/// Returns the indices, ascending, of the samples of the classes of these names (of all if there are none), at most
/// `limit` of them, see [`balanced`]. `data` and `samples` name the data set and its samples, which have these labels
/// among the classes `known`.
///
/// # Errors
/// [`DataError`] if the limit is too small for two parts, the data set has no class of a name, or a name is given
/// twice.
pub(crate) fn selected(
    (data, samples): (&str, &str),
    labels: &[usize],
    known: &[String],
    names: &[String],
    limit: Option<usize>,
) -> Result<Vec<usize>, DataError> {
    if let Some(found) = limit.filter(|limit| *limit < MIN_LIMIT) {
        return Err(DataError::new(
            "limit",
            format!("{found} {samples}"),
            format!("at least {MIN_LIMIT}"),
        ));
    }
    let chosen = find_classes(data, known, names)?;
    let n_class = n_class(labels.iter().copied(), known.len());
    Ok(balanced(labels, &n_class, &chosen, limit))
}

/// Returns the number of samples of each of `n` classes.
pub(crate) fn n_class(labels: impl IntoIterator<Item = usize>, n: usize) -> Vec<usize> {
    let mut n_class = vec![0; n];
    labels.into_iter().for_each(|label| n_class[label] += 1);
    n_class
}

/// Returns the classes, of `n`, that samples with these labels have, ascending, and the index of each class among them.
pub(crate) fn classes_of(
    labels: impl IntoIterator<Item = usize>,
    n: usize,
) -> (Vec<usize>, Vec<usize>) {
    let n_class = n_class(labels, n);
    let kept: Vec<usize> = (0..n).filter(|&class| n_class[class] > 0).collect();
    let index = |class| kept.partition_point(|other| *other < class);
    let indices = (0..n).map(index).collect();
    (kept, indices)
}

/// Returns known names with added ones after them, each once, and the number of each added name among them.
pub(crate) fn united(known: &[String], added: &[String]) -> (Vec<String>, Vec<u32>) {
    let mut names = known.to_vec();
    let numbered = known.iter().zip(0..);
    let mut numbers: HashMap<&String, u32> = numbered.collect();
    let numbers_of_added = added.iter().map(|name| {
        *numbers.entry(name).or_insert_with(|| {
            names.push(name.clone());
            names.len() as u32 - 1
        })
    });
    let numbers_of_added = numbers_of_added.collect();
    (names, numbers_of_added)
}

/// Returns the indices of the classes of these names, in the order of the names.
///
/// # Errors
/// [`DataError`] if the data set has no class of a name, or if a name is given twice.
pub(crate) fn find_classes(
    data: &str,
    known: &[String],
    names: &[String],
) -> Result<Vec<usize>, DataError> {
    let mut classes = Vec::with_capacity(names.len());
    for name in names {
        let found = known.iter().position(|other| other == name);
        let class = found.ok_or_else(|| {
            DataError::new(
                format!("data set {}", Found::new(data)),
                format!("no class {}", Found::new(name)),
                format!("classes among {}", listed(known)),
            )
        })?;
        if classes.contains(&class) {
            return Err(DataError::new(
                format!("data set {}", Found::new(data)),
                format!("class {} twice", Found::new(name)),
                format!("each of {} at most once", listed(known)),
            ));
        }
        classes.push(class);
    }
    Ok(classes)
}

/// Returns the indices, ascending, of the samples of the chosen classes (of all if there are none),
/// at most `limit` of them: the first samples of each class, of which one of each class in turn is
/// used until the limit is reached.
fn balanced(
    labels: &[usize],
    n_class: &[usize],
    chosen: &[usize],
    limit: Option<usize>,
) -> Vec<usize> {
    let is_chosen = |class: &usize| chosen.is_empty() || chosen.contains(class);
    let available = |(class, &n): (usize, &usize)| if is_chosen(&class) { n } else { 0 };
    let mut left: Vec<usize> = n_class.iter().enumerate().map(available).collect();
    if let Some(limit) = limit {
        left = even_quotas(&left, limit);
    }
    let mut kept = Vec::new();
    for (index, &label) in labels.iter().enumerate() {
        if left[label] > 0 {
            left[label] -= 1;
            kept.push(index);
        }
    }
    kept
}

/// Distributes `limit` over the classes, one to each in turn, at most `available[class]` to each.
fn even_quotas(available: &[usize], limit: usize) -> Vec<usize> {
    let mut quotas = vec![0; available.len()];
    let mut left = limit.min(available.iter().sum());
    while left > 0 {
        let open = |&class: &usize| quotas[class] < available[class];
        let classes: Vec<usize> = (0..available.len()).filter(open).collect();
        let each = left / classes.len();
        if each == 0 {
            for &class in &classes[..left] {
                quotas[class] += 1;
            }
            break;
        }
        for class in classes {
            let more = each.min(available[class] - quotas[class]);
            quotas[class] += more;
            left -= more;
        }
    }
    quotas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotas_are_those_of_dealing_one_by_one() {
        let dealt = |available: &[usize], limit: usize| {
            let mut quotas = vec![0; available.len()];
            let mut left = limit.min(available.iter().sum());
            for class in (0..available.len()).cycle() {
                if left == 0 {
                    return quotas;
                }
                if quotas[class] < available[class] {
                    quotas[class] += 1;
                    left -= 1;
                }
            }
            quotas
        };
        let cases: [&[usize]; 5] = [&[5, 5, 5], &[1, 9, 0, 4], &[7], &[0, 0, 3, 3], &[2, 100, 1]];
        for available in cases {
            for limit in 0..120 {
                assert_eq!(even_quotas(available, limit), dealt(available, limit));
            }
        }
    }
}
