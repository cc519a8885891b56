//! Rules for strings.

use serde_json::Value;

use super::StringRules;
use super::effort::Effort;
use super::path::Path;
use super::verdict::Verdict;

impl StringRules {
    /// Checks a string; the first rule that it breaks is the only one that is reported.
    pub(super) fn check(&self, verdict: &mut Verdict, path: &Path<'_>, value: &Value, text: &str) {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = self.max_length.filter(|max| length > *max) {
            verdict.too_long(path, max);
        } else if let Some(min) = self.min_length.filter(|min| length < *min) {
            let detail = format!("{path} in body should be at least {min} chars long");
            verdict.invalid(path, value, &detail);
        } else if let Some(wanted) = self.missed(text, path.effort()) {
            verdict.invalid(path, value, &format!("{path} in body should match '{wanted}'"));
        }
    }

    /// What the text should have matched and did not.
    fn missed(&self, text: &str, effort: &Effort) -> Option<String> {
        let pattern = self.pattern.as_ref()?;
        match effort.matches(pattern, text) {
            Ok(matches) => (!matches).then(|| pattern.clone()),
            Err(error) => Some(format!("{pattern}, but pattern is invalid: {error}")),
        }
    }
}
