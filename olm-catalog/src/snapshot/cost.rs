//! What parts of a snapshot take in memory, in bytes, with what allocations add to them.
//!
//! Texts and lists of properties are shared, and counted once by the interner. The indexes are counted
//! with the entries: entries that share one list of ten thousand APIs are ten thousand positions each.

use olm_types::bundle::{Entry, Property};

use super::catalog::{ChannelSummary, PackageSummary};

/// An allocation, with its place in a map.
const ALLOCATION: usize = 48;

/// A position in an index, with the capacity that its list grows by.
const POSITION: usize = 2 * size_of::<usize>();

/// A key of an index: an API in three texts, or a label.
const KEY: usize = 192;

/// A byte of a range, which becomes comparisons of versions.
const RANGE_BYTE: usize = 32;

/// A text of this length.
pub(super) fn text(length: usize) -> usize {
    length.saturating_add(ALLOCATION)
}

/// A list of properties beside its texts.
pub(super) fn properties(list: &[Property]) -> usize {
    size_of_val(list).saturating_add(ALLOCATION).saturating_add(indexed(list) * KEY)
}

/// An entry beside its texts and properties, in all indexes.
pub(super) fn entry(entry: &Entry) -> usize {
    let range = entry.skip_range.as_ref().map_or(0, |range| range.to_string().len() * RANGE_BYTE);
    let version = entry.version.as_ref().map_or(0, |version| version.to_string().len());
    let positions = (indexed(&entry.properties) + 1) * POSITION;
    [size_of::<Entry>(), ALLOCATION, size_of_val(entry.skips.as_slice()), range, version, positions]
        .into_iter()
        .fold(0, usize::saturating_add)
}

/// A package and its channels beside their texts.
pub(super) fn package(summary: &PackageSummary) -> usize {
    let channel = size_of::<ChannelSummary>() + ALLOCATION;
    size_of::<PackageSummary>() + ALLOCATION + summary.channels.len() * channel
}

/// How many properties are in an index.
fn indexed(list: &[Property]) -> usize {
    list.iter().filter(|property| matches!(&*property.kind, "olm.gvk" | "olm.label")).count()
}
