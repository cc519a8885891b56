//! On whose behalf the rights of a CSV's ServiceAccounts are looked at (spec olm-operator 2.6).

use kube_core::{Resource, ResourceExt};
use olm_rbac::{Claimant, Replaced};
use olm_types::api::ClusterServiceVersion;

use super::chain::Chain;

/// The CSV, and those of its namespace (`siblings`) that it replaces: their Roles and bindings are
/// deleted with them, and are no rights of the new version.
pub fn claimant<'a>(
    csv: &ClusterServiceVersion,
    siblings: impl IntoIterator<Item = &'a ClusterServiceVersion>,
) -> Claimant {
    let chain = Chain::new(siblings);
    Claimant {
        version: ClusterServiceVersion::version(&()).into_owned(),
        kind: ClusterServiceVersion::KIND.to_owned(),
        name: csv.name_any(),
        uid: csv.uid().unwrap_or_default(),
        replaced: chain.ancestors(csv).into_iter().map(replaced).collect(),
    }
}

fn replaced(csv: &ClusterServiceVersion) -> Replaced {
    Replaced {
        namespace: csv.namespace().unwrap_or_default(),
        name: csv.name_any(),
        uid: csv.uid().unwrap_or_default(),
    }
}
