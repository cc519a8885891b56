//! Objects of any kind: those that do not go, and those that soon cannot be written any more.

use super::{Fix, Found, View, fix};
use crate::observed::Size;

/// Bytes of an object from which it is reported; etcd takes 1.5 MiB.
const LARGE: usize = 1 << 20;

/// Custom resources that are being deleted, of CRDs that no CSV owns: finalizers hold them.
pub(super) fn held(view: &View<'_>) -> Vec<Found> {
    let found = view.observed.held.iter().map(|held| {
        let evidence = format!(
            "it is being deleted, {} hold it, and no CSV owns {}",
            held.finalizers.join(", "),
            held.crd
        );
        let patch = serde_json::json!({"metadata": {"finalizers": null}});
        Found {
            kind: held.kind.clone(),
            namespace: held.namespace.clone(),
            name: held.name.clone(),
            evidence,
            fix: fix::patch(&held.namespace, &held.crd, &held.name, &patch),
        }
    });
    found.collect()
}

/// InstallPlans and CSVs near the limit. Copies of a CSV are as large as it is.
pub(super) fn large(view: &View<'_>) -> Vec<Found> {
    let large = view.observed.sizes.iter().filter(|size| size.bytes > LARGE);
    let found = large.map(|Size { kind, namespace, name, bytes }| Found {
        kind: (*kind).to_owned(),
        namespace: namespace.clone(),
        name: name.clone(),
        evidence: format!("it takes {bytes} bytes, and etcd takes no more than 1572864"),
        fix: Fix::AskTheAuthor(
            "ask the author for a smaller CSV, or for bundles in images, whose manifests are not part of \
             InstallPlans"
                .to_owned(),
        ),
    });
    found.collect()
}
