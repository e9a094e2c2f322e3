//! Reads JSON in which an object stands wherever a struct is due.
//!
//! Serde takes an array for a struct as well, field by field in the order in which our code happens to name them. CDP
//! knows no such thing, so whatever is written like that is not what it seems, at any depth.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, Visitor};

/// Reads `json` as `T`; `None` when it is not shaped like it.
pub(crate) fn read<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let value = T::deserialize(Objects(&mut deserializer)).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

/// Passes on what the deserializer inside gives, but asks it for a map where a struct is due.
struct Objects<T>(T);

macro_rules! deserialize {
    ($($method:ident($($name:ident: $type:ty),*))*) => {
        $(fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Objects(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Objects<D> {
    type Error = D::Error;

    deserialize! {
        deserialize_any() deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit() deserialize_seq() deserialize_map() deserialize_identifier()
        deserialize_ignored_any()
        deserialize_unit_struct(name: &'static str) deserialize_newtype_struct(name: &'static str)
        deserialize_tuple(len: usize) deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Objects(visitor))
    }
}

macro_rules! visit {
    ($($method:ident($type:ty))*) => {
        $(fn $method<E: serde::de::Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Objects<V> {
    type Value = V::Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(formatter)
    }

    visit! {
        visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_f64(f64) visit_char(char) visit_str(&str)
        visit_borrowed_str(&'de str) visit_string(String) visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8])
        visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Objects(deserializer))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Objects(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Objects(access))
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Objects(access))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(access)
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Objects<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Objects(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Objects<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Objects(deserializer))
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Inner {
        id: u64,
    }

    #[derive(Debug, Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        text: Cow<'a, str>,
        inner: Inner,
        #[serde(default)]
        more: Option<Vec<Inner>>,
        #[serde(borrow, default)]
        raw: Option<&'a RawValue>,
    }

    #[test]
    fn objects_are_read_with_all_that_is_in_them_and_borrowed_where_they_can_be() {
        let json = r#"{"text":"t","inner":{"id":1},"more":[{"id":2}],"raw":[1, "\ud800"],"new":[[]]}"#;
        let outer = read::<Outer<'_>>(json).expect("it is well formed");
        assert!(matches!(outer.text, Cow::Borrowed("t")));
        assert_eq!((outer.inner, outer.more), (Inner { id: 1 }, Some(vec![Inner { id: 2 }])));
        assert_eq!(outer.raw.map(RawValue::get), Some(r#"[1, "\ud800"]"#));
    }

    #[test]
    fn an_array_is_no_struct_at_any_depth() {
        for json in [
            r#"["t",{"id":1},null,null]"#,
            r#"{"text":"t","inner":[1]}"#,
            r#"{"text":"t","inner":{"id":1},"more":[[2]]}"#,
            r#"{"text":"t","inner":{"id":1}} {}"#,
        ] {
            assert!(read::<Outer<'_>>(json).is_none(), "{json}");
        }
    }
}
