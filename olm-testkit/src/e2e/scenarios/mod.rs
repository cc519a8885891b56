//! The scenarios. A new one is a function and a line in the list of its file.

mod approval;
mod bad_input;
mod capacity;
mod catalog_images;
mod catalogs;
mod changed_operator;
mod console;
mod dependencies;
mod doctor;
mod gitops;
mod hosted_catalogs;
mod hosted_reader;
mod hosted_replicas;
mod install;
mod install_plans;
mod kubectl_olm;
mod lifecycle;
mod operator_groups;
pub mod packages;
mod recovery;
mod related_objects;
mod removal;
mod resolution;
pub mod servers;
mod smoke;
mod subscriptions;
mod tools;
mod uninstall;
mod unpack;
mod upgrades;

use super::Scenario;

pub(crate) use kubectl_olm::{Program, same_steps};

/// Every scenario.
pub fn all() -> Vec<Scenario> {
    [
        install::all(),
        install_plans::all(),
        upgrades::all(),
        approval::all(),
        gitops::all(),
        subscriptions::all(),
        lifecycle::all(),
        related_objects::all(),
        removal::all(),
        uninstall::all(),
        operator_groups::all(),
        catalogs::all(),
        catalog_images::all(),
        hosted_catalogs::all(),
        hosted_replicas::all(),
        packages::all(),
        dependencies::all(),
        resolution::all(),
        servers::all(),
        tools::all(),
        kubectl_olm::all(),
        console::all(),
        doctor::all(),
        bad_input::all(),
        recovery::all(),
        smoke::all(),
        unpack::all(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_unique_and_makes_a_namespace() {
        let mut seen = BTreeSet::new();
        for scenario in super::all() {
            assert!(seen.insert(scenario.name), "{} is there twice", scenario.name);
            let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_:".contains(c);
            assert!(scenario.name.chars().all(plain), "{}", scenario.name);
            // The namespace of its catalogs has a longer name.
            assert!(scenario.name.len() < 50, "{}", scenario.name);
            assert!(!scenario.about.is_empty() && !scenario.about.ends_with('.'));
        }
    }
}
