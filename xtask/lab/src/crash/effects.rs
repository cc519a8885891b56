//! What an operator did, from its log.

use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// The part of an operator whose log names every effect.
const INTERPRETER: &str = "olm_kit::interpreter";

/// The filter with which an operator logs its effects.
pub(super) const LOG_FILTER: &str = "info,olm_kit::interpreter=debug";

/// An effect that wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Effect {
    /// Create, replace, patch, delete, …
    pub action: String,
    /// Kind, namespace and name.
    pub object: String,
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.action, self.object)
    }
}

/// The effects that wrote, in their order.
pub(super) fn read(log: &Path) -> Result<Vec<Effect>> {
    let text =
        std::fs::read_to_string(log).with_context(|| format!("cannot read {}", log.display()))?;
    Ok(parse(&text))
}

/// Lines that are no JSON are what a program says before its log begins.
fn parse(text: &str) -> Vec<Effect> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = lines.filter(|line| {
        let target = line.get("target").and_then(Value::as_str).unwrap_or_default();
        target == INTERPRETER && line.get("wrote") == Some(&Value::Bool(true))
    });
    let text = |line: &Value, field: &str| {
        line.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    ours.map(|line| Effect { action: text(&line, "action"), object: text(&line, "object") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn effects_that_wrote_are_read_in_their_order() {
        let text = r#"
            {"target":"olm_kit::interpreter","action":"create","object":"Role n/a","wrote":true}
            {"target":"olm_kit::interpreter","action":"apply","object":"Role n/b","wrote":false}
            {"target":"olm_kit::controller","wrote":true}
            free text
            {"target":"olm_kit::interpreter","action":"event","object":"Role n/a","wrote":true}
        "#;
        let lines: Vec<String> = parse(text).iter().map(ToString::to_string).collect();
        assert_eq!(lines, ["create Role n/a", "event Role n/a"]);
    }
}
