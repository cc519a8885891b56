//! Subscriptions and CSVs, as they are in a cluster, as the resolver sees them.

use olm_types::annotations::{PIN, PROPERTIES, VERSION_RANGE};
use olm_types::api::{ClusterServiceVersion, CrdDescription, Subscription};
use olm_types::bundle::CatalogKey;
use olm_types::gvk::{CrdName, Gvk};
use olm_types::properties;
use olm_types::version::{Version, VersionRange};

use super::{InstalledCsv, InstalledProperties, SubscriptionFacts};

impl From<&Subscription> for SubscriptionFacts {
    /// What matters of a Subscription. One that names neither a catalog nor a namespace of catalogs
    /// may be served by any visible catalog. What is declared about versions and cannot be read takes
    /// nothing, so that a mistake does not let through what was to be held back.
    fn from(subscription: &Subscription) -> Self {
        let spec = &subscription.spec;
        let status = subscription.status.as_ref();
        let text = |text: Option<&String>| text.filter(|text| !text.is_empty()).cloned();
        let annotations = subscription.metadata.annotations.as_ref();
        let annotation = |key: &str| annotations.and_then(|annotations| annotations.get(key));
        let anywhere = spec.source.is_empty() && spec.source_namespace.is_empty();
        Self {
            name: subscription.metadata.name.clone().unwrap_or_default(),
            package: spec.name.clone(),
            channel: text(spec.channel.as_ref()),
            catalog: (!anywhere).then(|| CatalogKey::new(&spec.source_namespace, &spec.source)),
            starting_csv: text(spec.starting_csv.as_ref()),
            installed_csv: text(status.and_then(|status| status.installed_csv.as_ref())),
            current_csv: text(status.and_then(|status| status.current_csv.as_ref())),
            pinned: annotation(PIN).is_some_and(|value| value != "false"),
            version_range: annotation(VERSION_RANGE).map(|text| {
                VersionRange::parse(text).unwrap_or_else(|_| VersionRange::nothing(text))
            }),
            held_by: None,
        }
    }
}

impl SubscriptionFacts {
    /// What matters of a Subscription for which nothing new is resolved, as an annotation says.
    pub fn held(subscription: &Subscription, annotation: &'static str) -> Self {
        Self { held_by: Some(annotation), ..Self::from(subscription) }
    }
}

impl From<&ClusterServiceVersion> for InstalledCsv {
    /// What matters of a CSV. A version that does not parse counts as none; properties that do not
    /// parse are [`InstalledProperties::Unreadable`] (spec catalog-operator 3.2).
    fn from(csv: &ClusterServiceVersion) -> Self {
        Self {
            name: csv.metadata.name.clone().unwrap_or_default(),
            version: csv.spec.version.as_deref().and_then(|version| Version::parse(version).ok()),
            properties: properties_of(csv),
            phase: csv.phase(),
            replaces: csv.spec.replaces.clone().filter(|name| !name.is_empty()),
        }
    }
}

fn properties_of(csv: &ClusterServiceVersion) -> InstalledProperties {
    match csv.metadata.annotations.as_ref().and_then(|annotations| annotations.get(PROPERTIES)) {
        Some(text) => match properties::annotation::parse(text) {
            Ok(properties) => InstalledProperties::Annotated(properties),
            Err(error) => InstalledProperties::Unreadable(error.to_string()),
        },
        None => apis_of(csv).unwrap_or_else(InstalledProperties::Unreadable),
    }
}

fn apis_of(csv: &ClusterServiceVersion) -> Result<InstalledProperties, String> {
    let (mut provided, mut required) = (Vec::new(), Vec::new());
    if let Some(crds) = &csv.spec.customresourcedefinitions {
        provided.extend(crds.owned.iter().map(crd).collect::<Result<Vec<_>, _>>()?);
        required.extend(crds.required.iter().map(crd).collect::<Result<Vec<_>, _>>()?);
    }
    if let Some(services) = &csv.spec.apiservicedefinitions {
        provided
            .extend(services.owned.iter().map(|api| Gvk::new(&api.group, &api.version, &api.kind)));
        required.extend(
            services.required.iter().map(|api| Gvk::new(&api.group, &api.version, &api.kind)),
        );
    }
    Ok(InstalledProperties::Apis { provided, required })
}

fn crd(description: &CrdDescription) -> Result<Gvk, String> {
    let name = CrdName::parse(&description.name).map_err(|error| error.to_string())?;
    Ok(Gvk::new(name.group, &description.version, &description.kind))
}

#[cfg(test)]
mod tests {
    use olm_types::api::CsvPhase;
    use serde_json::{Value, json};

    use super::*;

    fn csv(annotations: Value, spec: Value) -> InstalledCsv {
        let csv = json!({
            "metadata": {"name": "a.v1", "annotations": annotations}, "spec": spec, "status": {"phase": "Failed"},
        });
        let csv: ClusterServiceVersion = serde_json::from_value(csv).unwrap();
        InstalledCsv::from(&csv)
    }

    #[test]
    fn an_annotation_counts_alone() {
        let text = r#"{"properties":[{"type":"olm.package","value":{"packageName":"a"}}]}"#;
        let spec = json!({"version": "1.2.3", "replaces": "a.v0", "customresourcedefinitions": {"owned": [{"name": "dotless"}]}});
        let found = csv(json!({ "operatorframework.io/properties": text }), spec);
        let InstalledProperties::Annotated(properties) = found.properties else {
            panic!("inferred")
        };
        assert_eq!(&*properties[0].kind, "olm.package");
        assert_eq!(
            (found.version.unwrap().to_string(), found.replaces.unwrap()),
            ("1.2.3".to_owned(), "a.v0".to_owned())
        );
        assert_eq!(found.phase, CsvPhase::Failed);
    }

    #[test]
    fn without_one_apis_are_inferred() {
        let spec = json!({
            "customresourcedefinitions": {
                "owned": [{"name": "as.example.com", "version": "v1", "kind": "A"}],
                "required": [{"name": "bs.example.com", "version": "v1", "kind": "B"}],
            },
            "apiservicedefinitions": {"owned": [{"name": "cs", "group": "c.io", "version": "v1", "kind": "C"}]},
        });
        let InstalledProperties::Apis { provided, required } = csv(Value::Null, spec).properties
        else {
            panic!("not inferred")
        };
        assert_eq!(provided, [Gvk::new("example.com", "v1", "A"), Gvk::new("c.io", "v1", "C")]);
        assert_eq!(required, [Gvk::new("example.com", "v1", "B")]);
    }

    #[test]
    fn what_does_not_parse_is_unreadable() {
        let spec = json!({"customresourcedefinitions": {"owned": [{"name": "dotless"}]}});
        for found in [
            csv(Value::Null, spec),
            csv(json!({"operatorframework.io/properties": "["}), json!({})),
        ] {
            assert!(matches!(found.properties, InstalledProperties::Unreadable(_)));
        }
    }

    #[test]
    fn empty_texts_of_a_subscription_are_nothing() {
        let object = json!({
            "metadata": {"name": "s"}, "spec": {"name": "p", "source": "", "sourceNamespace": "", "channel": ""},
            "status": {"installedCSV": ""},
        });
        let subscription: Subscription = serde_json::from_value(object).unwrap();
        assert_eq!(
            SubscriptionFacts::from(&subscription),
            SubscriptionFacts {
                name: "s".to_owned(),
                package: "p".to_owned(),
                ..SubscriptionFacts::default()
            }
        );
    }
}
