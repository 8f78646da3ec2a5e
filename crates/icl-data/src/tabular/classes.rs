//! Classes of a table: numbering of the different values of its target column.

/// Numbers the classes of rows whose codes are indices into `names`: in numerical order if all names
/// are whole numbers, else by their bytes. Returns the class of each row and the name of each class.
pub(super) fn number_classes(codes: &[u32], names: Vec<String>) -> (Vec<usize>, Vec<String>) {
    let mut order: Vec<usize> = (0..names.len()).collect();
    let numbers: Option<Vec<i128>> = names.iter().map(|name| name.parse().ok()).collect();
    match numbers {
        // Codes such as 1 and 01 are one number.
        Some(numbers) => order.sort_by_key(|&code| (numbers[code], &names[code])),
        None => order.sort_by_key(|&code| &names[code]),
    }
    let mut class_of = vec![0; names.len()];
    for (class, &code) in order.iter().enumerate() {
        class_of[code] = class;
    }
    let labels = codes.iter().map(|&code| class_of[code as usize]).collect();
    (
        labels,
        order.iter().map(|&code| names[code].clone()).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(names: &[&str]) -> (Vec<usize>, Vec<String>) {
        let codes: Vec<u32> = (0..names.len() as u32).collect();
        number_classes(
            &codes,
            names.iter().map(|name| (*name).to_owned()).collect(),
        )
    }

    #[test]
    fn numbers_are_ordered_by_value_and_names_by_their_bytes() {
        assert_eq!(
            numbered(&["10", "-2", "9"]),
            (vec![2, 0, 1], ["-2", "9", "10"].map(String::from).to_vec())
        );
        assert_eq!(
            numbered(&["10", "b", "9"]),
            (vec![0, 2, 1], ["10", "9", "b"].map(String::from).to_vec())
        );
    }
}
