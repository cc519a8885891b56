//! The catalog that all cases see: a package for each way in which one can go wrong.

use serde_json::{Value, json};

use crate::builders::{Bundle, Crd, CsvBuilder, Package, csv};

/// A kind that no other case has.
pub(super) fn kind(place: &str, kind: &str) -> Crd {
    Crd::new(&format!("e2e-doctor-{place}.example.com"), "v1", kind)
}

/// A CSV with one Deployment.
pub(super) fn operator(name: &str, version: &str) -> CsvBuilder {
    csv(&format!("{name}.v{version}"), version).deployment(name, "default")
}

/// A version of a package, which provides kinds.
pub(super) fn providing(name: &str, crd: &Crd) -> Bundle {
    Bundle::new("1.0.0", &operator(name, "1.0.0").owns(crd)).provides(crd)
}

/// All packages.
pub(super) fn packages() -> Vec<Package> {
    let one = |name: &str, bundle: Bundle| Package::single(name, bundle);
    let plain = |name: &str| one(name, Bundle::new("1.0.0", &operator(name, "1.0.0")));
    vec![
        plain("plain"),
        one("drawer", providing("drawer", &kind("held-back", "Drawer"))),
        one("fork", requiring("fork", &kind("held-back", "Drawer"))),
        one("knife", requiring("knife", &kind("held-back", "Drawer"))),
        one("mug", providing("mug", &kind("orphan", "Mug"))),
        one("cup", providing("cup", &kind("requirement", "Cup"))),
        one("vase", providing("vase", &kind("finalizer", "Vase"))),
        one("pot", providing("pot", &kind("unneeded", "Pot"))),
        one("tea", requiring("tea", &kind("unneeded", "Pot"))),
        one("rider", requiring("rider", &kind("nowhere", "Unicorn"))),
        one("barista", with_account()),
        one(
            "monitored",
            Bundle::new("1.0.0", &operator("monitored", "1.0.0")).manifest(of_no_kind()),
        ),
        deprecated(),
    ]
}

fn requiring(name: &str, crd: &Crd) -> Bundle {
    Bundle::new("1.0.0", &operator(name, "1.0.0").requires(crd)).requires(crd)
}

fn with_account() -> Bundle {
    let operator = csv("barista.v1.0.0", "1.0.0").deployment("barista", "barista");
    Bundle::new("1.0.0", &operator.permission("barista", pods()))
}

/// Rights that are as good as any.
pub(super) fn pods() -> Value {
    json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}])
}

/// An object of a kind that no cluster serves.
fn of_no_kind() -> Value {
    json!({
        "apiVersion": "monitoring.absent.example.com/v1", "kind": "ServiceMonitor",
        "metadata": {"name": "monitored"}, "spec": {},
    })
}

/// A package whose default channel is to be left.
fn deprecated() -> Package {
    let bundle = Bundle::new("1.0.0", &operator("old", "1.0.0"));
    let channel = json!({"schema": "olm.channel", "name": "stable"});
    let package = Package::new("old").channel("stable", vec![bundle.clone()]);
    package.channel("candidate", vec![bundle]).deprecated(channel, "follow candidate")
}
