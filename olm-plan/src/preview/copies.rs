//! Copies of CSVs in the namespaces that their OperatorGroup targets: they are counted, as there may be one in
//! every namespace of the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use olm_types::api::{ClusterServiceVersion, OLMConfig, OperatorGroup};
use olm_types::labels::COPIED_FROM;

use super::PreviewRequest;
use super::change::Action;
use super::operator::targets;
use super::result::Copies;
use super::world::World;
use crate::observed::name;

/// Name of the only OLMConfig that counts.
const CONFIG: &str = "cluster";

/// The copies that come and go.
pub(super) fn between(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    before: &[ClusterServiceVersion],
    after: &[ClusterServiceVersion],
) -> Vec<Copies> {
    let names = |csvs: &[ClusterServiceVersion]| -> BTreeSet<String> {
        csvs.iter().map(|csv| name(&csv.metadata).to_owned()).collect()
    };
    let (old, new) = (names(before), names(after));
    let there = there(asked, world);
    let mut found = Vec::new();
    let places = places(asked, world);
    for csv in new.difference(&old).filter(|_| places > 0) {
        found.push(Copies { action: Action::Create, csv: csv.clone(), namespaces: places });
    }
    for csv in old.difference(&new) {
        if let Some(namespaces) = there.get(csv).copied() {
            found.push(Copies { action: Action::Delete, csv: csv.clone(), namespaces });
        }
    }
    found
}

/// How many copies each CSV of the namespace has.
fn there(asked: &PreviewRequest, world: &World<'_>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for (key, object) in world.objects().filter(|(key, _)| key.kind == ClusterServiceVersion::KIND)
    {
        let labels = object.pointer("/metadata/labels");
        let home = labels.and_then(|labels| labels.get(COPIED_FROM));
        if home.is_some_and(|home| home == asked.namespace.as_str()) {
            *counts.entry(key.name.clone()).or_default() += 1;
        }
    }
    counts
}

/// In how many namespaces the OperatorGroup has copies made.
fn places(asked: &PreviewRequest, world: &mut World<'_>) -> usize {
    let home = asked.namespace.as_str();
    let groups: Vec<Arc<OperatorGroup>> = world.all(Some(home));
    let [group] = groups.as_slice() else { return 0 };
    let Some(given) = targets(asked, world, group) else { return 0 };
    let config = world.all::<OLMConfig>(None).into_iter().find(|one| name(&one.metadata) == CONFIG);
    let is_on = config.is_none_or(|config| config.copied_csvs_enabled());
    let all: Vec<Arc<Namespace>> = world.all(None);
    let names = all.iter().map(|one| name(&one.metadata));
    names
        .filter(|one| *one != home && given.contains(one))
        .filter(|_| is_on || !given.is_all())
        .count()
}
