//! Checks that the parts of a map fit each other.

use crate::error::ReportError;
use crate::record::EmbeddingMap;

/// Checks that a map has one flag and, in each panel, one point per label.
pub(crate) fn check_map(map: &EmbeddingMap) -> Result<(), ReportError> {
    let expected = map.labels.len();
    let check = |part: &str, found: usize| {
        if found == expected {
            Ok(())
        } else {
            Err(ReportError::Map {
                part: part.to_owned(),
                found,
                expected,
            })
        }
    };
    check("flags of new samples", map.is_new.len())?;
    check("points before", map.before.len())?;
    for (method, points) in &map.after {
        check(&format!("points after `{method}`"), points.len())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::map;

    #[test]
    fn a_map_has_one_point_a_label() {
        let mut map = map(&["warm"], 10);
        assert!(check_map(&map).is_ok());
        map.after[0].1.pop();
        assert_eq!(
            check_map(&map).unwrap_err().to_string(),
            "the map has 9 points after `warm` for 10 labels"
        );
    }
}
