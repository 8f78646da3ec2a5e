//! Any value of a record in MessagePack, and the deserialization of a type from it.
//!
//! `rmp_serde` compiles its whole reader again for each type that it reads, and Burn's optimizers have a type for each
//! number of axes. The reader of this value is compiled once, and each type adds one `match`.

use std::fmt;

use serde::Deserialize;
use serde::de::value::{Error, MapAccessDeserializer, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Largest number of values within each other that are read: each takes a part of the stack.
const MAX_DEPTH: usize = 100;

/// Value of a record, whose names, texts and bytes are those that were read.
#[derive(Debug, Clone)]
pub(crate) enum Value<'de> {
    Map(Vec<(&'de str, Value<'de>)>),
    List(Vec<Value<'de>>),
    Bytes(&'de [u8]),
    Text(&'de str),
    Count(u64),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Nil,
}

impl<'de> Value<'de> {
    /// Reads MessagePack, or returns `None` if it is none or its names are no texts.
    pub(crate) fn read(bytes: &'de [u8]) -> Option<Self> {
        let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
        reader.set_max_depth(MAX_DEPTH);
        Self::deserialize(&mut reader).ok()
    }

    /// Returns a field of a map.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Map(fields) = self else { return None };
        let field = fields.iter().find(|(other, _)| *other == name);
        field.map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
        let mut fields = Vec::new();
        while let Some(field) = map.next_entry()? {
            fields.push(field);
        }
        Ok(Value::Map(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value<'de>, A::Error> {
        let mut all = Vec::new();
        while let Some(item) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::List(all))
    }

    fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Value<'de>, E> {
        Ok(Value::Bytes(bytes))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Text(text))
    }

    fn visit_u64<E>(self, n: u64) -> Result<Value<'de>, E> {
        Ok(Value::Count(n))
    }

    fn visit_i64<E>(self, n: i64) -> Result<Value<'de>, E> {
        Ok(Value::Integer(n))
    }

    fn visit_f64<E>(self, x: f64) -> Result<Value<'de>, E> {
        Ok(Value::Float(x))
    }

    fn visit_bool<E>(self, is_true: bool) -> Result<Value<'de>, E> {
        Ok(Value::Bool(is_true))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Nil)
    }
}

impl<'de> IntoDeserializer<'de, Error> for Value<'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Reads types as `rmp_serde` writes them by name: structures as maps, a variant with contents as a map of one field,
/// one without as its name, and a unit structure as an empty list.
impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Map(fields) => {
                let mut fields = MapDeserializer::new(fields.into_iter());
                let value = visitor.visit_map(&mut fields)?;
                fields.end().map(|()| value)
            }
            Self::List(items) => {
                let mut items = SeqDeserializer::new(items.into_iter());
                let value = visitor.visit_seq(&mut items)?;
                items.end().map(|()| value)
            }
            Self::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
            Self::Text(text) => visitor.visit_borrowed_str(text),
            Self::Count(n) => visitor.visit_u64(n),
            Self::Integer(n) => visitor.visit_i64(n),
            Self::Float(x) => visitor.visit_f64(x),
            Self::Bool(is_true) => visitor.visit_bool(is_true),
            Self::Nil => visitor.visit_unit(),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Nil => visitor.visit_none(),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::List(items) if items.is_empty() => visitor.visit_unit(),
            value => value.deserialize_any(visitor),
        }
    }

    /// Rejects a list, which serde would accept: tensors are found, and checked, by the names of their fields.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Map(_) => self.deserialize_any(visitor),
            _ => Err(Error::custom("expected the fields of a structure")),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Text(name) => visitor.visit_enum(name.into_deserializer()),
            Self::Map(fields) if fields.len() == 1 => {
                let fields = MapDeserializer::new(fields.into_iter());
                visitor.visit_enum(MapAccessDeserializer::new(fields))
            }
            _ => Err(Error::custom("expected a variant")),
        }
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit seq tuple tuple_struct map
        identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::collections::BTreeMap;
    use std::marker::PhantomData;

    use serde::Serialize;

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    enum Kind {
        One,
        Two(u8),
        Three(i32, String),
        Four { x: f32 },
    }

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct New(u16);

    #[derive(Serialize, Deserialize, Debug, PartialEq)]
    struct All {
        kinds: Vec<Kind>,
        counts: BTreeMap<String, (usize, i64)>,
        none: Option<f64>,
        some: Option<f64>,
        new: New,
        bytes: serde_bytes::ByteBuf,
        marker: PhantomData<u8>,
        unit: (),
        is_true: bool,
        letter: char,
    }

    fn all() -> All {
        All {
            kinds: vec![
                Kind::One,
                Kind::Two(255),
                Kind::Three(-70_000, "text".to_owned()),
                Kind::Four { x: 0.1 },
            ],
            counts: BTreeMap::from([("a".to_owned(), (usize::MAX, i64::MIN))]),
            none: None,
            some: Some(f64::NEG_INFINITY),
            new: New(300),
            bytes: serde_bytes::ByteBuf::from(vec![0, 1, 255]),
            marker: PhantomData,
            unit: (),
            is_true: true,
            letter: 'ü',
        }
    }

    #[test]
    fn types_are_read_as_rmp_serde_reads_them() {
        let bytes = rmp_serde::to_vec_named(&all()).unwrap();
        assert_eq!(rmp_serde::from_slice::<All>(&bytes).unwrap(), all());
        let value = Value::read(&bytes).unwrap();
        assert_eq!(All::deserialize(value).unwrap(), all());
    }

    #[test]
    fn values_of_another_type_are_errors() {
        let read = |bytes: &[u8]| Value::read(bytes).map(|value| All::deserialize(value).is_ok());
        let whole = rmp_serde::to_vec_named(&all()).unwrap();
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "{end}");
        }
        assert_eq!(
            read(&rmp_serde::to_vec_named(&Kind::One).unwrap()),
            Some(false)
        );
        assert_eq!(read(&[0x93; 10_000]), None);
        // The fields of a structure without their names.
        let list = rmp_serde::to_vec(&all()).unwrap();
        assert_eq!(rmp_serde::from_slice::<All>(&list).unwrap(), all());
        assert_eq!(read(&list), Some(false));
        // More than the items of a tuple.
        let three = rmp_serde::to_vec(&[1, 2, 3]).unwrap();
        assert!(<[u8; 2]>::deserialize(Value::read(&three).unwrap()).is_err());
    }
}
