//! The identity of an operator that runs outside of the cluster: its ServiceAccount, as inside.
//!
//! An operator that acted as an administrator would hide every right that `deploy/` lacks.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::{Api, PostParams};
use serde_json::{Value, json};

use super::{OLM_NAMESPACE, Operator};
use crate::cluster;

/// Seconds that a token is good for: longer than any test, and than most demonstrations.
const LIFETIME: i64 = 30 * 24 * 3600;

/// Writes a kubeconfig with a token of the operator's account beside that of an administrator;
/// `name` is in the name of the file. With a `server`, requests go there, in the clear.
///
/// # Errors
///
/// When there is no such account, as before `deploy/` was applied.
pub(super) async fn kubeconfig(
    administrator: &Path,
    operator: Operator,
    name: &str,
    server: Option<&str>,
) -> Result<PathBuf> {
    let token = token(administrator, operator).await?;
    let text = std::fs::read_to_string(administrator)
        .with_context(|| format!("cannot read {}", administrator.display()))?;
    let mut config: Value = yaml_serde::from_str(&text)
        .with_context(|| format!("{} is no kubeconfig", administrator.display()))?;
    identify(&mut config, &token)
        .with_context(|| format!("{} has no current context", administrator.display()))?;
    if let Some(server) = server {
        redirect(&mut config, server);
    }
    let path = administrator.with_file_name(format!("{name}.kubeconfig"));
    write(&path, &config).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

async fn token(administrator: &Path, operator: Operator) -> Result<String> {
    let client = cluster::client(administrator).await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client, OLM_NAMESPACE);
    let spec =
        TokenRequestSpec { expiration_seconds: Some(LIFETIME), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
    let account = operator.account();
    let answer = accounts.create_token_request(account, &PostParams::default(), &request).await;
    let answer = answer.with_context(|| {
        format!("there is no token for {OLM_NAMESPACE}/{account}, an account of deploy/base")
    })?;
    let token = answer.status.and_then(|status| status.token);
    token.context("the API server issued an empty token")
}

/// Gives the user of the current context the token and nothing else.
fn identify(config: &mut Value, token: &str) -> Option<()> {
    let current = config.get("current-context")?.clone();
    let contexts = config.get("contexts")?.as_array()?;
    let context = contexts.iter().find(|context| context.get("name") == Some(&current))?;
    let user = context.pointer("/context/user")?.clone();
    config["users"] = json!([{"name": user, "user": {"token": token}}]);
    Some(())
}

fn redirect(config: &mut Value, server: &str) {
    let clusters = config.get_mut("clusters").and_then(Value::as_array_mut);
    for cluster in clusters.into_iter().flatten() {
        cluster["cluster"] = json!({"server": server});
    }
}

/// Readable by its owner only.
fn write(path: &Path, config: &Value) -> Result<()> {
    let mut file = OpenOptions::new();
    let mut file = file.write(true).create(true).truncate(true).mode(0o600).open(path)?;
    // JSON is YAML.
    Ok(file.write_all(config.to_string().as_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_account_takes_the_place_of_the_administrator() {
        let mut config = json!({
            "current-context": "x",
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "https://a", "certificate-authority": "ca.crt"}}],
            "users": [{"name": "u", "user": {"client-certificate": "admin.crt"}}],
        });
        identify(&mut config, "secret").unwrap();
        assert_eq!(config["users"], json!([{"name": "u", "user": {"token": "secret"}}]));
        redirect(&mut config, "http://127.0.0.1:9");
        assert_eq!(config["clusters"][0]["cluster"], json!({"server": "http://127.0.0.1:9"}));
        assert_eq!(identify(&mut json!({"current-context": "y"}), "secret"), None);
    }
}
