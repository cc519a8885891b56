//! Subscriptions that came while their namespace was resolved. Before a plan is made without them, the
//! namespace is resolved once more: what was subscribed to at once becomes one plan, and the later half
//! does not wait until the plan of the earlier one is done.

use std::collections::BTreeSet;

use dashmap::DashSet;

/// The namespaces whose plan waits for another resolution.
#[derive(Debug, Default)]
pub struct DeferredPlans {
    waiting: DashSet<String>,
}

impl DeferredPlans {
    /// Whether the plan waits: not all that are there now were asked about. A plan waits once, however many
    /// come after that.
    pub(super) fn waits(
        &self,
        namespace: &str,
        asked: &BTreeSet<String>,
        now: &BTreeSet<String>,
    ) -> bool {
        let waits = !now.is_subset(asked) && self.waiting.insert(namespace.to_owned());
        if !waits {
            self.waiting.remove(namespace);
        }
        waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> BTreeSet<String> {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_plan_waits_once_for_those_that_come() {
        let deferred = DeferredPlans::default();
        let waits = |asked, now| deferred.waits("ns", &names(asked), &names(now));
        assert!(!waits("a", "a"), "none came");
        assert!(!waits("a b", "a"), "one went");
        assert!(waits("a", "a b"));
        assert!(!waits("a b", "a b c"), "it has waited");
        assert!(waits("a b c", "a b c d"), "the next plan");
        assert!(deferred.waits("other", &names("a"), &names("a b")));
    }
}
