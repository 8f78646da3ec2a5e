//! Tensors as views of storages, as a pickle describes them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use icl_core::Error;

use super::error::{self, Cut};
use super::pickle::{Id, Pickle, Value};
use super::state_dict::Element;

/// Values of which tensors are views.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Storage {
    /// Name of the storage.
    pub(super) key: String,
    /// Class of the storage, such as `torch.FloatStorage`.
    pub(super) class: String,
    /// Number of elements.
    pub(super) len: u64,
}

impl Storage {
    /// Returns the type of the elements, none if they are not floating-point numbers.
    pub(super) fn element(&self) -> Option<Element> {
        match self.class.as_str() {
            "torch.HalfStorage" => Some(Element::F16),
            "torch.BFloat16Storage" => Some(Element::Bf16),
            "torch.FloatStorage" => Some(Element::F32),
            "torch.DoubleStorage" => Some(Element::F64),
            _ => None,
        }
    }

    /// Returns the number of bytes of an element, if its type is known.
    pub(super) fn element_size(&self) -> Option<usize> {
        match self.class.as_str() {
            "torch.BoolStorage" | "torch.ByteStorage" | "torch.CharStorage" => Some(1),
            "torch.ShortStorage" => Some(2),
            "torch.IntStorage" => Some(4),
            "torch.LongStorage" => Some(8),
            _ => self.element().map(Element::size),
        }
    }
}

/// A view of a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    pub(super) storage: Rc<Storage>,
    /// Index of the first element.
    pub(super) offset: u64,
    pub(super) shape: Vec<usize>,
    /// Distance between neighbours along each axis, in elements. Axes may be in any order in memory.
    strides: Vec<u64>,
}

impl View {
    /// Gathers the bytes of the elements, in the order of the axes, from the bytes of the storage.
    ///
    /// # Errors
    /// If the storage is too short.
    pub(super) fn gather(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>, Error> {
        let short = |element: Option<u64>| {
            let end = element.and_then(|last| last.checked_add(1)?.checked_mul(size as u64));
            error::storage(
                &self.storage.key,
                bytes.len() as u64,
                end.unwrap_or(u64::MAX),
            )
        };
        let mut starts = vec![self.offset];
        for (&n, &stride) in self.shape.iter().zip(&self.strides) {
            let last = starts.last().copied().unwrap_or(self.offset);
            let last = (n.saturating_sub(1) as u64)
                .checked_mul(stride)
                .and_then(|distance| last.checked_add(distance));
            // The last element has the largest index: if it exists, all do.
            let is_there = last
                .and_then(|last| last.checked_add(1)?.checked_mul(size as u64))
                .is_some_and(|end| end <= bytes.len() as u64);
            if !is_there && n > 0 {
                return Err(short(last));
            }
            starts = starts
                .iter()
                .flat_map(|start| (0..n as u64).map(move |index| start + index * stride))
                .collect();
        }
        let mut gathered = Vec::with_capacity(starts.len() * size);
        for start in starts {
            let at = usize::try_from(start)
                .ok()
                .and_then(|s| s.checked_mul(size));
            let element = at.and_then(|at| bytes.get(at..at.checked_add(size)?));
            gathered.extend(element.ok_or_else(|| short(Some(start)))?);
        }
        Ok(gathered)
    }
}

/// Maximum number of axes of a tensor. Those of a `resnet18` have four.
const MAX_AXES: usize = 8;

/// Maximum length of the name of a tensor or storage, in bytes. Those of a `resnet18` have 40.
const MAX_NAME_BYTES: usize = 1024;

/// Tensors of a pickled state dict.
#[derive(Debug)]
pub(super) struct Views {
    /// By the names of the tensors.
    pub(super) of_name: HashMap<String, View>,
    /// Keys under which the state dict is in other dictionaries, from outside to inside.
    pub(super) keys: Vec<String>,
}

impl Views {
    /// Finds the tensors of a pickle, which is a state dict or has one under the key `state_dict`, `model` or
    /// `model_state_dict`.
    ///
    /// # Errors
    /// If the pickle is something else, or a tensor has too many axes.
    pub(super) fn of(pickle: &Pickle) -> Result<Self, Error> {
        let Value::Dictionary(entries) = pickle.root() else {
            return Err(no_state_dict(None, &[], pickle));
        };
        let mut entries = entries;
        let mut keys = Vec::new();
        while keys.len() < MAX_KEYS {
            let nested = NESTED_IN.iter().find_map(|wanted| {
                let is_wanted = |(key, _): &&(Id, Id)| pickle.text(*key) == Some(wanted);
                match pickle.get(entries.iter().find(is_wanted)?.1) {
                    Value::Dictionary(inner) => Some((*wanted, inner)),
                    _ => None,
                }
            });
            let Some((key, inner)) = nested else { break };
            keys.push(key.to_owned());
            entries = inner;
        }
        let mut of_name = HashMap::new();
        // Many tensors may be views of one storage, whose description may be long.
        let mut storages = HashMap::new();
        for &(key, value) in entries {
            let name = match pickle.get(key) {
                Value::Text(name) if name.len() <= MAX_NAME_BYTES => name.clone(),
                Value::Int(name) => name.to_string(),
                _ => return Err(no_state_dict(None, entries, pickle)),
            };
            match tensor(pickle, value, &mut storages) {
                Some(view) if view.shape.len() > MAX_AXES => {
                    let found = format!("tensor {} of more than {MAX_AXES} axes", Cut(&name));
                    return Err(Error::new("", found, format!("at most {MAX_AXES}")));
                }
                Some(view) => of_name.insert(name, view),
                None => return Err(no_state_dict(Some(&name), entries, pickle)),
            };
        }
        Ok(Self { of_name, keys })
    }
}

/// Returns the fault of a pickle that is no state dict, with the names of its first entries.
fn no_state_dict(entry: Option<&str>, entries: &[(Id, Id)], pickle: &Pickle) -> Error {
    let names = entries.iter().filter_map(|(key, _)| pickle.text(*key));
    let names = names.filter(|name| name.len() <= MAX_NAME_BYTES);
    error::no_state_dict(entry, &names.take(MAX_SHOWN).collect::<Vec<_>>())
}

/// Returns the storages that a pickle describes, by their names, also those of no tensor of the state dict.
pub(super) fn storages(pickle: &Pickle) -> HashMap<String, Storage> {
    let mut read = HashSet::new();
    let mut of_key = HashMap::new();
    for description in pickle.persistent() {
        if read.insert(description)
            && let Some(storage) = storage(pickle, description)
        {
            of_key.insert(storage.key.clone(), storage);
        }
    }
    of_key
}

/// Keys under which training programs save a state dict besides their own state.
const NESTED_IN: [&str; 3] = ["state_dict", "model", "model_state_dict"];

/// Largest number of such keys, one in the value of the other.
const MAX_KEYS: usize = 3;

/// Number of entries that an error names.
const MAX_SHOWN: usize = 5;

/// Builds a tensor from its arguments: storage, offset, shape, strides and others, which are ignored. Of a
/// shape with more axes than the maximum it keeps one more than that.
fn tensor(pickle: &Pickle, id: Id, storages: &mut HashMap<Id, Rc<Storage>>) -> Option<View> {
    let Value::Tensor(arguments) = pickle.get(id) else {
        return None;
    };
    let [storage, offset, shape, strides, ..] = pickle.sequence(*arguments)? else {
        return None;
    };
    let Value::Persistent(description) = pickle.get(*storage) else {
        return None;
    };
    let storage = match storages.get(description) {
        Some(storage) => Rc::clone(storage),
        None => {
            let storage = Rc::new(self::storage(pickle, *description)?);
            storages.insert(*description, Rc::clone(&storage));
            storage
        }
    };
    let [shape, strides] = [pickle.sequence(*shape)?, pickle.sequence(*strides)?];
    if shape.len() != strides.len() {
        return None;
    }
    let n_axes = shape.len().min(MAX_AXES + 1);
    let counts = |items: &[Id]| -> Option<Vec<u64>> {
        items[..n_axes].iter().map(|&id| pickle.count(id)).collect()
    };
    let lengths = counts(shape)?;
    Some(View {
        storage,
        offset: pickle.count(*offset)?,
        shape: lengths
            .into_iter()
            .map(|n| usize::try_from(n).ok())
            .collect::<Option<_>>()?,
        strides: counts(strides)?,
    })
}

/// Builds a storage from its description: "storage", class, key, device, number of elements and, in
/// some very old files, a view of another storage, which is not supported.
fn storage(pickle: &Pickle, id: Id) -> Option<Storage> {
    let [kind, class, key, _, len, rest @ ..] = pickle.sequence(id)? else {
        return None;
    };
    let key = pickle.text(*key)?;
    let is_whole = rest.iter().all(|&id| *pickle.get(id) == Value::Other);
    if pickle.text(*kind) != Some("storage") || !is_whole || key.len() > MAX_NAME_BYTES {
        return None;
    }
    Some(Storage {
        key: key.to_owned(),
        class: pickle.class(*class)?,
        len: pickle.count(*len)?,
    })
}
