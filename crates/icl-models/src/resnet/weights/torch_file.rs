//! Files of `torch.save`: a zip archive, or before PyTorch 1.6 (as most of torchvision's files) a
//! sequence of pickles with the values at the end.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor, Read};

use zip::ZipArchive;

use super::error::FileFault;
use super::machine::read_pickle;
use super::pickle::{Pickle, Value};
use super::state_dict::{StateDict, Unread};
use super::views::{Storage, View, views};

/// Maximum length of a pickle, in bytes. A state dict needs a few hundred a tensor, but an archive may
/// claim any length.
const MAX_PICKLE: u64 = 16 << 20;

/// Maximum length of a storage, in bytes. Tensors of the encoder are far smaller, but an archive may
/// unpack to any length.
const MAX_STORAGE: u64 = 1 << 30;

/// A state dict written by PyTorch.
pub(super) struct TorchFile<'a> {
    views: HashMap<String, View>,
    numbers: Numbers<'a>,
}

/// Places of the values of the storages.
enum Numbers<'a> {
    /// Entries of this folder of an archive.
    Zip {
        archive: ZipArchive<Cursor<&'a [u8]>>,
        folder: String,
    },
    /// Parts of the file, by the names of the storages.
    Parts(HashMap<String, &'a [u8]>),
}

impl<'a> TorchFile<'a> {
    /// Reads all but the values.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, FileFault> {
        if bytes.starts_with(b"PK\x03\x04") {
            Self::zip(bytes)
        } else if bytes.first() == Some(&0x80) && bytes[1..].get(1..14) == Some(MAGIC) {
            Self::parts(bytes)
        } else {
            Err(FileFault::Format)
        }
    }

    fn zip(bytes: &'a [u8]) -> Result<Self, FileFault> {
        let mut archive = ZipArchive::new(Cursor::new(bytes))?;
        // The folder is named as the file was when it was written.
        let names = archive.file_names().filter_map(Result::ok);
        let folders = names.filter_map(|name| Some(name.strip_suffix("data.pkl")?.to_owned()));
        let folder = folders
            .filter(|folder| folder.is_empty() || folder.ends_with('/'))
            .min_by_key(String::len)
            .ok_or(FileFault::NoPickle)?;
        // Files from before PyTorch 2.1 lack the entry and are little-endian.
        let order = format!("{folder}byteorder");
        if archive.index_for_name(&order).is_some() && entry(&mut archive, &order, 16)? != b"little"
        {
            return Err(FileFault::ByteOrder);
        }
        let (pickle, _) = read_pickle(&entry(
            &mut archive,
            &format!("{folder}data.pkl"),
            MAX_PICKLE,
        )?)?;
        Ok(Self {
            views: views(&pickle)?,
            numbers: Numbers::Zip { archive, folder },
        })
    }

    fn parts(bytes: &'a [u8]) -> Result<Self, FileFault> {
        let mut rest = &bytes[15..];
        let mut next = || {
            let (pickle, len) = read_pickle(rest)?;
            rest = &rest[len..];
            Ok::<_, FileFault>(pickle)
        };
        let (_version, system, state, keys) = (next()?, next()?, next()?, next()?);
        if !is_little_endian(&system) {
            return Err(FileFault::ByteOrder);
        }
        let views = views(&state)?;
        let storages: HashMap<&str, &Storage> = views
            .values()
            .map(|view| (view.storage.key.as_str(), &view.storage))
            .collect();
        // Number of elements and elements of each storage, in the order of the list of keys.
        let mut parts = HashMap::new();
        for key in texts(&keys) {
            let (n_elements, behind) = rest.split_first_chunk().ok_or_else(end)?;
            let n_elements = u64::from_le_bytes(*n_elements);
            let size = storages.get(key).and_then(|storage| storage.element_size());
            let size = size.ok_or_else(|| FileFault::NoTensor {
                key: key.to_owned(),
            })? as u64;
            let n_bytes = n_elements.saturating_mul(size);
            let Some((part, behind)) = split(behind, n_bytes) else {
                return Err(FileFault::Storage {
                    key: key.to_owned(),
                    found: behind.len() as u64,
                    expected: n_bytes,
                });
            };
            parts.insert(key.to_owned(), part);
            rest = behind;
        }
        Ok(Self {
            views,
            numbers: Numbers::Parts(parts),
        })
    }
}

impl StateDict for TorchFile<'_> {
    fn shapes(&self) -> BTreeMap<String, Vec<usize>> {
        let shape = |(name, view): (&String, &View)| (name.clone(), view.shape.clone());
        self.views.iter().map(shape).collect()
    }

    fn values(&mut self, name: &str) -> Result<Vec<f32>, Unread> {
        let view = &self.views[name];
        let Storage { key, class, len } = &view.storage;
        let Some(element) = view.storage.element() else {
            return Err(Unread::Elements(class.clone()));
        };
        let expected = len.saturating_mul(element.size() as u64);
        let wrong = |found: usize| FileFault::Storage {
            key: key.clone(),
            found: found as u64,
            expected,
        };
        let unpacked;
        let bytes = match &mut self.numbers {
            Numbers::Parts(parts) => *parts.get(key).ok_or_else(|| wrong(0))?,
            Numbers::Zip { archive, folder } => {
                let name = format!("{folder}data/{key}");
                if archive.index_for_name(&name).is_none() {
                    return Err(wrong(0).into());
                }
                unpacked = entry(archive, &name, MAX_STORAGE)?;
                &unpacked
            }
        };
        if bytes.len() as u64 != expected {
            return Err(wrong(bytes.len()).into());
        }
        Ok(element.decode(&view.gather(bytes, element.size())?))
    }
}

/// Magic number of the old format, as a pickle after the number of its protocol.
const MAGIC: &[u8; 13] = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";

/// Reads an entry, at most `limit` bytes of it.
fn entry(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    limit: u64,
) -> Result<Vec<u8>, FileFault> {
    let mut bytes = Vec::new();
    let entry = archive.by_name(name)?;
    entry.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether the description of the writing system says that it is little-endian.
fn is_little_endian(system: &Pickle) -> bool {
    let Value::Dictionary(entries) = system.root() else {
        return false;
    };
    entries.iter().any(|&(key, value)| {
        *system.get(key) == Value::Text("little_endian".to_owned())
            && *system.get(value) == Value::Bool(true)
    })
}

/// Returns the texts of a pickled list.
fn texts(list: &Pickle) -> impl Iterator<Item = &str> {
    let items = match list.root() {
        Value::Sequence(items) => items.as_slice(),
        _ => &[],
    };
    items.iter().filter_map(|&id| match list.get(id) {
        Value::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn split(bytes: &[u8], n: u64) -> Option<(&[u8], &[u8])> {
    bytes.split_at_checked(usize::try_from(n).ok()?)
}

fn end() -> FileFault {
    FileFault::Data(io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Both by scripts/reference/resnet.py --small.
    const ZIP: &[u8] = include_bytes!("../../../tests/reference/tensors.pth");
    const PARTS: &[u8] = include_bytes!("../../../tests/reference/tensors_legacy.pth");

    fn ramp(values: std::ops::Range<u8>) -> Vec<f32> {
        values.map(f32::from).collect()
    }

    #[test]
    fn every_type_and_layout_is_read() {
        for bytes in [ZIP, PARTS] {
            let mut file = TorchFile::read(bytes).unwrap();
            let expected = [
                ("bfloat", vec![2], vec![0.5, -2.0]),
                ("channels_last", vec![2, 3, 2, 2], ramp(0..24)),
                ("half", vec![2], vec![0.5, -2.0]),
                ("middle", vec![4], ramp(3..7)),
                ("parameter", vec![2], vec![1.0, 2.0]),
                ("plain", vec![2, 3, 2, 2], ramp(0..24)),
                ("transposed", vec![3, 2], vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
            ];
            let mut shapes = file.shapes();
            assert_eq!(shapes.remove("count"), Some(Vec::new()));
            assert_eq!(shapes.len(), expected.len());
            for (name, shape, values) in expected {
                assert_eq!(shapes[name], shape, "{name}");
                assert_eq!(file.values(name).unwrap(), values, "{name}");
            }
            assert!(matches!(
                file.values("count"),
                Err(Unread::Elements(class)) if class == "torch.LongStorage"
            ));
        }
    }

    /// All values of a file, or its first fault.
    fn read(bytes: &[u8]) -> Result<Vec<Vec<f32>>, FileFault> {
        let mut file = TorchFile::read(bytes)?;
        let mut values = Vec::new();
        for (name, shape) in file.shapes() {
            // Callers compare the shape before they ask for values.
            if shape.iter().try_fold(1_usize, |n, d| n.checked_mul(*d)) > Some(1000) {
                continue;
            }
            match file.values(&name) {
                Ok(tensor) => values.push(tensor),
                Err(Unread::Elements(_)) => {}
                Err(Unread::File(fault)) => return Err(fault),
            }
        }
        Ok(values)
    }

    #[test]
    fn a_cut_file_is_an_error() {
        for whole in [ZIP, PARTS] {
            assert!(read(whole).is_ok());
            for len in 0..whole.len() {
                let message = read(&whole[..len]).unwrap_err().to_string();
                assert!(message.contains("expected"), "{len}: {message}");
                assert!(!message.contains('\n'), "{len}: {message}");
            }
        }
    }

    #[test]
    fn no_changed_byte_makes_it_panic() {
        for whole in [ZIP, PARTS] {
            let mut changed = whole.to_vec();
            for index in 0..whole.len() {
                for with in [0, b'.', b'R', b'(', 0x7f, 0xff, whole[index] ^ 1] {
                    changed[index] = with;
                    if let Err(fault) = read(&changed) {
                        assert!(!fault.to_string().contains('\n'));
                    }
                }
                changed[index] = whole[index];
            }
        }
    }

    #[test]
    fn changed_numbers_of_an_archive_are_noticed() {
        // In the middle of the numbers of "plain": the archive has their checksum.
        let one = 1.0_f32.to_le_bytes();
        let two = 2.0_f32.to_le_bytes();
        let pattern = [one, two].concat();
        let at = ZIP.windows(8).position(|bytes| bytes == pattern).unwrap();
        let mut changed = ZIP.to_vec();
        changed[at] ^= 1;
        assert!(matches!(read(&changed), Err(FileFault::Data(_))));
    }

    #[test]
    fn pickles_of_other_things_are_named() {
        let read = |pickle: &[u8]| {
            let (pickle, _) = read_pickle(pickle)?;
            views(&pickle).map(|views| views.len())
        };
        let message = |pickle: &[u8]| read(pickle).unwrap_err().to_string();
        assert_eq!(read(b"\x80\x02}.").unwrap(), 0);
        assert!(message(b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R.").contains("\"os.system\""));
        assert!(message(b"\x80\x02]q\0.").starts_with("found no dictionary"));
        let entry = message(b"\x80\x02}X\x05\0\0\0epochK\x03s.");
        assert!(
            entry.starts_with("found entry \"epoch\" that is not a tensor"),
            "{entry}"
        );
        assert_eq!(
            message(b"\x80\x02}(K"),
            "byte 4 of the pickle: found the end, expected the pickle of a state dict"
        );
        // Ten million levels deep, which would overflow the stack of a reader that calls itself.
        let mut deep = b"\x80\x02)".to_vec();
        deep.resize(10_000_000, 0x85);
        deep.push(b'.');
        assert!(message(&deep).starts_with("found no dictionary"));
    }
}
