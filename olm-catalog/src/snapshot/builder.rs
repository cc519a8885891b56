//! Collects the records of one listing into a snapshot.
//!
//! Bundles come first, in the order of the listing; the packages they belong to are asked for
//! afterwards and given to [`SnapshotBuilder::finish`]. One bad bundle is left out with a reason;
//! a catalog beyond the limits is refused as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};
use prost::Message;

use super::catalog::{CatalogSnapshot, ChannelSummary, PackageSummary, SkippedBundle};
use super::convert;
use super::intern::Interner;
use super::limits::{LimitExceeded, SnapshotLimits};
use crate::registry::proto;

/// Most reasons kept for bundles that were left out; more are only counted.
const KEPT_REASONS: usize = 100;

/// A snapshot in the making.
#[derive(Debug)]
pub struct SnapshotBuilder {
    key: CatalogKey,
    limits: SnapshotLimits,
    interner: Interner,
    entries: Vec<Entry>,
    transferred: usize,
    skipped: Skipped,
}

#[derive(Debug, Default)]
struct Skipped {
    kept: Vec<SkippedBundle>,
    count: usize,
}

impl SnapshotBuilder {
    /// An empty snapshot of the catalog `key`.
    pub fn new(key: CatalogKey, limits: SnapshotLimits) -> Self {
        Self {
            key,
            limits,
            interner: Interner::default(),
            entries: Vec::new(),
            transferred: 0,
            skipped: Skipped::default(),
        }
    }

    /// Adds one bundle of the listing; a malformed one is recorded and left out.
    ///
    /// # Errors
    /// The catalog exceeds a limit.
    pub fn add(&mut self, bundle: &proto::Bundle) -> Result<(), LimitExceeded> {
        self.transferred = self.transferred.saturating_add(bundle.encoded_len());
        if self.entries.len().saturating_add(self.skipped.count) >= self.limits.entries {
            return Err(LimitExceeded::Entries(self.limits.entries));
        }
        match convert::entry(&self.key, bundle, &mut self.interner) {
            Ok(entry) => self.entries.push(entry),
            Err(error) => self.skipped.push(bundle, with_causes(&error)),
        }
        self.check_bytes()
    }

    /// Names of the packages that the bundles so far belong to.
    pub fn packages(&self) -> BTreeSet<Arc<str>> {
        self.entries.iter().map(|entry| Arc::clone(&entry.package)).collect()
    }

    /// The snapshot. Bundles whose package is an error here, or missing, are left out.
    pub fn finish(
        mut self,
        packages: &BTreeMap<Arc<str>, Result<proto::Package, String>>,
    ) -> CatalogSnapshot {
        let mut summaries = BTreeMap::new();
        for (name, answer) in packages {
            if let Ok(package) = answer {
                summaries.insert(Arc::clone(name), summary(package, &mut self.interner));
            }
        }
        let mut entries = Vec::with_capacity(self.entries.len());
        for mut entry in std::mem::take(&mut self.entries) {
            match summaries.get(&entry.package) {
                Some(package) => {
                    complete(&mut entry, package);
                    entries.push(Arc::new(entry));
                }
                None => self.skipped.push_entry(&entry, packages.get(&entry.package)),
            }
        }
        CatalogSnapshot::new(self.key, entries, summaries, self.skipped.kept, self.skipped.count)
    }

    fn check_bytes(&self) -> Result<(), LimitExceeded> {
        if self.transferred > self.limits.transfer_bytes {
            return Err(LimitExceeded::TransferBytes(self.limits.transfer_bytes));
        }
        if self.interner.bytes() > self.limits.text_bytes {
            return Err(LimitExceeded::TextBytes(self.limits.text_bytes));
        }
        Ok(())
    }
}

impl Skipped {
    fn push(&mut self, bundle: &proto::Bundle, reason: String) {
        self.record(&bundle.package_name, &bundle.channel_name, &bundle.csv_name, reason);
    }

    fn push_entry(&mut self, entry: &Entry, answer: Option<&Result<proto::Package, String>>) {
        let reason = match answer {
            Some(Err(reason)) => format!("the catalog did not give its package: {reason}"),
            _ => "the catalog was not asked for its package".to_owned(),
        };
        self.record(&entry.package, &entry.channel, &entry.name, reason);
    }

    fn record(&mut self, package: &str, channel: &str, name: &str, reason: String) {
        self.count = self.count.saturating_add(1);
        if self.kept.len() < KEPT_REASONS {
            self.kept.push(SkippedBundle {
                package: package.to_owned(),
                channel: channel.to_owned(),
                name: name.to_owned(),
                reason,
            });
        }
    }
}

fn summary(package: &proto::Package, interner: &mut Interner) -> PackageSummary {
    let channels = package.channels.iter().map(|channel| {
        let summary = ChannelSummary {
            head: interner.text(&channel.csv_name),
            deprecation: convert::message(channel.deprecation.as_ref(), interner),
        };
        (interner.text(&channel.name), summary)
    });
    PackageSummary {
        channels: channels.collect(),
        default_channel: interner.text(&package.default_channel_name),
        deprecation: convert::message(package.deprecation.as_ref(), interner),
    }
}

/// What only the package knows about an entry.
fn complete(entry: &mut Entry, package: &PackageSummary) {
    entry.in_default_channel = entry.channel == package.default_channel;
    entry.deprecations.package = package.deprecation.clone();
    entry.deprecations.channel =
        package.channels.get(&entry.channel).and_then(|channel| channel.deprecation.clone());
}

/// An error followed by its causes, as `a: b: c`.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
