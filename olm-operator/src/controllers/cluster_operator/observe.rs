//! Gathers what a ClusterOperator tells. Decides nothing.

use std::sync::Arc;

use olm_lifecycle::cluster_operator::{OlmReport, PackageServerReport};
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::CLUSTER_OPERATOR_NAME;
use serde_json::Value;

use super::Report;
use crate::stores::Stores;

/// What OLM tells of itself.
pub fn olm(stores: &Stores, report: &Report, live: Option<Value>) -> OlmReport {
    OlmReport {
        name: report.names.olm.clone(),
        live,
        csvs: stores.csvs.list(),
        namespace: report.namespace.clone(),
        has_worked: report.has_worked(),
        release: report.release.clone(),
        olm_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the CSVs of the package server tell.
pub fn package_server(
    stores: &Stores,
    report: &Report,
    live: Option<Value>,
) -> PackageServerReport {
    let name = report.names.package_server.clone();
    let is_labelled = |csv: &ClusterServiceVersion| {
        let labels = csv.metadata.labels.as_ref();
        labels.and_then(|labels| labels.get(CLUSTER_OPERATOR_NAME)) == Some(&name)
    };
    let csvs: Vec<Arc<ClusterServiceVersion>> = stores.csvs.list_where(is_labelled);
    PackageServerReport { name: name.clone(), live, csvs, release: report.release.clone() }
}
