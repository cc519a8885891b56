//! Packages as `kubectl operator` reads and prints them (v0 actions `list-available` and `describe`).

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use kube::ResourceExt;
use kube::api::{DynamicObject, ListParams};
use olm_types::api::PackageManifest;
use serde_json::Value;

use super::client::{Tool, items, text, until};

/// A package that the tool has read.
pub(super) struct Package(DynamicObject);

impl Package {
    /// Reads a package; who installs has seen it before, so it is there at once.
    pub(super) async fn get(tool: &Tool<'_>, name: &str) -> Result<Self> {
        let found = tool.api::<PackageManifest>().get(name).await;
        found.map(Self).with_context(|| format!("there is no package {name}"))
    }

    /// Waits until a package has a version.
    pub(super) async fn with_version(tool: &Tool<'_>, name: &str, version: &str) -> Result<Self> {
        let what = format!("offer {version}");
        let offers = |found: Option<&DynamicObject>| {
            let channels = found.map_or(&[][..], |one| items(&one.data, "/status/channels"));
            let mut entries = channels.iter().flat_map(|channel| items(channel, "/entries"));
            entries.any(|entry| entry["version"] == version)
        };
        let found = until(&tool.api::<PackageManifest>(), name, &what, offers).await?;
        found.map(Self).context("the package is gone")
    }

    /// A channel; the default one when the name is empty.
    pub(super) fn channel(&self, name: &str) -> Result<&Value> {
        let wanted = match name {
            "" => text(&self.0, "/status/defaultChannel"),
            name => name,
        };
        let mut channels = items(&self.0.data, "/status/channels").iter();
        channels.find(|channel| channel["name"] == wanted).with_context(|| {
            format!("channel {wanted:?} does not exist for package {:?}", self.0.name_any())
        })
    }

    /// Name and namespace of the catalog.
    pub(super) fn catalog(&self) -> [&str; 2] {
        ["/status/catalogSource", "/status/catalogSourceNamespace"]
            .map(|field| text(&self.0, field))
    }

    /// What `kubectl operator describe` prints, with the long description.
    pub(super) fn described(&self, channel: &str) -> Result<String> {
        let shown = self.channel(channel)?;
        let head = |field: &str| {
            let found = shown.pointer(&format!("/currentCSVDesc{field}")).and_then(Value::as_str);
            found.unwrap_or_default().to_owned()
        };
        let [name, version, by] = ["/displayName", "/version", "/provider/name"].map(head);
        let parts = [
            ("Package", format!("{name} {version} (by {by})")),
            ("Repository", head("/annotations/repository")),
            ("Catalog", text(&self.0, "/status/catalogSourceDisplayName").to_owned()),
            ("Channels", self.marked_channels(shown).join("\n")),
            ("Install Modes", modes_of(shown).into_iter().collect::<Vec<_>>().join("\n")),
            ("Description", head("/annotations/description")),
            ("Long Description", head("/description")),
        ];
        Ok(parts.map(|(title, content)| format!("== {title} ==\n{content}\n")).join("\n"))
    }

    /// The channels, with marks for the default and the shown one.
    fn marked_channels(&self, shown: &Value) -> Vec<String> {
        let marked = items(&self.0.data, "/status/channels").iter().map(|channel| {
            let is_default = channel["name"] == text(&self.0, "/status/defaultChannel");
            let is_shown = channel["name"] == shown["name"];
            let marks = [(is_default, " (default)"), (is_shown, " (shown)")];
            let marks = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark);
            marks.fold(channel["name"].as_str().unwrap_or_default().to_owned(), |a, b| a + b)
        });
        marked.collect()
    }
}

/// The install modes that the head of a channel supports.
pub(super) fn modes_of(channel: &Value) -> BTreeSet<&str> {
    let modes = items(channel, "/currentCSVDesc/installModes").iter();
    modes
        .filter(|mode| mode["supported"] == true)
        .filter_map(|mode| mode["type"].as_str())
        .collect()
}

/// What `kubectl operator list-available --catalog=NAMESPACE/NAME` prints: each package with the
/// displayed name of its catalog.
pub(super) async fn list_available(tool: &Tool<'_>, catalog: &str) -> Result<Vec<String>> {
    let labels = format!("catalog={catalog},catalog-namespace={}", tool.namespace());
    let of_catalog = ListParams::default().labels(&labels);
    let mut found = tool.api::<PackageManifest>().list(&of_catalog).await?.items;
    found.sort_by_key(ResourceExt::name_any);
    let row = |one: &DynamicObject| {
        let dated = one.metadata.creation_timestamp.is_some();
        let age = if dated { "" } else { " without an age" };
        format!("{} {}{age}", one.name_any(), text(one, "/status/catalogSourceDisplayName"))
    };
    Ok(found.iter().map(row).collect())
}
