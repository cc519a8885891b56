//! The rules of resolution written down once more, without indexes, problems and solvers: a set of
//! bundles either keeps them all or not. Answers are found by trying every set.

use std::collections::BTreeMap;

use super::instance::{Bundle, Instance, Need};

/// Bundles by position: those of the catalogs first, then the CSVs of the namespace.
pub type Set = u32;

/// What every answer has to keep.
pub struct Rules {
    pub names: Vec<String>,
    /// How many of them are entries of catalogs.
    pub offered: usize,
    /// One of the set has to be there.
    wanted: Vec<Set>,
    /// Never in an answer.
    prohibited: Set,
    /// The bundle needs one of the set.
    needs: Vec<(usize, Set)>,
    /// At most one of the set.
    exclusive: Vec<Set>,
}

struct Item<'a> {
    bundle: Bundle,
    installed: bool,
    /// Of the instance, for what it replaces.
    origin: Option<&'a Bundle>,
}

impl Rules {
    pub fn of(instance: &Instance) -> Self {
        let items = items(instance);
        let select = |fits: &dyn Fn(&Item<'_>) -> bool| {
            (0..).zip(&items).filter(|(_, item)| fits(item)).fold(0, |set, (at, _)| set | 1 << at)
        };
        let skipped = |item: &Item<'_>| {
            let own = item.origin.map(|bundle| bundle.name.as_str());
            !item.installed
                && instance
                    .bundles
                    .iter()
                    .any(|other| other.skips && other.replaces.as_deref() == own)
        };
        let mut rules = Self {
            names: items.iter().map(|item| item.bundle.name.clone()).collect(),
            offered: instance.bundles.len(),
            wanted: Vec::new(),
            prohibited: select(&|item| item.bundle.deprecated),
            needs: Vec::new(),
            exclusive: Vec::new(),
        };
        for (at, item) in items.iter().enumerate() {
            for need in &item.bundle.requires {
                let fits = |other: &Item<'_>| !skipped(other) && meets(&other.bundle, need);
                rules.needs.push((at, select(&fits)));
            }
        }
        for subscription in &instance.subscriptions {
            let of_subscription = |item: &Item<'_>| {
                !item.installed
                    && !skipped(item)
                    && item.bundle.package == subscription.package
                    && subscription.catalog.is_none_or(|catalog| item.bundle.catalog == catalog)
            };
            let Some(current) = subscription.installed.map(|at| &instance.bundles[at].name) else {
                rules.wanted.push(select(&of_subscription));
                continue;
            };
            let upgrades = select(&|item: &Item<'_>| {
                of_subscription(item) && item.bundle.replaces.as_ref() == Some(current)
            });
            let kept = select(&|item: &Item<'_>| item.installed && item.bundle.name == *current);
            rules.wanted.push(upgrades | kept);
            rules.exclusive.extend(singles(upgrades).map(|upgrade| upgrade | kept));
        }
        if instance.orphan.is_some() {
            rules.wanted.push(select(&|item| item.bundle.name == "orphan"));
        }
        rules.exclusive.extend(groups(&items));
        rules
    }

    pub fn keeps(&self, set: Set) -> bool {
        set & self.prohibited == 0
            && self.wanted.iter().all(|wanted| wanted & set != 0)
            && self.needs.iter().all(|(of, fitting)| set >> of & 1 == 0 || fitting & set != 0)
            && self.exclusive.iter().all(|group| (group & set).count_ones() <= 1)
    }

    /// Whether nothing that was installed breaks a rule with something that was there before.
    pub fn tolerates(&self, new: Set, installed: Set) -> bool {
        let set = new | installed;
        let needs = |(of, fitting): &(usize, Set)| new >> of & 1 == 0 || fitting & set != 0;
        let alone = |group: &Set| group & new == 0 || (group & set).count_ones() <= 1;
        new & self.prohibited == 0
            && self.needs.iter().all(needs)
            && self.exclusive.iter().all(alone)
    }

    pub fn has_answer(&self) -> bool {
        (0..1 << self.names.len()).any(|set| self.keeps(set))
    }

    /// The sets of CSVs of the namespace.
    pub fn installed_sets(&self) -> impl Iterator<Item = Set> + '_ {
        let count = self.names.len() - self.offered;
        (0..1_u32 << count).map(|set| set << self.offered)
    }

    /// The entries with these names.
    pub fn entries(&self, names: &[&str]) -> Set {
        let offered = self.names.iter().take(self.offered).enumerate();
        offered
            .filter(|(_, name)| names.contains(&name.as_str()))
            .fold(0, |set, (at, _)| set | 1 << at)
    }
}

fn items(instance: &Instance) -> Vec<Item<'_>> {
    let offered = instance.bundles.iter().map(|bundle| Item {
        bundle: bundle.clone(),
        installed: false,
        origin: Some(bundle),
    });
    let mut items: Vec<Item<'_>> = offered.collect();
    for at in instance.subscriptions.iter().filter_map(|subscription| subscription.installed) {
        let mut bundle = instance.bundles[at].clone();
        bundle.deprecated = false;
        items.push(Item { bundle, installed: true, origin: None });
    }
    if let Some((provides, requires)) = &instance.orphan {
        let bundle = Bundle {
            name: "orphan".to_owned(),
            package: "",
            catalog: "",
            version: 0,
            replaces: None,
            skips: false,
            deprecated: false,
            provides: provides.clone(),
            requires: requires.iter().copied().map(Need::Api).collect(),
        };
        items.push(Item { bundle, installed: true, origin: None });
    }
    items
}

fn meets(bundle: &Bundle, need: &Need) -> bool {
    match need {
        Need::Api(api) => bundle.provides.contains(api),
        Need::Package(name, from) => bundle.package == *name && bundle.version >= *from,
    }
}

/// Providers of one API, and bundles of one package.
fn groups(items: &[Item<'_>]) -> Vec<Set> {
    let mut groups: BTreeMap<String, Set> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        let apis = item.bundle.provides.iter().map(|api| format!("api {api}"));
        let package = Some(item.bundle.package).filter(|name| !name.is_empty());
        for key in apis.chain(package.map(|name| format!("package {name}"))) {
            *groups.entry(key).or_default() |= 1 << at;
        }
    }
    groups.into_values().collect()
}

fn singles(set: Set) -> impl Iterator<Item = Set> {
    (0..Set::BITS).map(|at| 1 << at).filter(move |single| set & single != 0)
}
