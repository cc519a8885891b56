//! Rules for strings.

use serde_json::Value;

use super::StringRules;
use super::budget::CheckBudget;
use super::findings::Findings;
use super::path::Path;

impl StringRules {
    /// Checks a string; the first rule that it breaks is the only one that is reported.
    pub(super) fn check(
        &self,
        findings: &mut Findings,
        path: &Path<'_>,
        value: &Value,
        text: &str,
    ) {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = self.max_length.filter(|max| length > *max) {
            findings.too_long(path, max);
        } else if let Some(min) = self.min_length.filter(|min| length < *min) {
            let detail = format!("{path} in body should be at least {min} chars long");
            findings.invalid(path, value, &detail);
        } else if let Some(wanted) = self.missed(text, path.budget()) {
            findings.invalid(path, value, &format!("{path} in body should match '{wanted}'"));
        }
    }

    /// What the text should have matched and did not.
    fn missed(&self, text: &str, budget: &CheckBudget) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        match budget.matches(pattern, text) {
            Ok(matches) => (!matches).then(|| pattern.clone()),
            Err(error) => Some(format!("{pattern}, but pattern is invalid: {error}")),
        }
    }
}
