//! File-based catalog objects of a case as entries: one per package, channel and bundle.

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::bundle::{BundleContent, CatalogKey, Deprecations, Entry, Property};
use olm_types::properties::value;
use olm_types::version::{Range, Version};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{CaseError, CaseProperty};
use crate::memory::MemoryUniverse;

/// Puts the objects of a catalog into a universe.
pub(super) fn load(
    catalog: &CatalogKey,
    blobs: &[Box<RawValue>],
    universe: &mut MemoryUniverse,
) -> Result<(), CaseError> {
    let mut content = Content::default();
    for blob in blobs {
        content.read(blob.get())?;
    }
    for channel in &content.channels {
        for place in &channel.entries {
            if let Some(bundle) =
                content.bundles.get(&(channel.package.clone(), place.name.clone()))
            {
                let is_default = content.defaults.get(&channel.package) == Some(&channel.name);
                universe.add(entry(catalog, channel, place, bundle, is_default));
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Content {
    defaults: BTreeMap<String, String>,
    channels: Vec<Channel>,
    /// By package and name.
    bundles: BTreeMap<(String, String), ChannelEntry>,
}

impl Content {
    fn read(&mut self, blob: &str) -> Result<(), CaseError> {
        let schema: Schema = serde_json::from_str(blob)?;
        match schema.schema.as_str() {
            "olm.package" => {
                let package: Package = serde_json::from_str(blob)?;
                self.defaults.insert(package.name, package.default_channel);
            }
            "olm.channel" => self.channels.push(serde_json::from_str(blob)?),
            "olm.bundle" => {
                let bundle: Bundle = serde_json::from_str(blob)?;
                let entry = ChannelEntry::of(&bundle);
                self.bundles.insert((bundle.package, bundle.name), entry);
            }
            _ => {}
        }
        Ok(())
    }
}

/// What a bundle is in each of its channels.
struct ChannelEntry {
    image: Arc<str>,
    version: Option<Version>,
    properties: Arc<[Property]>,
}

impl ChannelEntry {
    fn of(bundle: &Bundle) -> Self {
        let properties: Arc<[Property]> =
            bundle.properties.iter().map(CaseProperty::property).collect();
        let package = properties.iter().find_map(value::package);
        Self {
            image: bundle.image.as_str().into(),
            version: package.and_then(|package| Version::parse_tolerant(&package.version).ok()),
            properties,
        }
    }
}

fn entry(
    catalog: &CatalogKey,
    channel: &Channel,
    place: &CaseEntry,
    entry: &ChannelEntry,
    in_default_channel: bool,
) -> Entry {
    let text =
        |text: &Option<String>| text.as_deref().filter(|text| !text.is_empty()).map(Into::into);
    Entry {
        name: place.name.as_str().into(),
        package: channel.package.as_str().into(),
        channel: channel.name.as_str().into(),
        catalog: catalog.clone(),
        version: entry.version.clone(),
        replaces: text(&place.replaces),
        skips: place.skips.iter().map(|skip| skip.as_str().into()).collect(),
        skip_range: place.skip_range.as_deref().and_then(|range| Range::parse(range).ok()),
        in_default_channel,
        properties: entry.properties.clone(),
        content: BundleContent::Image(entry.image.clone()),
        deprecations: Deprecations::default(),
    }
}

#[derive(Deserialize)]
struct Schema {
    schema: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Package {
    name: String,
    #[serde(default)]
    default_channel: String,
}

#[derive(Deserialize)]
struct Channel {
    name: String,
    package: String,
    #[serde(default)]
    entries: Vec<CaseEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CaseEntry {
    name: String,
    replaces: Option<String>,
    #[serde(default)]
    skips: Vec<String>,
    skip_range: Option<String>,
}

#[derive(Deserialize)]
struct Bundle {
    name: String,
    package: String,
    #[serde(default)]
    image: String,
    #[serde(default)]
    properties: Vec<CaseProperty>,
}
