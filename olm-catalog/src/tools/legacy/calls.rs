//! What the catalog is asked for, answered as v0 answers from its database.

use std::collections::BTreeSet;

use olm_types::gvk::Gvk;

use super::bundles::{Bundle, GVK, gvk_of, gvk_text};
use super::catalog::{Channel, LegacyCatalog};
use super::channels::Entry;
use crate::index::{EncodedMessage, QueryError};
use crate::registry::proto;
use crate::registry::server::Source;

/// A row of a channel, with names of package and channel.
type Row<'a> = (&'a str, &'a str, &'a Channel, &'a Entry);

impl Source for LegacyCatalog {
    fn packages(&self) -> Vec<proto::PackageName> {
        self.packages.keys().map(|name| proto::PackageName { name: name.clone() }).collect()
    }

    fn package(&self, name: &str) -> Result<proto::Package, QueryError> {
        let package = self.packages.get(name);
        let package = package.ok_or_else(|| nothing(format!("package {name} not found")))?;
        let channels = package.channels.iter().map(|(name, channel)| proto::Channel {
            name: name.clone(),
            csv_name: channel.head.clone(),
            deprecation: None,
        });
        Ok(proto::Package {
            name: name.to_owned(),
            channels: channels.collect(),
            default_channel_name: package.default_channel.clone(),
            deprecation: None,
        })
    }

    fn len(&self) -> usize {
        self.listing.len()
    }

    fn listed(&self, place: usize) -> Option<EncodedMessage<proto::Bundle>> {
        let listed = self.listing.get(place)?;
        let bundle = self.bundles.get(&listed.bundle)?;
        let mut message = message(bundle, &listed.package, &listed.channel);
        message.replaces.clone_from(&listed.replaces);
        // They were kept as one text with commas.
        message.skips = listed.skips.clone();
        let required = bundle.required.iter().map(|api| gvk_message(&api.gvk, ""));
        message.required_apis = required.collect();
        Some(EncodedMessage::of(&message))
    }

    fn bundle(
        &self,
        package: &str,
        channel: &str,
        name: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let missing = || nothing(format!("no entry found for {package} {channel} {name}"));
        let row = self.channel(package, channel).ok_or_else(missing)?;
        let bundle = self.bundles.get(name).ok_or_else(missing)?;
        let is_there = row.entries.iter().any(|entry| entry.bundle == name);
        is_there.then(|| self.whole(bundle, package, channel)).ok_or_else(missing)
    }

    fn head(
        &self,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let row = self.channel(package, channel);
        let head = row.and_then(|row| self.bundles.get(&row.head));
        let missing = || nothing(format!("no entry found for {package} {channel}"));
        let head = head.ok_or_else(missing)?;
        let csv = head.objects.first().map(String::as_str).unwrap_or_default();
        Ok(EncodedMessage::of(&proto::Bundle {
            csv_name: head.name.clone(),
            csv_json: format!("{csv}\n"),
            ..proto::Bundle::default()
        }))
    }

    fn entries_that_replace(&self, name: &str) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let rows =
            self.rows().filter(|(_, _, channel, entry)| channel.replaced(entry) == Some(name));
        let found =
            distinct(rows.map(|(package, channel, _, entry)| {
                (package, channel, entry.bundle.as_str(), name)
            }));
        some(found, || format!("no channel entries found that replace {name}"))
    }

    fn bundle_that_replaces(
        &self,
        name: &str,
        package: &str,
        channel: &str,
    ) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let row = self.channel(package, channel);
        let found = row.and_then(|row| {
            let mut newer = row.entries.iter().filter(|entry| row.replaced(entry) == Some(name));
            newer.find_map(|entry| self.bundles.get(&entry.bundle))
        });
        let missing = || nothing(format!("no entry found for {package} {channel}"));
        Ok(self.whole(found.ok_or_else(missing)?, package, channel))
    }

    fn entries_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let property = (GVK.to_owned(), gvk_text(api));
        let rows = self.rows().filter(|(_, _, _, entry)| self.has(entry, &property));
        let found = distinct(rows.map(|(package, channel, row, entry)| {
            (package, channel, entry.bundle.as_str(), row.replaced(entry).unwrap_or_default())
        }));
        some(found, || format!("no channel entries found that provide {}", words(api)))
    }

    fn heads_that_provide(&self, api: &Gvk) -> Result<Vec<proto::ChannelEntry>, QueryError> {
        let found =
            distinct(self.newest_that_provide(api).map(|(package, channel, row, entry)| {
                (package, channel, entry.bundle.as_str(), row.replaced(entry).unwrap_or_default())
            }));
        some(found, || format!("no channel entries found that provide {}", words(api)))
    }

    fn default_provider(&self, api: &Gvk) -> Result<EncodedMessage<proto::Bundle>, QueryError> {
        let mut rows = self.newest_that_provide(api).filter(|(package, channel, _, _)| {
            self.packages.get(*package).is_some_and(|row| row.default_channel == *channel)
        });
        let found = rows.find_map(|(package, channel, _, entry)| {
            Some(self.whole(self.bundles.get(&entry.bundle)?, package, channel))
        });
        found.ok_or_else(|| nothing(format!("no entry found that provides {}", words(api))))
    }
}

impl LegacyCatalog {
    fn channel(&self, package: &str, channel: &str) -> Option<&Channel> {
        self.packages.get(package)?.channels.get(channel)
    }

    /// All rows, by package and channel.
    fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        self.packages.iter().flat_map(|(name, package)| {
            package.channels.iter().flat_map(move |(channel, row)| {
                row.entries.iter().map(move |entry| (name.as_str(), channel.as_str(), row, entry))
            })
        })
    }

    /// For each channel the row nearest to its head whose bundle provides an API.
    fn newest_that_provide(&self, api: &Gvk) -> impl Iterator<Item = Row<'_>> {
        let property = (GVK.to_owned(), gvk_text(api));
        self.packages.iter().flat_map(move |(name, package)| {
            let property = property.clone();
            package.channels.iter().filter_map(move |(channel, row)| {
                let rows = row.entries.iter().filter(|entry| self.has(entry, &property));
                let entry = rows.min_by_key(|entry| entry.depth)?;
                Some((name.as_str(), channel.as_str(), row, entry))
            })
        })
    }

    fn has(&self, entry: &Entry, property: &(String, String)) -> bool {
        self.bundles.get(&entry.bundle).is_some_and(|bundle| bundle.properties.contains(property))
    }

    /// A bundle as the calls for one have it: with plurals, without edges.
    fn whole(
        &self,
        bundle: &Bundle,
        package: &str,
        channel: &str,
    ) -> EncodedMessage<proto::Bundle> {
        let mut message = message(bundle, package, channel);
        for api in &mut message.provided_apis {
            let gvk = Gvk::new(api.group.clone(), api.version.clone(), api.kind.clone());
            api.plural = self.plurals.get(&gvk).cloned().unwrap_or_default();
        }
        let required: BTreeSet<&Gvk> = bundle.required.iter().map(|api| &api.gvk).collect();
        let plural = |gvk: &Gvk| self.plurals.get(gvk).cloned().unwrap_or_default();
        let required = required.into_iter().map(|gvk| gvk_message(gvk, &plural(gvk)));
        message.required_apis = required.collect();
        EncodedMessage::of(&message)
    }
}

/// What all calls say about a bundle, but for required APIs.
fn message(bundle: &Bundle, package: &str, channel: &str) -> proto::Bundle {
    let required: BTreeSet<String> = bundle.required.iter().map(|api| gvk_text(&api.gvk)).collect();
    let dependency = |value| proto::Dependency { r#type: GVK.to_owned(), value };
    let properties = bundle.properties.iter();
    let provided = properties.clone().filter(|(kind, _)| kind == GVK);
    let provided = provided.filter_map(|(_, text)| Some(gvk_message(&gvk_of(text)?, "")));
    proto::Bundle {
        csv_name: bundle.name.clone(),
        package_name: package.to_owned(),
        channel_name: channel.to_owned(),
        csv_json: bundle.objects.first().cloned().unwrap_or_default(),
        object: bundle.objects.clone(),
        version: bundle.version.clone(),
        skip_range: bundle.skip_range.clone(),
        provided_apis: provided.collect(),
        dependencies: required.into_iter().map(dependency).collect(),
        properties: properties
            .map(|(kind, value)| proto::Property { r#type: kind.clone(), value: value.clone() })
            .collect(),
        ..proto::Bundle::default()
    }
}

fn gvk_message(gvk: &Gvk, plural: &str) -> proto::GroupVersionKind {
    proto::GroupVersionKind {
        group: gvk.group.clone(),
        version: gvk.version.clone(),
        kind: gvk.kind.clone(),
        plural: plural.to_owned(),
    }
}

/// Each row once: package, channel, bundle, and what it replaces.
fn distinct<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, &'a str, &'a str)>,
) -> Vec<proto::ChannelEntry> {
    let rows: BTreeSet<_> = rows.collect();
    let entry =
        |(package, channel, bundle, replaces): (&str, &str, &str, &str)| proto::ChannelEntry {
            package_name: package.to_owned(),
            channel_name: channel.to_owned(),
            bundle_name: bundle.to_owned(),
            replaces: replaces.to_owned(),
        };
    rows.into_iter().map(entry).collect()
}

fn some<T>(rows: Vec<T>, otherwise: impl Fn() -> String) -> Result<Vec<T>, QueryError> {
    if rows.is_empty() { Err(nothing(otherwise())) } else { Ok(rows) }
}

fn nothing(message: String) -> QueryError {
    QueryError::Nothing(message)
}

fn words(api: &Gvk) -> String {
    format!("{} {} {}", api.group, api.version, api.kind)
}
