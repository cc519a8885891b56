//! Label and field selectors of a request.

use std::collections::BTreeMap;

use kube::core::{Expression, Selector, SelectorExt};

/// A selector that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectorError {
    /// A requirement on labels is malformed.
    #[error(
        "unable to parse requirement: {0:?} is none of k, !k, k=v, k!=v, k in (v,w), k notin (v,w)"
    )]
    Labels(String),
    /// Objects cannot be selected by that field.
    #[error("field label not supported: {0}")]
    Field(String),
}

/// Which objects a request is about.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    labels: Selector,
    name: Option<String>,
}

impl Selection {
    /// Understands both selectors; an empty text selects everything. Of fields only
    /// `metadata.name` selects, and others beside it are ignored.
    ///
    /// # Errors
    /// A selector is malformed, or about another field.
    pub fn parse(labels: &str, fields: &str) -> Result<Self, SelectorError> {
        let labels = requirements(labels).map(expression).collect::<Result<Selector, _>>()?;
        Ok(Self { labels, name: name(fields)? })
    }

    /// Whether an object is selected.
    pub fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        self.name.as_deref().is_none_or(|wanted| wanted == name) && self.labels.matches(labels)
    }
}

/// Requirements between commas; those in parentheses separate values.
fn requirements(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let parts = text.split(move |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn expression(text: &str) -> Result<Expression, SelectorError> {
    let malformed = || SelectorError::Labels(text.to_owned());
    let key = |key: &str| {
        let key = key.trim();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        (!key.is_empty() && key.chars().all(plain)).then(|| key.to_owned()).ok_or_else(malformed)
    };
    if let Some((name, value)) = text.split_once("!=") {
        return Ok(Expression::NotEqual(key(name)?, value.trim().to_owned()));
    }
    if let Some((name, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Ok(Expression::Equal(key(name)?, value.trim().to_owned()));
    }
    if let Some(name) = text.strip_prefix('!') {
        return Ok(Expression::DoesNotExist(key(name)?));
    }
    let Some((head, values)) = text.split_once('(') else {
        return Ok(Expression::Exists(key(text)?));
    };
    let values = values.strip_suffix(')').ok_or_else(malformed)?;
    let values = values.split(',').map(|value| value.trim().to_owned()).collect();
    match head.trim().rsplit_once(char::is_whitespace) {
        Some((name, "in")) => Ok(Expression::In(key(name)?, values)),
        Some((name, "notin")) => Ok(Expression::NotIn(key(name)?, values)),
        _ => Err(malformed()),
    }
}

fn name(fields: &str) -> Result<Option<String>, SelectorError> {
    let mut first = None;
    for part in fields.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let field = part.split(['=', '!']).next().unwrap_or_default();
        let exact = part.split_once("==").or_else(|| part.split_once('='));
        match exact.filter(|(field, _)| !field.ends_with('!')) {
            Some(("metadata.name", value)) => return Ok(Some(value.to_owned())),
            _ => first = first.or(Some(field)),
        }
    }
    first.map_or(Ok(None), |field| Err(SelectorError::Field(field.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::everything("", "", true)]
    #[case::equal("env=dev", "", true)]
    #[case::equal_twice("env==dev", "", true)]
    #[case::other("env=prod", "", false)]
    #[case::unequal("env!=prod", "", true)]
    #[case::exists("env", "", true)]
    #[case::not_exists("!env", "", false)]
    #[case::one_of("env in (dev, test),tier", "", true)]
    #[case::none_of("env notin (dev,test)", "", false)]
    #[case::both("env=dev,tier=web", "", true)]
    #[case::name("", "metadata.name=etcd", true)]
    #[case::other_name("", "metadata.name==other", false)]
    #[case::name_beside_others("", "metadata.namespace=x,metadata.name=etcd", true)]
    fn selections(#[case] labels: &str, #[case] fields: &str, #[case] expected: bool) {
        let own = [("env", "dev"), ("tier", "web")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        let selection = Selection::parse(labels, fields).unwrap();
        assert_eq!(selection.matches("etcd", &own.into()), expected);
    }

    #[rstest]
    #[case("env in (dev", "")]
    #[case("env within (dev)", "")]
    #[case("a b", "")]
    #[case("=x", "")]
    #[case("", "spec.x=1")]
    #[case("", "metadata.name!=x")]
    fn malformed(#[case] labels: &str, #[case] fields: &str) {
        let error = Selection::parse(labels, fields).unwrap_err().to_string();
        assert!(error.starts_with("unable to parse") || error.starts_with("field label not"));
    }
}
