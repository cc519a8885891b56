//! Pull secrets: those that a CatalogSource names, those of its ServiceAccount, and the one that an
//! administrator names for global catalogs.

use std::str::FromStr;

use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::{Client, ResourceExt};
use olm_catalog::image::Keychain;
use olm_kit::live;
use olm_types::api::CatalogSource;

/// Most Secrets of a catalog that are read for one pull: a CatalogSource has place for a hundred thousand names.
const MOST: usize = 50;

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

/// Where credentials come from.
#[derive(Clone)]
pub struct PullSecrets {
    client: Client,
    global_namespace: String,
    global: Option<NamespacedName>,
}

/// Namespace and name of an object, separated by a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespacedName {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// A text that names no object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not NAMESPACE/NAME")]
pub struct NameError(String);

impl FromStr for NamespacedName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('/').filter(|(namespace, name)| {
            !namespace.is_empty() && !name.is_empty() && !name.contains('/')
        });
        let (namespace, name) = parts.ok_or_else(|| NameError(text.to_owned()))?;
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }
}

impl PullSecrets {
    /// Reads Secrets with `client`; for catalogs of the global namespace also `global`.
    pub fn new(client: Client, global_namespace: &str, global: Option<NamespacedName>) -> Self {
        Self { client, global_namespace: global_namespace.to_owned(), global }
    }

    /// The credentials of an account, and those that an administrator gave for global catalogs. A Secret
    /// that is not there, or holds none, is passed over with a warning: the image may be public.
    pub async fn keychain(&self, whose: &Account) -> Keychain {
        let mut keychain = Keychain::default();
        let account = self.of_account(whose).await;
        let (names, left) = chosen(whose.secrets.iter().cloned().chain(account));
        if left > 0 {
            let (namespace, account) = (&whose.namespace, &whose.account);
            tracing::warn!(namespace, account, left, "only {MOST} Secrets are used to pull");
        }
        for name in names {
            self.add(&mut keychain, &whose.namespace, &name).await;
        }
        let given =
            of_administrator(&whose.namespace, &self.global_namespace, self.global.as_ref());
        if let Some(NamespacedName { namespace, name }) = given {
            self.add(&mut keychain, namespace, name).await;
        }
        keychain
    }

    async fn add(&self, keychain: &mut Keychain, namespace: &str, name: &str) {
        let added = match live::get::<Secret>(&self.client, Some(namespace), name).await {
            Ok(None) => Err("there is no such Secret".to_owned()),
            Ok(Some(secret)) => {
                let data = secret.data.unwrap_or_default();
                let found = |key: &str| data.get(key).map(|bytes| bytes.0.as_slice());
                keychain.add(found).map_err(|error| error.to_string())
            }
            Err(error) => Err(error.to_string()),
        };
        if let Err(why) = added {
            tracing::warn!(namespace, secret = name, why, "not used to pull");
        }
    }

    async fn of_account(&self, whose: &Account) -> Vec<String> {
        if whose.account.is_empty() {
            return Vec::new();
        }
        let account = live::get(&self.client, Some(&whose.namespace), &whose.account).await;
        let account: Option<ServiceAccount> = account.ok().flatten();
        let secrets = account.and_then(|account| account.image_pull_secrets).unwrap_or_default();
        secrets.into_iter().map(|secret| secret.name).collect()
    }
}

/// The Secret that an administrator names is for catalogs of the global namespace, and for no others.
fn of_administrator<'a>(
    namespace: &str,
    global_namespace: &str,
    named: Option<&'a NamespacedName>,
) -> Option<&'a NamespacedName> {
    named.filter(|_| namespace == global_namespace)
}

/// The names that count, each once, and how many are left out.
fn chosen(names: impl IntoIterator<Item = String>) -> (Vec<String>, usize) {
    let (mut chosen, mut left) = (Vec::new(), 0_usize);
    for name in names {
        if name.is_empty() || chosen.contains(&name) {
            continue;
        }
        if chosen.len() < MOST {
            chosen.push(name);
        } else {
            left = left.saturating_add(1);
        }
    }
    (chosen, left)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_pull_reads_a_bounded_number_of_secrets() {
        let names = |count: usize| (0..count).map(|number| format!("s{number}"));
        let few = ["a", "", "b", "a"].map(str::to_owned);
        assert_eq!(chosen(few), (vec!["a".to_owned(), "b".to_owned()], 0));
        let (all, left) = chosen(names(100_000));
        assert_eq!((all, left), (names(MOST).collect(), 100_000 - MOST));
    }

    #[rstest]
    #[case::global("olm", true)]
    #[case::of_a_tenant("team", false)]
    fn what_an_administrator_names_is_for_global_catalogs(
        #[case] namespace: &str,
        #[case] counts: bool,
    ) {
        let named = "vault/pull".parse().unwrap();
        assert_eq!(of_administrator(namespace, "olm", Some(&named)).is_some(), counts);
        assert_eq!(of_administrator(namespace, "olm", None), None);
    }

    #[rstest]
    #[case("ns/name", Some(("ns", "name")))]
    #[case("name", None)]
    #[case("/name", None)]
    #[case("ns/", None)]
    #[case("a/b/c", None)]
    fn names(#[case] text: &str, #[case] expected: Option<(&str, &str)>) {
        let parsed = text.parse::<NamespacedName>().ok();
        assert_eq!(parsed.as_ref().map(|one| (&*one.namespace, &*one.name)), expected);
    }
}
