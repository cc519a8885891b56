//! Rights that were shown as gained or lost, asked of the API server's own authorizer.

use anyhow::{Context, Result};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::Client;
use kube::api::{Api, PostParams};
use serde_json::Value;

/// The scope of a right in all namespaces, as plans have it.
const CLUSTER: &str = "cluster";

/// Lines for rights that are not as shown: gained and not held, or lost and held.
///
/// # Errors
/// The API server does not answer, or a rule of the plan is malformed.
pub async fn differences(client: &Client, home: &str, plan: &Value) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (field, is_held) in [("gained", true), ("lost", false)] {
        for right in plan["rights"][field].as_array().into_iter().flatten() {
            let rule = right["rule"].clone();
            let rule: PolicyRule = serde_json::from_value(rule).context("a rule is none")?;
            let scope = right["scope"].as_str().unwrap_or_default();
            let namespace = if scope == CLUSTER { "" } else { scope };
            let user = user(home, right["account"].as_str().unwrap_or_default());
            for asked in requests(&rule, namespace) {
                if allows(client, &user, &asked).await? != is_held {
                    lines.push(format!("rights: {user} was shown to have {field} {asked:?}"));
                }
            }
        }
    }
    Ok(lines)
}

/// The user that a ServiceAccount is: NAME, or NAMESPACE/NAME for one of another namespace.
fn user(home: &str, account: &str) -> String {
    let (namespace, name) = account.split_once('/').unwrap_or((home, account));
    format!("system:serviceaccount:{namespace}:{name}")
}

/// Every request that a rule allows, each of its lists taken apart.
fn requests(rule: &PolicyRule, namespace: &str) -> Vec<SubjectAccessReviewSpec> {
    let mut found = Vec::new();
    let any = [String::new()];
    let names = rule.resource_names.as_deref().filter(|names| !names.is_empty()).unwrap_or(&any);
    for verb in &rule.verbs {
        for path in rule.non_resource_urls.iter().flatten() {
            let attributes =
                NonResourceAttributes { path: Some(path.clone()), verb: Some(verb.clone()) };
            let non_resource_attributes = Some(attributes);
            found.push(SubjectAccessReviewSpec { non_resource_attributes, ..Default::default() });
        }
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                found.extend(
                    names.iter().map(|name| of_resource([verb, group, resource, name], namespace)),
                );
            }
        }
    }
    found
}

fn of_resource(
    [verb, group, resource, name]: [&String; 4],
    namespace: &str,
) -> SubjectAccessReviewSpec {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let attributes = ResourceAttributes {
        verb: Some(verb.clone()),
        group: Some(group.clone()),
        resource: Some(resource.to_owned()),
        subresource: Some(subresource.to_owned()),
        name: Some(name.clone()),
        namespace: Some(namespace.to_owned()),
        ..ResourceAttributes::default()
    };
    SubjectAccessReviewSpec { resource_attributes: Some(attributes), ..Default::default() }
}

async fn allows(client: &Client, user: &str, asked: &SubjectAccessReviewSpec) -> Result<bool> {
    let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
    let spec = SubjectAccessReviewSpec { user: Some(user.to_owned()), ..asked.clone() };
    let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
    let answer = reviews.create(&PostParams::default(), &review).await;
    Ok(answer.context("rights cannot be asked for")?.status.is_some_and(|status| status.allowed))
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::*;

    #[test]
    fn a_rule_is_taken_apart() {
        let rule = from_value(json!({"apiGroups": ["", "apps"], "resources": ["pods/log"],
            "verbs": ["get", "list"], "nonResourceURLs": ["/metrics"]}));
        let found = requests(&rule.unwrap(), "ns");
        assert_eq!(found.len(), 6);
        let resources = found.iter().filter_map(|one| one.resource_attributes.as_ref());
        assert!(resources.clone().all(|one| one.subresource.as_deref() == Some("log")));
        assert_eq!(resources.count(), 4);
    }

    #[test]
    fn an_account_of_another_namespace_says_so() {
        assert_eq!(user("a", "x"), "system:serviceaccount:a:x");
        assert_eq!(user("a", "b/x"), "system:serviceaccount:b:x");
    }
}
