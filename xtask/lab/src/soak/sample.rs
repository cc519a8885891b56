//! A small catalog for the test suite: an upgrade over three versions, one version that an upgrade
//! passes over, an operator that watches another namespace than its own, one whose versions do not
//! all fit one OperatorGroup, and one whose first plan never ends while the next one waits for it, as with
//! reportportal-operator 0.0.7 and 0.0.8 of the community catalog.

use anyhow::Result;
use olm_testkit::builders::{Bundle, CatalogDir, Crd, Package, csv};
use olm_types::api::InstallModeType;
use serde_json::json;

/// Writes it; it is gone when the value is.
pub(super) fn catalog() -> Result<CatalogDir> {
    CatalogDir::of(&[ladder(), nomad(), watchman(), reporter()])
}

/// Versions 1, 2 and 4 follow each other, and version 4 skips 3.
fn ladder() -> Package {
    let rung = |number: u8| {
        let (name, version) = (format!("ladder.v{number}.0.0"), format!("{number}.0.0"));
        let rungs = Crd::new("soak.example.com", "v1", "Rung");
        let rules = json!([{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]);
        let csv = csv(&name, &version)
            .owns(&rungs)
            .deployment("ladder", "ladder")
            .cluster_permission("ladder", rules);
        Bundle::new(&version, &csv).provides(&rungs)
    };
    let versions = vec![
        rung(1),
        rung(2).replaces("ladder.v1.0.0"),
        rung(3).replaces("ladder.v2.0.0"),
        rung(4).replaces("ladder.v2.0.0").skips(&["ladder.v3.0.0"]),
    ];
    Package::new("ladder").channel("stable", versions)
}

/// Two versions watch their own namespace, the next two another one.
fn nomad() -> Package {
    use InstallModeType::{OwnNamespace, SingleNamespace};
    let modes: [&[InstallModeType]; 4] =
        [&[OwnNamespace], &[OwnNamespace, SingleNamespace], &[SingleNamespace], &[SingleNamespace]];
    let versions = (1..).zip(modes).map(|(number, modes): (u8, _)| {
        let (name, version) = (format!("nomad.v{number}.0.0"), format!("{number}.0.0"));
        let csv = csv(&name, &version).deployment("nomad", "default").install_modes(modes);
        Bundle::new(&version, &csv).replaces(&format!("nomad.v{}.0.0", number - 1))
    });
    Package::new("nomad").channel("stable", versions.collect())
}

fn watchman() -> Package {
    let rules = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]);
    let csv = csv("watchman.v1.0.0", "1.0.0")
        .deployment("watchman", "watchman")
        .permission("watchman", rules)
        .install_modes(&[InstallModeType::SingleNamespace]);
    Package::single("watchman", Bundle::new("1.0.0", &csv))
}

/// Both versions ship an object whose kind is not served.
fn reporter() -> Package {
    let version = |version: &str| {
        let csv = csv(&format!("reporter.v{version}"), version).deployment("reporter", "default");
        Bundle::new(version, &csv).manifest(json!({
            "apiVersion": "monitoring.coreos.com/v1", "kind": "ServiceMonitor",
            "metadata": {"name": "reporter-metrics"},
            "spec": {"endpoints": [{"port": "https"}], "selector": {}},
        }))
    };
    let versions = vec![version("0.0.7"), version("0.0.8").replaces("reporter.v0.0.7")];
    Package::new("reporter").channel("alpha", versions)
}
