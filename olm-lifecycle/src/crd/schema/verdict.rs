//! The findings of a check.

use serde_json::Value;

use super::number::Number;
use super::path::Path;
use crate::install_plan::steps::text;

/// Most findings that are spelled out for one object: the text becomes part of a status.
const SPELLED_OUT: usize = 20;

/// What a check found, and how many rules were looked at: among alternatives that all fail, the one
/// with most rules behind it is reported.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    findings: Vec<String>,
    pub(super) looked_at: usize,
}

impl Verdict {
    /// Whether nothing is wrong.
    pub(super) fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings, each once.
    pub(super) fn into_findings(self) -> Vec<String> {
        self.findings
    }

    /// Takes over what another check found.
    pub(super) fn merge(&mut self, other: Self) {
        self.looked_at += other.looked_at;
        other.findings.into_iter().for_each(|finding| self.add(finding));
    }

    /// A field is missing.
    pub(super) fn required(&mut self, path: &Path<'_>) {
        self.add(format!("{}: Required value", path.in_errors()));
    }

    /// A value is wrong; `detail` says how.
    pub(super) fn invalid(&mut self, path: &Path<'_>, value: &Value, detail: &str) {
        self.add(format!("{}: Invalid value: {}: {detail}", path.in_errors(), shown(value)));
    }

    /// The same for a value that is only a word about what was found.
    pub(super) fn invalid_word(&mut self, path: &Path<'_>, word: &str, detail: &str) {
        self.add(format!("{}: Invalid value: {word:?}: {detail}", path.in_errors()));
    }

    /// The object is wrong as a whole.
    pub(super) fn whole(&mut self, detail: &str) {
        self.add(format!("[]: Invalid value: \"\": {detail}"));
    }

    /// A value is none of those that are allowed. The API server prints objects without their
    /// fields.
    pub(super) fn unsupported(&mut self, path: &Path<'_>, value: &Value, allowed: &[Value]) {
        let spelled: Vec<_> = allowed.iter().map(|value| format!("{:?}", word(value))).collect();
        let (field, list) = (path.in_errors(), spelled.join(", "));
        let found = if value.is_object() { "{}".to_owned() } else { shown(value) };
        self.add(format!("{field}: Unsupported value: {found}: supported values: {list}"));
    }

    /// A string is too long.
    pub(super) fn too_long(&mut self, path: &Path<'_>, max: i64) {
        let unit = if max == 1 { "byte" } else { "bytes" };
        self.add(format!("{}: Too long: may not be more than {max} {unit}", path.in_errors()));
    }

    /// A list or an object has too many parts.
    pub(super) fn too_many(&mut self, path: &Path<'_>, actual: i64, max: i64) {
        let unit = if max == 1 { "item" } else { "items" };
        self.add(format!(
            "{}: Too many: {actual}: must have at most {max} {unit}",
            path.in_errors()
        ));
    }

    fn add(&mut self, finding: String) {
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }
}

/// The findings as Kubernetes joins errors; nothing when there are none.
pub(in crate::crd) fn in_words(findings: &[String]) -> Option<String> {
    match findings {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            let mut words = many.get(..SPELLED_OUT).unwrap_or(many).join(", ");
            if let Some(rest) = many.len().checked_sub(SPELLED_OUT).filter(|rest| *rest > 0) {
                words.push_str(&format!(", and {rest} more"));
            }
            Some(format!("[{words}]"))
        }
    }
}

/// A value as an error shows it: text quoted, numbers and truth values bare, the rest as JSON.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Number(number) => Number::of(number).to_string(),
        Value::Bool(truth) => truth.to_string(),
        other => text::free_form(other).trim_end().to_owned(),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => text::free_form(other).trim_end().to_owned(),
    }
}
