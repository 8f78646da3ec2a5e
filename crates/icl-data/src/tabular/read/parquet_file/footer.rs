//! The metadata at the end of a Parquet file, bounded before the decoder of the format sees them: it calls itself for
//! each level of the schema, and copies the names of all levels for each column.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::memory::Memory;
use super::thrift::{I32, Thrift, damaged};

/// Largest number of levels of a schema. Those of nested data have up to 20.
const MAX_LEVELS: usize = 64;

/// Bytes that the decoder takes for an element of the schema.
const ELEMENT: u64 = 512;
/// Bytes that it takes for the name of a level in the path of a column.
const LEVEL: u64 = 48;
/// Bytes that it takes for a part of a column.
const CHUNK: u64 = 768;
/// Bytes that it takes for any other structure.
const OTHER: u64 = 64;

/// Last bytes of a file: the length of the metadata, and the name of the format.
const TAIL: u64 = 8;

/// Reads the metadata of a file of so many bytes.
///
/// # Errors
/// If the file is cut or damaged, its schema has more than 64 levels, or the metadata take too much memory.
pub(super) fn read_metadata(
    mut file: &File,
    n_bytes: u64,
    memory: &Memory,
) -> Result<ParquetMetaData, ParquetError> {
    let mut tail = [0; TAIL as usize];
    let start_of_tail = n_bytes
        .checked_sub(TAIL)
        .ok_or_else(|| damaged("an early end"))?;
    file.seek(SeekFrom::Start(start_of_tail))?;
    file.read_exact(&mut tail)?;
    let [length, name] = [&tail[..4], &tail[4..]];
    if name != b"PAR1" {
        return Err(damaged("no name of the format at their end"));
    }
    let length = length
        .iter()
        .rev()
        .fold(0, |length, byte| length << 8 | u64::from(*byte));
    let start = start_of_tail
        .checked_sub(length)
        .ok_or_else(|| damaged("a length beyond that of the file"))?;
    memory.keep(3 * length)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    memory.keep(cost(&bytes)?)?;
    ParquetMetaDataReader::decode_metadata(&bytes)
}

/// Returns an upper bound of the bytes that the decoder takes for these metadata.
fn cost(bytes: &[u8]) -> Result<u64, ParquetError> {
    let mut thrift = Thrift::new(bytes);
    let mut cost = 0;
    thrift.fields(|thrift, field, kind| {
        match field {
            // The schema, its levels one behind the other.
            2 => {
                let n = thrift.structs(kind)?;
                let elements: Vec<Element> = (0..n)
                    .map(|_| Element::read(thrift))
                    .collect::<Result<_, _>>()?;
                cost += ELEMENT * n as u64 + path_bytes(&elements)?;
            }
            // Groups of rows, each with a part of every column.
            4 => {
                for _ in 0..thrift.structs(kind)? {
                    thrift.fields(|thrift, field, kind| {
                        if field != 1 {
                            return Ok(false);
                        }
                        let n = thrift.structs(kind)?;
                        cost += CHUNK * n as u64;
                        for _ in 0..n {
                            thrift.fields(|_, _, _| Ok(false))?;
                        }
                        Ok(true)
                    })?;
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    Ok(cost + OTHER * thrift.n_structs)
}

/// Element of a schema: a column, or a group of the elements behind it.
struct Element {
    n_name: usize,
    n_children: usize,
}

impl Element {
    fn read(thrift: &mut Thrift<'_>) -> Result<Self, ParquetError> {
        let (mut n_name, mut n_children) = (0, 0);
        thrift.fields(|thrift, field, kind| {
            match field {
                4 => n_name = thrift.n_bytes(kind)?,
                5 if kind == I32 => n_children = thrift.count(kind)?,
                5 => return Err(damaged("a value where a count belongs")),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(Self { n_name, n_children })
    }
}

/// Returns the bytes of the paths of all columns, each of which has the names of all groups around it.
fn path_bytes(elements: &[Element]) -> Result<u64, ParquetError> {
    let mut total: u64 = 0;
    // Elements that are still to come in each open group, and the bytes of the path to it.
    let mut open: Vec<(usize, u64)> = vec![(1, 0)];
    for (index, element) in elements.iter().enumerate() {
        while open.pop_if(|(left, _)| *left == 0).is_some() {}
        let Some((left, path)) = open.last_mut() else {
            return Err(damaged("elements of the schema outside of it"));
        };
        *left -= 1;
        let path = *path + LEVEL + element.n_name as u64;
        if element.n_children == 0 {
            total = total.saturating_add(path);
            continue;
        }
        if element.n_children > elements.len() - index - 1 {
            return Err(damaged("more columns than elements of the schema"));
        }
        if open.len() > MAX_LEVELS {
            let text = format!("a schema of more than {MAX_LEVELS} levels");
            return Err(ParquetError::General(text));
        }
        open.push((element.n_children, path));
    }
    Ok(total)
}
