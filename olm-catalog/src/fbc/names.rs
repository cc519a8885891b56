//! Rules for names in a catalog.

/// Longest DNS label, in bytes.
const LABEL_BYTES: usize = 63;

/// Why a text is no DNS-1123 label, in the words of Kubernetes; empty when it is one.
pub(super) fn label_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if text.len() > LABEL_BYTES {
        problems.push(format!("must be no more than {LABEL_BYTES} characters"));
    }
    if !is_label(text) {
        problems.push(if text.split('.').all(is_label) {
            "must not contain dots".to_owned()
        } else {
            "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or \
             '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or \
             '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
                .to_owned()
        });
    }
    problems
}

/// Most names that a message lists.
const LISTED: usize = 100;

/// Names in a message, with the number of those that are left out when there are very many.
pub(super) fn listed<T: AsRef<str>>(names: &[T], separator: &str) -> String {
    let shown: Vec<&str> = names.iter().take(LISTED).map(AsRef::as_ref).collect();
    let shown = shown.join(separator);
    match names.len().saturating_sub(LISTED) {
        0 => shown,
        more => format!("{shown}{separator}and {more} more"),
    }
}

/// What [`is_key_component`] accepts, as messages of `opm` say it.
pub(crate) const KEY_COMPONENT: &str = "^[a-zA-Z0-9][a-zA-Z0-9._-]*$";

/// Whether a schema or package of an opaque blob may be part of a path, see [`KEY_COMPONENT`].
pub(crate) fn is_key_component(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

fn is_label(text: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let (Some(first), Some(last)) = (text.as_bytes().first(), text.as_bytes().last()) else {
        return false;
    };
    plain(first) && plain(last) && text.bytes().all(|byte| plain(&byte) || byte == b'-')
}
