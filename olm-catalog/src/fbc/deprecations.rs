//! Applies `olm.deprecations` blobs to the packages they name.

use std::collections::BTreeSet;

use super::blob::{DeprecatedItem, DeprecationsBlob, Located};
use super::model::{Catalog, Package};
use super::problem::{Problem, Problems};

/// Puts each message where it belongs; what cannot be applied is reported.
pub(super) fn apply(
    blobs: Vec<Located<DeprecationsBlob>>,
    catalog: &mut Catalog,
    problems: &mut Problems,
) {
    let mut seen = BTreeSet::new();
    for (index, Located { origin, item: blob }) in blobs.into_iter().enumerate() {
        let name = blob.package.as_str();
        let problem = if name.is_empty() {
            let message = format!("package name must be set for deprecation item {index}");
            Some(Problem::of_catalog(message))
        } else if !seen.insert(name.to_owned()) {
            let message = format!("expected a maximum of one deprecation per package: {name:?}");
            Some(Problem::of_package(name, message))
        } else if let Some(package) = catalog.packages.get_mut(name) {
            for message in apply_items(&blob.items, package) {
                problems.push(Problem::of_package(name, message).at(&origin));
            }
            None
        } else {
            let message = format!("cannot apply deprecations to an unknown package {name:?}");
            Some(Problem::of_package(name, message))
        };
        if let Some(problem) = problem {
            problems.push(problem.at(&origin));
        }
    }
}

fn apply_items(items: &[DeprecatedItem], package: &mut Package) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut failures = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let reference = (item.schema.clone(), item.name.clone());
        let outcome = if item.schema.is_empty() {
            Err(format!(
                "schema must be set for deprecation entry [{index}] for package {:?}",
                package.name
            ))
        } else if !seen.insert(reference) {
            Err(format!(
                "duplicate deprecation entry {} for package {:?}",
                printed(item),
                package.name
            ))
        } else {
            apply_item(index, item, package)
        };
        failures.extend(outcome.err());
    }
    failures
}

fn apply_item(index: usize, item: &DeprecatedItem, package: &mut Package) -> Result<(), String> {
    let (owner, name) = (package.name.clone(), item.name.as_str());
    let missing = |kind: &str| {
        format!("cannot deprecate {kind} {name:?} for package {owner:?}: {kind} not found")
    };
    let message = match item.schema.as_str() {
        "olm.package" if name.is_empty() => &mut package.deprecation,
        "olm.package" => {
            return Err(format!(
                "package name must be empty for deprecated package {owner:?} (specified {name:?})"
            ));
        }
        "olm.channel" => {
            let channel = package.channels.get_mut(name).ok_or_else(|| missing("channel"))?;
            &mut channel.deprecation
        }
        "olm.bundle" => {
            let bundle = package.bundles.get_mut(name).ok_or_else(|| missing("bundle"))?;
            &mut bundle.deprecation
        }
        _ => {
            return Err(format!(
                "cannot deprecate object {} referenced by entry {index} for package {owner:?}: \
                 object schema unknown",
                printed(item)
            ));
        }
    };
    *message = Some(item.message.clone());
    Ok(())
}

/// A reference as `opm` prints it.
fn printed(item: &DeprecatedItem) -> String {
    let (schema, name) = (&item.schema, &item.name);
    format!("declcfg.PackageScopedReference{{Schema:{schema:?}, Name:{name:?}}}")
}
