//! Reads YAML as programs write it, several times as fast as a parser of all of YAML.
//!
//! Catalogs are written by programs: maps and lists by indentation, texts on one line or as literal
//! blocks. Whatever else there is (comments, anchors, flow style, folded texts, texts over several
//! lines, mistakes) is none of this reader's business: it then gives nothing, and the parser reads
//! the whole document. What it gives is what the parser would; tests hold both side by side.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use super::budget::Meter;

/// Most nested maps and lists; what is deeper is left to the parser.
const DEPTH: usize = 64;

/// Plain texts that mean something else in some version of YAML; the parser knows.
const WORDS: [&str; 12] =
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"];

/// The document, when it is written plainly and the budget suffices; the meter knows which of both.
pub(super) fn read(text: &[u8], meter: &mut Meter) -> Option<Value> {
    let text = std::str::from_utf8(text).ok()?;
    if !text.ends_with('\n') || !text.bytes().all(is_simple) && !text.chars().all(is_printable) {
        return None;
    }
    let depth = DEPTH.min(meter.budget().depth);
    let mut lines = Lines { rest: text, next: None, meter };
    lines.advance();
    lines.next?;
    let value = lines.map(0, depth)?;
    lines.next.is_none().then_some(value)
}

fn is_simple(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n')
}

/// Neither a control character nor a line break of Unicode nor a mark of byte order.
fn is_printable(letter: char) -> bool {
    match letter {
        ' '..='~' | '\n' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => letter >= '\u{a0}',
    }
}

/// A line without its indentation; never blank.
#[derive(Clone, Copy)]
struct Line<'a> {
    indent: usize,
    body: &'a str,
}

/// Lines that are still to be read.
struct Lines<'a, 'm> {
    /// Behind the next line.
    rest: &'a str,
    next: Option<Line<'a>>,
    meter: &'m mut Meter,
}

impl<'a> Lines<'a, '_> {
    /// Goes on to the next line that is not blank.
    fn advance(&mut self) {
        self.next = loop {
            let Some((line, rest)) = self.rest.split_once('\n') else { break None };
            self.rest = rest;
            let body = line.trim_start_matches(' ');
            if !body.is_empty() {
                let indent = line.len().saturating_sub(body.len());
                break Some(Line { indent, body: body.trim_end_matches(' ') });
            }
        };
    }

    /// The map whose keys have this indentation.
    fn map(&mut self, indent: usize, depth: usize) -> Option<Value> {
        self.meter.value(0).ok()?;
        let mut map = Map::new();
        while let Some(line) = self.next.filter(|line| line.indent >= indent) {
            let (key, value) = entry(line.body).filter(|_| line.indent == indent)?;
            self.meter.entry(key.len(), map.is_empty()).ok()?;
            let value = match value {
                "" => self.below(indent, depth)?,
                _ => self.scalar(value, indent)?,
            };
            map.insert(key.to_owned(), value);
        }
        Some(Value::Object(map))
    }

    /// What is below a key: further in, or a list as far out as the key.
    fn below(&mut self, indent: usize, depth: usize) -> Option<Value> {
        self.advance();
        let depth = depth.checked_sub(1)?;
        match self.next {
            Some(line) if line.indent >= indent && item(line.body).is_some() => {
                self.list(line.indent, depth)
            }
            Some(line) if line.indent > indent => self.map(line.indent, depth),
            _ => self.meter.value(0).ok().map(|()| Value::Null),
        }
    }

    /// The list whose dashes have this indentation.
    fn list(&mut self, indent: usize, depth: usize) -> Option<Value> {
        self.meter.value(0).ok()?;
        let mut list = Vec::new();
        while let Some(line) = self.next.filter(|line| line.indent >= indent) {
            if line.indent > indent {
                return None;
            }
            let Some(body) = item(line.body) else { break };
            if entry(body).is_some() {
                let further = line.body.len().checked_sub(body.len())?;
                let indent = indent.checked_add(further)?;
                self.next = Some(Line { indent, body });
                list.push(self.map(indent, depth.checked_sub(1)?)?);
            } else {
                list.push(self.scalar(body, indent)?);
            }
        }
        Some(Value::Array(list))
    }

    /// A text, number or the like that begins in the current line.
    fn scalar(&mut self, text: &str, indent: usize) -> Option<Value> {
        if let "|" | "|-" = text {
            let text = self.literal(indent, text == "|")?;
            self.meter.value(text.len()).ok()?;
            return Some(Value::String(text));
        }
        self.meter.value(text.len()).ok()?;
        self.advance();
        match text.bytes().next()? {
            b'\'' => single_quoted(text),
            b'"' => double_quoted(text, self.meter),
            b'{' if text == "{}" => Some(Value::Object(Map::new())),
            b'[' if text == "[]" => Some(Value::Array(Vec::new())),
            first if !is_plain(text) || !first.is_ascii_alphanumeric() && first != b'/' => None,
            first if first.is_ascii_digit() || is_word(text) => {
                super::yaml::plain(text).ok().map(super::plain_numbers)
            }
            _ => Some(Value::String(text.to_owned())),
        }
    }

    /// A literal block, which is further in than its key or dash.
    fn literal(&mut self, indent: usize, ends_in_line: bool) -> Option<String> {
        let first = self.rest.split('\n').next()?;
        let inner = first.len().checked_sub(first.trim_start_matches(' ').len())?;
        if inner <= indent || inner == first.len() {
            return None;
        }
        let (mut text, mut kept) = (String::new(), 0);
        while let Some((line, rest)) = self.rest.split_once('\n') {
            let is_blank = line.bytes().all(|byte| byte == b' ');
            let cut = line.split_at_checked(inner.min(line.len()));
            let Some((_, content)) = cut.filter(|(margin, _)| margin.trim_matches(' ').is_empty())
            else {
                break;
            };
            if is_blank && !content.is_empty() {
                return None;
            }
            text.push_str(content);
            if !is_blank {
                kept = text.len();
            }
            text.push('\n');
            self.rest = rest;
        }
        text.truncate(if ends_in_line { kept.saturating_add(1) } else { kept });
        self.advance();
        Some(text)
    }
}

/// Key and value of an entry of a map; the value is empty when it is below.
fn entry(body: &str) -> Option<(&str, &str)> {
    let end = body.bytes().position(|byte| {
        !byte.is_ascii_alphanumeric() && !matches!(byte, b'_' | b'-' | b'.' | b'/')
    })?;
    let (key, rest) = body.split_at_checked(end)?;
    let value = rest.strip_prefix(':').filter(|it| it.is_empty() || it.starts_with(' '))?;
    let is_text = key.starts_with(|first: char| first.is_ascii_alphabetic()) && !is_word(key);
    (is_text && key.len() < 1000).then_some((key, value.trim_start_matches(' ')))
}

/// What is behind the dash of an item of a list.
fn item(body: &str) -> Option<&str> {
    body.strip_prefix("- ").map(|rest| rest.trim_start_matches(' '))
}

/// Whether a plain text neither is nor hides something else.
fn is_plain(text: &str) -> bool {
    !text.ends_with(':') && !text.contains(": ") && !text.contains(" #")
}

fn is_word(text: &str) -> bool {
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn single_quoted(text: &str) -> Option<Value> {
    let inner = text.get(1..)?.strip_suffix('\'')?;
    let unpaired = inner.split("''").any(|part| part.contains('\''));
    (!unpaired).then(|| Value::String(inner.replace("''", "'")))
}

fn double_quoted(text: &str, meter: &mut Meter) -> Option<Value> {
    let inner = text.get(1..)?.strip_suffix('"')?;
    if !inner.contains(['"', '\\']) {
        return Some(Value::String(inner.to_owned()));
    }
    super::yaml::within(text, meter).ok().filter(Value::is_string)
}
