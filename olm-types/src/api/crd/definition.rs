//! The frame of a definition: names, scope, versions, printer columns, and the outermost schema.

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceColumnDefinition, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion, CustomResourceSubresourceStatus,
    CustomResourceSubresources, CustomResourceValidation, JSONSchemaProps,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube_core::Resource;
use kube_core::object::{HasSpec, HasStatus};
use schemars::JsonSchema;
use serde_json::json;

use super::structural::schema_of;

/// Whether objects of a kind live in namespaces.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    /// They do.
    Namespaced,
    /// They do not.
    Cluster,
}

/// The definition of a kind. The first version is the one that is stored.
pub(super) fn definition<K: Resource<DynamicType = ()>>(
    scope: Scope,
    short_names: &[&str],
    mut versions: Vec<CustomResourceDefinitionVersion>,
) -> CustomResourceDefinition {
    if let Some(stored) = versions.first_mut() {
        stored.storage = true;
    }
    versions.sort_by(|a, b| a.name.cmp(&b.name));
    CustomResourceDefinition {
        metadata: ObjectMeta {
            name: Some(format!("{}.{}", K::plural(&()), K::group(&()))),
            ..ObjectMeta::default()
        },
        spec: CustomResourceDefinitionSpec {
            group: K::group(&()).into_owned(),
            names: names::<K>(short_names),
            scope: format!("{scope:?}"),
            versions,
            ..CustomResourceDefinitionSpec::default()
        },
        ..CustomResourceDefinition::default()
    }
}

fn names<K: Resource<DynamicType = ()>>(short_names: &[&str]) -> CustomResourceDefinitionNames {
    let kind = K::kind(&()).into_owned();
    CustomResourceDefinitionNames {
        categories: Some(vec!["olm".to_owned()]),
        list_kind: Some(format!("{kind}List")),
        plural: K::plural(&()).into_owned(),
        short_names: (!short_names.is_empty()).then(|| owned(short_names)),
        singular: Some(kind.to_lowercase()),
        kind,
    }
}

/// A served version of a kind with a status subresource, by the types of its spec and status.
pub(super) fn version<K>(
    description: &str,
    required: &[&str],
    columns: &[(&str, &str, &str, &str)],
) -> CustomResourceDefinitionVersion
where
    K: Resource<DynamicType = ()> + HasSpec<Spec: JsonSchema> + HasStatus<Status: JsonSchema>,
{
    CustomResourceDefinitionVersion {
        name: K::version(&()).into_owned(),
        served: true,
        schema: Some(CustomResourceValidation {
            open_api_v3_schema: Some(object::<K>(description, required)),
        }),
        subresources: Some(CustomResourceSubresources {
            status: Some(CustomResourceSubresourceStatus(json!({}))),
            ..CustomResourceSubresources::default()
        }),
        additional_printer_columns: (!columns.is_empty())
            .then(|| columns.iter().map(column).collect()),
        ..CustomResourceDefinitionVersion::default()
    }
}

/// The schema of the object as a whole.
fn object<K>(description: &str, required: &[&str]) -> JSONSchemaProps
where
    K: HasSpec<Spec: JsonSchema> + HasStatus<Status: JsonSchema>,
{
    let fields = [
        (
            "apiVersion",
            described("string", "Group and version of the API that the object is written in."),
        ),
        ("kind", described("string", "Kind of the object.")),
        (
            "metadata",
            JSONSchemaProps { type_: Some("object".to_owned()), ..JSONSchemaProps::default() },
        ),
        ("spec", schema_of::<K::Spec>()),
        ("status", schema_of::<K::Status>()),
    ];
    JSONSchemaProps {
        properties: Some(
            fields
                .into_iter()
                .map(|(name, schema)| (name.to_owned(), schema))
                .collect::<BTreeMap<_, _>>(),
        ),
        required: (!required.is_empty()).then(|| owned(required)),
        ..described("object", description)
    }
}

fn described(type_name: &str, description: &str) -> JSONSchemaProps {
    JSONSchemaProps {
        type_: Some(type_name.to_owned()),
        description: Some(description.to_owned()),
        ..JSONSchemaProps::default()
    }
}

/// A printer column from name, type, path and description; the last may be empty.
fn column(
    &(name, type_name, path, description): &(&str, &str, &str, &str),
) -> CustomResourceColumnDefinition {
    CustomResourceColumnDefinition {
        name: name.to_owned(),
        type_: type_name.to_owned(),
        json_path: path.to_owned(),
        description: (!description.is_empty()).then(|| description.to_owned()),
        ..CustomResourceColumnDefinition::default()
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
