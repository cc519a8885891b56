//! Where the rules of a problem come from, one origin per file (spec catalog-operator 3.4).
//!
//! Every source is asked three times: for the roots of the problem, for each bundle that became
//! reachable, and once more when all bundles are known.

mod cluster_version;
mod dependencies;
mod deprecated;
mod existing;
mod one_package;
mod one_provider;
mod scope;
mod subscriptions;
mod versions;

use std::sync::Arc;

pub use cluster_version::ClusterVersion;
pub use dependencies::Dependencies;
pub use deprecated::Deprecated;
pub use existing::Existing;
pub use one_package::OnePerPackage;
pub use one_provider::OneProvider;
pub use scope::{CandidateError, Scope};
pub use subscriptions::Subscriptions;
pub(crate) use versions::held;
pub use versions::{AcceptedVersions, follows};

use crate::error::Fault;
use crate::problem::{Bundle, Problem, VariableId};

/// An origin of rules. A fault does not stop the others: all faults are reported together.
pub trait ConstraintSource: Send + Sync {
    /// States what holds before any bundle is looked at.
    fn roots(&self, scope: &mut Scope<'_>, problem: &mut Problem) -> Result<(), Vec<Fault>> {
        let _ = (scope, problem);
        Ok(())
    }

    /// States what a bundle brings with it. Called once for every bundle that became a variable.
    fn of_bundle(
        &self,
        variable: VariableId,
        bundle: &Arc<Bundle>,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let _ = (variable, bundle, scope, problem);
        Ok(())
    }

    /// States what holds among all bundles. Must not make further bundles variables.
    fn rules_among_all(
        &self,
        scope: &mut Scope<'_>,
        problem: &mut Problem,
    ) -> Result<(), Vec<Fault>> {
        let _ = (scope, problem);
        Ok(())
    }
}

/// The sources of OLM v0, in its order, and two checks of ours: of the cluster's version, which does
/// nothing unless the request gives that version, and of the versions that Subscriptions accept.
pub fn classic_sources() -> Vec<Box<dyn ConstraintSource>> {
    vec![
        Box::new(Existing),
        Box::new(Subscriptions),
        Box::new(Deprecated),
        Box::new(AcceptedVersions),
        Box::new(ClusterVersion),
        Box::new(Dependencies::default()),
        Box::new(OneProvider),
        Box::new(OnePerPackage),
    ]
}
