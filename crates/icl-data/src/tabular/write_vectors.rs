//! Writers of vectors with texts about each, as Parquet and as CSV files.

use std::io;
use std::sync::Arc;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

/// Column of texts: its name, and the text of each row.
pub type TextColumn<'a> = (&'a str, &'a [String]);

/// Returns the bytes of a Parquet file of vectors `[n, d]`, uncompressed: these columns of texts, and `embedding`, a
/// list of floats, which [`read_vectors`](crate::read_vectors) reads.
///
/// # Errors
/// If the encoder of the format fails, which it has no reason to do in memory.
///
/// # Panics
/// If d is 0, the values do not fill whole rows, or a column has not as many texts as there are rows.
pub fn vectors_as_parquet(
    (values, d): (&[f32], usize),
    columns: &[TextColumn<'_>],
) -> io::Result<Vec<u8>> {
    check((values, d), columns);
    encode((values, d), columns).map_err(io::Error::other)
}

/// Returns the text of a CSV file of vectors `[n, d]` (RFC 4180): a row of names, these columns of texts, and a column
/// of numbers `e0`, `e1`, … for each place in the vectors, with the fewest digits that preserve them.
///
/// # Errors
/// If the writer of the format fails, which it has no reason to do in memory.
///
/// # Panics
/// Those of [`vectors_as_parquet`].
pub fn vectors_as_csv(
    (values, d): (&[f32], usize),
    columns: &[TextColumn<'_>],
) -> io::Result<Vec<u8>> {
    check((values, d), columns);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = columns.iter().map(|(name, _)| (*name).to_owned());
    writer.write_record(names.chain((0..d).map(|place| format!("e{place}"))))?;
    for (row, numbers) in values.chunks_exact(d).enumerate() {
        let texts = columns.iter().map(|(_, texts)| texts[row].clone());
        writer.write_record(texts.chain(numbers.iter().map(f32::to_string)))?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

fn check((values, d): (&[f32], usize), columns: &[TextColumn<'_>]) {
    assert!(
        d > 0 && values.len().is_multiple_of(d),
        "found {} values, expected whole rows of {d}",
        values.len()
    );
    for (name, texts) in columns {
        assert_eq!(texts.len(), values.len() / d, "every row needs its {name}");
    }
}

fn encode(
    (values, d): (&[f32], usize),
    columns: &[TextColumn<'_>],
) -> Result<Vec<u8>, ParquetError> {
    let texts = columns.iter().map(|(name, _)| {
        let text = Type::primitive_type_builder(name, Physical::BYTE_ARRAY)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::String));
        text.build().map(Arc::new)
    });
    let mut fields: Vec<Arc<Type>> = texts.collect::<Result<_, _>>()?;
    fields.push(Arc::new(list_of_floats()?));
    let schema = Type::group_type_builder("embeddings")
        .with_fields(fields)
        .build()?;
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
    for (_, texts) in columns {
        if let Some(mut column) = rows.next_column()? {
            let texts: Vec<ByteArray> = texts.iter().map(|text| text.as_bytes().into()).collect();
            let column_writer = column.typed::<ByteArrayType>();
            column_writer.write_batch(&texts, None, None)?;
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

/// Returns the type of the column of vectors: a list of three levels, as the format has them.
fn list_of_floats() -> Result<Type, ParquetError> {
    let required = Repetition::REQUIRED;
    let element = Type::primitive_type_builder("element", Physical::FLOAT)
        .with_repetition(required)
        .build()?;
    let list = Type::group_type_builder("list")
        .with_repetition(Repetition::REPEATED)
        .with_fields(vec![Arc::new(element)])
        .build()?;
    Type::group_type_builder("embedding")
        .with_repetition(required)
        .with_converted_type(ConvertedType::LIST)
        .with_logical_type(Some(LogicalType::List))
        .with_fields(vec![Arc::new(list)])
        .build()
}
