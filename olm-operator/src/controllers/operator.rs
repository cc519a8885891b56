//! Operators: what belongs together, as their status lists it. The list of components is kept right, and an
//! Operator that has some is made again.

use async_trait::async_trait;
use kube::ResourceExt;
use olm_kit::controller::{Conclusion, ReconcileError, Reconciler};
use olm_kit::interpreter::Interpreter;
use olm_lifecycle::digest;
use olm_lifecycle::operator::{Observed, decide, have_one_home};
use olm_types::api::Operator;
use olm_types::labels::{ComponentKeyError, component};
use tokio::time::Instant;

use crate::components::ComponentIndex;
use crate::status_delay::StatusDelay;
use crate::stores::Stores;

/// Reconciles Operators, by name.
pub struct OperatorReconciler {
    /// Where objects are observed.
    pub stores: Stores,
    /// Who carries which label.
    pub index: ComponentIndex,
    /// What carries decisions out.
    pub interpreter: Interpreter,
    /// Lists of components that are about to change again: an install brings a dozen of them.
    pub status_delay: StatusDelay<String>,
}

#[async_trait]
impl Reconciler<String> for OperatorReconciler {
    async fn reconcile(&self, name: &String) -> Result<Conclusion, ReconcileError> {
        let observed = match observe(&self.stores, &self.index, name) {
            Ok(observed) => observed,
            Err(error) => {
                tracing::warn!(%error, "the Operator has no components");
                return Ok(Conclusion::Done);
            }
        };
        let Some(effect) = decide(&observed) else {
            self.status_delay.forget(name);
            return Ok(Conclusion::Done);
        };
        // A missing Operator is created at once; its list follows.
        if observed.operator.is_some() {
            let left =
                self.status_delay.left(name.clone(), digest(&observed.components), Instant::now());
            if !left.is_zero() {
                return Ok(Conclusion::RequeueAfter(left));
            }
        }
        self.interpreter.act(&[effect]).await?;
        self.status_delay.forget(name);
        Ok(Conclusion::Done)
    }
}

/// The Operator of this name, whether or not it exists, and what carries its label.
///
/// # Errors
/// When no label can be made of the name.
fn observe(
    stores: &Stores,
    index: &ComponentIndex,
    name: &str,
) -> Result<Observed, ComponentKeyError> {
    let key = component(name)?;
    let labelled = index.labelled(&key).into_iter();
    let objects = labelled.filter_map(|id| id.kind.get(stores, &id.key));
    let operator = stores.operators.get(None, name);
    Ok(Observed {
        name: name.to_owned(),
        alike: if operator.is_none() { alike(stores, name) } else { 0 },
        operator,
        components: objects.map(|object| object.reference()).collect(),
        key,
    })
}

/// How many Operators there are of the namespace that one would be of.
fn alike(stores: &Stores, name: &str) -> usize {
    let is_alike = |operator: &Operator| have_one_home(&operator.name_any(), name);
    stores.operators.list_where(is_alike).len()
}
