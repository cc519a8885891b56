//! The definition of each kind.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::definition::{Scope, definition, version};
use super::older;
use crate::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OLMConfig, Operator, OperatorCondition,
    OperatorGroup, Subscription,
};

pub(super) fn catalog_source() -> CustomResourceDefinition {
    let v1alpha1 = version::<CatalogSource>(
        "A catalog of packages.",
        &["metadata", "spec"],
        &[
            ("Display", "string", ".spec.displayName", "The pretty name of the catalog"),
            ("Type", "string", ".spec.sourceType", "The type of the catalog"),
            ("Publisher", "string", ".spec.publisher", "The publisher of the catalog"),
            ("Age", "date", ".metadata.creationTimestamp", ""),
        ],
    );
    definition::<CatalogSource>(Scope::Namespaced, &["catsrc"], vec![v1alpha1])
}

pub(super) fn cluster_service_version() -> CustomResourceDefinition {
    let v1alpha1 = version::<ClusterServiceVersion>(
        "One version of an operator: how it is installed, what it provides and what it requires.",
        &["metadata", "spec"],
        &[
            ("Display", "string", ".spec.displayName", "The name of the CSV"),
            ("Version", "string", ".spec.version", "The version of the CSV"),
            ("Release", "string", ".spec.release", "The release of this version of the CSV"),
            ("Replaces", "string", ".spec.replaces", "The name of a CSV that this one replaces"),
            ("Phase", "string", ".status.phase", ""),
        ],
    );
    definition::<ClusterServiceVersion>(Scope::Namespaced, &["csv", "csvs"], vec![v1alpha1])
}

pub(super) fn install_plan() -> CustomResourceDefinition {
    let first_csv = ".spec.clusterServiceVersionNames[0]";
    let v1alpha1 = version::<InstallPlan>(
        "The steps that install or upgrade a set of operators.",
        &["metadata", "spec"],
        &[
            ("CSV", "string", first_csv, "The first CSV in the list of clusterServiceVersionNames"),
            ("Approval", "string", ".spec.approval", "The approval mode"),
            ("Approved", "boolean", ".spec.approved", ""),
        ],
    );
    definition::<InstallPlan>(Scope::Namespaced, &["ip"], vec![v1alpha1])
}

pub(super) fn olm_config() -> CustomResourceDefinition {
    let v1 = version::<OLMConfig>("Settings of OLM for the whole cluster.", &["metadata"], &[]);
    definition::<OLMConfig>(Scope::Cluster, &[], vec![v1])
}

pub(super) fn operator_condition() -> CustomResourceDefinition {
    let v2 = version::<OperatorCondition>(
        "What an operator tells OLM about itself.",
        &["metadata"],
        &[],
    );
    let v1 = older::operator_condition_v1(&v2);
    definition::<OperatorCondition>(Scope::Namespaced, &["condition"], vec![v2, v1])
}

pub(super) fn operator_group() -> CustomResourceDefinition {
    let v1 = version::<OperatorGroup>(
        "The namespaces that the operators of a namespace watch.",
        &["metadata"],
        &[],
    );
    let v1alpha2 = older::operator_group_v1alpha2(&v1);
    definition::<OperatorGroup>(Scope::Namespaced, &["og"], vec![v1, v1alpha2])
}

pub(super) fn operator() -> CustomResourceDefinition {
    let v1 =
        version::<Operator>("Everything that belongs to one operator, found by label.", &[], &[]);
    definition::<Operator>(Scope::Cluster, &[], vec![v1])
}

pub(super) fn subscription() -> CustomResourceDefinition {
    let v1alpha1 = version::<Subscription>(
        "The wish to have a package installed and kept up to date.",
        &["metadata", "spec"],
        &[
            ("Package", "string", ".spec.name", "The package subscribed to"),
            ("Source", "string", ".spec.source", "The catalog source for the specified package"),
            ("Channel", "string", ".spec.channel", "The channel of updates to subscribe to"),
        ],
    );
    definition::<Subscription>(Scope::Namespaced, &["sub", "subs"], vec![v1alpha1])
}
