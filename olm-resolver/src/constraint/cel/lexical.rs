//! Bounds a rule by its text, before anything recursive reads it.
//!
//! Chains such as `1+1+...` and `a[0][0]...` become trees as deep as they are long, which no limit
//! of the parser covers.

use super::CelError;

/// Most tokens outside of strings that may nest or chain. Real rules have about ten.
const MOST: usize = 1_000;

/// An upper bound of the depth of the rule's tree, or an error if it is too deep.
pub(super) fn depth(rule: &str) -> Result<usize, CelError> {
    let depth = count(rule);
    if depth > MOST {
        let reason = format!("it has {depth} operators and brackets, more than {MOST}");
        let rule: String = rule.chars().take(200).collect();
        return Err(CelError::TooExpensive { rule, reason });
    }
    Ok(depth)
}

fn count(rule: &str) -> usize {
    let mut quote = None;
    let mut escaped = false;
    let mut count = 0;
    for byte in rule.bytes() {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), close) if open == close => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, byte) if b"+-*/%.[({?!&|<>=,".contains(&byte) => count += 1,
            (None, _) => {}
        }
    }
    count
}
