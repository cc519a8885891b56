//! What a CatalogSource asks for, where the operator serves it.

use olm_catalog::image::ImageReference;
use olm_lifecycle::catalog_source::hosting::{Record, Target, poll_period};
use olm_types::api::CatalogSource;

/// What a replica is to have of a catalog, of which a leader recorded something.
pub(super) fn target(catalog: &CatalogSource, recorded: Option<Record>, leads: bool) -> Target {
    let image = catalog.spec.image.clone().unwrap_or_default();
    let parsed = image.parse::<ImageReference>().ok();
    let pinned = parsed.and_then(|image| image.digest().map(str::to_owned));
    let config = catalog.spec.grpc_pod_config.as_ref();
    let extract = config.and_then(|config| config.extract_content.as_ref());
    let folder = extract.map(|extract| extract.catalog_dir.trim_matches('/').to_owned());
    let folder = folder.filter(|folder| !folder.is_empty());
    Target { image, pinned, folder, recorded, leads, period: poll_period(catalog) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    const DIGEST: &str = "sha256:54d626e08c1c802b305dad30b7e54a82f102390cc92c7d4db112048935236e9c";

    #[rstest]
    #[case::tag(json!({"image": "quay.io/a/b:v1"}), None, None)]
    #[case::digest(json!({"image": format!("quay.io/a/b@{DIGEST}")}), Some(DIGEST), None)]
    #[case::folder(json!({"image": "a", "grpcPodConfig": {"extractContent": {"catalogDir": "/cat/"}}}), None, Some("cat"))]
    #[case::no_image(json!({"image": "A b"}), None, None)]
    fn targets(#[case] spec: Value, #[case] pinned: Option<&str>, #[case] folder: Option<&str>) {
        let catalog = json!({"metadata": {"name": "c"}, "spec": spec});
        let target = target(&serde_json::from_value(catalog).unwrap(), None, true);
        assert_eq!((target.pinned.as_deref(), target.folder.as_deref()), (pinned, folder));
    }
}
