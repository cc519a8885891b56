//! Objects that are being deleted: what is written into them goes with them.

use olm_types::api::Step;
use serde_json::Value;

use super::StepError;

/// How many finalizers an error names: the list may come from any user.
const NAMED: usize = 10;

/// Refuses a live object that is being deleted; the step is tried again until it is gone and can be
/// created.
///
/// # Errors
/// It is being deleted.
pub(super) fn check(step: &Step, live: &Value) -> Result<(), StepError> {
    if live.pointer("/metadata/deletionTimestamp").is_none_or(Value::is_null) {
        return Ok(());
    }
    Err(StepError::BeingDeleted {
        kind: step.resource.kind.clone(),
        name: step.resource.name.clone(),
        finalizers: finalizers(live),
    })
}

/// The finalizers that keep an object.
fn finalizers(live: &Value) -> Vec<String> {
    let all = live.pointer("/metadata/finalizers").and_then(Value::as_array);
    let names = all.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    let mut names: Vec<String> = names.collect();
    let more = names.len().saturating_sub(NAMED);
    if more > 0 {
        names.truncate(NAMED);
        names.push(format!("{more} more"));
    }
    names
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn reported(finalizers: Value) -> Option<String> {
        let mut step = Step::default();
        (step.resource.kind, step.resource.name) = ("ConfigMap".to_owned(), "c".to_owned());
        let metadata =
            json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": finalizers});
        check(&step, &json!({ "metadata": metadata })).err().map(|error| error.to_string())
    }

    const START: &str = "ConfigMap c is being deleted and has to be gone before it can be created";

    #[rstest]
    #[case::nothing_holds_it(json!(null), "")]
    #[case::two(json!(["a/x", "b/y"]), "; finalizers hold it: a/x, b/y")]
    fn finalizers_are_named(#[case] finalizers: Value, #[case] end: &str) {
        assert_eq!(reported(finalizers), Some(format!("{START}{end}")));
    }

    #[test]
    fn many_finalizers_are_counted() {
        let many: Vec<String> = (0..500).map(|number| format!("a/{number}")).collect();
        let text = reported(json!(many)).unwrap();
        assert!(text.ends_with("a/9, 490 more") && text.len() < 200, "{text}");
    }

    #[test]
    fn an_object_that_stays_is_none() {
        assert!(check(&Step::default(), &json!({"metadata": {"finalizers": ["a/x"]}})).is_ok());
    }
}
