//! What cargo says it has built.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

/// An executable that is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executable {
    pub(super) target: String,
    pub(super) path: PathBuf,
}

/// The executables named in cargo's messages, one JSON document per line.
pub(super) fn executables(messages: &[u8]) -> Result<Vec<Executable>> {
    let messages = serde_json::Deserializer::from_slice(messages).into_iter::<Value>();
    let mut found = Vec::new();
    for message in messages {
        let message = message.context("cannot read what cargo says")?;
        let (target, path) = (message["target"]["name"].as_str(), message["executable"].as_str());
        if let (Some(target), Some(path)) = (target, path) {
            found.push(Executable { target: target.to_owned(), path: path.into() });
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_and_build_scripts_are_passed_over() {
        let messages = br#"
            {"reason":"compiler-artifact","target":{"name":"tokio"},"executable":null}
            {"reason":"build-script-executed","out_dir":"/x"}
            {"reason":"compiler-artifact","target":{"name":"tool"},"executable":"/t/tool"}
            {"reason":"build-finished","success":true}
        "#;
        let tool = Executable { target: "tool".to_owned(), path: "/t/tool".into() };
        assert_eq!(executables(messages).unwrap(), [tool]);
        assert!(executables(b"{").is_err());
    }
}
