//! ClusterOperators, on OpenShift and when a flag names them.

mod observe;
mod reconcile;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use reconcile::{ClusterOperatorReconciler, ReportingReconciler};

/// The names that flags gave; empty ones are not written.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The ClusterOperator of OLM itself.
    pub olm: String,
    /// The ClusterOperator of the package server.
    pub package_server: String,
}

impl Names {
    /// Those that were given.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let all = [self.olm.as_str(), self.package_server.as_str()];
        all.into_iter().filter(|name| !name.is_empty())
    }
}

/// What reports need besides CSVs. Clones share what is noted.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The ClusterOperators.
    pub names: Names,
    /// Namespace of OLM.
    pub namespace: String,
    /// Version of OpenShift, if the environment says it.
    pub release: Option<String>,
    has_worked: Arc<AtomicBool>,
}

impl Report {
    /// Nothing was done yet.
    pub fn new(names: Names, namespace: &str) -> Self {
        let release = std::env::var("RELEASE_VERSION").ok();
        Self { names, namespace: namespace.to_owned(), release, ..Self::default() }
    }

    /// A CSV was looked at without an error; true when it is the first.
    pub fn note_success(&self) -> bool {
        !self.has_worked.swap(true, Ordering::Relaxed)
    }

    /// Whether any CSV was looked at without an error.
    pub fn has_worked(&self) -> bool {
        self.has_worked.load(Ordering::Relaxed)
    }
}
