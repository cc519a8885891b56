//! YAML as v0 reads it everywhere (sigs.k8s.io/yaml, which is YAML 1.1 with the exceptions of Go's
//! first parser): as the JSON that it would be.
//!
//! What plain scalars mean is in [`scalar`]. Merge keys set what they bring where they stand, so they
//! win over what stands before them; of keys that occur twice the last counts. Aliases may make a
//! document larger only as far as in v0, and as its budget allows: v0's rule counts values, of which
//! one may be as long as the document.

mod scalar;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Value};

use super::DocumentError;
use super::budget::{Exceeded, Meter, Spent};

pub use scalar::plain;

/// Most brackets open at the same time in a document: the scanner looks at all of them before anything
/// is refused. Brackets inside texts count too, so this is well above any depth that is accepted.
const OPEN_BRACKETS: usize = 512;

/// Up to so many values, nearly all may come from aliases; from the second number on a tenth.
const ALIASES: (f64, f64) = (400_000.0, 4_000_000.0);

/// The only document of a text; null when there is none.
///
/// # Errors
/// It is no YAML, holds what JSON cannot, there is a second document, or it costs more than the budget
/// has left.
pub fn read(text: &str, meter: &mut Meter) -> Result<Value, DocumentError> {
    meter.begin(text.len())?;
    within(text, meter)
}

/// Like [`read`], as a part of what is read with the meter already.
pub(super) fn within(text: &str, meter: &mut Meter) -> Result<Value, DocumentError> {
    if open_brackets(text.as_bytes()) > OPEN_BRACKETS {
        let message = format!("more than {OPEN_BRACKETS} brackets are open at the same time");
        return Err(DocumentError::Syntax(message));
    }
    let mut options = granit_parser::Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        anchors: BTreeMap::new(),
        meter,
        from_aliases: 0,
        values: 0,
        at: (1, 1),
    };
    let read = reader.document();
    let at = Some(reader.at);
    read.map_err(|problem| match problem {
        Problem::Syntax(message) => DocumentError::Syntax(message),
        Problem::Exceeded(exceeded) => DocumentError::Exceeded(Exceeded { at, ..exceeded }),
    })
}

/// Why there is no value.
enum Problem {
    Syntax(String),
    Exceeded(Exceeded),
}

impl From<String> for Problem {
    fn from(message: String) -> Self {
        Self::Syntax(message)
    }
}

impl From<Exceeded> for Problem {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}

/// Something that an alias may stand for.
struct Anchored {
    value: Value,
    /// What it cost to make, and how many values v0 would count.
    cost: Spent,
    values: usize,
}

struct Reader<'a, 'm> {
    events: Parser<'a, granit_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Anchored>,
    meter: &'m mut Meter,
    /// How many values there are so far, keys among them, and how many of them came from aliases.
    values: usize,
    from_aliases: usize,
    /// Line and column of the last event, from 1.
    at: (usize, usize),
}

/// A value that is the key or the value of an entry.
struct Node {
    value: Value,
    /// A plain scalar that merges what is behind it.
    is_merge: bool,
}

impl<'a> Reader<'a, '_> {
    fn document(&mut self) -> Result<Value, Problem> {
        let depth = self.meter.budget().depth;
        let mut read = None;
        loop {
            match self.next()? {
                Event::StreamEnd => return Ok(read.unwrap_or_default()),
                Event::DocumentStart(..) if read.is_some() => {
                    let message = "a second document begins without a line of --- before it";
                    return Err(message.to_owned().into());
                }
                Event::StreamStart | Event::DocumentStart(..) | Event::DocumentEnd => {}
                event => read = Some(self.node(event, depth)?.value),
            }
        }
    }

    fn next(&mut self) -> Result<Event<'a>, Problem> {
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                self.at = (span.start.line(), span.start.col().saturating_add(1));
                Ok(event)
            }
            Some(Err(error)) => Err(error.to_string().into()),
            None => Ok(Event::StreamEnd),
        }
    }

    fn node(&mut self, event: Event<'a>, depth: usize) -> Result<Node, Problem> {
        self.values = self.values.saturating_add(1);
        let (before, spent) = (self.values, self.meter.spent());
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                // Bytes of a !!binary that are no text become three each.
                let bytes = if tag.is_some() { text.len().saturating_mul(3) } else { text.len() };
                self.meter.value(bytes)?;
                (scalar_node(&text, style, tag.as_deref())?, anchor)
            }
            Event::SequenceStart(_, anchor, _) => (Node::of(self.list(depth)?), anchor),
            Event::MappingStart(_, anchor, _) => (Node::of(self.map(depth)?), anchor),
            Event::Alias(anchor) => return self.alias(anchor),
            event => return Err(format!("a value is missing: there is {event:?}").into()),
        };
        if anchor != 0 {
            let cost = self.meter.spent().since(spent);
            // What aliases stand for is kept beside the value itself.
            self.meter.copy(Spent { values: 0, ..cost })?;
            let values = self.values.saturating_sub(before).saturating_add(1);
            self.anchors.insert(anchor, Anchored { value: node.value.clone(), cost, values });
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Value, Problem> {
        self.meter.value(0)?;
        let depth = self.meter.below(depth)?;
        let mut items = Vec::new();
        loop {
            match self.next()? {
                Event::SequenceEnd => return Ok(Value::Array(items)),
                event => items.push(self.node(event, depth)?.value),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, Problem> {
        self.meter.value(0)?;
        let depth = self.meter.below(depth)?;
        let mut fields = Map::new();
        loop {
            let before = self.meter.spent();
            let key = match self.next()? {
                Event::MappingEnd => return Ok(Value::Object(fields)),
                event => self.node(event, depth)?,
            };
            let name = match key.is_merge {
                true => None,
                false => Some(scalar::into_key(key.value)?),
            };
            // A key is no value of its own: it is paid for with its entry.
            self.meter.rewind(before);
            if let Some(name) = &name {
                self.meter.entry(name.len(), fields.is_empty())?;
            }
            let event = self.next()?;
            let value = self.node(event, depth)?.value;
            match name {
                None => merge(value, &mut fields)?,
                Some(name) => {
                    fields.insert(name, value);
                }
            }
        }
    }

    fn alias(&mut self, anchor: usize) -> Result<Node, Problem> {
        let known = self.anchors.get(&anchor);
        let known = known.ok_or_else(|| "an anchor's value contains itself".to_owned())?;
        self.values = self.values.saturating_add(known.values);
        self.from_aliases = self.from_aliases.saturating_add(known.values);
        if self.from_aliases > 100 && self.values > 1000 && self.has_too_many_aliases() {
            return Err("document contains excessive aliasing".to_owned().into());
        }
        self.meter.copy(known.cost)?;
        Ok(Node::of(known.value.clone()))
    }

    // Both numbers are far below those that a float cannot distinguish.
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

/// The most brackets that are open at any place of a document, wherever they stand.
fn open_brackets(text: &[u8]) -> usize {
    // Most documents have few brackets, and counting takes less time than following them.
    let opening = text.iter().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if opening <= OPEN_BRACKETS {
        return opening;
    }
    let (mut open, mut most) = (0_usize, 0);
    for byte in text {
        match byte {
            b'[' | b'{' => open = open.saturating_add(1),
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}
