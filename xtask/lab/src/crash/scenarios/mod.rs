//! The scenarios, one file each.

mod bounds;
mod copies;
mod dead_catalog;
mod declared;
mod failed_step_repaired;
mod failed_versions;
mod install_with_dependency;
mod manual_approval;
mod operators;
mod pairs;
mod pins;
mod scoped_account;
mod servers;
mod taken_back;
mod uninstall;
mod unpack;
mod upgrade_with_crd_change;
mod version_pairs;

use super::scenario::Scenario;

/// Every scenario, in the order in which they are run.
pub(super) fn all() -> Vec<Box<dyn Scenario>> {
    vec![
        Box::new(install_with_dependency::InstallWithDependency),
        Box::new(upgrade_with_crd_change::UpgradeWithCrdChange),
        Box::new(manual_approval::ManualApproval),
        Box::new(declared::Declared),
        Box::new(bounds::Bounds),
        Box::new(pins::Pins),
        Box::new(pairs::Pairs),
        Box::new(version_pairs::VersionPairs),
        Box::new(failed_versions::FailedVersions),
        Box::new(dead_catalog::DeadCatalog),
        Box::new(taken_back::TakenBack),
        Box::new(uninstall::Uninstall),
        Box::new(servers::WebhookInstall),
        Box::new(servers::ApiServiceInstall),
        Box::new(scoped_account::ScopedAccount),
        Box::new(failed_step_repaired::FailedStepRepaired),
        Box::new(unpack::Unpack),
        Box::new(copies::Copies),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// docs/upgrade-policy.md says in which scenario which annotations meet.
    #[test]
    fn the_page_names_all_about_declarations() {
        let page = include_str!("../../../../../docs/upgrade-policy.md");
        let words = page.split(|c: char| c != '-' && !c.is_ascii_lowercase());
        let named: BTreeSet<&str> = words.filter(|word| word.starts_with("declared-")).collect();
        let all = super::all();
        let names = all.iter().map(|scenario| scenario.name());
        let expected: BTreeSet<&str> = names.filter(|name| name.starts_with("declared-")).collect();
        assert_eq!(named, expected);
    }
}
