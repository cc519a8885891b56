//! What to do about a finding, and how commands are written so that a shell runs nothing else.

use olm_types::api::ClusterServiceVersion;
use serde_json::Value;

use super::{Class, View};
use crate::observed::{name, namespace};

/// What to do about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// A line for a shell with `kubectl` and `kubectl olm`.
    Command(String),
    /// What is waited for, and where to look meanwhile.
    Wait(String),
    /// What to ask for.
    AskTheAuthor(String),
}

impl Fix {
    /// What ends the finding.
    #[must_use]
    pub const fn class(&self) -> Class {
        match self {
            Self::Command(_) => Class::Command,
            Self::Wait(_) => Class::Wait,
            Self::AskTheAuthor(_) => Class::AskTheAuthor,
        }
    }

    /// The text that is printed.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Command(text) | Self::Wait(text) | Self::AskTheAuthor(text) => text,
        }
    }
}

/// `kubectl` with these words, in a namespace or, where that is empty, without one.
pub(super) fn kubectl(home: &str, words: &[&str]) -> Fix {
    Fix::Command(line(home, words))
}

/// A new object.
pub(super) fn create(manifest: &Value) -> Fix {
    let manifest = quoted(&manifest.to_string());
    Fix::Command(format!("printf '%s' {manifest} | kubectl create -f -"))
}

/// A merge patch of an object.
pub(super) fn patch(home: &str, resource: &str, name: &str, patch: &Value) -> Fix {
    let text = patch.to_string();
    kubectl(home, &["patch", resource, name, "--type", "merge", "-p", &text])
}

/// The removal of a CSV: with its Subscription, where it has one.
pub(super) fn removal(view: &View<'_>, csv: &ClusterServiceVersion) -> Fix {
    let home = namespace(&csv.metadata);
    match view.subscription_of(csv) {
        Some(one) => olm(home, &["uninstall", name(&one.metadata), "--yes"]),
        None => kubectl(home, &["delete", "clusterserviceversion", name(&csv.metadata)]),
    }
}

/// `kubectl olm` with these words, in a namespace.
pub(super) fn olm(home: &str, words: &[&str]) -> Fix {
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    Fix::Command(format!("kubectl olm -n {} {}", quoted(home), words.join(" ")))
}

/// The same line as [`kubectl`], to be part of a text.
pub(super) fn line(home: &str, words: &[&str]) -> String {
    let place = if home.is_empty() { String::new() } else { format!("-n {} ", quoted(home)) };
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    format!("kubectl {place}{}", words.join(" "))
}

/// A word of a shell's command line. Names of packages and CSVs in specs and messages are free text.
#[must_use]
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/=".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case("kettle-1.0_x", "kettle-1.0_x")]
    #[case("a b", "'a b'")]
    #[case("$(id)'; id", r"'$(id)'\''; id'")]
    #[case("", "''")]
    fn a_fix_runs_nothing_that_a_name_holds(#[case] name: &str, #[case] expected: &str) {
        assert_eq!(quoted(name), expected);
    }

    #[test]
    fn a_patch_is_one_word() {
        let fix = patch("ns", "subscription", "s", &json!({"spec": {"name": "it's"}}));
        let expected =
            r#"kubectl -n ns patch subscription s --type merge -p '{"spec":{"name":"it'\''s"}}'"#;
        assert_eq!(fix, Fix::Command(expected.to_owned()));
    }
}
