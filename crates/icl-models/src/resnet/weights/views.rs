//! Tensors as views of storages, as a pickle describes them.

use std::collections::HashMap;

use super::error::FileFault;
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
    pub(super) storage: Storage,
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
    pub(super) fn gather(&self, bytes: &[u8], size: usize) -> Result<Vec<u8>, FileFault> {
        let short = |element: Option<u64>| FileFault::Storage {
            key: self.storage.key.clone(),
            found: bytes.len() as u64,
            expected: element
                .and_then(|last| last.checked_add(1)?.checked_mul(size as u64))
                .unwrap_or(u64::MAX),
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

/// Returns the tensors of a pickled state dict.
///
/// # Errors
/// [`FileFault::NoStateDict`] if the pickle is something else.
pub(super) fn views(pickle: &Pickle) -> Result<HashMap<String, View>, FileFault> {
    let Value::Dictionary(entries) = pickle.root() else {
        return Err(FileFault::NoStateDict { entry: None });
    };
    let view = |&(key, value): &(Id, Id)| {
        let name = match pickle.get(key) {
            Value::Text(name) => name.clone(),
            Value::Int(name) => name.to_string(),
            _ => return Err(FileFault::NoStateDict { entry: None }),
        };
        match tensor(pickle, value) {
            Some(view) => Ok((name, view)),
            None => Err(FileFault::NoStateDict { entry: Some(name) }),
        }
    };
    entries.iter().map(view).collect()
}

/// Builds a tensor from its arguments: storage, offset, shape, strides and others, which are ignored.
fn tensor(pickle: &Pickle, id: Id) -> Option<View> {
    let Value::Tensor(arguments) = pickle.get(id) else {
        return None;
    };
    let [storage, offset, shape, strides, ..] = pickle.sequence(*arguments)? else {
        return None;
    };
    let Value::Persistent(description) = pickle.get(*storage) else {
        return None;
    };
    let view = View {
        storage: self::storage(pickle, *description)?,
        offset: pickle.count(*offset)?,
        shape: pickle
            .counts(*shape)?
            .into_iter()
            .map(|n| usize::try_from(n).ok())
            .collect::<Option<_>>()?,
        strides: pickle.counts(*strides)?,
    };
    (view.shape.len() == view.strides.len()).then_some(view)
}

/// Builds a storage from its description: "storage", class, key, device, number of elements and, in
/// some very old files, a view of another storage, which is not supported.
fn storage(pickle: &Pickle, id: Id) -> Option<Storage> {
    let [kind, class, key, _, len, rest @ ..] = pickle.sequence(id)? else {
        return None;
    };
    let is_whole = rest.iter().all(|&id| *pickle.get(id) == Value::Other);
    match (pickle.get(*kind), pickle.get(*class), pickle.get(*key)) {
        (Value::Text(kind), Value::Class(class), Value::Text(key))
            if kind == "storage" && is_whole =>
        {
            Some(Storage {
                key: key.clone(),
                class: class.clone(),
                len: pickle.count(*len)?,
            })
        }
        _ => None,
    }
}
