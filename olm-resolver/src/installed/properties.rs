//! Properties of an installed CSV: from its annotation, or inferred from its spec and Subscription.

use std::collections::BTreeSet;

use olm_types::bundle::Property;
use olm_types::gvk::Gvk;
use olm_types::properties::value;
use serde_json::json;

use crate::request::{InstalledCsv, InstalledProperties, SubscriptionFacts};

/// The properties, or why there are none.
pub(super) fn of(
    csv: &InstalledCsv,
    owners: &[&SubscriptionFacts],
) -> Result<Vec<Property>, String> {
    match &csv.properties {
        InstalledProperties::Annotated(properties) => Ok(properties.clone()),
        InstalledProperties::Unreadable(reason) => Err(reason.clone()),
        InstalledProperties::Apis { provided, required } => {
            let mut properties = apis("olm.gvk", provided);
            properties.extend(apis("olm.gvk.required", required));
            properties.extend(inferred_package(csv, owners));
            Ok(properties)
        }
    }
}

/// Package of the last `olm.package` property that parses.
pub(super) fn package(properties: &[Property]) -> Option<String> {
    properties.iter().rev().find_map(value::package).map(|package| package.package_name)
}

/// One property per API, sorted by the text of the value.
fn apis(kind: &str, apis: &[Gvk]) -> Vec<Property> {
    let values: BTreeSet<String> = apis
        .iter()
        .map(|api| {
            json!({"group": api.group, "kind": api.kind, "version": api.version}).to_string()
        })
        .collect();
    values.into_iter().map(|value| property(kind, value)).collect()
}

/// The package that all Subscriptions of the CSV agree on.
fn inferred_package(csv: &InstalledCsv, owners: &[&SubscriptionFacts]) -> Option<Property> {
    let names: BTreeSet<&str> = owners
        .iter()
        .map(|subscription| subscription.package.as_str())
        .filter(|name| !name.is_empty())
        .collect();
    let name = names.first().filter(|_| names.len() == 1)?;
    let version =
        csv.version.as_ref().map(ToString::to_string).filter(|version| version != "0.0.0");
    let value = json!({"packageName": name, "version": version.unwrap_or_default()});
    Some(property("olm.package", value.to_string()))
}

fn property(kind: &str, value: String) -> Property {
    Property { kind: kind.into(), value: value.into() }
}
