//! Whatever happens, in whatever order: when nothing is due any more, a look at everything finds
//! nothing to do, and what is there is what the objects of users ask for.
//!
//! Random groups, namespaces, labels and CSVs come, change and go in a small cluster. Only what the
//! triggers woke is looked at, by the real observers and decisions.

mod view;
mod world;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use world::World;

/// Namespaces that there may be.
const NAMESPACES: [&str; 4] = ["a", "b", "c", "d"];

/// Groups, two in one namespace among them.
const GROUPS: [(&str, &str); 4] = [("a", "one"), ("a", "two"), ("b", "one"), ("c", "one")];

/// CSVs; those of `a` and `b` claim the same API.
const CSVS: [(&str, &str, &str); 4] =
    [("a", "red", "Same"), ("b", "blue", "Same"), ("c", "green", "Green"), ("a", "grey", "Grey")];

/// Something that users do.
#[derive(Clone, Debug)]
enum Event {
    /// A namespace is there, with this value of the label `env`.
    Namespace(&'static str, Option<&'static str>),
    NoNamespace(&'static str),
    /// A group is there, with this spec.
    Group((&'static str, &'static str), Value),
    NoGroup((&'static str, &'static str)),
    Csv((&'static str, &'static str, &'static str)),
    NoCsv((&'static str, &'static str, &'static str)),
}

impl Event {
    /// The object that the event is about; later events about it take the place of earlier ones.
    fn subject(&self) -> (u8, &'static str, &'static str) {
        match self {
            Self::Namespace(name, _) | Self::NoNamespace(name) => (0, name, ""),
            Self::Group((namespace, name), _) | Self::NoGroup((namespace, name)) => {
                (1, namespace, name)
            }
            Self::Csv((namespace, name, _)) | Self::NoCsv((namespace, name, _)) => {
                (2, namespace, name)
            }
        }
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let label = prop_oneof![Just(None), Just(Some("dev")), Just(Some("prod"))];
    let event = prop_oneof![
        4 => (select(&NAMESPACES[..]), label).prop_map(|(name, env)| Event::Namespace(name, env)),
        1 => select(&NAMESPACES[..]).prop_map(Event::NoNamespace),
        5 => (select(&GROUPS[..]), spec()).prop_map(|(group, spec)| Event::Group(group, spec)),
        2 => select(&GROUPS[..]).prop_map(Event::NoGroup),
        4 => select(&CSVS[..]).prop_map(Event::Csv),
        1 => select(&CSVS[..]).prop_map(Event::NoCsv),
    ];
    prop::collection::vec(event, 1..24)
}

fn spec() -> impl Strategy<Value = Value> {
    let selector = |env: &str| json!({"selector": {"matchLabels": {"env": env}}});
    let names = prop::sample::subsequence(&["a", "b", "c", "absent"][..], 1..=3);
    prop_oneof![
        Just(json!({})),
        Just(selector("dev")),
        Just(selector("nothing-has-this")),
        Just(json!({"selector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]}})),
        Just(json!({"selector": {"matchExpressions": [{"key": "env", "operator": "Like"}]}})),
        names.clone().prop_map(|names| json!({"targetNamespaces": names})),
        names.prop_map(|names| json!({"targetNamespaces": names, "staticProvidedAPIs": true})),
    ]
}

/// The events in another order, with those about one object in their own.
fn shuffled(events: &[Event], order: &[Index]) -> Vec<Event> {
    let mut queues: BTreeMap<_, Vec<Event>> = BTreeMap::new();
    for event in events.iter().rev() {
        queues.entry(event.subject()).or_default().push(event.clone());
    }
    let mut order = order.iter().cycle();
    let mut all = Vec::new();
    while !queues.is_empty() {
        let subjects: Vec<_> = queues.keys().copied().collect();
        let next = order.next().map_or(0, |index| index.index(subjects.len()));
        let Some(queue) = queues.get_mut(&subjects[next]) else { break };
        all.extend(queue.pop());
        queues.retain(|_, queue| !queue.is_empty());
    }
    all
}

async fn played(events: &[Event], pauses: &[bool]) -> World {
    let mut world = World::new();
    for (event, pause) in events.iter().zip(pauses.iter().cycle()) {
        world.happen(event);
        if *pause {
            world.converge().await;
        }
    }
    world.converge().await;
    world
}

/// What groups should select, by brute force.
fn expected_targets(events: &[Event]) -> BTreeMap<(String, String), BTreeSet<String>> {
    let last: BTreeMap<_, _> = events.iter().map(|event| (event.subject(), event)).collect();
    let labels: BTreeMap<&str, Option<&str>> = last
        .values()
        .filter_map(|event| match event {
            Event::Namespace(name, env) => Some((*name, *env)),
            _ => None,
        })
        .collect();
    let selected = |spec: &Value| -> Option<BTreeSet<String>> {
        if let Some(names) = spec["targetNamespaces"].as_array() {
            return Some(names.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
        let fits = |env: Option<&str>| match &spec["selector"]["matchExpressions"][0]["operator"] {
            Value::String(operator) if operator == "Exists" => Some(env.is_some()),
            Value::String(_) => None,
            _ => Some(env == spec["selector"]["matchLabels"]["env"].as_str()),
        };
        if spec["selector"].is_null() {
            return Some([String::new()].into());
        }
        fits(None)?;
        let names = labels.iter().filter(|(_, env)| fits(**env) == Some(true));
        Some(names.map(|(name, _)| (*name).to_owned()).collect())
    };
    let groups = last.values().filter_map(|event| match event {
        Event::Group((namespace, name), spec) => {
            Some((((*namespace).to_owned(), (*name).to_owned()), selected(spec)?))
        }
        _ => None,
    });
    groups.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn what_was_woken_is_all_that_there_was_to_do(
        events in events(),
        pauses in prop::collection::vec(any::<bool>(), 1..8),
        order in prop::collection::vec(any::<Index>(), 1..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let world = played(&events, &pauses).await;
            prop_assert_eq!(world.fresh_look(), Vec::<String>::new());
            let targets = world.targets();
            for (group, expected) in expected_targets(&events) {
                prop_assert_eq!(targets.get(&group), Some(&expected), "{:?}", group);
            }
            prop_assert_eq!(world.labels(), world.expected_labels());
            world.check_copies()?;

            let other = played(&shuffled(&events, &order), &[false]).await;
            let readable: Vec<_> = expected_targets(&events).into_keys().collect();
            let targets_then = other.targets();
            for group in &readable {
                prop_assert_eq!(targets.get(group), targets_then.get(group), "in another order");
            }
            if readable.len() == targets.len() {
                prop_assert_eq!(world.labels(), other.labels());
                prop_assert_eq!(world.roles(), other.roles());
            }
            Ok(())
        })?;
    }
}
