//! Asking the API server about every single request that a rule stands for.

use anyhow::{Context, Result};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::api::{Api, PostParams};
use olm_rbac::{Account, Scope};
use olm_testkit::e2e::TestContext;

/// The authorizer of the API server.
pub struct Oracle {
    reviews: Api<SubjectAccessReview>,
    namespace: String,
}

impl Oracle {
    pub fn new(ctx: &TestContext) -> Self {
        Self { reviews: Api::all(ctx.client.clone()), namespace: ctx.namespace.clone() }
    }

    /// Whether an account, without its groups, may make every request that the rule stands for.
    pub async fn allows(&self, account: &Account, rule: &PolicyRule, scope: Scope) -> Result<bool> {
        let namespace = match scope {
            Scope::Namespace => self.namespace.as_str(),
            Scope::Cluster => "",
        };
        for request in requests(rule, namespace) {
            if !self.allows_one(account, request).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn allows_one(&self, account: &Account, spec: SubjectAccessReviewSpec) -> Result<bool> {
        let user = format!("system:serviceaccount:{}:{}", account.namespace, account.name);
        let spec = SubjectAccessReviewSpec { user: Some(user), ..spec };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let answer = self.reviews.create(&PostParams::default(), &review).await;
        let answer = answer.context("cannot ask who may do what")?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }
}

/// The product of the lists of a rule; an empty list stands for one empty text.
fn requests(rule: &PolicyRule, namespace: &str) -> Vec<SubjectAccessReviewSpec> {
    let urls = rule.non_resource_urls.as_deref().unwrap_or_default();
    if !urls.is_empty() {
        let pairs = rule.verbs.iter().flat_map(|verb| urls.iter().map(move |url| (verb, url)));
        return pairs.map(|(verb, url)| of_url(verb, url)).collect();
    }
    let mut all = Vec::new();
    for verb in &rule.verbs {
        for group in or_blank(&rule.api_groups) {
            for resource in or_blank(&rule.resources) {
                for name in or_blank(&rule.resource_names) {
                    all.push(of_resource(verb, &group, &resource, &name, namespace));
                }
            }
        }
    }
    all
}

fn or_blank(list: &Option<Vec<String>>) -> Vec<String> {
    let list = list.clone().unwrap_or_default();
    if list.is_empty() { vec![String::new()] } else { list }
}

fn of_url(verb: &str, url: &str) -> SubjectAccessReviewSpec {
    let attributes =
        NonResourceAttributes { verb: Some(verb.to_owned()), path: Some(url.to_owned()) };
    SubjectAccessReviewSpec {
        non_resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    }
}

fn of_resource(
    verb: &str,
    group: &str,
    resource: &str,
    name: &str,
    namespace: &str,
) -> SubjectAccessReviewSpec {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let text = |text: &str| Some(text.to_owned());
    let attributes = ResourceAttributes {
        verb: text(verb),
        group: text(group),
        resource: text(resource),
        subresource: text(subresource),
        name: text(name),
        namespace: text(namespace),
        ..ResourceAttributes::default()
    };
    SubjectAccessReviewSpec {
        resource_attributes: Some(attributes),
        ..SubjectAccessReviewSpec::default()
    }
}
