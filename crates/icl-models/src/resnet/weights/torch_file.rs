//! Files of `torch.save`: a zip archive, or before PyTorch 1.6 (as most of torchvision's files) a
//! sequence of pickles with the values at the end.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Cursor, Read};

use icl_core::Error;
use zip::ZipArchive;

use super::error::{self, Cut, EXPECTED};
use super::machine::read_pickle;
use super::pickle::{Pickle, Value};
use super::state_dict::{StateDict, Unread};
use super::views::{Storage, View, Views, storages};

/// Maximum length of a pickle, in bytes. A state dict needs a few hundred a tensor, but an archive may
/// claim any length.
const MAX_PICKLE: u64 = 16 << 20;

/// Length to which the storages of any archive may unpack in total, in bytes. PyTorch does not compress them, but an
/// archive may unpack to any length.
const MAX_SMALL_STORAGES: u64 = 16 << 20;
/// Length to which those of a larger archive may unpack, as a multiple of its own.
const MAX_STORAGES_RATIO: u64 = 4;

/// A state dict written by PyTorch.
pub(super) struct TorchFile<'a> {
    views: HashMap<String, View>,
    /// Keys under which the state dict is in other dictionaries, from outside to inside.
    pub(super) keys: Vec<String>,
    numbers: Numbers<'a>,
}

/// Places of the values of the storages.
enum Numbers<'a> {
    /// Entries of this folder of an archive.
    Zip {
        archive: ZipArchive<Cursor<&'a [u8]>>,
        folder: String,
        /// Storages unpacked so far, by their names: each is unpacked once for all its views.
        unpacked: HashMap<String, Vec<u8>>,
        /// Length to which further ones may unpack, in bytes.
        n_left: u64,
    },
    /// Parts of the file, by the names of the storages.
    Parts(HashMap<String, &'a [u8]>),
}

impl<'a> TorchFile<'a> {
    /// Returns whether a file has the beginning of one of PyTorch's formats.
    pub(super) fn has_beginning(bytes: &[u8]) -> bool {
        bytes.starts_with(ARCHIVE)
            || bytes.first() == Some(&0x80) && bytes.get(2..15) == Some(MAGIC)
    }

    /// Reads all but the values.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        match Self::has_beginning(bytes) {
            true if bytes.starts_with(ARCHIVE) => Self::zip(bytes),
            true => Self::parts(bytes),
            false => {
                let found = "no zip archive, pickle of PyTorch's or safetensors file";
                Err(Error::new("", found, EXPECTED))
            }
        }
    }

    fn zip(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(error::archive)?;
        // The folder is named as the file was when it was written.
        let names = archive.file_names().filter_map(Result::ok);
        let folders = names.filter_map(|name| Some(name.strip_suffix("data.pkl")?.to_owned()));
        let folder = folders
            .filter(|folder| folder.is_empty() || folder.ends_with('/'))
            .min_by_key(String::len)
            .ok_or_else(|| {
                Error::new(
                    "",
                    "a zip archive without data.pkl",
                    "a file written by torch.save",
                )
            })?;
        // Files from before PyTorch 2.1 lack the entry and are little-endian.
        let order = format!("{folder}byteorder");
        if archive.index_for_name(&order).is_some() && entry(&mut archive, &order, 16)? != b"little"
        {
            return Err(byte_order());
        }
        let (pickle, _) = read_pickle(&entry(
            &mut archive,
            &format!("{folder}data.pkl"),
            MAX_PICKLE,
        )?)?;
        let views = Views::of(&pickle)?;
        let n_bytes = bytes.len() as u64;
        Ok(Self {
            views: views.of_name,
            keys: views.keys,
            numbers: Numbers::Zip {
                archive,
                folder,
                unpacked: HashMap::new(),
                n_left: n_bytes
                    .saturating_mul(MAX_STORAGES_RATIO)
                    .max(MAX_SMALL_STORAGES),
            },
        })
    }

    fn parts(bytes: &'a [u8]) -> Result<Self, Error> {
        // Behind the number of the protocol (2 bytes) and the magic number.
        let mut rest = &bytes[15..];
        let mut next = || {
            let (pickle, len) = read_pickle(rest)?;
            rest = &rest[len..];
            Ok::<_, Error>(pickle)
        };
        let (_version, system, state, keys) = (next()?, next()?, next()?, next()?);
        if !is_little_endian(&system) {
            return Err(byte_order());
        }
        let Views {
            of_name: views,
            keys: nested_in,
        } = Views::of(&state)?;
        // Storages of other entries, such as an optimizer's, lie between those of the state dict.
        let storages = storages(&state);
        // Number of elements and elements of each storage, in the order of the list of keys.
        let mut parts = HashMap::new();
        for key in texts(&keys) {
            let (n_elements, behind) = rest.split_first_chunk().ok_or_else(end)?;
            let n_elements = u64::from_le_bytes(*n_elements);
            let size = storages.get(key).and_then(|storage| storage.element_size());
            let size = size.ok_or_else(|| {
                let place = format!("storage {}", Cut(key));
                Error::new(place, "no tensor of a known type that uses it", "one")
            })? as u64;
            let n_bytes = n_elements.saturating_mul(size);
            let Some((part, behind)) = split(behind, n_bytes) else {
                return Err(error::storage(key, behind.len() as u64, n_bytes));
            };
            parts.insert(key.to_owned(), part);
            rest = behind;
        }
        Ok(Self {
            views,
            keys: nested_in,
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
        let Storage { key, class, len } = &*view.storage;
        let Some(element) = view.storage.element() else {
            return Err(Unread::Elements(class.clone()));
        };
        let expected = len.saturating_mul(element.size() as u64);
        let wrong = |found: usize| error::storage(key, found as u64, expected);
        let bytes = match &mut self.numbers {
            Numbers::Parts(parts) => *parts.get(key).ok_or_else(|| wrong(0))?,
            Numbers::Zip {
                archive,
                folder,
                unpacked,
                n_left,
            } => {
                // Whole, even for a view of a part: the checksum of an entry is compared at its end.
                if !unpacked.contains_key(key) {
                    let name = format!("{folder}data/{key}");
                    if archive.index_for_name(&name).is_none() {
                        return Err(wrong(0).into());
                    }
                    *n_left = n_left.checked_sub(expected).ok_or_else(|| {
                        let found = format!("{expected} bytes unpacked");
                        let expected = format!("at most {n_left} more in a file of this size");
                        Error::new(format!("storage {}", Cut(key)), found, expected)
                    })?;
                    // One byte more, by which a longer one is noticed.
                    let bytes = entry(archive, &name, expected.saturating_add(1))?;
                    unpacked.insert(key.clone(), bytes);
                }
                unpacked.get(key).ok_or_else(|| wrong(0))?
            }
        };
        if bytes.len() as u64 != expected {
            return Err(wrong(bytes.len()).into());
        }
        Ok(element.decode(&view.gather(bytes, element.size())?))
    }
}

/// Beginning of a zip archive.
const ARCHIVE: &[u8; 4] = b"PK\x03\x04";

/// Magic number of the old format, as a pickle after the number of its protocol.
const MAGIC: &[u8; 13] = b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.";

/// Reads an entry, at most `limit` bytes of it.
fn entry(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    limit: u64,
) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let entry = archive.by_name(name).map_err(error::archive)?;
    entry
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(error::data)?;
    Ok(bytes)
}

fn byte_order() -> Error {
    Error::new(
        "",
        "a byte order that is not little-endian",
        "little-endian",
    )
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

fn end() -> Error {
    error::data(io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    // All by scripts/reference/resnet.py --small.
    const ZIP: &[u8] = include_bytes!("../../../tests/reference/tensors.pth");
    const PARTS: &[u8] = include_bytes!("../../../tests/reference/tensors_legacy.pth");
    const NESTED: &[u8] = include_bytes!("../../../tests/reference/nested.pth");
    const NESTED_PARTS: &[u8] = include_bytes!("../../../tests/reference/nested_legacy.pth");

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

    #[test]
    fn a_state_dict_beside_other_entries_is_found() {
        for bytes in [NESTED, NESTED_PARTS] {
            let mut file = TorchFile::read(bytes).unwrap();
            assert_eq!(file.keys, ["state_dict"]);
            assert_eq!(file.shapes().len(), 2);
            assert_eq!(file.values("module.plain").unwrap(), ramp(0..24));
            assert_eq!(file.values("module.middle").unwrap(), ramp(3..7));
        }
        assert!(TorchFile::read(ZIP).unwrap().keys.is_empty());
    }

    #[test]
    fn a_state_dict_under_several_keys_is_found() {
        let views = |pickle: &[u8]| {
            let (pickle, _) = read_pickle(&[b"\x80\x02", pickle, b"."].concat())?;
            Views::of(&pickle)
        };
        let entry = |key: &str, value: &[u8]| [b"}", &text(key)[..], value, b"s"].concat();
        let inner = entry("model", &entry("state_dict", b"}"));
        assert_eq!(views(&inner).unwrap().keys, ["model", "state_dict"]);
        let other = entry("model_state_dict", b"}");
        assert_eq!(views(&other).unwrap().keys, ["model_state_dict"]);
        // One that is not known, and the names that are there.
        let unknown = views(&entry("net", b"}")).unwrap_err().to_string();
        let start =
            "found entry \"net\" that is not a tensor, among \"net\", expected a state dict";
        assert!(unknown.starts_with(start), "{unknown}");
        let mut deep = b"}".to_vec();
        for _ in 0..20 {
            deep = entry("model", &deep);
        }
        assert!(views(&deep).is_err());
    }

    /// A text of a pickle.
    fn text(text: &str) -> Vec<u8> {
        [
            b"X",
            &(text.len() as u32).to_le_bytes()[..],
            text.as_bytes(),
        ]
        .concat()
    }

    /// The fault of a pickle that begins with these operations, ends with those and has others between.
    fn fault(begin: &[Vec<u8>], repeated: &[u8], n: usize, end: &[u8]) -> Error {
        let pickle = [&b"\x80\x02"[..], &begin.concat(), &repeated.repeat(n), end].concat();
        let read = read_pickle(&pickle).and_then(|(pickle, _)| Views::of(&pickle));
        let fault = read.unwrap_err();
        let message = fault.to_string();
        assert!(message.chars().count() < 400, "{message}");
        assert!(!message.contains(char::is_control), "{message}");
        fault
    }

    #[test]
    fn a_class_that_is_named_often_is_not_copied() {
        // Each copy of the name would take 2 MB.
        let long = text(&"x".repeat(1_000_000));
        let begin = [long.clone(), b"q\0".to_vec(), long, b"q\x01".to_vec()];
        let found = fault(&begin, b"h\0h\x01\x93", 150_000, b".");
        assert_eq!(found.found(), "no dictionary of names");
        let found = fault(&begin, b"h\0h\x01\x93", 200_000, b".");
        assert!(found.place().ends_with(" of the pickle"));
        assert_eq!(found.found(), "more than 524288 operations");
        let found = fault(&begin, b"h\0h\x01\x93)R", 1, b".");
        let class = format!("an object of class \"{}\"…", "x".repeat(60));
        assert_eq!(found.found(), class);
    }

    #[test]
    fn long_shapes_and_names_that_many_tensors_share_are_refused() {
        let class = b"ctorch._utils\n_rebuild_tensor_v2\nq\0ctorch\nFloatStorage\nq\x01".to_vec();
        // A shape of 100,000 axes, and a storage with a long key.
        let shape = [&b"("[..], &b"K\x01".repeat(100_000), b"tq\x02"].concat();
        let storage = |key: &str| {
            let (storage, key, cpu) = (text("storage"), text(key), text("cpu"));
            [b"(", &storage[..], b"h\x01", &key, &cpu, b"K\x01tq\x03"].concat()
        };
        let tensor = b"K\x01h\0(h\x03QK\0h\x02h\x02tRs";
        let begin = [class.clone(), shape, storage("0"), b"}".to_vec()];
        let found = fault(&begin, tensor, 1, b".");
        assert_eq!(found.found(), "tensor \"1\" of more than 8 axes");
        let shape = b"K\x01\x85q\x02".to_vec();
        let begin = [class, shape, storage(&"k".repeat(100_000)), b"}".to_vec()];
        let found = fault(&begin, tensor, 10_000, b".");
        assert!(found.found().starts_with("entry "));
    }

    #[test]
    fn an_archive_unpacks_to_a_multiple_of_its_length() {
        // One storage of 32 MiB of zeros, which the archive compresses.
        let n_elements: u32 = 8 << 20;
        let pickle = [
            &b"\x80\x02}"[..],
            &text("a"),
            b"ctorch._utils\n_rebuild_tensor_v2\n((",
            &text("storage"),
            b"ctorch\nFloatStorage\n",
            &text("0"),
            &text("cpu"),
            b"J",
            &n_elements.to_le_bytes(),
            b"tQK\0K\x01\x85K\x01\x85tRs.",
        ];
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default();
        zip.start_file("x/data.pkl", options).unwrap();
        zip.write_all(&pickle.concat()).unwrap();
        zip.start_file("x/data/0", options).unwrap();
        zip.write_all(&vec![0; 4 * n_elements as usize]).unwrap();
        let bytes = zip.finish().unwrap().into_inner();
        let error = TorchFile::read(&bytes).unwrap().values("a").unwrap_err();
        let Unread::File(fault) = error else {
            panic!("its elements are numbers");
        };
        assert_eq!(
            fault.to_string(),
            "storage \"0\": found 33554432 bytes unpacked, expected at most 16777216 more in a file of \
             this size"
        );
    }

    /// All values of a file, or its first fault.
    fn read(bytes: &[u8]) -> Result<Vec<Vec<f32>>, Error> {
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
        let found = read(&changed).unwrap_err();
        assert!(found.found().starts_with("data that cannot be read ("));
    }

    #[test]
    fn pickles_of_other_things_are_named() {
        let read = |pickle: &[u8]| {
            let (pickle, _) = read_pickle(pickle)?;
            Views::of(&pickle).map(|views| views.of_name.len())
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
        deep.resize(500_000, 0x85);
        deep.push(b'.');
        assert!(message(&deep).starts_with("found no dictionary"));
        deep.pop();
        deep.resize(10_000_000, 0x85);
        let long = message(&deep);
        assert!(long.contains("found more than 524288 operations"), "{long}");
    }
}
