//! Fail-forward: a CSV that is being replaced no longer counts if its replacement failed
//! (spec catalog-operator 3.2).

use std::collections::{BTreeMap, BTreeSet};

use olm_types::api::CsvPhase;

use super::InstalledFault;
use crate::request::InstalledCsv;

/// Whether the CSV is being replaced by a chain of CSVs that ends in a failed one.
pub(super) fn is_given_up(
    namespace: &str,
    csv: &InstalledCsv,
    csvs: &BTreeMap<&str, &InstalledCsv>,
) -> Result<bool, InstalledFault> {
    let replacements: BTreeMap<&str, &InstalledCsv> =
        csvs.values().filter_map(|csv| Some((csv.replaces.as_deref()?, *csv))).collect();
    let last = last_of_chain(namespace, csv, &replacements)?;
    Ok(csv.phase == CsvPhase::Replacing && last.phase == CsvPhase::Failed)
}

fn last_of_chain<'a>(
    namespace: &str,
    csv: &'a InstalledCsv,
    replacements: &BTreeMap<&str, &'a InstalledCsv>,
) -> Result<&'a InstalledCsv, InstalledFault> {
    let mut seen = BTreeSet::new();
    let mut current = csv;
    while let Some(next) = replacements.get(current.name.as_str()) {
        if !seen.insert(current.name.as_str()) {
            return Err(InstalledFault::Circle {
                namespace: namespace.to_owned(),
                csv: current.name.clone(),
            });
        }
        if current.phase != CsvPhase::Replacing {
            return Err(InstalledFault::NotReplacing {
                namespace: namespace.to_owned(),
                csv: current.name.clone(),
                phase: current.phase.to_string(),
            });
        }
        current = next;
    }
    Ok(current)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn csvs(text: &[&str]) -> Vec<InstalledCsv> {
        let read = |text: &&str| {
            let parts: Vec<&str> = text.split(' ').collect();
            InstalledCsv {
                phase: CsvPhase::from(parts[1]),
                replaces: parts.get(2).map(ToString::to_string),
                ..InstalledCsv::new(parts[0])
            }
        };
        text.iter().map(read).collect()
    }

    #[rstest]
    #[case::failed_alone(&["v1 Failed"], "Failed")]
    #[case::succeeded_alone(&["v1 Succeeded"], "Succeeded")]
    #[case::succeeds(&["v1 Replacing", "v2 Replacing v1", "v3 Succeeded v2"], "Succeeded")]
    #[case::fails(&["v1 Replacing", "v2 Replacing v1", "v3 Failed v2"], "Failed")]
    #[case::broken(
        &["v1 Replacing", "v2 Failed v1", "v3 Failed v2"],
        "csv bar/v2 in phase Failed instead of Replacing"
    )]
    #[case::circle(&["v1 Replacing v2", "v2 Replacing v1"], "csv bar/v1 has already been seen")]
    fn ends(#[case] chain: &[&str], #[case] wanted: &str) {
        let csvs = csvs(chain);
        let by_name: BTreeMap<_, _> = csvs.iter().map(|csv| (csv.name.as_str(), csv)).collect();
        let replacements: BTreeMap<_, _> =
            csvs.iter().filter_map(|csv| Some((csv.replaces.as_deref()?, csv))).collect();
        match last_of_chain("bar", &csvs[0], &replacements) {
            Ok(last) => {
                assert_eq!(last.phase.to_string(), wanted);
                let given_up = wanted == "Failed" && chain.len() > 1;
                assert_eq!(is_given_up("bar", &csvs[0], &by_name).unwrap(), given_up);
            }
            Err(fault) => assert_eq!(fault.to_string(), wanted),
        }
    }
}
