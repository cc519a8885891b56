//! What a bundle brings, needs and may do.

use olm_resolver::constraint::{ClassicConstraints, ConstraintKind};
use olm_types::api::{AppLink, ClusterServiceVersion, CsvDescription, InstallMode, InstallModeSet};
use olm_types::bundle::{BundleContent, Entry};
use serde::Serialize;

use crate::preview::permissions::{self, Right};

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

impl BundleDetails {
    /// What the CSV says, without its install strategy.
    pub(super) fn describe(&mut self, head: &CsvDescription) {
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
    pub(super) fn place(&mut self, entry: &Entry) {
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
    pub(super) fn strategy(&mut self, csv: &ClusterServiceVersion) {
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
            format!("an operator {requirement}{says}")
        }
        Err(error) => format!("a malformed {}: {error}", property.kind),
    };
    needed.map(text).collect()
}
