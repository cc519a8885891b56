//! Gathers what a ClusterOperator says. Decides nothing.

use std::sync::Arc;

use olm_lifecycle::cluster_operator::{OlmReport, PackageServerReport};
use olm_lifecycle::tenancy::Trust;
use olm_opgroup::TenantPolicy;
use olm_types::api::ClusterServiceVersion;
use olm_types::labels::CLUSTER_OPERATOR_NAME;
use serde_json::Value;

use super::Report;
use crate::stores::Stores;

/// What OLM says of itself. A CSV whose properties are not trusted has no say in whether the cluster may be
/// upgraded: every user may write one, and name any version in it.
pub fn olm(stores: &Stores, report: &Report, trust: &Trust, live: Option<Value>) -> OlmReport {
    OlmReport {
        name: report.names.olm.clone(),
        live,
        csvs: stores.csvs.list_where(|csv| trust.properties(csv)),
        namespace: report.namespace.clone(),
        has_worked: report.has_worked(),
        release: report.release.clone(),
        olm_version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// What the CSVs of the package server say: those that are labelled, as in v0; under the strict
/// policy those in OLM's namespace, since every user may label his own.
pub fn package_server(
    stores: &Stores,
    report: &Report,
    live: Option<Value>,
) -> PackageServerReport {
    let name = report.names.package_server.clone();
    let is_labelled = |csv: &ClusterServiceVersion| {
        let labels = csv.metadata.labels.as_ref();
        let is_ours = csv.metadata.namespace.as_ref() == Some(&report.namespace);
        (stores.policy == TenantPolicy::V0 || is_ours)
            && labels.and_then(|labels| labels.get(CLUSTER_OPERATOR_NAME)) == Some(&name)
    };
    let csvs: Vec<Arc<ClusterServiceVersion>> = stores.csvs.list_where(is_labelled);
    PackageServerReport { name: name.clone(), live, csvs, release: report.release.clone() }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use olm_effect::Action;
    use olm_kit::watch::Store;
    use olm_lifecycle::cluster_operator::decide_olm;
    use olm_lifecycle::tenancy::Attestor;
    use olm_types::annotations::{ATTESTED_PROPERTIES, PROPERTIES};
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::controllers::cluster_operator::Names;

    #[rstest]
    #[case::as_in_v0(TenantPolicy::V0, &["olm", "tenant"])]
    #[case::a_tenant_reports_nothing(TenantPolicy::Strict, &["olm"])]
    fn who_reports_of_the_package_server(#[case] policy: TenantPolicy, #[case] expected: &[&str]) {
        let csv = |namespace: &str| {
            let labels = json!({CLUSTER_OPERATOR_NAME: "packages"});
            let metadata =
                json!({"name": "packageserver", "namespace": namespace, "labels": labels});
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap()
        };
        let csvs = Store::with_objects([csv("olm"), csv("tenant")]);
        let stores = Stores { csvs, policy, ..Stores::default() };
        let names = Names { package_server: "packages".to_owned(), ..Names::default() };
        let reported = package_server(&stores, &Report::new(names, "olm"), None).csvs;
        let reported: Vec<_> =
            reported.iter().filter_map(|csv| csv.metadata.namespace.as_deref()).collect();
        assert_eq!(reported, expected);
    }

    /// A CSV that works up to this version of the cluster. `from` says where its properties come from.
    fn limited(namespace: &str, maximum: &str, from: &Attestor) -> ClusterServiceVersion {
        let property = json!([{"type": "olm.maxOpenShiftVersion", "value": maximum}]);
        let annotations = json!({PROPERTIES: property.to_string()});
        let metadata = json!({"name": "a.v1", "namespace": namespace, "annotations": annotations});
        let mut csv: ClusterServiceVersion =
            serde_json::from_value(json!({"metadata": metadata, "spec": {}})).unwrap();
        if let Some(mark) = from.properties_mark(namespace, &csv) {
            let annotations = csv.metadata.annotations.get_or_insert_default();
            annotations.insert(ATTESTED_PROPERTIES.to_owned(), mark);
        }
        csv
    }

    #[rstest]
    #[case::as_in_v0(TenantPolicy::V0, "tenant", Attestor::default(), "False")]
    #[case::by_hand(TenantPolicy::Strict, "tenant", Attestor::default(), "True")]
    #[case::of_another_key(TenantPolicy::Strict, "tenant", Attestor::new(b"other"), "True")]
    #[case::of_a_global_catalog(TenantPolicy::Strict, "tenant", Attestor::new(b"key"), "False")]
    #[case::where_all_is_trusted(TenantPolicy::Strict, "admin", Attestor::default(), "False")]
    fn who_holds_up_upgrades_of_the_cluster(
        #[case] policy: TenantPolicy,
        #[case] namespace: &str,
        #[case] from: Attestor,
        #[case] upgradeable: &str,
    ) {
        let csvs = Store::with_objects([limited(namespace, "4.0", &from)]);
        let stores = Stores { csvs, policy, ..Stores::default() };
        let (namespaces, attestor) = (["admin".to_owned()].into(), Attestor::new(b"key"));
        let trust = Trust { policy, namespaces, attestor };
        let release = Some("4.16.0".to_owned());
        let report = Report { release, ..Report::new(Names::default(), "olm") };
        report.note_success();
        let report = olm(&stores, &report, &trust, Some(json!({"metadata": {"name": "o"}})));
        let effect = decide_olm(&report, Timestamp::UNIX_EPOCH).unwrap();
        let Action::Status { object, .. } = effect.action else { panic!("{effect:?}") };
        let conditions = object["status"]["conditions"].as_array().unwrap();
        let found = conditions.iter().find(|one| one["type"] == "Upgradeable").unwrap();
        assert_eq!(found["status"], upgradeable);
    }
}
