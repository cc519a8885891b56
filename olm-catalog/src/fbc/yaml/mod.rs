//! YAML as v0 reads it everywhere (sigs.k8s.io/yaml, which is YAML 1.1 with the exceptions of Go's
//! first parser): as the JSON that it would be.
//!
//! What plain scalars mean is in [`scalar`]. Merge keys set what they bring where they stand, so they
//! win over what stands before them; of keys that occur twice the last counts. Aliases may make a
//! document larger only as far as in v0.

mod scalar;
#[cfg(test)]
mod tests;
#[cfg(feature = "server")]
mod write;

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

pub(super) use scalar::plain;
#[cfg(feature = "server")]
pub(crate) use write::write_yaml;

/// Most nested maps and lists.
const DEPTH: usize = 128;

/// Up to so many values, nearly all may come from aliases; from the second number on a tenth.
const ALIASES: (f64, f64) = (400_000.0, 4_000_000.0);

/// The only document of a text; null when there is none.
///
/// # Errors
/// It is no YAML, holds what JSON cannot, is nested too deeply, or there is a second document.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        anchors: BTreeMap::new(),
        values: 0,
        from_aliases: 0,
    };
    reader.document()
}

/// Something that an alias may stand for.
struct Anchored {
    value: Value,
    /// How many values it has, itself among them.
    values: usize,
}

struct Reader<'a> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Anchored>,
    /// How many values there are so far, and how many of them came from aliases.
    values: usize,
    from_aliases: usize,
}

/// A value that is the key or the value of an entry.
struct Node {
    value: Value,
    /// A plain scalar that merges what is behind it.
    is_merge: bool,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Value, String> {
        let mut read = None;
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(read.unwrap_or_default()),
                Event::DocumentStart(..) if read.is_some() => {
                    return Err(
                        "a second document begins without a line of --- before it".to_owned()
                    );
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => read = Some(self.node(event, DEPTH)?.value),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'a>, String> {
        match self.events.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => Err(error.to_string()),
            None => Ok(Event::StreamEnd),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Node, String> {
        self.values = self.values.saturating_add(1);
        let (before, inner) = (self.values, depth.checked_sub(1));
        let inner = || inner.ok_or_else(|| format!("more than {DEPTH} nested maps and lists"));
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (scalar_node(&text, style, tag.as_deref())?, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (Node::of(self.list(inner()?)?), anchor),
            Event::MappingStart(_, anchor, _) => (Node::of(self.map(inner()?)?), anchor),
            Event::Alias(anchor) => return self.alias(anchor),
            event => return Err(format!("a value is missing: there is {event:?}")),
        };
        if anchor != 0 {
            let values = self.values.saturating_sub(before).saturating_add(1);
            self.anchors.insert(anchor, Anchored { value: node.value.clone(), values });
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Array(items)),
                event => items.push(self.node(event, depth)?.value),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, String> {
        let mut fields = Map::new();
        loop {
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Object(fields)),
                event => self.node(event, depth)?,
            };
            let event = self.next()?;
            let value = self.node(event, depth)?.value;
            if key.is_merge {
                merge(value, &mut fields)?;
                continue;
            }
            fields.insert(scalar::into_key(key.value)?, value);
        }
    }

    fn alias(&mut self, anchor: usize) -> Result<Node, String> {
        let known = self.anchors.get(&anchor);
        let known = known.ok_or("an anchor's value contains itself")?;
        self.values = self.values.saturating_add(known.values);
        self.from_aliases = self.from_aliases.saturating_add(known.values);
        if self.from_aliases > 100 && self.values > 1000 && self.has_too_many_aliases() {
            return Err("document contains excessive aliasing".to_owned());
        }
        Ok(Node::of(known.value.clone()))
    }

    // Both numbers are far below those that a float cannot tell apart.
    #[allow(clippy::cast_precision_loss)]
    fn has_too_many_aliases(&self) -> bool {
        let (values, (few, many)) = (self.values as f64, ALIASES);
        let share = ((values - few) / (many - few)).clamp(0.0, 1.0);
        self.from_aliases as f64 / values > 0.99 - 0.89 * share
    }
}

impl Node {
    fn of(value: Value) -> Self {
        Self { value, is_merge: false }
    }
}

fn scalar_node(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Node, String> {
    let is_plain = style == ScalarStyle::Plain;
    let tag = tag.map(ToString::to_string).filter(|tag| tag != "!");
    let value = match tag.as_deref() {
        None if is_plain => plain(text)?,
        None => Value::String(text.to_owned()),
        Some(tag) => scalar::tagged(tag, text)?,
    };
    let is_merge = text == "<<"
        && (is_plain && tag.is_none() || tag.as_deref() == Some("tag:yaml.org,2002:merge"));
    Ok(Node { value, is_merge })
}

/// Sets what a map has, or each of a list of maps, of which the first wins.
fn merge(value: Value, into: &mut Map<String, Value>) -> Result<(), String> {
    let wrong = || "map merge requires map or sequence of maps as the value".to_owned();
    match value {
        Value::Object(fields) => into.extend(fields),
        Value::Array(maps) => {
            for map in maps.into_iter().rev() {
                match map {
                    Value::Object(fields) => into.extend(fields),
                    _ => return Err(wrong()),
                }
            }
        }
        _ => return Err(wrong()),
    }
    Ok(())
}
