//! The frame of an API object: type, metadata, spec and status.
//!
//! `kube_derive::CustomResource` is not used because objects it defines cannot be read without a
//! `spec`, which the schemas of Operator, OLMConfig, OperatorCondition and OperatorGroup allow.

use serde::{Deserialize, Deserializer};

/// Defines the object of a kind and implements the traits that clients need.
macro_rules! kind {
    (
        $(#[$meta:meta])*
        pub struct $kind:ident: $group:literal / $version:literal, $plural:literal, $scope:ident {
            spec: $spec:ty,
            status: $status:ty,
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Deserialize)]
        #[serde(default)]
        pub struct $kind {
            /// Name, namespace, labels and what else every object has.
            #[serde(deserialize_with = "crate::api::kind::null_is_empty")]
            pub metadata: k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta,
            /// What is wanted.
            #[serde(deserialize_with = "crate::api::kind::null_is_empty")]
            pub spec: $spec,
            /// What was observed.
            pub status: Option<$status>,
        }

        impl $kind {
            /// Group and version, as manifests spell them.
            pub const API_VERSION: &'static str = concat!($group, "/", $version);
            /// The kind, as manifests spell it.
            pub const KIND: &'static str = stringify!($kind);

            /// An object with a name and a spec.
            #[must_use]
            pub fn new(name: &str, spec: $spec) -> Self {
                let mut object = Self { spec, ..Self::default() };
                object.metadata.name = Some(name.to_owned());
                object
            }
        }

        impl serde::Serialize for $kind {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeStruct;
                let fields = 4 + usize::from(self.status.is_some());
                let mut object = serializer.serialize_struct(Self::KIND, fields)?;
                object.serialize_field("apiVersion", Self::API_VERSION)?;
                object.serialize_field("kind", Self::KIND)?;
                object.serialize_field("metadata", &self.metadata)?;
                object.serialize_field("spec", &self.spec)?;
                match &self.status {
                    Some(status) => object.serialize_field("status", status)?,
                    None => object.skip_field("status")?,
                }
                object.end()
            }
        }

        impl kube_core::Resource for $kind {
            type DynamicType = ();
            type Scope = kube_core::$scope;

            fn kind((): &()) -> std::borrow::Cow<'_, str> {
                Self::KIND.into()
            }

            fn group((): &()) -> std::borrow::Cow<'_, str> {
                $group.into()
            }

            fn version((): &()) -> std::borrow::Cow<'_, str> {
                $version.into()
            }

            fn api_version((): &()) -> std::borrow::Cow<'_, str> {
                Self::API_VERSION.into()
            }

            fn plural((): &()) -> std::borrow::Cow<'_, str> {
                $plural.into()
            }

            fn meta(&self) -> &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &self.metadata
            }

            fn meta_mut(&mut self) -> &mut k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta {
                &mut self.metadata
            }
        }

        impl kube_core::object::HasSpec for $kind {
            type Spec = $spec;

            fn spec(&self) -> &$spec {
                &self.spec
            }

            fn spec_mut(&mut self) -> &mut $spec {
                &mut self.spec
            }
        }

        impl kube_core::object::HasStatus for $kind {
            type Status = $status;

            fn status(&self) -> Option<&$status> {
                self.status.as_ref()
            }

            fn status_mut(&mut self) -> &mut Option<$status> {
                &mut self.status
            }
        }
    };
}

pub(super) use kind;

/// Reads an explicit `null` as the empty value of the type, as the Go decoder does.
pub(super) fn null_is_empty<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
