//! The strategy of a CSV, or why it is unusable.

use olm_types::api::{ClusterServiceVersionSpec, STRATEGY_DEPLOYMENT, StrategyDetailsDeployment};

use super::deployment::DeploymentError;

/// Why a CSV cannot be installed as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The strategy has another name than `deployment`.
    #[error("unrecognized install strategy")]
    Unrecognized,
    /// A Deployment cannot be built from its description.
    #[error(transparent)]
    Deployment(#[from] DeploymentError),
}

/// The Deployments and permissions of the strategy; a strategy without details installs nothing.
pub fn strategy(
    spec: &ClusterServiceVersionSpec,
) -> Result<&StrategyDetailsDeployment, StrategyError> {
    static NOTHING: StrategyDetailsDeployment = StrategyDetailsDeployment {
        deployments: Vec::new(),
        permissions: Vec::new(),
        cluster_permissions: Vec::new(),
    };
    if spec.install.strategy != STRATEGY_DEPLOYMENT {
        return Err(StrategyError::Unrecognized);
    }
    Ok(spec.install.spec.as_ref().unwrap_or(&NOTHING))
}
