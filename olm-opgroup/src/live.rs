//! Which namespaces a group gives its operators.
//!
//! They follow from what the group asks for and from the Namespaces as they are. The status of a
//! group says the same a moment later, and whoever may write OLM's objects may write anything into
//! it: it may be waited for, but nothing is given because it says so (docs/security.md).

use std::collections::BTreeMap;
use std::sync::Arc;

use k8s_openapi::api::core::v1::Namespace;
use olm_types::api::{OperatorGroup, OperatorGroupSpec};

use crate::namespace_set::NamespaceSet;
use crate::selector::matches;
use crate::targets::{TargetError, requires_labels, select_targets};
use crate::tenant_policy::{TargetsNotAllowed, TenantPolicy};

/// Why a group gives nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTargets {
    /// It is being deleted.
    #[error(
        "OperatorGroup {name} is being deleted and gives no namespaces any more; if it stays, remove \
         its metadata.finalizers, then create another one"
    )]
    Going {
        /// Name of the group.
        name: String,
    },
    /// Its selection cannot be computed.
    #[error(transparent)]
    Malformed(#[from] TargetError),
    /// Its namespace may not have these targets.
    #[error(transparent)]
    NotAllowed(#[from] TargetsNotAllowed),
}

/// The Namespaces of the cluster at one moment, and how far those who own them are trusted.
#[derive(Clone, Debug, Default)]
pub struct LiveNamespaces {
    policy: TenantPolicy,
    /// Ordered by name.
    all: Vec<Arc<Namespace>>,
}

impl LiveNamespaces {
    /// These Namespaces, in any order.
    pub fn new(policy: TenantPolicy, mut all: Vec<Arc<Namespace>>) -> Self {
        all.sort_by(|a, b| name(a).cmp(name(b)));
        Self { policy, all }
    }

    /// The namespaces that a group gives its operators.
    ///
    /// # Errors
    /// It gives nothing, for this reason.
    pub fn targets(&self, group: &OperatorGroup) -> Result<NamespaceSet, NoTargets> {
        if group.metadata.deletion_timestamp.is_some() {
            let name = group.metadata.name.clone().unwrap_or_default();
            return Err(NoTargets::Going { name });
        }
        let targets = self.selected(&group.spec)?;
        let home = group.metadata.namespace.as_deref().unwrap_or_default();
        self.policy.check_targets(home, self.annotations(home), &targets)?;
        Ok(targets)
    }

    /// What a group asks for, whether or not it may have it.
    ///
    /// # Errors
    /// The selection is malformed.
    pub fn selected(&self, spec: &OperatorGroupSpec) -> Result<NamespaceSet, TargetError> {
        let namespaces = self.all.iter().map(|namespace| (name(namespace), labels(namespace)));
        select_targets(spec, namespaces)
    }

    /// Whether a group gives a namespace by its name; one that gives all does not.
    pub fn names(&self, group: &OperatorGroup, namespace: &str) -> bool {
        // Most groups ask for something else, and need no look at all namespaces.
        let asked = &group.spec.target_namespaces;
        let asks = match asked.is_empty() {
            false => asked.iter().any(|asked| asked == namespace),
            true => requires_labels(&group.spec) && self.fits(&group.spec, namespace),
        };
        asks && self.gives(group, namespace)
    }

    /// Whether a group gives all namespaces.
    pub fn is_global(&self, group: &OperatorGroup) -> bool {
        let may_be = group.spec.target_namespaces.is_empty() && !requires_labels(&group.spec);
        may_be && self.targets(group).is_ok_and(|targets| targets.is_all())
    }

    /// Whether a group that asks for a namespace gets it.
    fn gives(&self, group: &OperatorGroup, namespace: &str) -> bool {
        let home = group.metadata.namespace.as_deref().unwrap_or_default();
        let listed = &group.spec.target_namespaces;
        if self.policy.trusts(self.annotations(home)) {
            // Whatever else it asks for makes no difference, and there may be many other namespaces.
            let is_going = group.metadata.deletion_timestamp.is_some();
            return !is_going && !listed.iter().any(String::is_empty);
        }
        self.targets(group).is_ok_and(|targets| targets.contains(namespace))
    }

    /// Whether the labels of a namespace fit the selector.
    fn fits(&self, spec: &OperatorGroupSpec, namespace: &str) -> bool {
        let found = self.get(namespace);
        let selector = spec.selector.as_ref();
        let fit = found.zip(selector).map(|(found, selector)| matches(selector, labels(found)));
        fit.and_then(Result::ok).unwrap_or_default()
    }

    fn annotations(&self, namespace: &str) -> &BTreeMap<String, String> {
        let found = self.get(namespace);
        found.and_then(|found| found.metadata.annotations.as_ref()).unwrap_or(&NONE)
    }

    fn get(&self, wanted: &str) -> Option<&Namespace> {
        let place = self.all.binary_search_by(|namespace| name(namespace).cmp(wanted)).ok()?;
        self.all.get(place).map(AsRef::as_ref)
    }
}

static NONE: BTreeMap<String, String> = BTreeMap::new();

fn name(namespace: &Namespace) -> &str {
    namespace.metadata.name.as_deref().unwrap_or_default()
}

fn labels(namespace: &Namespace) -> &BTreeMap<String, String> {
    namespace.metadata.labels.as_ref().unwrap_or(&NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::{Value, json};

    fn group(spec: Value, status: Value, going: bool) -> OperatorGroup {
        let since = going.then_some("2026-01-01T00:00:00Z");
        let metadata = json!({"name": "og", "namespace": "home", "deletionTimestamp": since});
        let group = json!({"metadata": metadata, "spec": spec, "status": {"namespaces": status}});
        serde_json::from_value(group).unwrap()
    }

    fn live(policy: TenantPolicy, allowed: &str) -> LiveNamespaces {
        let key = olm_types::annotations::ALLOWED_TARGETS.name;
        let namespaces = [
            json!({"name": "victim", "labels": {"team": "a"}}),
            json!({"name": "home", "labels": {"team": "a"}, "annotations": {key: allowed}}),
        ];
        let namespaces = namespaces.map(|it| serde_json::from_value(json!({"metadata": it})));
        LiveNamespaces::new(
            policy,
            namespaces.into_iter().map(|it| Arc::new(it.unwrap())).collect(),
        )
    }

    const MALFORMED: &str =
        r#"{"selector": {"matchExpressions": [{"key": "k", "operator": "Like"}]}}"#;
    const TEAM: &str = r#"{"selector": {"matchLabels": {"team": "a"}}}"#;
    const OWN: &str = r#"{"targetNamespaces": ["home"]}"#;

    /// Whatever the status says, `spec` decides.
    #[rstest]
    #[case::own(OWN, "", Some("home"))]
    #[case::own_is_always_allowed(OWN, "other", Some("home"))]
    #[case::foreign(r#"{"targetNamespaces": ["victim"]}"#, "", None)]
    #[case::foreign_allowed(r#"{"targetNamespaces": ["victim"]}"#, "victim", Some("victim"))]
    #[case::all("{}", "", None)]
    #[case::all_allowed("{}", "*", Some(""))]
    #[case::by_label(TEAM, "", None)]
    #[case::by_label_allowed(TEAM, "victim", Some("home,victim"))]
    #[case::malformed(MALFORMED, "*", None)]
    fn the_spec_decides(
        #[case] spec: &str,
        #[case] allowed: &str,
        #[case] expected: Option<&str>,
        #[values(json!([]), json!([""]), json!(["victim"]))] status: Value,
        #[values(true, false)] going: bool,
    ) {
        let group = group(serde_json::from_str(spec).unwrap(), status, going);
        let live = live(TenantPolicy::Strict, allowed);
        let targets = live.targets(&group).ok();
        let joined = targets.map(|set| set.names().collect::<Vec<_>>().join(","));
        let expected = expected.filter(|_| !going);
        assert_eq!(joined.as_deref(), expected);
        assert_eq!(live.is_global(&group), expected == Some(""));
        let named = expected.is_some_and(|names| names.contains("victim"));
        assert_eq!(live.names(&group, "victim"), named);
    }

    #[test]
    fn under_v0_a_group_has_what_it_asks_for() {
        let group = group(json!({"targetNamespaces": ["victim"]}), json!([]), false);
        assert!(live(TenantPolicy::V0, "").names(&group, "victim"));
    }

    #[test]
    fn a_group_that_goes_says_what_helps() {
        let group = group(json!({}), json!([""]), true);
        let error = live(TenantPolicy::V0, "").targets(&group).unwrap_err().to_string();
        assert!(error.starts_with("OperatorGroup og is being deleted"), "{error}");
    }
}
