//! Asking the API server whether an account would give away more than it holds.

use anyhow::{Context, Result};
use http::HeaderValue;
use k8s_openapi::api::rbac::v1::{PolicyRule, Role};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Client;
use kube::api::PostParams;
use kube::core::Request;
use olm_rbac::Account;

/// Who asks the API server to be another user says so here.
const IMPERSONATE: &str = "Impersonate-User";

/// Whether the API server lets `account` create a Role with this rule, of which nothing is kept.
/// It refuses unless the account holds what the rule grants.
pub async fn may_grant(client: &Client, account: &Account, rule: &PolicyRule) -> Result<bool> {
    let role = Role {
        metadata: ObjectMeta { name: Some("given-away".to_owned()), ..ObjectMeta::default() },
        rules: Some(vec![rule.clone()]),
    };
    let path = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles", account.namespace);
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let mut request = Request::new(path).create(&dry, serde_json::to_vec(&role)?)?;
    let user = format!("system:serviceaccount:{}:{}", account.namespace, account.name);
    request.headers_mut().insert(IMPERSONATE, HeaderValue::from_str(&user)?);
    match client.request::<Role>(request).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(false),
        Err(error) => Err(error).context("cannot ask for a Role"),
    }
}
