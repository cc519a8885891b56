//! Asking the API server who may do what.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::Client;
use kube::api::{Api, PostParams};
use tokio::time::Instant;

/// How long an answer may take to become the expected one: less than the garbage collector does.
const CONVERGES: Duration = Duration::from_secs(10);

/// A request that a user might make.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// Name of the user.
    pub user: &'a str,
    /// What to do.
    pub verb: &'a str,
    /// Group and plural of the resource.
    pub resource: (&'a str, &'a str),
    /// Where.
    pub namespace: &'a str,
}

impl Request<'_> {
    /// Whether the API server would allow it.
    pub async fn is_allowed(&self, client: &Client) -> Result<bool> {
        let (group, resource) = self.resource;
        let attributes = ResourceAttributes {
            group: Some(group.to_owned()),
            resource: Some(resource.to_owned()),
            verb: Some(self.verb.to_owned()),
            namespace: Some(self.namespace.to_owned()),
            ..ResourceAttributes::default()
        };
        let review = SubjectAccessReview {
            spec: SubjectAccessReviewSpec {
                user: Some(self.user.to_owned()),
                resource_attributes: Some(attributes),
                ..SubjectAccessReviewSpec::default()
            },
            ..SubjectAccessReview::default()
        };
        let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
        let answer = reviews.create(&PostParams::default(), &review).await;
        let answer = answer.context("cannot ask who may do what")?;
        Ok(answer.status.is_some_and(|status| status.allowed))
    }

    /// Fails unless the API server's answer is this one. The authorizer follows changes of roles
    /// by a watch of its own, so an answer that is about to change is asked for again.
    pub async fn expect(&self, client: &Client, allowed: bool) -> Result<()> {
        let mut beat = tokio::time::interval(Duration::from_millis(200));
        let deadline = Instant::now() + CONVERGES;
        while Instant::now() < deadline {
            beat.tick().await;
            if self.is_allowed(client).await? == allowed {
                return Ok(());
            }
        }
        let (group, resource) = self.resource;
        ensure!(
            self.is_allowed(client).await? == allowed,
            "{} may{} {} {resource}.{group} in {:?}",
            self.user,
            if allowed { " not" } else { "" },
            self.verb,
            self.namespace
        );
        Ok(())
    }
}
