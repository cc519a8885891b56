//! v0's package server is not installed any more: catalog-operator serves its API and retires it.

use super::{Stage, Verdict};
use crate::csv::decision::Decision;
use crate::csv::pass::Pass;
use crate::packages_api::is_package_server;

/// Leaves the CSV of the package server alone. Whoever installed it again while its API changes
/// hands would take the Service back, and have it collected with the CSV.
pub struct PackageServer;

impl Stage for PackageServer {
    fn judge(&self, pass: &Pass<'_>) -> Verdict {
        if is_package_server(&pass.observed.csv) {
            return Verdict::Stop(Decision::nothing().note("skipped: a package server of v0"));
        }
        Verdict::Continue
    }
}
