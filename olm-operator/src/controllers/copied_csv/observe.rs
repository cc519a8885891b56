//! Assembles what a look at copies needs. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kube::Resource;
use kube::core::ObjectMeta;
use olm_effect::Effect;
use olm_kit::ObjectKey;
use olm_kit::watch::Store;
use olm_lifecycle::copied_csv::{Copying, TargetRights};
use olm_lifecycle::csv::claimant;
use olm_lifecycle::install::is_ours;
use olm_lifecycle::writes::target_of;
use olm_opgroup::{NamespaceSet, active_targets};
use olm_rbac::{Account, Grants};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::COPIED_FROM;
use olm_types::owner::{OwnerName, is_owned_by_label, is_owned_by_uid};

use super::CopyKey;
use crate::dependents::account_names;
use crate::stored_copy::StoredCopy;
use crate::stores::Stores;

/// An original, what it belongs to, and the namespaces to look at.
pub struct Observed {
    /// The original, if it exists.
    pub origin: Option<Arc<ClusterServiceVersion>>,
    /// What the original's group gives it, if its annotations agree.
    pub given: Option<NamespaceSet>,
    /// What the OLMConfig says.
    pub copying: Copying,
    /// The namespaces to look at, with the copy that is there.
    pub places: Vec<CopyTarget>,
}

/// A namespace in which there may be a copy.
pub struct CopyTarget {
    /// Its name.
    pub namespace: String,
    /// The object under the name of the original, if it is labelled as a copy.
    pub copy: Option<Arc<StoredCopy>>,
    /// Whether nothing can be created here: the namespace goes, or is gone, or a CSV that is no
    /// copy has the name.
    pub is_closed: bool,
    /// Roles and RoleBindings of a copy that is gone; looked for only where one namespace is looked
    /// at.
    pub left_over: Vec<Effect>,
}

/// Name of the only OLMConfig that counts.
pub const CONFIG: &str = "cluster";

/// What the OLMConfig says about copies.
pub fn copying(stores: &Stores, protected: &BTreeSet<String>) -> Copying {
    let config = stores.configs.get(None, CONFIG);
    let enabled = config.is_none_or(|config| config.copied_csvs_enabled());
    Copying { enabled, protected: protected.clone() }
}

/// What the key is about.
pub fn observe(stores: &Stores, protected: &BTreeSet<String>, key: &CopyKey) -> Observed {
    let origin = stores.csvs.get_key(&key.origin);
    let places = match &key.target {
        Some(target) => vec![with_left_over(stores, &key.origin, target)],
        None => all_places(stores, &key.origin),
    };
    Observed {
        given: origin.as_ref().and_then(|origin| given(stores, origin)),
        origin,
        copying: copying(stores, protected),
        places,
    }
}

/// The targets that a CSV's group gives it, if its annotations agree with them.
fn given(stores: &Stores, csv: &ClusterServiceVersion) -> Option<NamespaceSet> {
    let namespace = csv.metadata.namespace.as_deref().unwrap_or_default();
    let groups = stores.groups.list_in(namespace);
    let annotations = csv.metadata.annotations.as_ref()?;
    let groups = groups.iter().map(AsRef::as_ref);
    active_targets(namespace, annotations, groups, &stores.live_namespaces())
}

fn all_places(stores: &Stores, origin: &ObjectKey) -> Vec<CopyTarget> {
    let namespaces = stores.namespaces.list();
    let mut names: BTreeSet<String> =
        namespaces.iter().filter_map(|namespace| namespace.metadata.name.clone()).collect();
    let home = origin.namespace.as_deref().unwrap_or_default();
    names.remove(home);
    names.iter().map(|name| place(stores, &origin.name, name)).collect()
}

fn place(stores: &Stores, csv: &str, namespace: &str) -> CopyTarget {
    let found = stores.namespaces.get(None, namespace);
    let is_going = found.is_none_or(|found| found.metadata.deletion_timestamp.is_some());
    let copy = stores.copies.get(Some(namespace), csv);
    CopyTarget {
        namespace: namespace.to_owned(),
        copy,
        is_closed: is_going || stores.csvs.get(Some(namespace), csv).is_some(),
        left_over: Vec::new(),
    }
}

/// A namespace with what was made there for a copy while that went: two looks at copies run side by
/// side, and the one that gives rights may end after the one that takes the copy away.
fn with_left_over(stores: &Stores, origin: &ObjectKey, namespace: &str) -> CopyTarget {
    let place = place(stores, &origin.name, namespace);
    if place.copy.is_some() {
        return place;
    }
    let owner =
        OwnerName { kind: ClusterServiceVersion::KIND, namespace, name: origin.name.as_str() };
    let home = origin.namespace.as_ref();
    let is_left = |metadata: &ObjectMeta| {
        let labels = metadata.labels.as_ref();
        labels.is_some_and(|labels| {
            labels.get(COPIED_FROM) == home && is_owned_by_label(labels, owner)
        })
    };
    CopyTarget { left_over: deletions_of_rights(stores, namespace, is_left), ..place }
}

/// The deletions of a copy and, first, of the Roles and RoleBindings that it owns; of those alone
/// where the copy is gone. The garbage collector would do that, too, but may take half a minute.
pub fn deletions(stores: &Stores, place: &CopyTarget) -> Vec<Effect> {
    let Some(copy) = &place.copy else { return place.left_over.clone() };
    let is_its = |metadata: &ObjectMeta| is_owned_by_uid(metadata, copy.uid());
    let mut all = deletions_of_rights(stores, &place.namespace, is_its);
    all.push(copy.delete());
    all
}

fn deletions_of_rights(
    stores: &Stores,
    namespace: &str,
    is_its: impl Fn(&ObjectMeta) -> bool,
) -> Vec<Effect> {
    let bindings = stores.role_bindings.list_in(namespace).into_iter();
    let bindings = bindings
        .filter(|binding| is_its(&binding.metadata))
        .map(|binding| Effect::delete(target_of(binding.as_ref())));
    let roles = stores.roles.list_in(namespace).into_iter();
    let roles = roles
        .filter(|role| is_its(&role.metadata))
        .map(|role| Effect::delete(target_of(role.as_ref())));
    bindings.chain(roles).collect()
}

/// The rights of an operator in its own namespace and in a target.
pub fn rights(stores: &Stores, origin: &ClusterServiceVersion, target: &str) -> TargetRights {
    let home = origin.metadata.namespace.as_deref().unwrap_or_default();
    let roles = owned(&stores.roles, origin, home);
    let bindings = owned(&stores.role_bindings, origin, home);
    let siblings = stores.csvs.list_in(home);
    let claimant = claimant(origin, siblings.iter().map(AsRef::as_ref));
    let gather = |name: &str| Grants::gather(stores, &Account::new(home, name), target, &claimant);
    let accounts = account_names(origin).into_iter();
    TargetRights {
        grants: accounts.map(|name| (name.to_owned(), gather(name))).collect(),
        present_roles: namesakes(&stores.roles, &roles, target),
        present_bindings: namesakes(&stores.role_bindings, &bindings, target),
        roles,
        bindings,
    }
}

fn owned<K>(store: &Store<K>, csv: &ClusterServiceVersion, namespace: &str) -> Vec<Arc<K>>
where
    K: Resource<DynamicType = ()>,
{
    let all = store.list_in(namespace).into_iter();
    all.filter(|object| is_ours(csv, object.meta())).collect()
}

fn namesakes<K>(store: &Store<K>, of: &[Arc<K>], namespace: &str) -> BTreeMap<String, Arc<K>>
where
    K: Resource<DynamicType = ()>,
{
    let names = of.iter().filter_map(|object| object.meta().name.clone());
    names.filter_map(|name| Some((name.clone(), store.get(Some(namespace), &name)?))).collect()
}
