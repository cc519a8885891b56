//! Rules for strings.

use regex::Regex;
use serde_json::Value;

use super::path::Path;
use super::verdict::Verdict;
use super::{Pattern, StringRules};

impl StringRules {
    /// Checks a string; the first rule that it breaks is the only one that is reported.
    pub(super) fn check(&self, verdict: &mut Verdict, path: &Path<'_>, value: &Value, text: &str) {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        if let Some(max) = self.max_length.filter(|max| length > *max) {
            verdict.too_long(path, max);
        } else if let Some(min) = self.min_length.filter(|min| length < *min) {
            let detail = format!("{path} in body should be at least {min} chars long");
            verdict.invalid(path, value, &detail);
        } else if let Some(wanted) = self.pattern.as_ref().and_then(|pattern| pattern.missed(text))
        {
            verdict.invalid(path, value, &format!("{path} in body should match '{wanted}'"));
        }
    }
}

impl Pattern {
    /// Compiles a pattern.
    pub(super) fn new(text: &str) -> Self {
        let compiled = Regex::new(text).map_err(|error| error.to_string());
        Self { text: text.to_owned(), compiled }
    }

    /// What the text should have matched and did not.
    fn missed(&self, text: &str) -> Option<String> {
        match &self.compiled {
            Ok(pattern) => (!pattern.is_match(text)).then(|| self.text.clone()),
            Err(error) => Some(format!("{}, but pattern is invalid: {error}", self.text)),
        }
    }
}
