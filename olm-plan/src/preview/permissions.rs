//! Rights that CSVs ask for, before and after, and which of them reach further than they look.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::PolicyRule;
use olm_types::api::{ClusterServiceVersion, StrategyDetailsDeployment};
use serde::Serialize;
use serde_json::Value;

use super::uncovered::uncovered;

/// A rule that an account holds because of a CSV.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Right {
    /// Name of the ServiceAccount.
    pub account: String,
    /// `cluster`, a namespace, or `namespaces`: those that the operator watches.
    pub scope: String,
    /// What it allows.
    pub rule: PolicyRule,
    /// Why it reaches further than it looks; empty when it does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub escalations: Vec<String>,
}

/// Rights that change.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Rights {
    /// Those that were not covered before, escalations first.
    pub gained: Vec<Right>,
    /// Those that are no longer covered.
    pub lost: Vec<Right>,
    /// What else reaches beyond the operator: webhooks, and Pods with the node's file system.
    pub reaches: BTreeSet<String>,
}

impl Rights {
    /// The difference between the rights of CSVs before and after. `is_global` says that the operators
    /// watch all namespaces.
    #[must_use]
    pub fn between(
        before: &[ClusterServiceVersion],
        after: &[ClusterServiceVersion],
        is_global: bool,
    ) -> Self {
        let (old, new) = (all(before, is_global), all(after, is_global));
        Self::of(&old, &new, before, after)
    }

    /// The difference between rights before and after.
    pub(super) fn of(
        old: &[Right],
        new: &[Right],
        before: &[ClusterServiceVersion],
        after: &[ClusterServiceVersion],
    ) -> Self {
        let mut gained = beyond(new, old);
        gained.sort_by_key(|right| right.escalations.is_empty());
        let known = reaches(before);
        let reaches = reaches(after).difference(&known).cloned().collect();
        Self { gained, lost: beyond(old, new), reaches }
    }
}

/// What the accounts of a CSV may do, escalations first. Namespaced rights are those of the namespaces that
/// the operator watches.
#[must_use]
pub fn held(csv: &ClusterServiceVersion) -> Vec<Right> {
    let mut rights = all(std::slice::from_ref(csv), false);
    rights.sort_by_key(|right| right.escalations.is_empty());
    rights
}

/// What else of a CSV reaches beyond the operator.
#[must_use]
pub fn reaches_of(csv: &ClusterServiceVersion) -> Vec<String> {
    reaches(std::slice::from_ref(csv)).into_iter().collect()
}

fn strategy(csv: &ClusterServiceVersion) -> Option<&StrategyDetailsDeployment> {
    csv.spec.install.spec.as_ref()
}

/// A right in one line; `!` is before those that reach further than they look.
#[must_use]
pub fn right(right: &Right) -> String {
    let mark = if right.escalations.is_empty() { "  " } else { "! " };
    let why = match right.escalations.as_slice() {
        [] => String::new(),
        names => format!(" [{}]", names.join(", ")),
    };
    format!("{mark}{} in {}: {}{why}", right.account, right.scope, rule(&right.rule))
}

/// Such as `get,list pods,services of "",apps`.
#[must_use]
pub fn rule(rule: &PolicyRule) -> String {
    let joined = |list: &Option<Vec<String>>| list.clone().unwrap_or_default().join(",");
    let verbs = rule.verbs.join(",");
    match &rule.non_resource_urls {
        Some(urls) if !urls.is_empty() => format!("{verbs} {}", urls.join(",")),
        _ => {
            let names = match joined(&rule.resource_names) {
                names if names.is_empty() => names,
                names => format!(" named {names}"),
            };
            let groups = rule.api_groups.clone().unwrap_or_default();
            let groups = groups.iter().map(|group| match group.as_str() {
                "" => "core",
                group => group,
            });
            let groups = groups.collect::<Vec<_>>().join(",");
            format!("{verbs} {} of {groups}{names}", joined(&rule.resources))
        }
    }
}

fn all(csvs: &[ClusterServiceVersion], is_global: bool) -> Vec<Right> {
    let mut rights = Vec::new();
    for strategy in csvs.iter().filter_map(strategy) {
        let namespaced = if is_global { "cluster" } else { "namespaces" };
        let scopes =
            [(&strategy.cluster_permissions, "cluster"), (&strategy.permissions, namespaced)];
        for (permissions, scope) in scopes {
            for permission in permissions {
                let right = |rule: &PolicyRule| Right {
                    account: permission.service_account_name.clone(),
                    scope: scope.to_owned(),
                    escalations: escalations(rule),
                    rule: rule.clone(),
                };
                rights.extend(permission.rules.iter().map(right));
            }
        }
    }
    rights
}

/// The rights, or the parts of them, that the same accounts do not hold by others, each once. What cannot be compared
/// counts as not held.
fn beyond(wanted: &[Right], held: &[Right]) -> Vec<Right> {
    let left = |one: &Right| {
        let same = held.iter().filter(|other| {
            other.account == one.account && (other.scope == "cluster" || other.scope == one.scope)
        });
        let grants: Vec<&PolicyRule> = same.map(|other| &other.rule).collect();
        let Right { account, scope, .. } = one.clone();
        uncovered(&one.rule, &grants).into_iter().map(move |rule| Right {
            account: account.clone(),
            scope: scope.clone(),
            escalations: escalations(&rule),
            rule,
        })
    };
    let mut seen = BTreeSet::new();
    let all = wanted.iter().flat_map(left);
    all.filter(|one| seen.insert(right(one))).collect()
}

/// Why a rule reaches further than it looks.
pub(super) fn escalations(rule: &PolicyRule) -> Vec<String> {
    let has =
        |list: &Option<Vec<String>>, wanted: &str| list.iter().flatten().any(|item| item == wanted);
    let verb = |wanted: &str| rule.verbs.iter().any(|verb| verb == wanted);
    let mut found = Vec::new();
    if verb("*") || has(&rule.resources, "*") || has(&rule.api_groups, "*") {
        found.push("wildcard".to_owned());
    }
    if has(&rule.resources, "secrets") && has(&rule.api_groups, "") {
        found.push("secrets".to_owned());
    }
    for escalating in ["escalate", "bind", "impersonate"] {
        if verb(escalating) {
            found.push(escalating.to_owned());
        }
    }
    let hooks = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
    if hooks.iter().any(|hook| has(&rule.resources, hook)) {
        found.push("webhooks".to_owned());
    }
    found
}

/// Webhooks of CSVs, and Deployments whose Pods reach their node.
fn reaches(csvs: &[ClusterServiceVersion]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for csv in csvs {
        let hooks = csv.spec.webhookdefinitions.iter();
        found.extend(hooks.map(|hook| format!("webhook {} ({})", hook.generate_name, hook.type_)));
        for deployment in strategy(csv).into_iter().flat_map(|strategy| &strategy.deployments) {
            let pod = deployment.spec.at("/template/spec").unwrap_or_default();
            let name = &deployment.name;
            let volumes = pod["volumes"].as_array();
            if volumes.into_iter().flatten().any(|volume| !volume["hostPath"].is_null()) {
                found.insert(format!("hostPath volume in Deployment {name}"));
            }
            for field in ["hostNetwork", "hostPID", "hostIPC"] {
                if pod[field] == true {
                    found.insert(format!("{field} in Deployment {name}"));
                }
            }
            let containers = ["containers", "initContainers"].map(|list| pod[list].as_array());
            let privileged = |container: &Value| container["securityContext"]["privileged"] == true;
            if containers.into_iter().flatten().flatten().any(privileged) {
                found.insert(format!("privileged container in Deployment {name}"));
            }
        }
    }
    found
}

/// Images of the Deployments of CSVs, and those that the CSVs name beside them.
#[must_use]
pub fn images(csvs: &[ClusterServiceVersion]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for csv in csvs {
        for deployment in strategy(csv).into_iter().flat_map(|strategy| &strategy.deployments) {
            for list in ["containers", "initContainers"] {
                let path = format!("/template/spec/{list}");
                let containers = deployment.spec.at(&path);
                let images = containers.as_ref().and_then(Value::as_array).into_iter().flatten();
                found.extend(images.filter_map(|one| Some(one["image"].as_str()?.to_owned())));
            }
        }
        let related = csv.spec.related_images.iter().map(|one| one.image.clone());
        found.extend(related.filter(|image| !image.is_empty()));
    }
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;

    fn csv(cluster: Value, own: Value, pod: Value) -> ClusterServiceVersion {
        let permission = |rules: Value| json!([{"serviceAccountName": "a", "rules": rules}]);
        let deployment = json!({"name": "d", "spec": {"template": {"spec": pod}}});
        from_value(json!({"metadata": {"name": "c"}, "spec": {"install": {"strategy": "deployment",
            "spec": {"deployments": [deployment], "clusterPermissions": permission(cluster),
                "permissions": permission(own)}}}}))
        .unwrap()
    }

    fn rule(groups: &str, resources: &str, verbs: &str) -> Value {
        let list = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        json!({"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)})
    }

    #[rstest]
    #[case(rule("", "pods", "get"), "")]
    #[case(rule("", "secrets", "get"), "secrets")]
    #[case(rule("x.io", "secrets", "get"), "")]
    #[case(rule("*", "*", "*"), "wildcard")]
    #[case(rule("rbac.authorization.k8s.io", "clusterroles", "bind,escalate"), "escalate bind")]
    #[case(rule("", "users", "impersonate"), "impersonate")]
    #[case(
        rule("admissionregistration.k8s.io", "mutatingwebhookconfigurations", "get"),
        "webhooks"
    )]
    fn what_reaches_further_is_named(#[case] rule: Value, #[case] expected: &str) {
        assert_eq!(escalations(&from_value(rule).unwrap()).join(" "), expected);
    }

    #[test]
    fn rights_are_compared_by_what_they_cover() {
        let old = csv(json!([rule("", "pods", "get,list")]), json!([]), json!({}));
        let new = csv(
            json!([
                rule("", "pods", "get"),
                rule("", "services", "get"),
                rule("", "services", "get"),
                rule("", "secrets", "get")
            ]),
            json!([rule("", "pods", "get")]),
            json!({"hostNetwork": true, "containers": [{"image": "i"}]}),
        );
        let rights = Rights::between(std::slice::from_ref(&old), std::slice::from_ref(&new), false);
        let resources = |rights: &[Right]| {
            let all = rights.iter().flat_map(|right| right.rule.resources.clone().unwrap());
            all.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(resources(&rights.gained), "secrets services");
        assert_eq!(resources(&rights.lost), "pods");
        assert_eq!(rights.reaches, ["hostNetwork in Deployment d".to_owned()].into());
        assert_eq!(images(&[new]), ["i".to_owned()].into());
        assert_eq!(
            Rights::between(std::slice::from_ref(&old), std::slice::from_ref(&old), true),
            Rights::default()
        );
    }
}
