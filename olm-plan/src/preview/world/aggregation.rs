//! ClusterRoles that the controller manager fills: one with an aggregation rule holds what the roles hold that the
//! rule selects.
//!
//! OLM writes such a role as its bundle has it, mostly without rules, and takes away for a moment what it held. A role
//! that changes only because others do counts for rights; it is no change that an operator makes.

use std::collections::BTreeMap;

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use kube_core::Resource as _;
use olm_opgroup::matches;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::World;
use crate::preview::known::Key;

/// More roles than are filled from each other in a row.
const MOST_IN_A_ROW: usize = 10;

/// The labels of a role.
type Labels = BTreeMap<String, String>;

/// A ClusterRole as it is now.
struct Role<'a> {
    key: &'a Key,
    labels: Labels,
    /// Of its aggregation rule; none when it has its own rules.
    selectors: Vec<LabelSelector>,
    object: &'a Value,
}

impl World<'_> {
    /// Fills the roles that what was written concerns.
    pub fn aggregate(&mut self) {
        for _ in 0..MOST_IN_A_ROW {
            let filled = self.filled_roles();
            if filled.is_empty() {
                return;
            }
            for (key, object) in filled {
                self.follow(key, object);
            }
        }
    }

    /// Writes what follows from other writes.
    fn follow(&mut self, key: Key, object: Value) {
        let follows = self.following.contains(&key) || !self.written.contains_key(&key);
        self.put(key.clone(), Some(object));
        if follows {
            self.following.insert(key);
        }
    }

    /// The roles that do not hold yet what they would.
    fn filled_roles(&self) -> Vec<(Key, Value)> {
        let written = self.labels_of_written();
        if written.is_empty() {
            return Vec::new();
        }
        let roles = self.cluster_roles();
        let is_concerned = |role: &&Role<'_>| {
            self.written.contains_key(role.key) || written.iter().any(|labels| role.selects(labels))
        };
        let concerned = roles.iter().filter(|role| !role.selectors.is_empty());
        concerned
            .filter(is_concerned)
            .filter_map(|role| Some((role.key.clone(), self.filled(role, &roles)?)))
            .collect()
    }

    /// The labels of each role that was written, before and now.
    fn labels_of_written(&self) -> Vec<Labels> {
        let written = self.written.iter().filter(|(key, _)| is_cluster_role(key));
        let both = written.flat_map(|(key, now)| {
            let before = self.before.get(key).and_then(Option::as_ref);
            before.into_iter().chain(now.as_ref())
        });
        both.map(|object| part(object.pointer("/metadata/labels"))).collect()
    }

    /// All roles by their names, in which order their rules are taken.
    fn cluster_roles(&self) -> Vec<Role<'_>> {
        let all = self.objects().filter(|(key, _)| is_cluster_role(key));
        let mut roles: Vec<Role<'_>> = all.map(|(key, object)| Role::of(key, object)).collect();
        roles.sort_by_key(|role| role.key);
        roles
    }

    /// A role with what it would hold; none when it holds that.
    fn filled(&self, role: &Role<'_>, roles: &[Role<'_>]) -> Option<Value> {
        let before = self.before(role.key).filter(|before| !selectors(before).is_empty());
        let before = before.map(|before| before.get("rules"));
        let would_hold = match self.known.is_complete(role.key) {
            true => role.selected(roles),
            // Where roles cannot be listed, what the selected ones held is known by what it held itself.
            false => rules(before?),
        };
        let mut object = role.object.clone();
        match before.flatten() {
            // As an API server has written it, so that it is no change.
            Some(before) if is_same(&rules(Some(before)), &would_hold) => {
                object["rules"] = before.clone();
            }
            _ if is_same(&rules(role.object.get("rules")), &would_hold) => return None,
            _ => object["rules"] = json!(would_hold),
        }
        (object != *role.object).then_some(object)
    }
}

impl<'a> Role<'a> {
    fn of(key: &'a Key, object: &'a Value) -> Self {
        let labels = part(object.pointer("/metadata/labels"));
        Self { key, labels, selectors: selectors(object), object }
    }

    fn selects(&self, labels: &Labels) -> bool {
        self.selectors.iter().any(|selector| fits(selector, labels))
    }

    /// The rules of the other roles that it selects, each once.
    fn selected(&self, roles: &[Role<'_>]) -> Vec<PolicyRule> {
        let mut found = Vec::new();
        for selector in &self.selectors {
            let others = roles.iter().filter(|other| other.key != self.key);
            for other in others.filter(|other| fits(selector, &other.labels)) {
                for rule in rules(other.object.get("rules")) {
                    if !found.contains(&rule) {
                        found.push(rule);
                    }
                }
            }
        }
        found
    }
}

fn is_cluster_role(key: &Key) -> bool {
    key.kind == ClusterRole::kind(&()) && key.group == ClusterRole::group(&())
}

/// What selects the roles that a role is filled with.
fn selectors(role: &Value) -> Vec<LabelSelector> {
    part(role.pointer("/aggregationRule/clusterRoleSelectors"))
}

/// A selector that cannot be evaluated selects nothing.
fn fits(selector: &LabelSelector, labels: &Labels) -> bool {
    matches(selector, labels).unwrap_or_default()
}

/// Rules as an API server has them: empty lists are none.
fn rules(list: Option<&Value>) -> Vec<PolicyRule> {
    let mut rules: Vec<PolicyRule> = part(list);
    for rule in &mut rules {
        let PolicyRule { api_groups, non_resource_urls, resource_names, resources, .. } = rule;
        for list in [api_groups, non_resource_urls, resource_names, resources] {
            if list.as_ref().is_some_and(Vec::is_empty) {
                *list = None;
            }
        }
    }
    rules
}

fn is_same(one: &[PolicyRule], other: &[PolicyRule]) -> bool {
    one.len() == other.len() && one.iter().all(|rule| other.contains(rule))
}

/// A part of an object; empty where it is missing or has another form.
fn part<T: DeserializeOwned + Default>(value: Option<&Value>) -> T {
    value.cloned().and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;
    use crate::preview::change::Change;
    use crate::preview::known::Known;

    /// A role that lets read these resources, with a label, and with one that it selects.
    fn role(name: &str, label: &str, selected: Option<&str>, resources: &[&str]) -> Value {
        let rule =
            |resource: &&str| json!({"apiGroups": [""], "resources": [resource], "verbs": ["get"]});
        let mut role = json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": name, "labels": {label: "true"}},
            "rules": resources.iter().map(rule).collect::<Vec<_>>()});
        if let Some(selected) = selected {
            let selectors = json!([{"matchLabels": {selected: "true"}}]);
            role["aggregationRule"] = json!({ "clusterRoleSelectors": selectors });
        }
        role
    }

    fn known(roles: &[Value]) -> Known {
        let mut known = Known { is_everything: true, ..Known::default() };
        roles.iter().for_each(|role| known.add(role.clone()));
        known
    }

    fn write(world: &mut World<'_>, role: Value) {
        world.put(Key::of(&role).unwrap(), Some(role));
        world.aggregate();
    }

    fn resources(world: &World<'_>, name: &str) -> String {
        let key = Key::of(&role(name, "", None, &[])).unwrap();
        let rules = rules(world.get(&key).unwrap().get("rules"));
        let all = rules.into_iter().flat_map(|rule| rule.resources.unwrap_or_default());
        all.collect::<Vec<_>>().join(" ")
    }

    #[rstest]
    #[case::everything_is_known(true)]
    #[case::roles_may_not_be_listed(false)]
    fn what_a_step_empties_is_filled_again(#[case] is_everything: bool) {
        let mut known = known(&[
            role("all", "", Some("to-all"), &["pods", "nodes"]),
            role("b", "to-all", None, &["pods"]),
            role("a", "to-all", None, &["nodes", "pods"]),
        ]);
        known.is_everything = is_everything;
        let mut world = World::new(&known);
        write(&mut world, role("all", "", Some("to-all"), &[]));
        assert_eq!(resources(&world, "all"), "pods nodes");
        let mut changes = world.changes();
        let (key, before, after) = changes.next().unwrap();
        assert_eq!((Change::of(key, before, after), changes.count()), (None, 0));
    }

    /// The order of the names is not that in which they are filled.
    #[test]
    fn what_a_written_role_brings_reaches_all_that_select_it() {
        let known = known(&[
            role("a", "", Some("to-a"), &["pods"]),
            role("b", "to-a", Some("to-b"), &["pods"]),
            role("c", "to-b", None, &["pods"]),
            role("unfilled", "", Some("to-others"), &[]),
            role("other", "to-others", None, &["secrets"]),
        ]);
        let mut world = World::new(&known);
        world.aggregate();
        assert_eq!(world.writes, 0);
        write(&mut world, role("c", "to-b", None, &["pods", "nodes"]));
        let all = ["a", "b", "c", "unfilled"].map(|name| resources(&world, name));
        assert_eq!(all, ["pods nodes", "pods nodes", "pods nodes", ""]);
        let touched: Vec<&str> = world.changes().map(|(key, _, _)| key.name.as_str()).collect();
        assert_eq!(touched, ["c"]);
        let following: Vec<&str> = world.following().map(|key| key.name.as_str()).collect();
        assert_eq!(following, ["a", "b"]);
        let writes = world.writes;
        world.aggregate();
        assert_eq!(world.writes, writes);
    }

    #[test]
    fn what_an_operator_writes_later_is_a_change() {
        let known = known(&[
            role("all", "", Some("to-all"), &["pods"]),
            role("a", "to-all", None, &["pods"]),
        ]);
        let mut world = World::new(&known);
        let gone = Key::of(&role("a", "", None, &[])).unwrap();
        world.put(gone, None);
        world.aggregate();
        assert_eq!(resources(&world, "all"), "");
        assert_eq!(world.following().count(), 1);
        write(&mut world, role("all", "other", Some("to-all"), &[]));
        assert_eq!((world.following().count(), world.changes().count()), (0, 2));
    }
}
