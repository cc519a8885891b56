//! The schemas of v0's CRDs, which the tests of olm-types compare with ours node by node.
//!
//! They are taken from `crds/*.yaml` of the Go module `github.com/operator-framework/api`, in the version
//! that `xtask/goshapes` requires. Descriptions are left out, one line holds one version of a kind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use olm_testkit::cluster::tools;
use olm_testkit::progress::Progress;
use serde_json::{Map, Value, json};
use xtask::workspace;

/// Where the schemas live, below the root of the workspace.
const SCHEMAS: &str = "olm-types/tests/data/schemas.jsonl";

/// The Go module that has v0's CRDs.
const MODULE: &str = "github.com/operator-framework/api";

/// Writes the schemas, or with `check` fails when the committed ones differ from what would be written.
///
/// # Errors
/// When Go or the module is missing, a CRD of it cannot be read, the file cannot be written, or `check`
/// finds a difference.
pub fn run(check: bool) -> Result<()> {
    let root = workspace::root();
    let text = lines(&module(&root.join("xtask/goshapes"))?.join("crds"))?;
    let path = root.join(SCHEMAS);
    if check {
        let committed = fs::read_to_string(&path).unwrap_or_default();
        ensure!(
            committed == text,
            "{SCHEMAS} is stale: run `cargo xtask codegen` and commit the result"
        );
        return Ok(());
    }
    fs::write(&path, text).with_context(|| format!("cannot write {SCHEMAS}"))
}

/// The folder of the Go module's sources; Go fetches them when they are not there yet.
fn module(requiring: &Path) -> Result<PathBuf> {
    let go = tools::go(&Progress::to_stderr())?;
    let output = Command::new(go)
        .args(["mod", "download", "-json", MODULE])
        .current_dir(requiring)
        .output()
        .with_context(|| format!("cannot run `go mod download {MODULE}`"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`go mod download {MODULE}` failed: {}", errors.trim());
    let reported: Value =
        serde_json::from_slice(&output.stdout).context("what Go said is no JSON")?;
    let folder = reported["Dir"].as_str().with_context(|| format!("{MODULE} has no folder"))?;
    Ok(PathBuf::from(folder))
}

/// One line for each version of each definition in a folder, in the order of their names.
fn lines(folder: &Path) -> Result<String> {
    let listed = fs::read_dir(folder).with_context(|| format!("no {}", folder.display()))?;
    let mut found = Vec::new();
    for entry in listed {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            found.extend(versions(&path)?);
        }
    }
    found.sort();
    ensure!(!found.is_empty(), "there is no definition in {}", folder.display());
    Ok(found.join("\n") + "\n")
}

fn versions(path: &Path) -> Result<Vec<String>> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let crd: Value =
        yaml_serde::from_str(&text).with_context(|| format!("cannot read {}", path.display()))?;
    let versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let line = |version: &Value| {
        json!({
            "kind": crd["spec"]["names"]["kind"],
            "version": version["name"],
            "schema": without_descriptions(&version["schema"]["openAPIV3Schema"]),
        })
        .to_string()
    };
    Ok(versions.map(line).collect())
}

/// A schema and all below it without descriptions. A field may be named `description`, too.
fn without_descriptions(schema: &Value) -> Value {
    let Some(keywords) = schema.as_object() else { return schema.clone() };
    let kept = keywords.iter().filter(|(key, _)| *key != "description");
    let rewritten = kept.map(|(key, value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(fields)) => fields
                .iter()
                .map(|(name, field)| (name.clone(), without_descriptions(field)))
                .collect::<Map<_, _>>()
                .into(),
            ("items" | "additionalProperties", nested) => without_descriptions(nested),
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    rewritten.collect::<Map<_, _>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_may_be_named_description() {
        let field = json!({"type": "string", "description": "Prose."});
        let schema = json!({
            "description": "Prose.",
            "properties": {"description": field},
            "additionalProperties": field,
        });
        let bare = json!({"type": "string"});
        let expected = json!({"properties": {"description": bare}, "additionalProperties": bare});
        assert_eq!(without_descriptions(&schema), expected);
    }
}
