//! What is remembered of a blob while the rest of the catalog is read, in bytes of memory: names and
//! edges, and for a bundle the APIs by which it is found.

use olm_types::gvk::Gvk;

use super::blob::{Blob, ChannelEntry};
use super::model::BundleContent;

/// What anything takes beside its texts.
const ITEM: usize = 100;
/// What a bundle takes beside its texts: it is in the catalog and in an index.
const BUNDLE: usize = 600;

/// What is remembered of a blob.
pub(super) fn of_blob(blob: &Blob) -> usize {
    let texts = |texts: &[&str]| texts.iter().map(|text| text.len()).sum::<usize>() + ITEM;
    match blob {
        // Each name is kept twice: as a key, and in what it names.
        Blob::Package(package) => texts(&[&package.name, &package.name, &package.default_channel]),
        Blob::Channel(channel) => {
            let entries = channel.entries.iter().map(of_entry).sum::<usize>();
            texts(&[&channel.package, &channel.name, &channel.name]) + entries
        }
        Blob::Bundle(bundle) => 3 * (bundle.package.len() + bundle.name.len()) + BUNDLE,
        Blob::Deprecations(deprecations) => {
            let items = deprecations.items.iter();
            items.map(|item| texts(&[&item.schema, &item.name, &item.message])).sum::<usize>()
                + texts(&[&deprecations.package])
        }
        Blob::Other(meta) => texts(&[&meta.schema, &meta.package]),
    }
}

fn of_entry(entry: &ChannelEntry) -> usize {
    let skips = entry.skips.iter().map(|name| name.len() + size_of::<String>()).sum::<usize>();
    2 * entry.name.len() + entry.replaces.len() + entry.skip_range.len() + skips + ITEM
}

/// What is remembered of a bundle's content.
pub(super) fn of_content(content: &BundleContent) -> usize {
    let of = |api: &Gvk| api.group.len() + api.version.len() + api.kind.len() + ITEM;
    content.properties.provided.iter().map(of).sum()
}
