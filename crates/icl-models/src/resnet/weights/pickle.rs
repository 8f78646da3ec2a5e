//! The values of a pickle.

/// The place of a value in the list of all.
pub(super) type Id = usize;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// None or a floating-point number, which no tensor is made of.
    Other,
    Bool(bool),
    Int(i64),
    Text(String),
    /// A class or function, by its full name.
    Class(String),
    /// A tuple or list.
    Sequence(Vec<Id>),
    /// Entries in their order.
    Dictionary(Vec<(Id, Id)>),
    /// What is kept outside the pickle, under this description.
    Persistent(Id),
    /// A tensor, made of these arguments.
    Tensor(Id),
}

/// A pickle's values.
#[derive(Debug)]
pub(super) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// The pickle of these values, which stands for the one at `root`.
    pub(super) fn new(values: Vec<Value>, root: Id) -> Self {
        Self { values, root }
    }

    /// The value at a place.
    pub(super) fn get(&self, id: Id) -> &Value {
        &self.values[id]
    }

    /// The value that the pickle stands for.
    pub(super) fn root(&self) -> &Value {
        self.get(self.root)
    }

    /// The items of a tuple or list.
    pub(super) fn sequence(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// An integer from 0 on.
    pub(super) fn count(&self, id: Id) -> Option<u64> {
        match self.get(id) {
            Value::Int(n) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The items of a tuple or list of integers from 0 on.
    pub(super) fn counts(&self, id: Id) -> Option<Vec<u64>> {
        let items = self.sequence(id)?;
        items.iter().map(|&id| self.count(id)).collect()
    }
}
