//! Collects the records of one listing into a snapshot.
//!
//! Bundles come first, in the order of the listing; the packages they belong to are asked for
//! afterwards, and each is given to [`SnapshotBuilder::add_package`]. One bad bundle is left out with
//! a reason; a catalog beyond the limits is refused as a whole, as soon as it is.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};

use super::catalog::{CatalogSnapshot, ChannelSummary, PackageSummary, SkippedBundle};
use super::intern::Interner;
use super::{LimitExceeded, SnapshotLimits};
use super::{convert, cost};
use crate::registry::decoded::{bundle_bytes, package_bytes};
use crate::registry::proto;

/// Most reasons kept for bundles that were left out; more are only counted.
const KEPT_REASONS: usize = 100;

/// Most bytes of a name or a reason that is kept for a bundle that was left out.
const REASON_BYTES: usize = 1024;

/// A snapshot in the making.
#[derive(Debug)]
pub struct SnapshotBuilder {
    key: CatalogKey,
    limits: SnapshotLimits,
    interner: Interner,
    entries: Vec<Entry>,
    packages: BTreeMap<Arc<str>, Result<PackageSummary, String>>,
    /// Bytes of decoded messages so far.
    transferred: usize,
    /// Bytes kept so far beside those of the interner.
    kept: usize,
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
            packages: BTreeMap::new(),
            transferred: 0,
            kept: 0,
            skipped: Skipped::default(),
        }
    }

    /// Adds one bundle of the listing; a malformed one is recorded and left out.
    ///
    /// # Errors
    /// The catalog exceeds a limit.
    pub fn add(&mut self, bundle: &proto::Bundle) -> Result<(), LimitExceeded> {
        if self.entries.len().saturating_add(self.skipped.count) >= self.limits.entries {
            return Err(LimitExceeded::Entries(self.limits.entries));
        }
        self.transfer(bundle_bytes(bundle))?;
        match convert::entry(&self.key, bundle, &mut self.interner) {
            Ok(entry) => {
                self.kept = self.kept.saturating_add(cost::entry(&entry));
                self.entries.push(entry);
            }
            Err(error) => self.skipped.push(bundle, &with_causes(&error)),
        }
        self.check_kept()
    }

    /// Names of the packages that the bundles so far belong to.
    pub fn packages(&self) -> BTreeSet<Arc<str>> {
        self.entries.iter().map(|entry| Arc::clone(&entry.package)).collect()
    }

    /// Adds what the catalog says about a package, or why it says nothing.
    ///
    /// # Errors
    /// The catalog exceeds a limit.
    pub fn add_package(
        &mut self,
        name: Arc<str>,
        answer: Result<proto::Package, String>,
    ) -> Result<(), LimitExceeded> {
        let summary = match answer {
            Ok(package) => {
                self.transfer(package_bytes(&package))?;
                let summary = summary(&package, &mut self.interner);
                self.kept = self.kept.saturating_add(cost::package(&summary));
                Ok(summary)
            }
            Err(reason) => Err(shortened(&reason).to_owned()),
        };
        self.packages.insert(name, summary);
        self.check_kept()
    }

    /// The snapshot. Bundles whose package was refused, or was not asked for, are left out.
    pub fn finish(mut self) -> CatalogSnapshot {
        let mut entries = Vec::with_capacity(self.entries.len());
        for mut entry in std::mem::take(&mut self.entries) {
            match self.packages.get(&entry.package) {
                Some(Ok(package)) => {
                    complete(&mut entry, package);
                    entries.push(Arc::new(entry));
                }
                refused => self.skipped.push_entry(&entry, refused),
            }
        }
        let bytes = self.bytes();
        let packages = self.packages.into_iter();
        let packages = packages.filter_map(|(name, summary)| Some((name, summary.ok()?))).collect();
        CatalogSnapshot::new(self.key, entries, packages, self.skipped.kept, self.skipped.count)
            .taking(bytes)
    }

    fn transfer(&mut self, bytes: usize) -> Result<(), LimitExceeded> {
        self.transferred = self.transferred.saturating_add(bytes);
        match self.transferred > self.limits.transfer_bytes {
            true => Err(LimitExceeded::TransferBytes(self.limits.transfer_bytes)),
            false => Ok(()),
        }
    }

    fn check_kept(&self) -> Result<(), LimitExceeded> {
        match self.bytes() > self.limits.kept_bytes {
            true => Err(LimitExceeded::KeptBytes(self.limits.kept_bytes)),
            false => Ok(()),
        }
    }

    fn bytes(&self) -> usize {
        self.interner.bytes().saturating_add(self.kept)
    }
}

impl Skipped {
    fn push(&mut self, bundle: &proto::Bundle, reason: &str) {
        self.record(&bundle.package_name, &bundle.channel_name, &bundle.csv_name, reason);
    }

    fn push_entry(&mut self, entry: &Entry, answer: Option<&Result<PackageSummary, String>>) {
        let reason = match answer {
            Some(Err(reason)) => format!("the catalog did not give its package: {reason}"),
            _ => "the catalog was not asked for its package".to_owned(),
        };
        self.record(&entry.package, &entry.channel, &entry.name, &reason);
    }

    fn record(&mut self, package: &str, channel: &str, name: &str, reason: &str) {
        self.count = self.count.saturating_add(1);
        if self.kept.len() < KEPT_REASONS {
            self.kept.push(SkippedBundle {
                package: shortened(package).to_owned(),
                channel: shortened(channel).to_owned(),
                name: shortened(name).to_owned(),
                reason: shortened(reason).to_owned(),
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

/// The beginning of a text of a catalog, which may be of any length.
fn shortened(text: &str) -> &str {
    text.get(..text.floor_char_boundary(REASON_BYTES)).unwrap_or(text)
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
