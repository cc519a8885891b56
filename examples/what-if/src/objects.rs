//! What kubectl printed of a cluster: Subscriptions, CSVs and CatalogSources.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use olm_resolver::{InstalledCsv, SubscriptionFacts};
use olm_types::api::{CatalogSource, ClusterServiceVersion, Subscription};
use olm_types::bundle::CatalogKey;
use olm_types::document::{self, Budget, Meter};
use olm_types::labels::COPIED_FROM;
use serde_json::Value;

/// What was read.
#[derive(Default)]
pub struct Objects {
    /// By name.
    pub namespaces: BTreeMap<String, Namespace>,
    /// Of CatalogSources.
    pub priorities: BTreeMap<CatalogKey, i64>,
}

/// What a resolution has to know about a namespace.
#[derive(Default)]
pub struct Namespace {
    /// Its Subscriptions.
    pub subscriptions: Vec<SubscriptionFacts>,
    /// Its CSVs, without copies.
    pub installed: Vec<InstalledCsv>,
}

impl Objects {
    /// Reads a file with one object, a list, or several documents of these.
    ///
    /// # Errors
    /// It cannot be read, or one of its objects has another form than its kind.
    pub fn read(&mut self, file: &Path) -> Result<()> {
        let cannot_read = || format!("cannot read {}", file.display());
        let text = fs::read(file).with_context(cannot_read)?;
        let documents = document::all(&text, &mut Meter::in_all(Budget::CATALOG));
        let documents = documents
            .map_err(|(number, error)| anyhow!("document {number}: {error}"))
            .with_context(cannot_read)?;
        let added = documents.into_iter().try_for_each(|document| self.add_all(document));
        added.with_context(cannot_read)
    }

    fn add_all(&mut self, mut document: Value) -> Result<()> {
        match document.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => items.into_iter().try_for_each(|item| self.add(item)),
            _ => self.add(document),
        }
    }

    fn add(&mut self, object: Value) -> Result<()> {
        match object.get("kind").and_then(Value::as_str).unwrap_or_default() {
            Subscription::KIND => {
                let subscription: Subscription = serde_json::from_value(object)?;
                let facts = SubscriptionFacts::from(&subscription);
                self.namespace(subscription.metadata.namespace).subscriptions.push(facts);
            }
            ClusterServiceVersion::KIND => {
                let csv: ClusterServiceVersion = serde_json::from_value(object)?;
                let labels = csv.metadata.labels.as_ref();
                if !labels.is_some_and(|labels| labels.contains_key(COPIED_FROM)) {
                    let installed = InstalledCsv::from(&csv);
                    self.namespace(csv.metadata.namespace).installed.push(installed);
                }
            }
            CatalogSource::KIND => {
                let source: CatalogSource = serde_json::from_value(object)?;
                let metadata = source.metadata;
                let namespace = metadata.namespace.unwrap_or_default();
                let key = CatalogKey::new(&namespace, &metadata.name.unwrap_or_default());
                self.priorities.insert(key, source.spec.priority.unwrap_or_default());
            }
            _ => {}
        }
        Ok(())
    }

    fn namespace(&mut self, name: Option<String>) -> &mut Namespace {
        self.namespaces.entry(name.unwrap_or_default()).or_default()
    }
}
