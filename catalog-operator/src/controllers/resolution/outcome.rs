//! What resolutions came to, for the log: each chosen bundle in one line, which is not repeated while
//! the resolutions of the namespace choose it again.

use std::collections::BTreeMap;

use dashmap::DashMap;
use olm_resolver::Chosen;

/// The bundles that one resolution chose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Outcome(BTreeMap<Bundle, Why>);

/// A bundle and its place in a catalog.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Bundle {
    name: String,
    package: String,
    channel: String,
    catalog: String,
}

/// What was said about it, besides.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Why {
    replaces: String,
    wanted_by: String,
}

/// What was last chosen in each namespace.
#[derive(Debug, Default)]
pub struct Outcomes {
    last: DashMap<String, Vec<Bundle>>,
}

impl Outcome {
    /// Of an answer.
    pub(super) fn of(chosen: &[Chosen]) -> Self {
        Self(chosen.iter().map(line).collect())
    }
}

impl Outcomes {
    /// Logs what was not chosen the last time.
    pub(super) fn report(&self, namespace: &str, outcome: &Outcome) {
        for (bundle, why) in self.news(namespace, outcome) {
            tracing::info!(
                namespace,
                bundle = %bundle.name,
                package = %bundle.package,
                channel = %bundle.channel,
                catalog = %bundle.catalog,
                replaces = why.replaces,
                wanted_by = why.wanted_by,
                "resolved"
            );
        }
    }

    /// Forgets a namespace that is not resolved any more.
    pub(super) fn forget(&self, namespace: &str) {
        self.last.remove(namespace);
    }

    /// What was not chosen the last time; from now on, this is the last time.
    fn news<'a>(&self, namespace: &str, outcome: &'a Outcome) -> Vec<(&'a Bundle, &'a Why)> {
        let now = outcome.0.keys().cloned().collect();
        let last = self.last.insert(namespace.to_owned(), now).unwrap_or_default();
        outcome.0.iter().filter(|(bundle, _)| !last.contains(bundle)).collect()
    }
}

fn line(chosen: &Chosen) -> (Bundle, Why) {
    let entry = &chosen.entry;
    let bundle = Bundle {
        name: entry.name.to_string(),
        package: entry.package.to_string(),
        channel: entry.channel.to_string(),
        catalog: entry.catalog.to_string(),
    };
    let wanted_by: Vec<_> = chosen.wanted_by.iter().map(ToString::to_string).collect();
    let replaces = chosen.replaces.as_deref().unwrap_or_default().to_owned();
    (bundle, Why { replaces, wanted_by: wanted_by.join("; ") })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(names: &[&str], replaces: &str) -> Outcome {
        let bundle = |name: &&str| Bundle {
            name: (*name).to_owned(),
            package: "p".to_owned(),
            channel: "c".to_owned(),
            catalog: "ns/catalog".to_owned(),
        };
        let why = Why { replaces: replaces.to_owned(), wanted_by: String::new() };
        Outcome(names.iter().map(|name| (bundle(name), why.clone())).collect())
    }

    fn said(outcomes: &Outcomes, namespace: &str, outcome: &Outcome) -> Vec<String> {
        let news = outcomes.news(namespace, outcome);
        news.into_iter().map(|(bundle, _)| bundle.name.clone()).collect()
    }

    #[test]
    fn only_what_is_new_is_said() {
        let outcomes = Outcomes::default();
        assert_eq!(said(&outcomes, "ns", &outcome(&["a.v1", "b.v1"], "")), ["a.v1", "b.v1"]);
        assert!(said(&outcomes, "ns", &outcome(&["a.v1", "b.v1"], "")).is_empty());
        assert_eq!(said(&outcomes, "other", &outcome(&["a.v1"], "")), ["a.v1"]);
        assert_eq!(said(&outcomes, "ns", &outcome(&["a.v2", "b.v1"], "a.v1")), ["a.v2"]);
        assert!(
            said(&outcomes, "ns", &outcome(&["a.v2", "b.v1"], "")).is_empty(),
            "it replaces nothing any more, now that it is there"
        );
        assert_eq!(said(&outcomes, "ns", &outcome(&["a.v1"], "")), ["a.v1"], "another outcome");
        outcomes.forget("ns");
        assert_eq!(said(&outcomes, "ns", &outcome(&["a.v1"], "")), ["a.v1"]);
    }
}
