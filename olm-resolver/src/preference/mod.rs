//! What is preferred when several candidates would do (spec catalog-operator 3.5, 3.6).

mod catalogs;
mod chain;
mod channels;

use std::sync::Arc;

use olm_types::bundle::{CatalogKey, CatalogView, Entry};

pub use catalogs::CatalogViewpoint;
pub use chain::ChannelOrderError;
pub use channels::ChannelKey;

/// Orders candidates. Later orders refine earlier ones: catalogs, their channels, their entries.
pub trait Preference: Send + Sync {
    /// Puts the most preferred catalog first, as seen from the namespace and the bundle that asks.
    fn order_catalogs(&self, from: &CatalogViewpoint<'_>, catalogs: &mut [CatalogView]);

    /// Puts the most preferred channel of one catalog first.
    fn order_channels(&self, channels: &mut [ChannelKey]);

    /// The entries of one channel of one package of one catalog that may be chosen, newest first.
    fn order_entries(&self, entries: &[Arc<Entry>]) -> Result<Vec<Arc<Entry>>, ChannelOrderError>;
}

/// The preferences of OLM v0, made deterministic.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassicPreference;

impl Preference for ClassicPreference {
    fn order_catalogs(&self, from: &CatalogViewpoint<'_>, catalogs: &mut [CatalogView]) {
        catalogs::order(from, catalogs);
    }

    fn order_channels(&self, channels: &mut [ChannelKey]) {
        channels.sort();
    }

    fn order_entries(&self, entries: &[Arc<Entry>]) -> Result<Vec<Arc<Entry>>, ChannelOrderError> {
        chain::order(entries)
    }
}

/// The catalog of the bundle that asks, if it is a bundle.
pub(crate) fn same_catalog(from: &CatalogViewpoint<'_>, key: &CatalogKey) -> bool {
    from.catalog.is_some_and(|catalog| catalog == key)
}
