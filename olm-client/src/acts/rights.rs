//! What the user may do, so that nothing is offered that the API server would refuse.
//!
//! One review lists the rules of a namespace. Where an authorizer cannot list its rules, the list is incomplete, and
//! what it does not allow is asked for one by one.

use anyhow::{Context, Result};
use futures::future::join_all;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, ResourceRule, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec,
    SelfSubjectRulesReview, SelfSubjectRulesReviewSpec,
};
use kube::api::{Api, PostParams};

use crate::cluster::{Cluster, cause};

/// Something that a user may, or may not, do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    /// Such as `create`.
    pub verb: &'static str,
    /// API group; empty for the core group.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// The namespace; none for objects of the cluster, and for all namespaces.
    pub namespace: Option<String>,
}

impl Action {
    /// Something with objects of OLM in a namespace.
    #[must_use]
    pub fn of_olm(verb: &'static str, resource: &str, namespace: &str) -> Self {
        Self {
            verb,
            group: "operators.coreos.com".to_owned(),
            resource: resource.to_owned(),
            namespace: Some(namespace.to_owned()),
        }
    }

    /// Something with objects of a CRD, named as `<plural>.<group>`.
    #[must_use]
    pub fn of_crd(verb: &'static str, crd: &str, namespace: Option<&str>) -> Self {
        let (resource, group) = crd.split_once('.').unwrap_or((crd, ""));
        Self {
            verb,
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.map(str::to_owned),
        }
    }

    /// What is not allowed, in words.
    #[must_use]
    pub fn refusal(&self) -> String {
        let Self { verb, resource, .. } = self;
        let dot = if self.group.is_empty() { "" } else { "." };
        let place = match &self.namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "in the cluster".to_owned(),
        };
        format!("you may not {verb} {resource}{dot}{} {place}", self.group)
    }
}

/// What a user may do in a namespace.
pub struct NamespaceRights<'a> {
    cluster: &'a Cluster,
    namespace: String,
    rules: Vec<ResourceRule>,
    is_complete: bool,
}

impl<'a> NamespaceRights<'a> {
    /// Asks the API server. What it does not list is asked for when it is needed.
    pub async fn read(cluster: &'a Cluster, namespace: &str) -> Self {
        let spec = SelfSubjectRulesReviewSpec { namespace: Some(namespace.to_owned()) };
        let asked = SelfSubjectRulesReview { spec, ..SelfSubjectRulesReview::default() };
        let api: Api<SelfSubjectRulesReview> = Api::all(cluster.client.clone());
        let answer = cluster.answer(api.create(&PostParams::default(), &asked)).await;
        let status = answer.ok().and_then(|review| review.status);
        let (rules, is_complete) = match status {
            Some(status) => (status.resource_rules, !status.incomplete),
            None => (Vec::new(), false),
        };
        Self { cluster, namespace: namespace.to_owned(), rules, is_complete }
    }

    /// Why some of these are not allowed; nothing where all are.
    pub async fn refusals(&self, wanted: &[Action]) -> Vec<String> {
        let asked = join_all(wanted.iter().map(|action| self.refusal(action))).await;
        let mut refusals = Vec::new();
        for why in asked.into_iter().flatten() {
            if !refusals.contains(&why) {
                refusals.push(why);
            }
        }
        refusals
    }

    async fn refusal(&self, action: &Action) -> Option<String> {
        let is_here = action.namespace.as_ref() == Some(&self.namespace);
        if is_here && self.rules.iter().any(|rule| allows(rule, action)) {
            return None;
        }
        if is_here && self.is_complete {
            return Some(action.refusal());
        }
        match review(self.cluster, action).await {
            Ok(true) => None,
            Ok(false) => Some(action.refusal()),
            Err(error) => Some(format!("what you may do cannot be asked: {}", cause(&error))),
        }
    }
}

/// Whether a rule allows something with any object of a kind.
fn allows(rule: &ResourceRule, action: &Action) -> bool {
    let has = |list: &[String], value: &str| list.iter().any(|one| one == "*" || one == value);
    let groups = rule.api_groups.as_deref().unwrap_or_default();
    let resources = rule.resources.as_deref().unwrap_or_default();
    let names = rule.resource_names.as_deref().unwrap_or_default();
    has(&rule.verbs, action.verb)
        && has(groups, &action.group)
        && has(resources, &action.resource)
        && names.is_empty()
}

/// Whether the user may do something, by a review of its own.
///
/// # Errors
/// The API server does not answer.
pub(crate) async fn review(cluster: &Cluster, action: &Action) -> Result<bool> {
    let attributes = ResourceAttributes {
        verb: Some(action.verb.to_owned()),
        group: Some(action.group.clone()),
        resource: Some(action.resource.clone()),
        namespace: action.namespace.clone(),
        ..ResourceAttributes::default()
    };
    let spec = SelfSubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..SelfSubjectAccessReviewSpec::default()
    };
    let asked = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let api: Api<SelfSubjectAccessReview> = Api::all(cluster.client.clone());
    let answer = cluster.answer(api.create(&PostParams::default(), &asked)).await?;
    Ok(answer.status.context("the API server has not answered the review")?.allowed)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const OLM: &str = "operators.coreos.com";

    fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str]) -> ResourceRule {
        let list = |list: &[&str]| list.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        ResourceRule {
            verbs: list(verbs),
            api_groups: Some(list(groups)),
            resources: Some(list(resources)),
            resource_names: Some(list(names)),
        }
    }

    #[rstest]
    #[case::exactly(rule(&["get", "create"], &[OLM], &["subscriptions"], &[]), true)]
    #[case::all(rule(&["*"], &["*"], &["*"], &[]), true)]
    #[case::other_verb(rule(&["get"], &[OLM], &["subscriptions"], &[]), false)]
    #[case::other_group(rule(&["create"], &[""], &["subscriptions"], &[]), false)]
    #[case::other_resource(rule(&["create"], &[OLM], &["installplans"], &[]), false)]
    #[case::subresource(rule(&["create"], &[OLM], &["subscriptions/status"], &[]), false)]
    #[case::one_object(rule(&["create"], &[OLM], &["subscriptions"], &["mine"]), false)]
    #[case::nothing(ResourceRule::default(), false)]
    fn a_rule_allows_what_it_names(#[case] rule: ResourceRule, #[case] expected: bool) {
        assert_eq!(allows(&rule, &Action::of_olm("create", "subscriptions", "ns")), expected);
    }

    #[test]
    fn a_refusal_says_what_and_where() {
        let action = Action::of_olm("patch", "installplans", "ns");
        let expected = "you may not patch installplans.operators.coreos.com in namespace ns";
        assert_eq!(action.refusal(), expected);
        let action = Action::of_crd("delete", "kettles.example.com", None);
        assert_eq!(action.refusal(), "you may not delete kettles.example.com in the cluster");
    }
}
