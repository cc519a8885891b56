//! The strategy of a CSV, or why it is unusable.

use olm_types::api::{ClusterServiceVersionSpec, STRATEGY_DEPLOYMENT, StrategyDetailsDeployment};

use super::deployment::DeploymentError;
use super::size::MOST;

/// Why a CSV cannot be installed as it is written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StrategyError {
    /// The strategy has another name than `deployment`.
    #[error("unrecognized install strategy")]
    Unrecognized,
    /// The Deployments would be larger than memory is.
    #[error(
        "spec.install.spec.deployments: with the annotations of the CSV, and with spec.config of its \
         Subscription in each container, the Deployments take more than {MOST} bytes; describe fewer \
         Deployments and containers, or use fewer annotations"
    )]
    TooLarge,
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
