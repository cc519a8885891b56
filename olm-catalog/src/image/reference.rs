//! Where an image is: registry, repository, tag, digest.

use std::fmt;
use std::str::FromStr;

use olm_types::image_ref::{self, ImageRefError};
use thiserror::Error;

/// The registry of references that name none.
const DEFAULT_HOST: &str = "docker.io";
/// Where that registry answers.
const DEFAULT_ENDPOINT: &str = "registry-1.docker.io";
/// The tag of references that have neither tag nor digest.
const LATEST: &str = "latest";
/// The folder of repositories there that name none.
const DEFAULT_FOLDER: &str = "library";

/// A reference to an image, complete.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageReference {
    host: String,
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// A text that names no image.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} names no image: {source}")]
pub struct ReferenceError {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub source: ImageRefError,
}

impl ImageReference {
    /// Host and port of the registry, as credentials name it.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Host and port at which the registry answers.
    pub fn endpoint(&self) -> &str {
        if self.host == DEFAULT_HOST { DEFAULT_ENDPOINT } else { &self.host }
    }

    /// The repository in the registry.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The digest, if the reference has one; it counts more than a tag.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The same image with this digest.
    #[must_use]
    pub fn at(&self, digest: &str) -> Self {
        let unnamed = || self.digest.is_none().then(|| LATEST.to_owned());
        let tag = self.tag.clone().or_else(unnamed);
        Self { tag, digest: Some(digest.to_owned()), ..self.clone() }
    }

    /// Registry and repository.
    pub fn name(&self) -> String {
        format!("{}/{}", self.host, self.repository)
    }

    /// The tag, if the reference has one.
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The same tag and digest in another repository.
    ///
    /// # Errors
    /// The name is none of a repository.
    pub fn renamed(&self, name: &str) -> Result<Self, ReferenceError> {
        let Self { tag, digest, .. } = self.clone();
        Ok(Self { tag, digest, ..name.parse()? })
    }

    /// What is asked for in the repository: digest or tag.
    pub fn version(&self) -> &str {
        self.digest.as_deref().or(self.tag.as_deref()).unwrap_or(LATEST)
    }
}

impl FromStr for ImageReference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        image_ref::check(text)
            .map_err(|source| ReferenceError { text: text.to_owned(), source })?;
        let (rest, digest) = split_last(text, '@');
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag.to_owned())),
            _ => (rest, None),
        };
        let (host, repository) = match name.split_once('/') {
            Some((host, path)) if is_host(host) => (host.to_owned(), path.to_owned()),
            Some(_) => (DEFAULT_HOST.to_owned(), name.to_owned()),
            None => (DEFAULT_HOST.to_owned(), format!("{DEFAULT_FOLDER}/{name}")),
        };
        let host = if host == "index.docker.io" { DEFAULT_HOST.to_owned() } else { host };
        Ok(Self { host, repository, tag, digest })
    }
}

impl fmt::Display for ImageReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.host, self.repository)?;
        match (&self.tag, &self.digest) {
            (_, Some(digest)) => write!(f, "@{digest}"),
            (Some(tag), None) => write!(f, ":{tag}"),
            (None, None) => Ok(()),
        }
    }
}

/// The part before the first separator, and the one after it.
fn split_last(text: &str, separator: char) -> (&str, Option<String>) {
    match text.split_once(separator) {
        Some((rest, last)) => (rest, Some(last.to_owned())),
        None => (text, None),
    }
}

fn is_host(first: &str) -> bool {
    first == "localhost" || first.contains(['.', ':', '['])
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const DIGEST: &str = "sha256:54d626e08c1c802b305dad30b7e54a82f102390cc92c7d4db112048935236e9c";

    #[rstest]
    #[case("etcd", "docker.io", "library/etcd", "latest")]
    #[case("coreos/etcd:v3", "docker.io", "coreos/etcd", "v3")]
    #[case("quay.io/coreos/etcd:v3", "quay.io", "coreos/etcd", "v3")]
    #[case("localhost:5000/a/b", "localhost:5000", "a/b", "latest")]
    #[case("[::1]:5000/a", "[::1]:5000", "a", "latest")]
    #[case("index.docker.io/a/b:1", "docker.io", "a/b", "1")]
    fn parts(#[case] text: &str, #[case] host: &str, #[case] path: &str, #[case] version: &str) {
        let reference: ImageReference = text.parse().unwrap();
        assert_eq!(
            (reference.host(), reference.repository(), reference.version()),
            (host, path, version)
        );
    }

    #[test]
    fn a_digest_counts_more_than_a_tag() {
        let reference: ImageReference = format!("quay.io/a/b:v1@{DIGEST}").parse().unwrap();
        assert_eq!((reference.version(), reference.digest()), (DIGEST, Some(DIGEST)));
        assert_eq!(reference.to_string(), format!("quay.io/a/b@{DIGEST}"));
    }

    #[rstest]
    #[case("")]
    #[case("quay.io/A/b")]
    #[case("a b")]
    #[case("quay.io/a/../b")]
    #[case("a@sha256:12")]
    fn what_names_no_image(#[case] text: &str) {
        let error = text.parse::<ImageReference>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text:?} names no image: ")), "{error}");
    }
}
