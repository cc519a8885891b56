//! What removed operators have left.

use super::{Found, View, fix};

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
