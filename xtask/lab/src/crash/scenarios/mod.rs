//! The scenarios, one file each.

mod bounds;
mod copies;
mod declared;
mod failed_step_repaired;
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
