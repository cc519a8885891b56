//! Objects of manifests are created, or tried.

use anyhow::Result;
use olm_client::{Cluster, acts};
use serde_json::Value;

use super::act::writing;
use crate::output::Output;

/// Creates an object that a manifest describes, and says what became of it. One that cannot be tried yet, as its
/// namespace or its kind is still to come, is no error of a dry run.
///
/// # Errors
/// The API server refuses it.
pub async fn create(
    cluster: &Cluster,
    manifest: &Value,
    dry_run: bool,
    output: Output,
) -> Result<()> {
    let created = acts::create(cluster, manifest, writing(dry_run)).await?;
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind").to_lowercase(), text("/metadata/name"));
    output.progress(&format!("{kind}/{name} {}\n", created.words()))
}
