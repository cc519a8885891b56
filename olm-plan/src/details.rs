//! A package in detail: its channels and versions, and what one of its bundles brings, needs and may do.

use std::sync::Arc;

use olm_resolver::constraint::{ClassicConstraints, ConstraintKind};
use olm_types::api::{
    AppLink, ClusterServiceVersion, CsvDescription, InstallMode, InstallModeSet, PackageChannel,
    PackageManifestStatus, Subscription,
};
use olm_types::bundle::{BundleContent, Entry};
use serde::Serialize;

use crate::preview::permissions::{self, Right};
use crate::search::{PackageRow, default_channel, row};

/// A package in detail.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// In short.
    #[serde(flatten)]
    pub row: PackageRow,
    /// What its author writes about it, often Markdown.
    pub description: String,
    /// The default channel first, then by name.
    pub channels: Vec<ChannelDetails>,
    /// One of its bundles.
    pub bundle: BundleDetails,
    /// What is not known, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unknown: Vec<String>,
}

/// A channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChannelDetails {
    /// Its name.
    pub name: String,
    /// Whether Subscriptions that name no channel follow it.
    pub is_default: bool,
    /// The CSV that new Subscriptions get.
    pub head: String,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
    /// As the packages API orders them: the newest first.
    pub versions: Vec<VersionDetails>,
}

/// A version of a channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionDetails {
    /// Name of its CSV.
    pub csv: String,
    /// The version.
    pub version: String,
    /// What the catalog says about its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<String>,
}

/// What a bundle brings, needs and may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BundleDetails {
    /// Name of its CSV.
    pub csv: String,
    /// Its version.
    pub version: String,
    /// The channel that it was looked up in.
    pub channel: String,
    /// The image with its manifests; none where the catalog holds them, or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The CSV that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// CSVs that it skips.
    pub skips: Vec<String>,
    /// Versions that are upgraded to it directly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skip_range: Option<String>,
    /// Install modes that it supports.
    pub install_modes: Vec<String>,
    /// The oldest Kubernetes that it runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_kube_version: Option<String>,
    /// How mature it is, as its author says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maturity: Option<String>,
    /// APIs that it brings, as KIND.VERSION (NAME of the CRD).
    pub provides: Vec<String>,
    /// APIs of others that it needs.
    pub requires: Vec<String>,
    /// What it needs of other operators, in the resolver's words; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dependencies: Option<Vec<String>>,
    /// Images that it runs or names.
    pub images: Vec<String>,
    /// What its accounts may do; none where that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rights: Option<Vec<Right>>,
    /// What else reaches beyond the operator.
    pub reaches: Vec<String>,
    /// Further reading.
    pub links: Vec<String>,
    /// Who maintains it.
    pub maintainers: Vec<String>,
}

/// What was asked for is not there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoDetails {
    /// There is no such channel.
    #[error("package {package} has no channel {channel}, but {channels}")]
    NoChannel {
        /// The package.
        package: String,
        /// What was asked for.
        channel: String,
        /// Those that there are.
        channels: String,
    },
    /// There is no such version.
    #[error("package {package} has no version {version} there, but {versions}")]
    NoVersion {
        /// The package.
        package: String,
        /// What was asked for.
        version: String,
        /// Those that there are.
        versions: String,
    },
}

/// A channel and the CSV in it that is looked at: the head, or that of a version.
///
/// # Errors
/// There is no such channel or version.
pub fn chosen<'a>(
    status: &'a PackageManifestStatus,
    channel: Option<&str>,
    version: Option<&str>,
) -> Result<(&'a PackageChannel, String), NoDetails> {
    let package = || status.package_name.clone();
    let joined = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
    let no_channel = |channel: &str| NoDetails::NoChannel {
        package: package(),
        channel: channel.to_owned(),
        channels: joined(&mut status.channels.iter().map(|one| one.name.as_str())),
    };
    let candidates: Vec<&PackageChannel> = match channel {
        Some(name) => status.channels.iter().filter(|one| one.name == name).collect(),
        None => {
            let default = default_channel(status);
            let others =
                status.channels.iter().filter(|one| Some(&one.name) != default.map(|d| &d.name));
            default.into_iter().chain(others.filter(|_| version.is_some())).collect()
        }
    };
    let first = candidates.first().copied().ok_or_else(|| no_channel(channel.unwrap_or("")))?;
    let Some(version) = version else { return Ok((first, first.current_csv.clone())) };
    let is_it = |name: &str, known: Option<&str>| name == version || known == Some(version);
    for channel in &candidates {
        let head = channel.current_csv_desc.as_ref().and_then(|head| head.version.as_deref());
        if is_it(&channel.current_csv, head) {
            return Ok((channel, channel.current_csv.clone()));
        }
        let mut entries = channel.entries.iter();
        if let Some(found) = entries.find(|one| is_it(&one.name, one.version.as_deref())) {
            return Ok((channel, found.name.clone()));
        }
    }
    let known = candidates.iter().flat_map(|channel| &channel.entries);
    let versions = joined(&mut known.map(|entry| entry.name.as_str()));
    Err(NoDetails::NoVersion { package: package(), version: version.to_owned(), versions })
}

/// A package in detail. `entry` and `csv` are what the catalog says about the bundle, as far as it was read.
#[must_use]
pub fn details(
    status: &PackageManifestStatus,
    (channel, csv_name): (&PackageChannel, &str),
    subscriptions: &[Subscription],
    entry: Option<&Entry>,
    csv: Option<&ClusterServiceVersion>,
) -> Details {
    let is_head = channel.current_csv == csv_name;
    let head = channel.current_csv_desc.as_ref().filter(|_| is_head);
    let mut bundle = BundleDetails {
        csv: csv_name.to_owned(),
        channel: channel.name.clone(),
        ..BundleDetails::default()
    };
    let entries = channel.entries.iter().find(|one| one.name == csv_name);
    bundle.version = entries.and_then(|one| one.version.clone()).unwrap_or_default();
    head.into_iter().for_each(|head| bundle.describe(head));
    entry.into_iter().for_each(|entry| bundle.place(entry));
    csv.into_iter().for_each(|csv| bundle.strategy(csv));
    let description = head.or(channel.current_csv_desc.as_ref());
    Details {
        row: row(status, subscriptions),
        description: description.and_then(|head| head.description.clone()).unwrap_or_default(),
        channels: channels(status),
        bundle,
        unknown: Vec::new(),
    }
}

fn channels(status: &PackageManifestStatus) -> Vec<ChannelDetails> {
    let mut all: Vec<&PackageChannel> = status.channels.iter().collect();
    all.sort_by_key(|channel| (channel.name != status.default_channel, &channel.name));
    let details = |channel: &&PackageChannel| ChannelDetails {
        name: channel.name.clone(),
        is_default: channel.name == status.default_channel,
        head: channel.current_csv.clone(),
        deprecated: channel.deprecation.as_ref().map(|found| found.message.clone()),
        versions: channel
            .entries
            .iter()
            .map(|entry| VersionDetails {
                csv: entry.name.clone(),
                version: entry.version.clone().unwrap_or_default(),
                deprecated: entry.deprecation.as_ref().map(|found| found.message.clone()),
            })
            .collect(),
    };
    all.iter().map(details).collect()
}

impl BundleDetails {
    /// What the CSV says, without its install strategy.
    fn describe(&mut self, head: &CsvDescription) {
        let text = |link: &AppLink| {
            let parts = [link.name.clone(), link.url.clone()];
            parts
                .into_iter()
                .flatten()
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.version = head.version.clone().unwrap_or_default();
        self.install_modes = supported(&head.install_modes);
        self.min_kube_version.clone_from(&head.min_kube_version);
        self.maturity.clone_from(&head.maturity);
        self.images.clone_from(&head.related_images);
        self.links = head.links.iter().map(text).collect();
        let maintainers = head.maintainers.iter();
        let maintainers = maintainers.map(|one| [one.name.clone(), one.email.clone()]);
        self.maintainers = maintainers
            .map(|parts| parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
            .collect();
        let crds = head.customresourcedefinitions.iter();
        let named = |crd: &olm_types::api::CrdDescription| {
            format!("{}.{} ({})", crd.kind, crd.version, crd.name)
        };
        self.provides = crds.clone().flat_map(|crds| &crds.owned).map(named).collect();
        self.requires = crds.flat_map(|crds| &crds.required).map(named).collect();
        let services = head.apiservicedefinitions.iter();
        let named = |one: &olm_types::api::ApiServiceDescription| {
            format!("{}.{} ({})", one.kind, one.version, one.group)
        };
        self.provides.extend(services.clone().flat_map(|all| &all.owned).map(named));
        self.requires.extend(services.flat_map(|all| &all.required).map(named));
    }

    /// What the catalog says.
    fn place(&mut self, entry: &Entry) {
        self.image = match &entry.content {
            BundleContent::Image(image) => Some(image.to_string()),
            BundleContent::Inline => None,
        };
        self.replaces = entry.replaces.as_ref().map(ToString::to_string);
        self.skips = entry.skips.iter().map(ToString::to_string).collect();
        self.skip_range = entry.skip_range.as_ref().map(ToString::to_string);
        if let Some(version) = &entry.version {
            self.version = version.to_string();
        }
        self.dependencies = Some(dependencies(entry));
    }

    /// What its manifests say.
    fn strategy(&mut self, csv: &ClusterServiceVersion) {
        self.rights = Some(permissions::held(csv));
        self.reaches = permissions::reaches_of(csv);
        self.images = permissions::images(std::slice::from_ref(csv)).into_iter().collect();
        self.install_modes = supported(&csv.spec.install_modes);
    }
}

fn supported(modes: &[InstallMode]) -> Vec<String> {
    InstallModeSet::of(modes).iter().map(|mode| mode.to_string()).collect()
}

/// What a bundle needs of others, in the resolver's words. What is malformed says so.
#[must_use]
pub fn dependencies(entry: &Entry) -> Vec<String> {
    let kinds = ClassicConstraints;
    let needed = entry.properties.iter().filter(|one| kinds.property_types().contains(&&*one.kind));
    let text = |property: &olm_types::bundle::Property| match kinds.read(property) {
        Ok(requirement) => {
            let messages = requirement.messages().join("; ");
            let says = if messages.is_empty() { String::new() } else { format!(" ({messages})") };
            format!("an operator {}{says}", Arc::clone(&requirement))
        }
        Err(error) => format!("a malformed {}: {error}", property.kind),
    };
    needed.map(text).collect()
}

#[cfg(test)]
mod tests {
    use olm_types::bundle::{CatalogKey, Deprecations, Property};
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;

    fn status() -> PackageManifestStatus {
        let head = json!({"version": "2.0.0", "displayName": "A", "description": "All about A",
            "installModes": [{"type": "AllNamespaces", "supported": true},
                {"type": "OwnNamespace", "supported": false}],
            "customresourcedefinitions": {"owned": [{"name": "as.x.io", "version": "v1", "kind": "A"}]}});
        let channel = |name: &str, csv: &str, entries: &[&str]| {
            let entries: Vec<_> = entries
                .iter()
                .map(|version| json!({"name": format!("a.v{version}"), "version": version}))
                .collect();
            json!({"name": name, "currentCSV": csv, "currentCSVDesc": head, "entries": entries})
        };
        from_value(json!({"catalogSource": "c", "catalogSourceDisplayName": "",
            "catalogSourcePublisher": "", "catalogSourceNamespace": "olm", "packageName": "a",
            "provider": {}, "defaultChannel": "stable", "channels": [
                channel("fast", "a.v3.0.0", &["3.0.0", "2.0.0"]),
                channel("stable", "a.v2.0.0", &["2.0.0", "1.0.0"])]}))
        .unwrap()
    }

    #[rstest]
    #[case::default(None, None, "stable a.v2.0.0")]
    #[case::channel(Some("fast"), None, "fast a.v3.0.0")]
    #[case::version(None, Some("1.0.0"), "stable a.v1.0.0")]
    #[case::csv(None, Some("a.v1.0.0"), "stable a.v1.0.0")]
    #[case::elsewhere(None, Some("3.0.0"), "fast a.v3.0.0")]
    #[case::nowhere(
        Some("stable"),
        Some("3.0.0"),
        "package a has no version 3.0.0 there, but a.v2.0.0, a.v1.0.0"
    )]
    #[case::no_channel(Some("slow"), None, "package a has no channel slow, but fast, stable")]
    fn a_bundle_is_chosen(
        #[case] channel: Option<&str>,
        #[case] version: Option<&str>,
        #[case] expected: &str,
    ) {
        let status = status();
        let found = match chosen(&status, channel, version) {
            Ok((channel, csv)) => format!("{} {csv}", channel.name),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_package_says_what_was_read_and_no_more() {
        let status = status();
        let (channel, csv) = chosen(&status, None, None).unwrap();
        let alone = details(&status, (channel, &csv), &[], None, None);
        assert_eq!(alone.bundle.install_modes, ["AllNamespaces"]);
        assert_eq!(alone.bundle.provides, ["A.v1 (as.x.io)"]);
        assert_eq!((alone.bundle.rights, alone.bundle.dependencies), (None, None));
        let names: Vec<&str> = alone.channels.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["stable", "fast"]);
    }

    #[test]
    fn dependencies_are_in_the_resolvers_words() {
        let entry = Entry {
            name: "a.v1".into(),
            package: "a".into(),
            channel: "stable".into(),
            catalog: CatalogKey::new("olm", "c"),
            version: None,
            replaces: None,
            skips: Vec::new(),
            skip_range: None,
            in_default_channel: true,
            properties: vec![
                Property::new("olm.package", r#"{"packageName":"a","version":"1.0.0"}"#),
                Property::new(
                    "olm.package.required",
                    r#"{"packageName":"b","versionRange":">1.0.0"}"#,
                ),
                Property::new("olm.gvk.required", "5"),
            ]
            .into(),
            content: BundleContent::Inline,
            deprecations: Deprecations::default(),
        };
        let found = dependencies(&entry);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("an operator ") && found[0].contains("b"), "{found:?}");
        assert!(found[1].starts_with("a malformed olm.gvk.required"), "{found:?}");
    }
}
