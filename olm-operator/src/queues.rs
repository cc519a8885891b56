//! What is to be done, as keys.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use olm_kit::ObjectKey;
use olm_kit::queue::Queue;

use crate::components::ComponentId;
use crate::controllers::copied_csv::CopyKey;

/// Pause before a report, so that many changes are reported once.
const REPORT_PAUSE: Duration = Duration::from_secs(1);

/// Pause before an Operator's components are listed: an install brings a dozen of them at once.
const COMPONENTS_PAUSE: Duration = Duration::from_millis(300);

/// One queue per controller. Clones share them.
#[derive(Clone, Default)]
pub struct Queues {
    /// ClusterServiceVersions.
    pub csvs: Queue<ObjectKey>,
    /// OperatorGroups.
    pub groups: Queue<ObjectKey>,
    /// Namespaces, for their labels.
    pub namespaces: Queue<String>,
    /// Copies of CSVs.
    pub copies: Queue<CopyKey>,
    /// OLMConfigs, for their status.
    pub configs: Queue<String>,
    /// Operators.
    pub operators: Queue<String>,
    /// Subscriptions, for what they adopt.
    pub subscriptions: Queue<ObjectKey>,
    /// CSVs, for what they adopt.
    pub adoptions: Queue<ObjectKey>,
    /// OperatorConditions and the CSVs of their names.
    pub conditions: Queue<ObjectKey>,
    /// API services that may be orphans.
    pub api_services: Queue<String>,
    /// Objects that may lack a label of OLM.
    pub labels: Queue<ComponentId>,
    /// ClusterOperators.
    pub reports: Queue<String>,
    /// The names of those that are written.
    reported: Arc<BTreeSet<String>>,
    watched: Arc<Option<BTreeSet<String>>>,
}

impl Queues {
    /// Empty queues that take keys of these namespaces only; of all when `None`.
    pub fn new(watched: Option<BTreeSet<String>>) -> Self {
        Self { watched: Arc::new(watched), ..Self::default() }
    }

    /// The same, with ClusterOperators that are to be written.
    #[must_use]
    pub fn reporting<'a>(self, names: impl Iterator<Item = &'a str>) -> Self {
        Self { reported: Arc::new(names.map(str::to_owned).collect()), ..self }
    }

    /// Asks for a report to every ClusterOperator soon; many reasons make one report.
    pub fn add_reports(&self) {
        for name in self.reported.iter() {
            self.reports.add_after(name.clone(), REPORT_PAUSE);
        }
    }

    /// Asks for a pass of a CSV.
    pub fn add_csv(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.csvs.add(key);
        }
    }

    /// Asks for a look at an OperatorGroup.
    pub fn add_group(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.groups.add(key);
        }
    }

    /// Asks for a look at the labels of a namespace.
    pub fn add_namespace(&self, name: &str) {
        if !name.is_empty() {
            self.namespaces.add(name.to_owned());
        }
    }

    /// Asks for a look at copies.
    pub fn add_copy(&self, key: CopyKey) {
        if self.looks_after(&key.origin) {
            self.copies.add(key);
        }
    }

    /// Asks for a look at the status of an OLMConfig.
    pub fn add_config(&self, name: &str) {
        self.configs.add(name.to_owned());
    }

    /// Asks for a look at an Operator soon; many reasons make one look. Its namespace is the last
    /// part of its name.
    pub fn add_operator(&self, name: &str) {
        let (_, namespace) = name.rsplit_once('.').unwrap_or_default();
        if self.looks_after(&ObjectKey::namespaced(namespace, name)) {
            self.operators.add_after(name.to_owned(), COMPONENTS_PAUSE);
        }
    }

    /// Asks for a look at what a Subscription adopts.
    pub fn add_subscription(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.subscriptions.add(key);
        }
    }

    /// Asks for a look at what a CSV adopts.
    pub fn add_adoption(&self, csv: ObjectKey) {
        if self.looks_after(&csv) {
            self.adoptions.add(csv);
        }
    }

    /// Asks for a look at an OperatorCondition.
    pub fn add_condition(&self, key: ObjectKey) {
        if self.looks_after(&key) {
            self.conditions.add(key);
        }
    }

    /// Asks for a look at an API service whose labels name a CSV of that namespace.
    pub fn add_api_service(&self, name: String, owner: &ObjectKey) {
        if self.looks_after(owner) {
            self.api_services.add(name);
        }
    }

    /// Asks for a look at the labels of an object, which `owner` made it for.
    pub fn add_label(&self, id: ComponentId, owner: Option<ObjectKey>) {
        if self.looks_after(owner.as_ref().unwrap_or(&id.key)) {
            self.labels.add(id);
        }
    }

    /// Whether no namespace is left to another OLM operator.
    pub fn looks_after_all(&self) -> bool {
        self.watched.is_none()
    }

    /// Whether objects of the namespace of this key are this operator's work.
    pub fn looks_after(&self, key: &ObjectKey) -> bool {
        let namespace = key.namespace.as_deref().unwrap_or_default();
        self.watched.as_ref().as_ref().is_none_or(|watched| watched.contains(namespace))
    }
}
