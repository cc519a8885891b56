//! The kubeconfig of a test.

use std::io::Write;

use serde_json::{Value, json};
use tempfile::NamedTempFile;

/// A file with one cluster, as its entry in a kubeconfig says, and a user without credentials. It goes with the value.
pub fn kubeconfig(cluster: &Value) -> NamedTempFile {
    let config = json!({"apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": cluster}], "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]});
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(config.to_string().as_bytes()).unwrap();
    file
}
