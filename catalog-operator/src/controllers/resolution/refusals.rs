//! Answers of the resolver by which nothing is installed.
//!
//! What is reported of a refusal is written on many Subscriptions, and comes back by one watch event each. None of them
//! asks the resolver anything new: while it is asked the same, its last answer holds, and only what was changed of the
//! report is written again.

use std::sync::Arc;

use dashmap::DashMap;

use super::solve::Solved;
use super::unchanged::Inputs;

/// The last answer in every namespace, where that was a refusal.
#[derive(Default)]
pub struct Refusals {
    answers: DashMap<String, (Arc<Inputs>, Arc<Solved>)>,
}

impl Refusals {
    /// The answer to the same question, if that was the last one of the namespace and nothing was chosen.
    pub(super) fn answer(&self, namespace: &str, inputs: &Inputs) -> Option<Arc<Solved>> {
        let last = self.answers.get(namespace)?;
        let (asked, solved) = &*last;
        asked.ask_the_same(inputs).then(|| Arc::clone(solved))
    }

    /// Keeps an answer if it is a refusal that only another question changes.
    pub(super) fn keep(&self, namespace: &str, inputs: &Arc<Inputs>, solved: &Arc<Solved>) {
        if is_final(solved) {
            let answer = (Arc::clone(inputs), Arc::clone(solved));
            self.answers.insert(namespace.to_owned(), answer);
        } else {
            self.forget(namespace);
        }
    }

    /// Forgets a namespace that is not resolved any more.
    pub(super) fn forget(&self, namespace: &str) {
        self.answers.remove(namespace);
    }
}

/// A resolution that was prevented may succeed the next time.
fn is_final(solved: &Solved) -> bool {
    solved.choices.is_empty()
        && !solved.refused.is_empty()
        && !solved.refused.iter().any(|refused| refused.failure.is_retried())
}

#[cfg(test)]
mod tests {
    use olm_catalog::snapshot::SnapshotSet;
    use olm_lifecycle::subscription::resolution::{Failure, Namespace};
    use olm_types::api::Subscription;
    use rstest::rstest;
    use serde_json::json;

    use super::super::solve::{Refused, ResolutionInputs};
    use super::*;

    fn asked(channel: &str, status: serde_json::Value) -> Arc<Inputs> {
        let subscription = json!({
            "metadata": {"name": "s", "namespace": "ns", "uid": "1"},
            "spec": {"name": "p", "source": "c", "sourceNamespace": "ns", "channel": channel},
            "status": status,
        });
        let subscription: Subscription = serde_json::from_value(subscription).unwrap();
        let subscriptions = vec![Arc::new(subscription)];
        Arc::new(Inputs::of(&ResolutionInputs {
            namespace: Namespace { subscriptions, ..Namespace::default() },
            csvs: Vec::new(),
            universe: SnapshotSet::new([]),
            fail_forward: false,
        }))
    }

    fn refused(failure: Failure) -> Arc<Solved> {
        let subscriptions = ["s".to_owned()].into();
        Arc::new(Solved { refused: vec![Refused { subscriptions, failure }], ..Solved::default() })
    }

    #[test]
    fn a_refusal_holds_until_something_else_is_asked() {
        let refusals = Refusals::default();
        let failure = Failure::NotSatisfiable("no operators found".to_owned());
        refusals.keep("ns", &asked("a", json!({})), &refused(failure));
        let reported = json!({"conditions": [{"type": "ResolutionFailed", "status": "True"}]});
        assert!(refusals.answer("ns", &asked("a", reported)).is_some());
        assert!(refusals.answer("ns", &asked("b", json!({}))).is_none());
        assert!(refusals.answer("ns", &asked("a", json!({"installedCSV": "p.v1"}))).is_none());
        assert!(refusals.answer("other", &asked("a", json!({}))).is_none());
        refusals.forget("ns");
        assert!(refusals.answer("ns", &asked("a", json!({}))).is_none());
    }

    #[rstest]
    #[case::prevented(refused(Failure::Prevented("a catalog is away".to_owned())))]
    #[case::nothing_is_refused(Arc::default())]
    fn other_answers_are_asked_for_again(#[case] answer: Arc<Solved>) {
        let (refusals, inputs) = (Refusals::default(), asked("a", json!({})));
        refusals.keep("ns", &inputs, &refused(Failure::Bundle("bad".to_owned())));
        assert!(refusals.answer("ns", &inputs).is_some());
        refusals.keep("ns", &inputs, &answer);
        assert!(refusals.answer("ns", &inputs).is_none());
    }
}
