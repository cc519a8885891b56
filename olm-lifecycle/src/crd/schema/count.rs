//! Rules for arrays and objects.

use serde_json::{Map, Value};

use super::budget::CheckBudget;
use super::findings::Findings;
use super::path::Path;
use super::{Additional, ArrayRules, ObjectRules};

impl ArrayRules {
    /// Checks an array and its items.
    pub(super) fn check(&self, findings: &mut Findings, path: &Path<'_>, items: &[Value]) {
        if let Some(schema) = &self.items {
            for (index, item) in items.iter().enumerate() {
                findings.merge(schema.findings(&path.index(index), item));
            }
        }
        let size = count(items.len());
        if let Some(min) = self.min_items.filter(|min| size < *min) {
            let detail = format!("{path} in body should have at least {min} items");
            findings.invalid(path, &size.into(), &detail);
        }
        if let Some(max) = self.max_items.filter(|max| size > *max) {
            findings.too_many(path, size, max);
        }
        if self.unique && has_duplicates(items, path.budget()) {
            findings.invalid_word(
                path,
                "",
                &format!("{path} in body shouldn't contain duplicates"),
            );
        }
    }
}

impl ObjectRules {
    /// Checks an object and its fields.
    pub(super) fn check(
        &self,
        findings: &mut Findings,
        path: &Path<'_>,
        fields: &Map<String, Value>,
    ) {
        let size = count(fields.len());
        if let Some(min) = self.min_properties.filter(|min| size < *min) {
            let detail = format!("{path} in body should have at least {min} properties");
            findings.invalid(path, &size.into(), &detail);
        }
        if let Some(max) = self.max_properties.filter(|max| size > *max) {
            findings.too_many(path, size, max);
        }
        self.check_others(findings, path, fields);
        for (name, schema) in &self.properties {
            if let Some(value) = fields.get(name) {
                findings.merge(schema.findings(&path.field(name), value));
            }
        }
        let missing = self.required.iter().filter(|name| !fields.contains_key(*name));
        for name in missing.take_while(|_| !path.budget().is_exhausted()) {
            findings.required(&path.other(name));
        }
    }

    /// Fields without a schema of their own.
    fn check_others(&self, findings: &mut Findings, path: &Path<'_>, fields: &Map<String, Value>) {
        let others = fields.iter().filter(|(name, _)| !self.properties.contains_key(*name));
        match &self.additional {
            Additional::Any => {}
            Additional::None => {
                for (name, _) in others.take_while(|_| !path.budget().is_exhausted()) {
                    let detail = format!("{path}.{name} in body is a forbidden property");
                    findings.invalid_word(path, name, &detail);
                }
            }
            Additional::Like(schema) => {
                for (name, value) in others {
                    findings.merge(schema.findings(&path.other(name), value));
                }
            }
        }
    }
}

fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Structural schemas may not ask for this, so that only its bound matters.
fn has_duplicates(items: &[Value], budget: &CheckBudget) -> bool {
    let mut texts: Vec<_> = items.iter().map(Value::to_string).collect();
    let bytes = texts.iter().map(String::len).sum();
    texts.sort_unstable();
    budget.spend(bytes) && texts.windows(2).any(|pair| pair.first() == pair.last())
}
