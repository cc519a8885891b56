//! Applies a schema to a value.

use serde_json::Value;

use super::Schema;
use super::budget::CheckBudget;
use super::findings::Findings;
use super::number::Number;
use super::path::Path;

const INTEGER: &str = "integer";
const NUMBER: &str = "number";

impl Schema {
    /// What is wrong with the object; nothing when it is valid. It says nothing once the budget is exhausted.
    pub(in crate::crd) fn check(&self, object: &Value, budget: &CheckBudget) -> Vec<String> {
        self.findings(&Path::root(budget), object).into_findings()
    }

    /// What is wrong with a part of an object.
    pub(super) fn findings(&self, path: &Path<'_>, value: &Value) -> Findings {
        let mut findings = Findings::default();
        if !path.budget().spend(self.steps(value)) {
            return findings;
        }
        if value.is_null() {
            self.check_null(&mut findings, path);
            return findings;
        }
        if !self.types.is_empty() || !self.format.is_empty() {
            self.check_type(&mut findings, path, value);
        }
        self.check_alternatives(&mut findings, path, value);
        match value {
            Value::String(text) => {
                self.string.check(&mut findings, path, value, text);
                self.check_format(&mut findings, path, text);
            }
            Value::Number(number) => {
                self.number.check(&mut findings, path, value, Number::of(number));
            }
            Value::Array(items) => self.array.check(&mut findings, path, items),
            Value::Bool(_) | Value::Object(_) | Value::Null => {}
        }
        if !self.allowed.is_empty() && !self.allowed.iter().any(|allowed| equal(allowed, value)) {
            findings.unsupported(path, value, &self.allowed);
        }
        if let Value::Object(fields) = value {
            self.object.check(&mut findings, path, fields);
        }
        findings.looked_at += self.rules_for(value);
        findings
    }

    /// What looking at such a value takes, without what is in it.
    fn steps(&self, value: &Value) -> usize {
        let own = match value {
            Value::String(text) => text.len() / 4,
            Value::Object(fields) => {
                fields.len() + self.object.properties.len() + self.object.required.len()
            }
            Value::Array(_) | Value::Number(_) | Value::Bool(_) | Value::Null => 0,
        };
        own + self.allowed.len() + 1
    }

    /// Null is a value of its own: only type and list of values are looked at. No list of values
    /// allows it.
    fn check_null(&self, findings: &mut Findings, path: &Path<'_>) {
        if !self.types.is_empty() && !self.nullable {
            let types = self.types.join(",");
            let detail = format!("{path} in body must be of type {types}: \"null\"");
            findings.invalid_word(path, "null", &detail);
        } else {
            findings.looked_at += 1;
        }
        if !self.allowed.is_empty() {
            findings.unsupported(path, &Value::Null, &self.allowed);
        }
    }

    fn check_type(&self, findings: &mut Findings, path: &Path<'_>, value: &Value) {
        let found = type_of(value);
        let has = |wanted: &str| self.types.iter().any(|allowed| allowed == wanted);
        let numeric = has(NUMBER) || has(INTEGER);
        let fits = has(found.0)
            || match value {
                Value::Number(number) => match Number::of(number) {
                    whole @ Number::Float(_) => has(INTEGER) && whole.is_whole(),
                    Number::Integer(_) => has(NUMBER),
                },
                _ => false,
            };
        let textual = matches!(value, Value::String(_) | Value::Array(_));
        let formatted = !self.format.is_empty();
        if formatted && !textual && !fits && found.1 != self.format {
            let detail = format!("{path} in body must be of type {}: {:?}", self.format, found.1);
            findings.invalid_word(path, found.1, &detail);
        } else if fits || (formatted && textual && !numeric) {
            findings.looked_at += 1;
        } else {
            let types = self.types.join(",");
            let detail = format!("{path} in body must be of type {types}: {:?}", found.0);
            findings.invalid_word(path, found.0, &detail);
        }
    }

    fn check_format(&self, findings: &mut Findings, path: &Path<'_>, text: &str) {
        if let Some(false) = self.known_format.map(|format| format.matches(text)) {
            let format = &self.format;
            let detail = format!("{path} in body must be of type {format}: {text:?}");
            findings.invalid_word(path, text, &detail);
        }
    }

    fn check_alternatives(&self, findings: &mut Findings, path: &Path<'_>, value: &Value) {
        if !self.any_of.is_empty() {
            let (best, valid) = best_of(&self.any_of, path, value, true);
            if valid == 0 {
                let place = path.to_string();
                let detail = format!("{place:?} must validate at least one schema (anyOf)");
                findings.whole(path, &detail);
            }
            findings.merge(best);
        }
        if !self.one_of.is_empty() {
            let (best, valid) = best_of(&self.one_of, path, value, false);
            if valid != 1 {
                let found = match valid {
                    0 => "Found none valid".to_owned(),
                    several => format!("Found {several} valid alternatives"),
                };
                let place = path.to_string();
                let rule = "must validate one and only one schema (oneOf)";
                findings.whole(path, &format!("{place:?} {rule}. {found}"));
            }
            if valid < 2 {
                findings.merge(best);
            }
        }
        self.check_all_of(findings, path, value);
        if self.not.as_ref().is_some_and(|not| not.findings(path, value).is_valid()) {
            let place = path.to_string();
            findings.whole(path, &format!("{place:?} must not validate the schema (not)"));
        }
        findings.looked_at += 1;
    }

    fn check_all_of(&self, findings: &mut Findings, path: &Path<'_>, value: &Value) {
        let mut valid = 0;
        for schema in &self.all_of {
            let result = schema.findings(path, value);
            valid += usize::from(result.is_valid());
            findings.merge(result);
        }
        if valid != self.all_of.len() {
            let place = path.to_string();
            let none = if valid == 0 { ". None validated" } else { "" };
            let detail = format!("{place:?} must validate all the schemas (allOf){none}");
            findings.whole(path, &detail);
        }
    }

    /// How many groups of rules an API server applies to such a value.
    fn rules_for(&self, value: &Value) -> usize {
        let of_type = usize::from(!self.types.is_empty() || !self.format.is_empty());
        let of_kind = match value {
            Value::String(_) => 1 + usize::from(self.known_format.is_some()),
            Value::Number(_) | Value::Array(_) => 2,
            Value::Object(_) => 1,
            Value::Bool(_) | Value::Null => 0,
        };
        of_type + of_kind + 3
    }
}

/// The alternative to report (the first valid one, or else the one with most rules behind it),
/// and how many are valid. With `any` the first valid one ends the search.
fn best_of(schemas: &[Schema], path: &Path<'_>, value: &Value, any: bool) -> (Findings, usize) {
    let (mut best, mut valid) = (None::<Findings>, 0);
    for schema in schemas {
        let findings = schema.findings(path, value);
        if findings.is_valid() {
            valid += 1;
            if valid == 1 {
                best = Some(findings);
            }
            if any {
                break;
            }
        } else if valid == 0 && best.as_ref().is_none_or(|best| findings.looked_at > best.looked_at)
        {
            best = Some(findings);
        }
    }
    (best.unwrap_or_default(), valid)
}

/// JSON type and format that API servers give a value.
fn type_of(value: &Value) -> (&'static str, &'static str) {
    match value {
        Value::Null => ("null", ""),
        Value::Bool(_) => ("boolean", ""),
        Value::Number(number) => match Number::of(number) {
            Number::Integer(_) => (INTEGER, "int64"),
            Number::Float(_) => (NUMBER, "float64"),
        },
        Value::String(_) => ("string", ""),
        Value::Array(_) => ("array", ""),
        Value::Object(_) => ("object", ""),
    }
}

/// Equal, with numbers by their value.
fn equal(allowed: &Value, value: &Value) -> bool {
    match (allowed, value) {
        (Value::Number(allowed), Value::Number(value)) => {
            allowed == value || allowed.as_f64() == value.as_f64()
        }
        _ => allowed == value,
    }
}
