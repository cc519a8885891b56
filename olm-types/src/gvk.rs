//! Group, version and kind: how OLM names an API.
//!
//! The text form is `Kind.version.group`, in the annotation `olm.providedAPIs` and below the API
//! hash. The JSON form is that of an `olm.gvk` property.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// An API. Ordered by group, then kind, then version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Gvk {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind, in its spelling in manifests.
    pub kind: String,
    /// Version, for example `v1alpha1`.
    pub version: String,
}

impl Gvk {
    /// An API from its parts.
    pub fn new(
        group: impl Into<String>,
        version: impl Into<String>,
        kind: impl Into<String>,
    ) -> Self {
        Self { group: group.into(), kind: kind.into(), version: version.into() }
    }

    /// An API from `apiVersion` (`group/version`, or `version` in the core group) and `kind` of a manifest.
    pub fn from_api_version(api_version: &str, kind: &str) -> Self {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        Self::new(group, version, kind)
    }

    /// `apiVersion` of a manifest: `group/version`, or `version` in the core group.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// Reads `Kind.version.group`. `None` when there are fewer than two dots; further dots belong to the group.
    pub fn parse_api_key(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (kind, version, group) = (parts.next()?, parts.next()?, parts.next()?);
        Some(Self::new(group, version, kind))
    }

    /// `group/version, Kind=Kind`, as Go prints it in error messages.
    pub fn go_text(&self) -> String {
        format!("{}/{}, Kind={}", self.group, self.version, self.kind)
    }
}

impl fmt::Display for Gvk {
    /// `Kind.version.group`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.kind, self.version, self.group)
    }
}

/// Reads a comma-separated list of `Kind.version.group`, ignoring spaces. Malformed members are
/// dropped, as a user may have edited the annotation (spec olm-operator 4.5).
pub fn parse_api_keys(text: &str) -> BTreeSet<Gvk> {
    text.replace(' ', "").split(',').filter_map(Gvk::parse_api_key).collect()
}

/// Prints APIs as the annotation `olm.providedAPIs` holds them: sorted by text, joined by commas.
pub fn format_api_keys<'a>(apis: impl IntoIterator<Item = &'a Gvk>) -> String {
    let keys: BTreeSet<String> = apis.into_iter().map(Gvk::to_string).collect();
    keys.into_iter().collect::<Vec<_>>().join(",")
}

/// Name of a CustomResourceDefinition, split: `plural.group`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CrdName {
    /// Resource name in URLs, for example `etcdclusters`.
    pub plural: String,
    /// API group.
    pub group: String,
}

/// A CustomResourceDefinition name that is not `plural.group`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "CRD name {0:?} is malformed: it must be <plural>.<group>, for example \"widgets.example.com\""
)]
pub struct CrdNameError(
    /// The name.
    pub String,
);

impl CrdName {
    /// Splits at the first dot; there must be one (spec olm-operator 1.4, gate 2).
    pub fn parse(name: &str) -> Result<Self, CrdNameError> {
        let (plural, group) = name.split_once('.').ok_or_else(|| CrdNameError(name.to_owned()))?;
        Ok(Self { plural: plural.to_owned(), group: group.to_owned() })
    }
}

impl fmt::Display for CrdName {
    /// `plural.group`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.plural, self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("", &[])]
    #[case(",,,,,alkjahsdfjlh!@#$%", &[])]
    #[case("this-is.not-good", &[])]
    #[case("Goose.v1alpha1.birds.com", &["Goose.v1alpha1.birds.com"])]
    #[case("Goose.v1alpha1.birds.com,Moose.v1alpha1", &["Goose.v1alpha1.birds.com"])]
    #[case(
        "Goose.v1alpha1.birds.com, Moose.v1alpha1,Goat,Egret.v1beta1.birds.com",
        &["Egret.v1beta1.birds.com", "Goose.v1alpha1.birds.com"]
    )]
    fn api_key_lists(#[case] text: &str, #[case] keys: &[&str]) {
        assert_eq!(format_api_keys(&parse_api_keys(text)), keys.join(","));
    }

    #[rstest]
    #[case(Gvk::default(), "..")]
    #[case(Gvk::new("birds. ", "-", ""), ".-.birds. ")]
    #[case(Gvk::new("birds.com", "v1", "Egret"), "Egret.v1.birds.com")]
    fn texts(#[case] gvk: Gvk, #[case] text: &str) {
        assert_eq!(gvk.to_string(), text);
    }

    #[test]
    fn lists_are_sorted_by_text() {
        let apis = [
            Gvk::new("a", "v1", "Z"),
            Gvk::new("b", "v1", "A"),
            Gvk::new("birds.com", "v1alpha1", ""),
        ];
        assert_eq!(format_api_keys(&apis), ".v1alpha1.birds.com,A.v1.b,Z.v1.a");
    }

    #[test]
    fn json_form_is_that_of_a_property() {
        let text = r#"{"group":"g","kind":"APIKind","version":"v1"}"#;
        let gvk: Gvk = serde_json::from_str(text).unwrap();
        assert_eq!(gvk, Gvk::new("g", "v1", "APIKind"));
        assert_eq!(serde_json::to_string(&gvk).unwrap(), text);
    }

    #[rstest]
    #[case("v1", "ConfigMap", "/v1, Kind=ConfigMap")]
    #[case("apps/v1", "Deployment", "apps/v1, Kind=Deployment")]
    fn api_versions(#[case] api_version: &str, #[case] kind: &str, #[case] go: &str) {
        let gvk = Gvk::from_api_version(api_version, kind);
        assert_eq!(gvk.api_version(), api_version);
        assert_eq!(gvk.go_text(), go);
    }

    #[test]
    fn crd_names() {
        let name = CrdName::parse("etcdclusters.etcd.database.coreos.com").unwrap();
        assert_eq!(
            (name.plural.as_str(), name.group.as_str()),
            ("etcdclusters", "etcd.database.coreos.com")
        );
        assert_eq!(name.to_string(), "etcdclusters.etcd.database.coreos.com");
        insta::assert_snapshot!(
            CrdName::parse("nodot").unwrap_err(),
            @r#"CRD name "nodot" is malformed: it must be <plural>.<group>, for example "widgets.example.com""#
        );
    }
}
