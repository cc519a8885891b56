//! The findings of a check.

use serde_json::Value;

use super::number::Number;
use super::path::Path;
use crate::install_plan::steps::text;

/// Most findings that are spelled out for one object: the text becomes part of a status.
const SPELLED_OUT: usize = 20;

/// Most findings that are kept for one object.
const KEPT: usize = 100;

/// Most bytes of a finding: it may show a value that is as large as an object.
const LONGEST: usize = 4 << 10;

/// What a check found, and how many rules were looked at: among alternatives that all fail, the one
/// with most rules behind it is reported.
#[derive(Debug, Default)]
pub(super) struct Findings {
    findings: Vec<String>,
    pub(super) looked_at: usize,
}

impl Findings {
    /// Whether nothing is wrong.
    pub(super) fn is_valid(&self) -> bool {
        self.findings.is_empty()
    }

    /// The findings, each once; the first hundred of them.
    pub(super) fn into_findings(self) -> Vec<String> {
        self.findings
    }

    /// Takes over what another check found.
    pub(super) fn merge(&mut self, other: Self) {
        self.looked_at += other.looked_at;
        other.findings.into_iter().for_each(|finding| self.keep(finding));
    }

    /// A field is missing.
    pub(super) fn required(&mut self, path: &Path<'_>) {
        self.add(path, format!("{}: Required value", path.in_errors()));
    }

    /// A value is wrong; `detail` says how.
    pub(super) fn invalid(&mut self, path: &Path<'_>, value: &Value, detail: &str) {
        let shown = shown(value);
        self.add(path, format!("{}: Invalid value: {shown}: {detail}", path.in_errors()));
    }

    /// The same for a value that is only a word about what was found.
    pub(super) fn invalid_word(&mut self, path: &Path<'_>, word: &str, detail: &str) {
        self.add(path, format!("{}: Invalid value: {word:?}: {detail}", path.in_errors()));
    }

    /// The object is wrong as a whole, as is found at this place.
    pub(super) fn whole(&mut self, path: &Path<'_>, detail: &str) {
        self.add(path, format!("[]: Invalid value: \"\": {detail}"));
    }

    /// A value is none of those that are allowed. The API server prints objects without their
    /// fields.
    pub(super) fn unsupported(&mut self, path: &Path<'_>, value: &Value, allowed: &[Value]) {
        let spelled: Vec<_> = allowed.iter().map(|value| format!("{:?}", word(value))).collect();
        let (field, list) = (path.in_errors(), spelled.join(", "));
        let found = if value.is_object() { "{}".to_owned() } else { shown(value) };
        self.add(path, format!("{field}: Unsupported value: {found}: supported values: {list}"));
    }

    /// A string is too long.
    pub(super) fn too_long(&mut self, path: &Path<'_>, max: i64) {
        let unit = if max == 1 { "byte" } else { "bytes" };
        let field = path.in_errors();
        self.add(path, format!("{field}: Too long: may not be more than {max} {unit}"));
    }

    /// A list or an object has too many parts.
    pub(super) fn too_many(&mut self, path: &Path<'_>, actual: i64, max: i64) {
        let unit = if max == 1 { "item" } else { "items" };
        let field = path.in_errors();
        self.add(path, format!("{field}: Too many: {actual}: must have at most {max} {unit}"));
    }

    fn add(&mut self, path: &Path<'_>, finding: String) {
        path.budget().spend(finding.len());
        self.keep(shortened(finding));
    }

    fn keep(&mut self, finding: String) {
        if self.findings.len() < KEPT && !self.findings.contains(&finding) {
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
            match many.len().saturating_sub(SPELLED_OUT) {
                0 => {}
                _ if many.len() == KEPT => words.push_str(", and many more"),
                rest => words.push_str(&format!(", and {rest} more")),
            }
            Some(format!("[{words}]"))
        }
    }
}

/// The beginning of a finding that is too long.
fn shortened(mut finding: String) -> String {
    if let Some((end, _)) = finding.char_indices().find(|(at, _)| *at >= LONGEST) {
        finding.truncate(end);
        finding.push('…');
        finding.shrink_to_fit();
    }
    finding
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
