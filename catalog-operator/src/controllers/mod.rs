//! One folder per kind of work: `observe` gathers what is known, `reconcile` asks the pure crates
//! what follows, has it carried out and concludes.

pub mod catalog_source;
pub mod cluster_operator;
pub mod install_plan;
pub mod resolution;
pub mod subscription;

use olm_effect::Effect;
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;

/// Executes effects; the first refusal is the error.
async fn act(interpreter: &Interpreter, effects: &[Effect]) -> Result<(), ReconcileError> {
    let outcomes = interpreter.execute(effects).await;
    ReconcileError::from_outcomes(&outcomes)
}
