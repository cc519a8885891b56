//! The overlay that docs/console.md shows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::deploy;
use crate::e2e::TestContext;

/// The name under which the page has browsers reach the console.
pub(super) const HOST: &str = "olm.example.com";

/// What stands before the overlay on the page, and after it.
const BEGIN: &str = "$ cat kustomization.yaml\n";
const END: &str = "$ kubectl apply -k .\n";

/// Writes the overlay beside a copy of what it is made of, as kustomize takes relative paths only. Gives its folder.
pub(super) fn write(root: &Path, ctx: &TestContext) -> Result<PathBuf> {
    copy(&deploy::folder().join("console"), &root.join("deploy/console"))?;
    let page = deploy::folder().join("../docs/console.md");
    let page = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()));
    let image = ctx.facts().olm_image.as_deref().context("no image of OLM is known")?;
    let overlay = overlay(&page?, ctx.olm_namespace()?, image, ctx.made_for())?;
    let folder = root.join("overlay");
    fs::create_dir(&folder).context("cannot create the overlay")?;
    let text = yaml_serde::to_string(&overlay).context("cannot render the overlay")?;
    fs::write(folder.join("kustomization.yaml"), text).context("cannot write the overlay")?;
    Ok(folder)
}

/// As it stands on the page, with an image that exists, in OLM's namespace and with a label.
fn overlay(page: &str, namespace: &str, image: &str, label: (&str, &str)) -> Result<Value> {
    let (_, rest) = page.split_once(BEGIN).context("docs/console.md shows no overlay")?;
    let (text, _) = rest.split_once(END).context("docs/console.md does not apply its overlay")?;
    ensure!(text.contains(&format!("--host={HOST}\n")), "docs/console.md has another --host");
    let overlay = yaml_serde::from_str(text);
    let mut overlay: Value = overlay.context("the overlay of docs/console.md is no YAML")?;
    let shown = overlay.pointer_mut("/images/0").and_then(Value::as_object_mut);
    let shown = shown.context("the overlay of docs/console.md sets no image")?;
    shown.remove("newTag").context("the overlay of docs/console.md sets no tag")?;
    let (name, version, part) = parts(image)?;
    shown.insert("newName".to_owned(), json!(name));
    shown.insert(part.to_owned(), json!(version));
    overlay["namespace"] = json!(namespace);
    overlay["labels"] = json!([{"pairs": {label.0: label.1}}]);
    Ok(overlay)
}

/// The name of an image, its tag or digest, and how kustomize calls that.
fn parts(image: &str) -> Result<(&str, &str, &'static str)> {
    if let Some((name, digest)) = image.split_once('@') {
        return Ok((name, digest, "digest"));
    }
    let (name, tag) = image.rsplit_once(':').context("the image of OLM has no tag")?;
    Ok((name, tag, "newTag"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).context("cannot create the copy")?;
    for entry in fs::read_dir(from).context("cannot read deploy/console")? {
        let entry = entry.context("cannot read deploy/console")?;
        fs::copy(entry.path(), to.join(entry.file_name())).context("cannot copy deploy/console")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1:5000/olm-rs:0.1.0", "127.0.0.1:5000/olm-rs", "newTag", "0.1.0")]
    #[case("example.com/olm-rs@sha256:ab", "example.com/olm-rs", "digest", "sha256:ab")]
    fn only_image_namespace_and_label_differ_from_the_page(
        #[case] image: &str,
        #[case] name: &str,
        #[case] part: &str,
        #[case] version: &str,
    ) {
        let page = fs::read_to_string(deploy::folder().join("../docs/console.md")).unwrap();
        let overlay = overlay(&page, "olm", image, ("made-for", "e2e")).unwrap();
        assert_eq!(overlay["resources"], json!(["../deploy/console"]));
        let images = json!([{"name": "olm-rs.dev/olm-rs", "newName": name, part: version}]);
        assert_eq!(overlay["images"], images);
        assert_eq!(overlay["patches"][0]["target"]["name"], "olm-console");
        assert_eq!(overlay["namespace"], "olm");
        assert_eq!(overlay["labels"], json!([{"pairs": {"made-for": "e2e"}}]));
    }
}
