//! Numbers of classes that have names.

/// Returns the number of the class of each sample: the numbers that name the classes; where names are no
/// numbers, or no plain ones, the position of the class in the order of names.
pub fn numbers_of_classes(names: &[String], labels: &[usize]) -> Vec<i64> {
    // As written: "01" and "1" are two classes.
    let plain = |name: &String| {
        let number = name.parse::<i64>().ok()?;
        (number.to_string() == *name).then_some(number)
    };
    let numbers: Option<Vec<i64>> = names.iter().map(plain).collect();
    let of = |&label: &usize| match &numbers {
        Some(numbers) => numbers[label],
        None => label as i64,
    };
    labels.iter().map(of).collect()
}
