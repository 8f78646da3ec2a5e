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
    /// A class or function, by the texts of its module and its name.
    Class {
        module: Id,
        name: Id,
    },
    /// A tuple or list.
    Sequence(Vec<Id>),
    /// Entries in their order.
    Dictionary(Vec<(Id, Id)>),
    /// An object outside the pickle, with this description.
    Persistent(Id),
    /// A tensor, with the arguments that build it.
    Tensor(Id),
}

/// Maximum length of the name of a class that is kept, in bytes. A pickle may name one long text very often.
const MAX_CLASS_BYTES: usize = 256;

/// Returns the beginning of the full name of a class or function.
pub(super) fn class_name(values: &[Value], id: Id) -> Option<String> {
    let Value::Class { module, name } = values.get(id)? else {
        return None;
    };
    let [Value::Text(module), Value::Text(name)] = [values.get(*module)?, values.get(*name)?]
    else {
        return None;
    };
    let mut full = String::new();
    for c in module.chars().chain(['.']).chain(name.chars()) {
        if full.len() + c.len_utf8() > MAX_CLASS_BYTES {
            break;
        }
        full.push(c);
    }
    Some(full)
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

    /// Returns the descriptions of all objects outside the pickle.
    pub(super) fn persistent(&self) -> impl Iterator<Item = Id> {
        self.values.iter().filter_map(|value| match value {
            Value::Persistent(description) => Some(*description),
            _ => None,
        })
    }

    /// Returns the text at an index.
    pub(super) fn text(&self, id: Id) -> Option<&str> {
        match self.get(id) {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the full name of a class or function.
    pub(super) fn class(&self, id: Id) -> Option<String> {
        class_name(&self.values, id)
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
}
