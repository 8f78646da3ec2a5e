//! The values of a pickle.

/// Index of a value in the list of all.
pub(super) type Id = usize;

/// A value of a pickle.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// None or a floating-point number, which tensors do not need.
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
    /// An object outside the pickle, with this description.
    Persistent(Id),
    /// A tensor, with the arguments that build it.
    Tensor(Id),
}

/// All values of a pickle.
#[derive(Debug)]
pub(super) struct Pickle {
    values: Vec<Value>,
    root: Id,
}

impl Pickle {
    /// Creates a pickle of these values, of which the one at `root` is its result.
    pub(super) fn new(values: Vec<Value>, root: Id) -> Self {
        Self { values, root }
    }

    /// Returns the value at an index.
    pub(super) fn get(&self, id: Id) -> &Value {
        &self.values[id]
    }

    /// Returns the value that is the result of the pickle.
    pub(super) fn root(&self) -> &Value {
        self.get(self.root)
    }

    /// Returns the items of a tuple or list.
    pub(super) fn sequence(&self, id: Id) -> Option<&[Id]> {
        match self.get(id) {
            Value::Sequence(items) => Some(items),
            _ => None,
        }
    }

    /// Returns an integer from 0 on.
    pub(super) fn count(&self, id: Id) -> Option<u64> {
        match self.get(id) {
            Value::Int(n) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// Returns the items of a tuple or list of integers from 0 on.
    pub(super) fn counts(&self, id: Id) -> Option<Vec<u64>> {
        let items = self.sequence(id)?;
        items.iter().map(|&id| self.count(id)).collect()
    }
}
