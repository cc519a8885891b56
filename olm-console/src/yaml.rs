//! Objects as YAML: what a page shows to be copied, or to be changed.

use serde_json::Value;

/// Objects as the documents of one text.
pub(crate) fn documents(objects: &[Value]) -> String {
    let texts = objects
        .iter()
        .map(|object| yaml_serde::to_string(object).unwrap_or_else(|_| format!("{object:#}\n")));
    texts.collect::<Vec<_>>().join("---\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_documents() {
        let text = documents(&[json!({"kind": "A"}), json!({"kind": "B"})]);
        assert_eq!(text, "kind: A\n---\nkind: B\n");
        assert_eq!(documents(&[]), "");
    }
}
