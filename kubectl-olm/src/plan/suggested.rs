//! The preview of an installation, in the namespace that the operator suggests where none is named.

use std::collections::BTreeMap;

use anyhow::Result;
use olm_client::Cluster;
use olm_client::plan::offline;
use olm_client::reading::Reading;
use olm_plan::preview::{Bundle, Known, Preview, PreviewRequest};
use olm_plan::suggested::{PlacementRequest, place, suggestion};
use olm_types::api::{ClusterServiceVersion, PackageManifest};

use super::in_cluster;
use crate::output::Output;

/// Where objects are read.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// In a cluster.
    Cluster(&'a Cluster),
    /// In files, once.
    Files(&'a Known),
}

/// A namespace, and whether a flag names it.
#[derive(Clone, Copy, Debug)]
pub struct TargetNamespace<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it is that of `-n`.
    pub is_named: bool,
}

/// What an installation would do, where it goes. Where that is, and why, is said
/// beside the result.
///
/// # Errors
/// There is nothing to preview, or time runs out.
pub async fn installation(
    origin: Origin<'_>,
    home: TargetNamespace<'_>,
    asked: impl Fn(&str) -> PreviewRequest,
    reading: &Reading,
) -> Result<Preview> {
    let first = asked(home.name);
    let found = preview(origin, &first, reading).await?;
    let Some(bundle) = own_bundle(&found) else { return Ok(found) };
    let Some(annotations) = annotations(origin, &found, bundle).await else {
        if !home.is_named {
            let csv = &bundle.csv;
            Output::complain(&format!("unknown: which namespace {csv} suggests, it was not read"));
        }
        return Ok(found);
    };
    let suggestion = suggestion(&annotations);
    let question = PlacementRequest {
        home: home.name,
        is_named: home.is_named,
        catalog: &bundle.catalog,
        global: &first.settings.global_namespace,
    };
    let place = place(question, suggestion.as_ref());
    if suggestion.is_some() || !home.is_named {
        Output::complain(&format!("namespace {}: {}", place.namespace, place.why));
    }
    if place.namespace == home.name {
        return Ok(found);
    }
    preview(origin, &asked(&place.namespace), reading).await
}

/// What would happen.
///
/// # Errors
/// There is nothing to preview, or time runs out.
pub async fn preview(
    origin: Origin<'_>,
    asked: &PreviewRequest,
    reading: &Reading,
) -> Result<Preview> {
    match origin {
        Origin::Cluster(cluster) => in_cluster(cluster, asked, reading).await,
        Origin::Files(state) => offline(asked, state, reading, &Output::notices()).await,
    }
}

/// The newest bundle of the package that the plan installs.
fn own_bundle(preview: &Preview) -> Option<&Bundle> {
    let bundles = preview.hops.iter().rev().flat_map(|hop| &hop.bundles);
    bundles.into_iter().find(|bundle| bundle.package == preview.package)
}

/// The annotations of a bundle's CSV, as it would be written, or as the packages API presents it.
async fn annotations(
    origin: Origin<'_>,
    preview: &Preview,
    bundle: &Bundle,
) -> Option<BTreeMap<String, String>> {
    match (written(preview, &bundle.csv), origin) {
        (Some(found), _) => Some(found),
        (None, Origin::Cluster(cluster)) => presented(cluster, &preview.namespace, bundle).await,
        (None, Origin::Files(_)) => None,
    }
}

/// None where the manifests of the bundle were not read: then another CSV stands in for its own.
fn written(preview: &Preview, csv: &str) -> Option<BTreeMap<String, String>> {
    if preview.unknown.iter().any(|unknown| unknown.contains(csv)) {
        return None;
    }
    let is_it = |kind: &str, name: &str| kind == ClusterServiceVersion::KIND && name == csv;
    let mut all = preview.written.iter();
    let after = all.find(|one| is_it(&one.key.kind, &one.key.name))?.after.as_ref()?;
    match after.pointer("/metadata/annotations") {
        Some(found) => serde_json::from_value(found.clone()).ok(),
        None => Some(BTreeMap::new()),
    }
}

async fn presented(
    cluster: &Cluster,
    home: &str,
    bundle: &Bundle,
) -> Option<BTreeMap<String, String>> {
    let packages = cluster.api::<PackageManifest>(Some(home));
    let status = cluster.answer(packages.get_opt(&bundle.package)).await.ok()??.status?;
    let catalog = format!("{}/{}", status.catalog_source_namespace, status.catalog_source);
    let mut channels = status.channels.into_iter().filter(|_| catalog == bundle.catalog);
    channels.find(|one| one.current_csv == bundle.csv)?.current_csv_desc.map(|csv| csv.annotations)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use jiff::Timestamp;
    use olm_client::reading::Sources;
    use olm_plan::preview::{Hop, Install, Key, Operation, Written};
    use olm_plan::settings::Settings;
    use olm_plan::suggested::{NAMESPACE, TEMPLATE};
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn bundle(package: &str, csv: &str) -> Bundle {
        Bundle {
            csv: csv.to_owned(),
            package: package.to_owned(),
            version: None,
            channel: "stable".to_owned(),
            catalog: "olm/c".to_owned(),
            replaces: None,
            because: Vec::new(),
            is_dependency: false,
            deprecated: Vec::new(),
        }
    }

    fn csv(name: &str, after: Value) -> Written {
        let [group, kind, namespace] =
            ["operators.coreos.com", ClusterServiceVersion::KIND, "ns"].map(str::to_owned);
        let key = Key { group, kind, namespace, name: name.to_owned() };
        Written { key, before: None, after: Some(after) }
    }

    #[test]
    fn the_newest_csv_of_the_package_is_looked_at() {
        let hop = |bundles: Vec<Bundle>| {
            let (steps, manifests) = (Vec::new(), Vec::new());
            Hop { approval: "Automatic", is_approved: false, bundles, steps, manifests }
        };
        let suggests = json!({"metadata": {"annotations": {"a": "b"}}});
        let preview = Preview {
            package: "a".to_owned(),
            hops: vec![
                hop(vec![bundle("a", "a.v1"), bundle("b", "b.v1")]),
                hop(vec![bundle("a", "a.v2")]),
            ],
            written: vec![csv("b.v1", json!({})), csv("a.v2", suggests)],
            ..Preview::default()
        };
        assert_eq!(own_bundle(&preview).map(|one| one.csv.as_str()), Some("a.v2"));
        let found = written(&preview, "a.v2").unwrap();
        assert_eq!(found.get("a").map(String::as_str), Some("b"));
        assert_eq!(written(&preview, "b.v1"), Some(BTreeMap::new()));
        assert_eq!(written(&preview, "a.v1"), None);
        let unknown = vec!["bundle image i (a.v2): nothing is pulled".to_owned()];
        assert_eq!(written(&Preview { unknown, ..preview }, "a.v2"), None);
    }

    /// A catalog with one bundle in an image, and a folder with its manifests.
    fn write(folder: &Path, annotations: &Value) -> Reading {
        let manifest = json!({"apiVersion": "operators.coreos.com/v1alpha1",
            "kind": ClusterServiceVersion::KIND,
            "metadata": {"name": "tea.v1.0.0", "annotations": annotations},
            "spec": {"displayName": "Tea", "version": "1.0.0",
                "installModes": [{"type": "AllNamespaces", "supported": true}],
                "install": {"strategy": "deployment", "spec": {"deployments": []}}}});
        let documents = [
            json!({"schema": "olm.package", "name": "tea", "defaultChannel": "stable"}),
            json!({"schema": "olm.channel", "name": "stable", "package": "tea",
                "entries": [{"name": "tea.v1.0.0"}]}),
            json!({"schema": "olm.bundle", "name": "tea.v1.0.0", "package": "tea", "image": "tea:1",
                "properties": [{"type": "olm.package",
                    "value": {"packageName": "tea", "version": "1.0.0"}}]}),
        ];
        let metadata = json!({"annotations": {
            "operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
            "operators.operatorframework.io.bundle.manifests.v1": "manifests/",
            "operators.operatorframework.io.bundle.metadata.v1": "metadata/",
            "operators.operatorframework.io.bundle.package.v1": "tea",
            "operators.operatorframework.io.bundle.channels.v1": "stable"}});
        let files = [
            ("catalog/catalog.json", documents.map(|one| one.to_string()).join("\n")),
            ("bundle/manifests/csv.json", manifest.to_string()),
            ("bundle/metadata/annotations.yaml", metadata.to_string()),
        ];
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let catalog = vec![format!("olm/kitchen={}", folder.join("catalog").display())];
        let sources = Sources { offline: true, catalog, ..Sources::default() };
        Reading { sources, bundles: Some(folder.join("bundle")), ..Reading::default() }
    }

    /// What an installation of the package without a cluster comes to.
    fn of_tea(reading: &Reading, is_named: bool) -> Preview {
        let asked = |namespace: &str| PreviewRequest {
            namespace: namespace.to_owned(),
            settings: Settings::default(),
            now: Timestamp::UNIX_EPOCH,
            wanted: Operation::Install(Install { package: "tea".to_owned(), ..Install::default() }),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let home = TargetNamespace { name: "home", is_named };
        let state = Known { is_everything: true, ..Known::default() };
        runtime.block_on(installation(Origin::Files(&state), home, asked, reading)).unwrap()
    }

    #[rstest]
    #[case::suggested(json!({NAMESPACE: "tea-system"}), false, "tea-system")]
    #[case::template(json!({TEMPLATE: r#"{"metadata": {"name": "tea-house"}}"#}), false, "tea-house")]
    #[case::flag(json!({NAMESPACE: "tea-system"}), true, "home")]
    #[case::nothing(json!({}), false, "home")]
    fn an_installation_goes_where_the_csv_suggests(
        #[case] annotations: Value,
        #[case] is_named: bool,
        #[case] expected: &str,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let reading = write(folder.path(), &annotations);
        let found = of_tea(&reading, is_named);
        assert_eq!(found.unknown, Vec::<String>::new());
        let subscription = found.manifests.iter().find(|one| one["kind"] == "Subscription");
        assert_eq!(subscription.unwrap()["metadata"]["namespace"], expected);
        assert_eq!(found.namespace, expected);
    }

    #[rstest]
    #[case::no_folder(None, "--bundles FOLDER reads bundles from a folder")]
    #[case::another_folder(Some("catalog"), "has no bundle of that name either")]
    fn what_is_in_an_image_says_what_would_help(
        #[case] bundles: Option<&str>,
        #[case] expected: &str,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let bundles = bundles.map(|name| folder.path().join(name));
        let reading = Reading { bundles, ..write(folder.path(), &json!({})) };
        let found = of_tea(&reading, true);
        let start = "bundle image tea:1 (tea.v1.0.0): --offline pulls nothing; ";
        let is_it = |text: &&String| text.starts_with(start) && text.ends_with(expected);
        assert_eq!(found.unknown.iter().filter(is_it).count(), 1, "{:?}", found.unknown);
    }
}
