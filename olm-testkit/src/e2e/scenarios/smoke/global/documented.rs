//! The CatalogSource that docs/install.md shows.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::deploy;
use crate::operators::OLM_NAMESPACE;

/// What stands before it on the page.
const MARK: &str = "<!-- file: catalog.yaml -->\n```yaml\n";

/// As it stands there, under another name, with an image that exists, which is polled more often.
pub(super) fn catalog(name: &str, image: &str) -> Result<Value> {
    let page = deploy::folder().join("../docs/install.md");
    let page = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()));
    let mut shown = shown(&page?)?;
    let given = [("/metadata/name", name), ("/spec/image", image), (INTERVAL, "5s")];
    for (field, value) in given {
        let place = shown.pointer_mut(field);
        *place.with_context(|| format!("docs/install.md shows no {field}"))? = json!(value);
    }
    let namespace =
        shown["metadata"].as_object_mut().and_then(|metadata| metadata.remove("namespace"));
    ensure!(namespace == Some(json!(OLM_NAMESPACE)), "docs/install.md has it in {namespace:?}");
    Ok(shown)
}

const INTERVAL: &str = "/spec/updateStrategy/registryPoll/interval";

fn shown(page: &str) -> Result<Value> {
    let (_, rest) = page.split_once(MARK).context("docs/install.md shows no catalog.yaml")?;
    let (text, _) = rest.split_once("```").context("catalog.yaml has no end in docs/install.md")?;
    yaml_serde::from_str(text).context("catalog.yaml of docs/install.md is no YAML")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_image_and_interval_differ_from_the_page() {
        let catalog = catalog("shelf", "example.com/shelf:latest").unwrap();
        assert_eq!(catalog["kind"], "CatalogSource");
        assert_eq!(catalog["spec"]["image"], "example.com/shelf:latest");
        assert_eq!(catalog["spec"]["sourceType"], "grpc");
    }
}
