//! Pull secrets: those that a CatalogSource names, and those of its ServiceAccount.

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::{Client, ResourceExt};
use olm_catalog::image::Keychain;
use olm_kit::live;
use olm_types::api::CatalogSource;

/// Whose pull secrets count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Namespace of the secrets.
    pub namespace: String,
    /// Names of secrets.
    pub secrets: Vec<String>,
    /// Name of a ServiceAccount, whose secrets count, too; empty for none.
    pub account: String,
}

impl Account {
    /// The secrets of a CatalogSource, and of the ServiceAccount of the same name, which its Pods
    /// run as.
    pub fn of(catalog: &CatalogSource) -> Self {
        Self {
            namespace: catalog.namespace().unwrap_or_default(),
            secrets: catalog.spec.secrets.clone(),
            account: catalog.name_any(),
        }
    }
}

/// The credentials in the pull secrets. A Secret that is not there, or holds none, is passed over
/// with a warning: the image may be public.
pub async fn keychain(client: &Client, whose: &Account) -> Keychain {
    let mut keychain = Keychain::default();
    let names = whose.secrets.iter().cloned().chain(of_account(client, whose).await);
    for name in names.filter(|name| !name.is_empty()) {
        let added = match live::get::<Secret>(client, Some(&whose.namespace), &name).await {
            Ok(None) => Err("there is no such Secret".to_owned()),
            Ok(Some(secret)) => {
                let data = secret.data.unwrap_or_default();
                let found = |key: &str| data.get(key).map(|bytes| bytes.0.as_slice());
                keychain.add(found).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = added {
            tracing::warn!(namespace = whose.namespace, secret = name, why, "not used to pull");
        }
    }
    keychain
}

async fn of_account(client: &Client, whose: &Account) -> Vec<String> {
    if whose.account.is_empty() {
        return Vec::new();
    }
    let account = live::get(client, Some(&whose.namespace), &whose.account).await;
    let account: Option<ServiceAccount> = account.ok().flatten();
    let secrets = account.and_then(|account| account.image_pull_secrets).unwrap_or_default();
    secrets.into_iter().map(|secret| secret.name).collect()
}
