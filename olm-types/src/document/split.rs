//! Splits a stream into documents, holding one of them at a time.
//!
//! A stream that begins with `{` is a series of JSON objects; one that does not, or that turns out
//! not to be JSON at its first or second document, is a series of YAML documents between lines of
//! `---` (as Kubernetes' own reader has it, and `opm` with it).

use std::io::{self, BufRead, Cursor, Read};

use super::{Bound, DocumentError, Exceeded};

/// What separates YAML documents, at the beginning of a line.
const SEPARATOR: &[u8] = b"---";

/// How a stream is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON objects, one after the other.
    Json,
    /// YAML documents between separators.
    Yaml,
}

/// The documents of a stream.
pub(super) struct Documents<R> {
    /// What was read already and is to be read again, then the stream.
    input: io::Chain<Cursor<Vec<u8>>, R>,
    form: Option<Form>,
    limit: usize,
}

impl<R: BufRead> Documents<R> {
    /// Documents of at most `limit` bytes each.
    pub(super) fn new(input: R, limit: usize) -> Self {
        Self { input: Cursor::new(Vec::new()).chain(input), form: None, limit }
    }

    /// Reads the next document into `text`, which is cleared; none at the end.
    pub(super) fn next(&mut self, text: &mut Vec<u8>) -> Result<Option<Form>, DocumentError> {
        text.clear();
        let form = match self.form {
            Some(form) => form,
            None => self.guess(text)?,
        };
        self.form = Some(form);
        let found = match form {
            Form::Json => self.json(text)?,
            Form::Yaml => self.yaml(text)?,
        };
        Ok(found.then_some(form))
    }

    /// Takes everything from here on as YAML, beginning with `text` again; white space before it
    /// is no document.
    pub(super) fn again_as_yaml(self, text: &[u8]) -> Documents<impl BufRead> {
        Documents {
            input: Cursor::new(text.trim_ascii_start().to_vec()).chain(self.input),
            form: Some(Form::Yaml),
            limit: self.limit,
        }
    }

    /// JSON when the first character that is no white space says so; the space goes to `text`.
    fn guess(&mut self, text: &mut Vec<u8>) -> Result<Form, DocumentError> {
        Ok(match self.skip_space(text)? {
            Some(b'{') => Form::Json,
            _ => Form::Yaml,
        })
    }

    /// Moves white space to `text`; gives the character behind it.
    fn skip_space(&mut self, text: &mut Vec<u8>) -> Result<Option<u8>, DocumentError> {
        loop {
            let available = self.input.fill_buf()?;
            let space = available.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let (next, ended) = (available.get(space).copied(), available.is_empty());
            text.extend(available.iter().take(space));
            self.input.consume(space);
            self.check(text)?;
            if next.is_some() || ended {
                return Ok(next);
            }
        }
    }

    /// A JSON object, or anything up to white space where there is none.
    fn json(&mut self, text: &mut Vec<u8>) -> Result<bool, DocumentError> {
        if self.skip_space(text)?.is_none() {
            return Ok(false);
        }
        let mut scanner = Scanner::default();
        loop {
            let available = self.input.fill_buf()?;
            if available.is_empty() {
                return Ok(true);
            }
            let end = available.iter().position(|byte| scanner.ends_with(*byte));
            let taken = end.map_or(available.len(), |position| position.saturating_add(1));
            text.extend(available.iter().take(taken));
            self.input.consume(taken);
            self.check(text)?;
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// Lines up to a separator, which is left out.
    fn yaml(&mut self, text: &mut Vec<u8>) -> Result<bool, DocumentError> {
        let mut found = !text.is_empty();
        loop {
            let start = text.len();
            let limit = self.limit.saturating_add(1).saturating_sub(start);
            let limit = u64::try_from(limit).unwrap_or(u64::MAX);
            if (&mut self.input).take(limit).read_until(b'\n', text)? == 0 {
                self.check(text)?;
                return Ok(found);
            }
            self.check(text)?;
            if text.get(start..).is_some_and(is_separator) {
                text.truncate(start);
                if found {
                    return Ok(true);
                }
            }
            found = true;
        }
    }

    fn check(&self, text: &[u8]) -> Result<(), DocumentError> {
        let exceeded = Exceeded { bound: Bound::Bytes, limit: self.limit, at: None };
        if text.len() > self.limit { Err(exceeded.into()) } else { Ok(()) }
    }
}

/// Whether a line separates documents: nothing but a comment may follow the dashes.
fn is_separator(line: &[u8]) -> bool {
    line.strip_prefix(SEPARATOR)
        .is_some_and(|rest| matches!(rest.trim_ascii().first(), None | Some(b'#')))
}

/// Finds the end of a JSON object.
#[derive(Default)]
struct Scanner {
    open: usize,
    in_text: bool,
    escaped: bool,
}

impl Scanner {
    /// Whether the value ends with this byte.
    fn ends_with(&mut self, byte: u8) -> bool {
        if self.in_text {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.open = self.open.saturating_add(1),
            b'}' | b']' => {
                self.open = self.open.saturating_sub(1);
                return self.open == 0;
            }
            _ => return self.open == 0 && byte.is_ascii_whitespace(),
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(Form, String)> {
        let mut documents = Documents::new(io::BufReader::with_capacity(3, text.as_bytes()), 1000);
        let mut text = Vec::new();
        let mut found = Vec::new();
        while let Some(form) = documents.next(&mut text).unwrap() {
            found.push((form, String::from_utf8(text.clone()).unwrap()));
        }
        found
    }

    #[test]
    fn json_objects_need_nothing_between_them() {
        let found = split(" {\"a\":\"}\\\"{\"}{\"b\":[{}]}\n\n{}  \n");
        let texts: Vec<_> = found.iter().map(|(_, text)| text.trim()).collect();
        assert_eq!(texts, [r#"{"a":"}\"{"}"#, r#"{"b":[{}]}"#, "{}"]);
        assert!(found.iter().all(|(form, _)| *form == Form::Json));
    }

    #[test]
    fn yaml_documents_end_at_a_line_of_dashes() {
        let found = split("---\na: |\n  ---\n--- # next\nb: 1\n---- x\n---\r\nc: 1");
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["a: |\n  ---\n", "b: 1\n---- x\n", "c: 1"]);
    }

    #[test]
    fn a_large_document_is_refused() {
        for text in ["{\"a\": \"xxxxxxxxxxxxxxx\"}", "a: xxxxxxxxxxxxxxxxx", "              {"] {
            let mut documents = Documents::new(text.as_bytes(), 10);
            let error = documents.next(&mut Vec::new()).unwrap_err();
            assert!(matches!(error, DocumentError::Exceeded(_)), "{text}: {error}");
        }
    }
}
