//! Who may pull: pull secrets, as the kubelet reads them.

use std::collections::BTreeMap;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use olm_types::document::{Budget, json_as};
use serde::Deserialize;
use thiserror::Error;

use super::ImageReference;

/// The key of a Secret of type `kubernetes.io/dockerconfigjson`.
pub const CONFIG_JSON: &str = ".dockerconfigjson";
/// The key of a Secret of type `kubernetes.io/dockercfg`.
pub const CONFIG: &str = ".dockercfg";

/// A user of a registry. It is never printed with its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Its name.
    pub user: String,
    /// Its password or token.
    pub password: String,
}

/// Credentials for registries, and for folders of repositories in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keychain(Vec<(CredentialScope, Credentials)>);

/// A Secret holds no credentials.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CredentialError {
    /// It has neither of the two keys.
    #[error("there is no {CONFIG_JSON} and no {CONFIG} in it")]
    NoKey,
    /// It is no JSON of the right shape. Its content is secret, and not repeated.
    #[error("{0} is malformed near line {1}, column {2}")]
    Json(&'static str, usize, usize),
}

/// What credentials are for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CredentialScope {
    host: String,
    port: Option<String>,
    path: String,
}

#[derive(Deserialize)]
struct ConfigJson {
    #[serde(default)]
    auths: BTreeMap<String, Auth>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: String,
    username: String,
    password: String,
}

impl Keychain {
    /// Adds the credentials in the data of a Secret.
    ///
    /// # Errors
    /// There are none.
    pub fn add<'a>(
        &mut self,
        data: impl Fn(&str) -> Option<&'a [u8]>,
    ) -> Result<(), CredentialError> {
        let auths = if let Some(text) = data(CONFIG_JSON) {
            parse::<ConfigJson>(CONFIG_JSON, text)?.auths
        } else if let Some(text) = data(CONFIG) {
            parse::<BTreeMap<String, Auth>>(CONFIG, text)?
        } else {
            return Err(CredentialError::NoKey);
        };
        let found = auths
            .iter()
            .filter_map(|(place, auth)| Some((CredentialScope::parse(place), auth.credentials()?)));
        self.0.extend(found);
        Ok(())
    }

    /// Adds the credentials in a file of podman or docker, which has the form of such a Secret.
    ///
    /// # Errors
    /// It has another form.
    pub fn add_config(&mut self, text: &[u8]) -> Result<(), CredentialError> {
        self.add(|key| (key == CONFIG_JSON).then_some(text))
    }

    /// Credentials that may be meant for an image, those for the longest path first.
    pub fn for_image(&self, image: &ImageReference) -> Vec<&Credentials> {
        let mut fitting: Vec<_> = self.0.iter().filter(|(place, _)| place.has(image)).collect();
        fitting.sort_by_key(|(place, _)| std::cmp::Reverse(place.path.len()));
        fitting.into_iter().map(|(_, credentials)| credentials).collect()
    }
}

impl Credentials {
    /// The value of an `Authorization` header.
    pub(super) fn basic(&self) -> String {
        format!("Basic {}", STANDARD.encode(format!("{}:{}", self.user, self.password)))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Auth {
    fn credentials(&self) -> Option<Credentials> {
        let decoded = STANDARD.decode(self.auth.trim()).ok();
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = decoded.as_deref().and_then(|text| text.split_once(':'));
        let (user, password) = pair.unwrap_or((&self.username, &self.password));
        let credentials = Credentials { user: user.to_owned(), password: password.to_owned() };
        (!credentials.user.is_empty()).then_some(credentials)
    }
}

impl CredentialScope {
    fn parse(text: &str) -> Self {
        let text = text.split_once("://").map_or(text, |(_, rest)| rest);
        let (authority, path) = text.split_once('/').unwrap_or((text, ""));
        // How Docker names its own registry.
        let path = path.trim_end_matches('/');
        let path = if matches!(path, "v1" | "v2") { "" } else { path };
        let (host, port) = split_port(authority);
        let host = if host == "index.docker.io" { "docker.io" } else { host };
        Self { host: host.to_owned(), port, path: path.to_owned() }
    }

    fn has(&self, image: &ImageReference) -> bool {
        let (host, port) = split_port(image.host());
        let inside = image.repository() == self.path
            || image
                .repository()
                .strip_prefix(&self.path)
                .is_some_and(|rest| rest.starts_with('/'));
        self.port == port && fits(&self.host, host) && (self.path.is_empty() || inside)
    }
}

/// Whether a host fits a pattern, in which `*` stands for any part of one label.
fn fits(pattern: &str, host: &str) -> bool {
    let (patterns, labels) = (pattern.split('.'), host.split('.'));
    patterns.clone().count() == labels.clone().count()
        && patterns.zip(labels).all(|(pattern, label)| label_fits(pattern, label))
}

fn label_fits(pattern: &str, label: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == label,
        Some((start, end)) => {
            label.len() >= start.len() + end.len()
                && label.starts_with(start)
                && label.ends_with(end)
        }
    }
}

fn split_port(authority: &str) -> (&str, Option<String>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port.to_owned())),
        _ => (authority, None),
    }
}

fn parse<'a, T: Deserialize<'a>>(key: &'static str, text: &'a [u8]) -> Result<T, CredentialError> {
    json_as(text, &Budget::PROPERTY).map_err(|error| {
        let (line, column) = error.at().unwrap_or_default();
        CredentialError::Json(key, line, column)
    })
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn users(places: &[&str], image: &str) -> Vec<String> {
        let auths: BTreeMap<_, _> = places
            .iter()
            .map(|place| (*place, json!({"username": place, "password": "p"})))
            .collect();
        let text = json!({ "auths": auths }).to_string();
        let mut keychain = Keychain::default();
        keychain.add(|key| (key == CONFIG_JSON).then_some(text.as_bytes())).unwrap();
        let image = image.parse().unwrap();
        keychain.for_image(&image).iter().map(|found| found.user.clone()).collect()
    }

    #[rstest]
    #[case::host(&["quay.io", "gcr.io"], "quay.io/a/b:1", &["quay.io"])]
    #[case::longest_first(&["quay.io", "quay.io/a"], "quay.io/a/b:1", &["quay.io/a", "quay.io"])]
    #[case::another_folder(&["quay.io/a"], "quay.io/ab/c", &[])]
    #[case::whole_repository(&["quay.io/a/b"], "quay.io/a/b", &["quay.io/a/b"])]
    #[case::wildcard(&["*.quay.io"], "eu.quay.io/a/b", &["*.quay.io"])]
    #[case::wildcards_stay_in_a_label(&["*.io"], "eu.quay.io/a/b", &[])]
    #[case::port(&["r:5000", "r"], "r:5000/a", &["r:5000"])]
    #[case::docker(&["https://index.docker.io/v1/"], "a/b", &["https://index.docker.io/v1/"])]
    fn credentials_have_places(
        #[case] places: &[&str],
        #[case] image: &str,
        #[case] expected: &[&str],
    ) {
        assert_eq!(users(places, image), expected);
    }

    #[test]
    fn both_forms_of_secrets() {
        let auth = STANDARD.encode("me:p:w");
        let text = json!({"quay.io": {"auth": auth, "email": "x"}}).to_string();
        let mut keychain = Keychain::default();
        keychain.add(|key| (key == CONFIG).then_some(text.as_bytes())).unwrap();
        let image = "quay.io/a".parse().unwrap();
        let expected = Credentials { user: "me".to_owned(), password: "p:w".to_owned() };
        assert_eq!(keychain.for_image(&image), [&expected]);
    }

    #[test]
    fn nothing_secret_is_printed() {
        let secret = Credentials { user: "me".to_owned(), password: "hush".to_owned() };
        assert!(!format!("{secret:?}").contains("hush"));
        let mut keychain = Keychain::default();
        let error = keychain.add(|_| Some(b"{\"auths\": \"hush\"}")).unwrap_err();
        assert!(!error.to_string().contains("hush"), "{error}");
        assert_eq!(keychain.add(|_| None), Err(CredentialError::NoKey));
    }
}
