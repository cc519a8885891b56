//! Tools of others: what `kubectl operator` and `operator-sdk` write, wait for and show, object by
//! object, under their names and with their verbs. Their sources are public; see each file.

mod bundles;
mod client;
mod kubectl_operator;
mod operator_sdk;
mod operators;
mod packages;
mod uninstall;

use crate::e2e::{Need, Scenario, scenario};

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    let images = [Need::Containers, Need::OlmPods, Need::Workload, Need::Registry];
    vec![
        scenario(
            "tools::kubectl_operator",
            "kubectl operator describes, installs, lists, upgrades and uninstalls an operator, and \
             nothing is left",
            operators::from_install_to_uninstall,
        ),
        scenario(
            "tools::kubectl_operator_twice",
            "kubectl operator installs for two namespaces, uninstalls without what users have, and \
             installs again",
            operators::for_two_namespaces,
        ),
        scenario(
            "tools::kubectl_operator_catalog",
            "kubectl operator adds, lists and removes a catalog image",
            operators::a_catalog,
        )
        .needs(&images),
        scenario(
            "tools::operator_sdk",
            "operator-sdk runs a bundle, upgrades it and cleans up, and nothing is left",
            bundles::through_the_api,
        ),
        scenario(
            "tools::operator_sdk_on_a_node",
            "operator-sdk runs bundles in images from a registry in a Pod of its own",
            bundles::on_a_node,
        )
        .needs(&images),
    ]
}
