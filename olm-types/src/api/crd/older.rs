//! Older versions that are still served: the stored version without what it added.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinitionVersion, JSONSchemaProps,
};

/// OperatorGroup v1alpha2: no upgrade strategy, no conditions, lists of names without merge rule.
pub(super) fn operator_group_v1alpha2(
    v1: &CustomResourceDefinitionVersion,
) -> CustomResourceDefinitionVersion {
    let mut version = named("v1alpha2", v1);
    if let Some(spec) = field(&mut version, "spec") {
        spec.default = None;
        remove(spec, "upgradeStrategy");
        forget_list_type(spec, "targetNamespaces");
    }
    if let Some(status) = field(&mut version, "status") {
        remove(status, "conditions");
        forget_list_type(status, "namespaces");
    }
    version
}

/// OperatorCondition v1: the operator reports into the status, the spec has no conditions.
pub(super) fn operator_condition_v1(
    v2: &CustomResourceDefinitionVersion,
) -> CustomResourceDefinitionVersion {
    let mut version = named("v1", v2);
    if let Some(spec) = field(&mut version, "spec") {
        remove(spec, "conditions");
    }
    version
}

fn named(name: &str, newer: &CustomResourceDefinitionVersion) -> CustomResourceDefinitionVersion {
    CustomResourceDefinitionVersion { name: name.to_owned(), ..newer.clone() }
}

/// The schema of a field of the object.
fn field<'a>(
    version: &'a mut CustomResourceDefinitionVersion,
    name: &str,
) -> Option<&'a mut JSONSchemaProps> {
    let object = version.schema.as_mut()?.open_api_v3_schema.as_mut()?;
    object.properties.as_mut()?.get_mut(name)
}

fn remove(schema: &mut JSONSchemaProps, name: &str) {
    if let Some(properties) = &mut schema.properties {
        properties.remove(name);
    }
}

fn forget_list_type(schema: &mut JSONSchemaProps, name: &str) {
    if let Some(list) = schema.properties.as_mut().and_then(|properties| properties.get_mut(name)) {
        list.x_kubernetes_list_type = None;
    }
}
