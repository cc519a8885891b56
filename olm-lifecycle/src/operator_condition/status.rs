//! What OLM has taken notice of (spec olm-operator 6.4).

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use olm_effect::Effect;
use olm_types::api::OperatorCondition;

use crate::writes::status_write;

/// The write that copies the operator's conditions into the status; nothing when it has them.
/// A condition that the operator takes back stays.
pub(super) fn acknowledge(condition: &OperatorCondition, now: Timestamp) -> Option<Effect> {
    let generation = condition.metadata.generation;
    let mut wanted = condition.clone();
    let status = wanted.status.get_or_insert_default();
    for said in &condition.spec.conditions {
        let known = status.conditions.iter_mut().find(|known| known.type_ == said.type_);
        match known {
            Some(known) if known.status == said.status => {
                if known.observed_generation != generation {
                    *known = Condition {
                        last_transition_time: known.last_transition_time.clone(),
                        observed_generation: generation,
                        ..said.clone()
                    };
                }
            }
            Some(known) => *known = taken_over(said, generation, now),
            None => status.conditions.push(taken_over(said, generation, now)),
        }
    }
    if status.conditions.is_empty() {
        return None;
    }
    status_write(condition, &wanted)
}

/// The condition with the operator's own time, or the present one where it gave none.
fn taken_over(said: &Condition, generation: Option<i64>, now: Timestamp) -> Condition {
    let given = said.last_transition_time.0;
    let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
    let since = if given.as_second() > 0 { given } else { now };
    Condition { observed_generation: generation, last_transition_time: Time(since), ..said.clone() }
}
