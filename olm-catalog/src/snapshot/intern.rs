//! One copy of each distinct text and property list while a snapshot is built.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_types::bundle::Property;

use super::cost;

/// Shares equal strings and equal property lists: a bundle in five channels keeps one list.
#[derive(Debug, Default)]
pub(super) struct Interner {
    texts: BTreeSet<Arc<str>>,
    properties: BTreeSet<Arc<[Property]>>,
    bytes: usize,
}

impl Interner {
    /// The shared copy of a text.
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.texts.get(text) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = text.into();
        self.bytes = self.bytes.saturating_add(cost::text(text.len()));
        self.texts.insert(Arc::clone(&shared));
        shared
    }

    /// The shared copy of a text, if it is not empty.
    pub(super) fn non_empty(&mut self, text: &str) -> Option<Arc<str>> {
        (!text.is_empty()).then(|| self.text(text))
    }

    /// The shared copy of a property list.
    pub(super) fn properties(&mut self, list: Vec<Property>) -> Arc<[Property]> {
        if let Some(known) = self.properties.get(list.as_slice()) {
            return Arc::clone(known);
        }
        self.bytes = self.bytes.saturating_add(cost::properties(&list));
        let shared: Arc<[Property]> = list.into();
        self.properties.insert(Arc::clone(&shared));
        shared
    }

    /// Bytes that distinct content takes so far.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
