//! Writer of vectors as a Parquet file.

use std::io;
use std::sync::Arc;

use parquet::data_type::{FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// Returns the bytes of a Parquet file of vectors `[n, d]`, not packed: a column `index` of these numbers, a column `label` where there are
/// labels, and `embedding`, a list of floats, which [`read_vectors`](crate::read_vectors) reads.
///
/// # Errors
/// If the encoder of the format fails, which it has no reason to do in memory.
///
/// # Panics
/// If d is 0, the values do not fill whole rows, or there are not as many labels or numbers as rows.
pub fn vectors_as_parquet(
    (values, d): (&[f32], usize),
    labels: Option<&[i64]>,
    index: &[usize],
) -> io::Result<Vec<u8>> {
    assert!(
        d > 0 && values.len().is_multiple_of(d),
        "found {} values, expected whole rows of {d}",
        values.len()
    );
    let n = values.len() / d;
    if let Some(labels) = labels {
        assert_eq!(labels.len(), n, "every row needs a label");
    }
    assert_eq!(index.len(), n, "every row needs a number");
    encode((values, d), labels, index).map_err(io::Error::other)
}

fn encode(
    (values, d): (&[f32], usize),
    labels: Option<&[i64]>,
    index: &[usize],
) -> Result<Vec<u8>, ParquetError> {
    let label = match labels {
        Some(_) => "REQUIRED INT64 label;",
        None => "",
    };
    let schema = parse_message_type(&format!(
        "message embeddings {{ REQUIRED INT64 index; {label} REQUIRED GROUP embedding (LIST) {{ REPEATED GROUP list {{ \
         REQUIRED FLOAT element; }} }} }}"
    ))?;
    let index: Vec<i64> = index.iter().map(|&at| at as i64).collect();
    let mut writer = SerializedFileWriter::new(
        Vec::new(),
        Arc::new(schema),
        // Neither the time nor the version of the writer: the same embeddings give the same bytes.
        Arc::new(
            WriterProperties::builder()
                .set_created_by("icl".to_owned())
                .build(),
        ),
    )?;
    let mut rows = writer.next_row_group()?;
    for numbers in [Some(&index[..]), labels].into_iter().flatten() {
        if let Some(mut column) = rows.next_column()? {
            column
                .typed::<Int64Type>()
                .write_batch(numbers, None, None)?;
            column.close()?;
        }
    }
    if let Some(mut column) = rows.next_column()? {
        // A list begins where the level of repetition is 0; every element is defined.
        let repetition: Vec<i16> = (0..values.len())
            .map(|at| i16::from(!at.is_multiple_of(d)))
            .collect();
        let definition = vec![1; values.len()];
        let column_writer = column.typed::<FloatType>();
        column_writer.write_batch(values, Some(&definition), Some(&repetition))?;
        column.close()?;
    }
    rows.close()?;
    writer.into_inner()
}
