//! The part of Python's pickle format in which state dicts are written.
//!
//! A pickle is a program for a stack machine. This machine builds plain values only: it imports and
//! calls nothing, so a file cannot run code. All values are in one list and refer to one another by
//! their index, so reading a deeply nested file does not recurse. No operation copies a value, and their
//! number is limited, so that memory is at most the length of the pickle and a few tens of megabytes.

use std::collections::HashMap;

use icl_core::Error;

use super::cursor::Cursor;
use super::error::Cut;
use super::pickle::{Id, Pickle, Value, class_name};

/// Maximum number of operations, each of which may add some tens of bytes. A state dict of a `resnet18` takes 7000.
const MAX_OPERATIONS: usize = 1 << 19;

/// Reads the pickle at the beginning of `bytes` and returns it with its length.
pub(super) fn read_pickle(bytes: &[u8]) -> Result<(Pickle, usize), Error> {
    let mut machine = StackMachine {
        cursor: Cursor::new(bytes),
        values: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    let mut byte = 0;
    let mut n_operations = 0;
    let root = loop {
        if n_operations == MAX_OPERATIONS {
            return Err(unexpected(
                byte,
                format!("more than {MAX_OPERATIONS} operations"),
            ));
        }
        n_operations += 1;
        match machine.step() {
            Ok(None) => byte = machine.cursor.position(),
            Ok(Some(root)) => break root,
            Err(Fault::Pickle(found)) => return Err(unexpected(byte, found)),
            Err(Fault::Class(class)) => {
                let found = format!("an object of class {}", Cut(&class));
                let expected = "a state dict, as torch.save(model.state_dict(), path) writes it";
                return Err(Error::new("", found, expected));
            }
        }
    };
    let pickle = Pickle::new(machine.values, root);
    Ok((pickle, machine.cursor.position()))
}

/// Returns the error of an operation that no state dict needs, at this offset.
fn unexpected(byte: usize, found: String) -> Error {
    let place = format!("byte {byte} of the pickle");
    Error::new(place, found, "the pickle of a state dict")
}

enum Fault {
    /// Content found in the place of an operation.
    Pickle(String),
    Class(String),
}

impl From<&str> for Fault {
    fn from(found: &str) -> Self {
        Self::Pickle(found.to_owned())
    }
}

struct StackMachine<'a> {
    cursor: Cursor<'a>,
    values: Vec<Value>,
    stack: Vec<Id>,
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl StackMachine<'_> {
    /// Executes an operation and returns the value of the pickle if it was the last.
    fn step(&mut self) -> Result<Option<Id>, Fault> {
        let [code] = self.cursor.take()?;
        match code {
            // Protocol and frame, which carry no information that is needed.
            0x80 => drop(self.cursor.take::<1>()?),
            0x95 => drop(self.cursor.take::<8>()?),
            b'.' => return self.pop(code).map(Some),
            b'N' => self.push(Value::Other),
            b'G' => {
                self.cursor.take::<8>()?;
                self.push(Value::Other);
            }
            0x88 | 0x89 => self.push(Value::Bool(code == 0x88)),
            b'K' => {
                let [value] = self.cursor.take()?;
                self.push(Value::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.cursor.take()?);
                self.push(Value::Int(value.into()));
            }
            b'J' => {
                let value = i32::from_le_bytes(self.cursor.take()?);
                self.push(Value::Int(value.into()));
            }
            0x8a => {
                let [len] = self.cursor.take()?;
                let value = self.cursor.long(len.into())?;
                let value = value.ok_or_else(|| operands(code))?;
                self.push(Value::Int(value));
            }
            b'X' => {
                let len = u32::from_le_bytes(self.cursor.take()?);
                let text = self.cursor.text(len as usize)?;
                self.push(Value::Text(text));
            }
            b'U' | 0x8c => {
                let [len] = self.cursor.take()?;
                let text = self.cursor.text(len.into())?;
                self.push(Value::Text(text));
            }
            b'c' => {
                let (module, name) = (self.cursor.line()?, self.cursor.line()?);
                let [module, name] = [module, name].map(|text| self.add(Value::Text(text)));
                self.push(Value::Class { module, name });
            }
            0x93 => {
                let (name, module) = (self.pop(code)?, self.pop(code)?);
                let [Value::Text(_), Value::Text(_)] = [&self.values[module], &self.values[name]]
                else {
                    return Err(operands(code));
                };
                // The texts may be long and are not copied for each class that they name.
                self.push(Value::Class { module, name });
            }
            b')' | b']' => self.push(Value::Sequence(Vec::new())),
            b'}' => self.push(Value::Dictionary(Vec::new())),
            b'(' => self.marks.push(self.stack.len()),
            b't' => {
                let items = self.pop_to_mark(code)?;
                self.push(Value::Sequence(items));
            }
            0x85..=0x87 => {
                let n = usize::from(code - 0x84);
                let first = self.stack.len().checked_sub(n);
                let items = self.split(code, first)?;
                self.push(Value::Sequence(items));
            }
            b'a' => {
                let item = self.pop(code)?;
                self.extend(code, vec![item])?;
            }
            b'e' => {
                let items = self.pop_to_mark(code)?;
                self.extend(code, items)?;
            }
            b's' => {
                let first = self.stack.len().checked_sub(2);
                let items = self.split(code, first)?;
                self.insert(code, &items)?;
            }
            b'u' => {
                let items = self.pop_to_mark(code)?;
                self.insert(code, &items)?;
            }
            b'q' => {
                let [key] = self.cursor.take()?;
                self.remember(code, key.into())?;
            }
            b'r' => {
                let key = u32::from_le_bytes(self.cursor.take()?);
                self.remember(code, key)?;
            }
            0x94 => {
                let key = u32::try_from(self.memo.len()).map_err(|_| operands(code))?;
                self.remember(code, key)?;
            }
            b'h' => {
                let [key] = self.cursor.take()?;
                self.recall(code, key.into())?;
            }
            b'j' => {
                let key = u32::from_le_bytes(self.cursor.take()?);
                self.recall(code, key)?;
            }
            b'Q' => {
                let description = self.pop(code)?;
                self.push(Value::Persistent(description));
            }
            b'R' => {
                let (arguments, class) = (self.pop(code)?, self.pop(code)?);
                self.make(code, class, arguments)?;
            }
            // An instance of a class, as `torch.save(model)` writes it: building it would run code of that class.
            0x81 => {
                let (_, class) = (self.pop(code)?, self.pop(code)?);
                return Err(match self.class(class) {
                    Some(class) => Fault::Class(class),
                    None => operands(code),
                });
            }
            // Attributes of a dictionary, such as the versions of the modules that it came from.
            b'b' => {
                self.pop(code)?;
                let object = self.top(code)?;
                if !matches!(self.values[object], Value::Dictionary(_)) {
                    return Err(operands(code));
                }
            }
            _ => return Err(Fault::Pickle(format!("operation 0x{code:02x}"))),
        }
        Ok(None)
    }

    /// Builds the value that calling `class` with `arguments` would return.
    fn make(&mut self, code: u8, class: Id, arguments: Id) -> Result<(), Fault> {
        let class = self.class(class).ok_or_else(|| operands(code))?;
        match class.as_str() {
            "collections.OrderedDict" => self.push(Value::Dictionary(Vec::new())),
            "torch._utils._rebuild_tensor" | "torch._utils._rebuild_tensor_v2" => {
                self.push(Value::Tensor(arguments));
            }
            // A tensor, and whether it is trained.
            "torch._utils._rebuild_parameter" => match &self.values[arguments] {
                Value::Sequence(items) if !items.is_empty() => self.stack.push(items[0]),
                _ => return Err(operands(code)),
            },
            _ => return Err(Fault::Class(class)),
        }
        Ok(())
    }

    fn class(&self, id: Id) -> Option<String> {
        class_name(&self.values, id)
    }

    fn push(&mut self, value: Value) {
        let id = self.add(value);
        self.stack.push(id);
    }

    /// Adds a value that is not on the stack.
    fn add(&mut self, value: Value) -> Id {
        self.values.push(value);
        self.values.len() - 1
    }

    /// Returns the last value after the last mark.
    fn top(&self, code: u8) -> Result<Id, Fault> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        let reachable = self.stack.get(bottom..).and_then(<[Id]>::last);
        reachable.copied().ok_or_else(|| operands(code))
    }

    fn pop(&mut self, code: u8) -> Result<Id, Fault> {
        let id = self.top(code)?;
        self.stack.pop();
        Ok(id)
    }

    fn pop_to_mark(&mut self, code: u8) -> Result<Vec<Id>, Fault> {
        let mark = self.marks.pop();
        self.split(code, mark)
    }

    /// Removes and returns all values from the `first` on.
    fn split(&mut self, code: u8, first: Option<usize>) -> Result<Vec<Id>, Fault> {
        let bottom = self.marks.last().copied().unwrap_or(0);
        match first {
            Some(first) if bottom <= first && first <= self.stack.len() => {
                Ok(self.stack.split_off(first))
            }
            _ => Err(operands(code)),
        }
    }

    fn extend(&mut self, code: u8, items: Vec<Id>) -> Result<(), Fault> {
        let list = self.top(code)?;
        let Value::Sequence(list) = &mut self.values[list] else {
            return Err(operands(code));
        };
        list.extend(items);
        Ok(())
    }

    fn insert(&mut self, code: u8, items: &[Id]) -> Result<(), Fault> {
        let dictionary = self.top(code)?;
        let (pairs, []) = items.as_chunks::<2>() else {
            return Err(operands(code));
        };
        let Value::Dictionary(entries) = &mut self.values[dictionary] else {
            return Err(operands(code));
        };
        entries.extend(pairs.iter().map(|&[key, value]| (key, value)));
        Ok(())
    }

    fn remember(&mut self, code: u8, key: u32) -> Result<(), Fault> {
        let id = self.top(code)?;
        self.memo.insert(key, id);
        Ok(())
    }

    fn recall(&mut self, code: u8, key: u32) -> Result<(), Fault> {
        let id = self.memo.get(&key).ok_or_else(|| operands(code))?;
        self.stack.push(*id);
        Ok(())
    }
}

fn operands(code: u8) -> Fault {
    Fault::Pickle(format!("operation 0x{code:02x} without its operands"))
}
