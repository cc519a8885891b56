//! From packages to blobs.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use super::lists::{LegacyPackage, Lists};
use super::{CSVS, Converted, LegacyProblem, PACKAGES, chain, origin};
use crate::bundle::{Manifest, render};
use crate::fbc::{Blob, ChannelBlob, Located, PackageBlob};

/// On CSVs: a list of further properties.
const PROPERTIES: &str = "olm.properties";

/// Packages that each CSV may be in, on average: every one has a copy of it.
const SHARED: usize = 4;

/// Blobs of one package, with the CSVs they are made from.
#[derive(Default)]
struct Package {
    blobs: Vec<Located<Blob>>,
    csvs: BTreeSet<String>,
}

/// Adds what the lists hold. A package with something wrong is reported and left out as a whole.
pub(super) fn convert(lists: &Lists, converted: &mut Converted) {
    let mut used = BTreeSet::new();
    let mut left = lists.csvs.len().saturating_mul(SHARED);
    for (number, package) in &lists.packages {
        match whole(lists, *number, package, left) {
            Ok(Package { blobs, csvs }) => {
                left = left.saturating_sub(csvs.len());
                converted.blobs.extend(blobs);
                used.extend(csvs);
            }
            Err(problem) => converted.problems.push(problem),
        }
    }
    if converted.problems.is_empty() {
        let unused = lists.csvs.keys().filter(|name| !used.contains(*name));
        converted.unused = unused.cloned().collect();
    }
}

fn whole(
    lists: &Lists,
    number: usize,
    legacy: &LegacyPackage,
    most: usize,
) -> Result<Package, LegacyProblem> {
    let name = &legacy.package_name;
    let wrong = |message| LegacyProblem::of_element(PACKAGES, number, name, message);
    let located = |item| Located { origin: origin(PACKAGES, number), item };
    let mut package = Package::default();
    package.blobs.push(located(Blob::Package(PackageBlob {
        name: name.clone(),
        default_channel: default_channel(legacy),
        ..PackageBlob::default()
    })));
    for channel in &legacy.channels {
        let entries = chain::entries(lists, channel).map_err(wrong)?;
        package.csvs.extend(entries.iter().map(|entry| entry.name.clone()));
        package.blobs.push(located(Blob::Channel(ChannelBlob {
            package: name.clone(),
            name: channel.name.clone(),
            entries,
        })));
    }
    if package.csvs.len() > most {
        let message = format!("the packages share CSVs: each may be in {SHARED}, on average");
        return Err(wrong(message));
    }
    for (number, csv) in package.csvs.iter().filter_map(|csv| lists.csvs.get(csv)) {
        let item = bundle(lists, name, csv)
            .map_err(|message| LegacyProblem::of_element(CSVS, *number, csv.name(), message))?;
        package.blobs.push(Located { origin: origin(CSVS, *number), item });
    }
    Ok(package)
}

/// The only channel is the default one, whatever the package says.
fn default_channel(package: &LegacyPackage) -> String {
    match package.channels.as_slice() {
        [only] => only.name.clone(),
        _ => package.default_channel.clone(),
    }
}

/// A bundle of a CSV and the CRDs that it owns.
fn bundle(lists: &Lists, package: &str, csv: &Manifest) -> Result<Blob, String> {
    let owned =
        csv.object.pointer("/spec/customresourcedefinitions/owned").and_then(Value::as_array);
    let names: BTreeSet<&str> =
        owned.into_iter().flatten().filter_map(|crd| crd.get("name")?.as_str()).collect();
    let crds = names.into_iter().filter_map(|name| lists.crds.get(name));
    let manifests: Vec<Manifest> = std::iter::once(csv).chain(crds).cloned().collect();
    let mut blob = render(package, &manifests).map_err(|error| error.to_string())?;
    if let Some(properties) = blob.get_mut("properties").and_then(Value::as_array_mut) {
        properties.extend(further_properties(csv)?);
    }
    Blob::from_value(blob).map_err(|error| error.to_string())
}

fn further_properties(csv: &Manifest) -> Result<Vec<Value>, String> {
    let annotations = csv.object.pointer("/metadata/annotations");
    let text = annotations.and_then(|map| map.get(PROPERTIES)).and_then(Value::as_str);
    let Some(text) = text else { return Ok(Vec::new()) };
    let wrong = |error| format!("annotation {PROPERTIES}: {error}");
    let value: Value = serde_json::from_str(text).map_err(wrong)?;
    Vec::deserialize(value).map_err(wrong)
}
