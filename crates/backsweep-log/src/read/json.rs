//! Lines of JSON, one object per row.

use crate::read::cells::RowCells;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The values of the object that was read last, by slot.
pub(crate) struct JsonObject<'a> {
    columns: &'a [String],
    values: Vec<Vec<u8>>,
}

impl<'a> JsonObject<'a> {
    pub fn new(columns: &'a [String]) -> Self {
        Self { columns, values: vec![Vec::new(); columns.len()] }
    }

    /// Reads one line.
    pub fn read(&mut self, line: &[u8]) -> Result<(), String> {
        self.values.iter_mut().for_each(Vec::clear);
        let mut source = serde_json::Deserializer::from_slice(line);
        self.deserialize(&mut source).and_then(|()| source.end()).map_err(|error| {
            if error.is_eof() { "the line ends within an object".to_owned() } else { error.to_string() }
        })
    }
}

impl RowCells for JsonObject<'_> {
    fn text(&mut self, slot: usize) -> &[u8] {
        &self.values[slot]
    }
}

impl<'de> DeserializeSeed<'de> for &mut JsonObject<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut JsonObject<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let Some(slot) = self.columns.iter().position(|column| *column == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw = map.next_value::<&'de RawValue>()?.get();
            let value = &mut self.values[slot];
            value.clear();
            match raw.as_bytes() {
                b"null" => {}
                [b'"', ..] => {
                    let text: Cow<'_, str> = serde_json::from_str(raw).map_err(A::Error::custom)?;
                    value.extend_from_slice(text.as_bytes());
                }
                [b'{' | b'[', ..] => {
                    let problem = format!("'{key}' is a list or an object; expected a plain value");
                    return Err(A::Error::custom(problem));
                }
                text => value.extend_from_slice(text),
            }
        }
        Ok(())
    }
}

/// The keys of an object, in order.
pub(crate) fn keys(line: &[u8]) -> Option<Vec<String>> {
    let object: serde_json::Value = serde_json::from_slice(line).ok()?;
    Some(object.as_object()?.keys().cloned().collect())
}
