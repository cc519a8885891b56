//! The same objects as from the real kustomize, whichever way image, replicas and flags are set.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::DynamicObject;
use olm_testkit::deploy::{self, Options};
use olm_testkit::operators::Operator;
use serde_json::json;

use olm_testkit::e2e::TestContext;
use olm_testkit::kubectl::Kubectl;

/// What an overlay says of the image, and the image that it means.
const IMAGES: [(&str, &str); 3] = [
    ("{newTag: v9}", "olm-rs.dev/olm-rs:v9"),
    ("{newName: registry.example.com:5000/a/b, newTag: v1}", "registry.example.com:5000/a/b:v1"),
    (
        "{newName: 127.0.0.1:5000/olm, \
         digest: 'sha256:8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe3d4b0b0f4bf1e3b8c4ad7f8a8d1f0c55'}",
        "127.0.0.1:5000/olm@sha256:\
         8ad2d7ddd04e4d4a4d6cba0a3c7e6dfe3d4b0b0f4bf1e3b8c4ad7f8a8d1f0c55",
    ),
];

/// Both bases, overlays that set one thing each, and the example.
pub async fn says_the_same(_: Arc<TestContext>) -> Result<()> {
    let kubectl = Kubectl::alone()?;
    let folder = deploy::folder();
    let none = Options::default();
    compare(&kubectl, &folder.join("crds"), &deploy::definitions()?)?;
    compare(&kubectl, &folder.join("base"), &deploy::objects(&none)?)?;
    compare(&kubectl, &folder.join("example"), &example()?)?;
    compare(&kubectl, &folder.join("console"), &deploy::console()?)?;
    several_pods(&kubectl.run(&["kustomize", &folder.join("ha").to_string_lossy()])?)?;
    watched(&kubectl.run(&["kustomize", &folder.join("monitoring").to_string_lossy()])?)?;
    checked(&kubectl.run(&["kustomize", &folder.join("policies").to_string_lossy()])?)?;
    without_pods(&kubectl)?;
    for (says, image) in IMAGES {
        let options = Options { image: image.to_owned(), ..none.clone() };
        let says = says.replacen('{', "{name: olm-rs.dev/olm-rs, ", 1);
        compare_overlay(&kubectl, &format!("images: [{says}]"), &options)?;
    }
    let stopped = Options { replicas: 0, ..none.clone() };
    let counts = Operator::ALL.map(|operator| format!("{{name: {operator}, count: 0}}"));
    compare_overlay(&kubectl, &format!("replicas: [{}]", counts.join(", ")), &stopped)
}

/// What `deploy/ha` says: two of each, which elect one of them, and budgets that spare it.
fn several_pods(rendered: &str) -> Result<()> {
    let counts = [
        ("replicas: 2\n", 2),
        ("- --leader-elect\n", 2),
        ("type: RollingUpdate\n", 2),
        ("kind: PodDisruptionBudget\n", 2),
    ];
    has("deploy/ha", rendered, &counts)
}

/// What `deploy/monitoring` says: who is scraped, when an alert fires, and a dashboard that
/// Grafana finds.
fn watched(rendered: &str) -> Result<()> {
    let counts = [
        ("kind: ServiceMonitor\n", 2),
        ("kind: PrometheusRule\n", 1),
        ("    grafana_dashboard: \"1\"\n", 1),
        ("  olm.json: |", 1),
    ];
    has("deploy/monitoring", rendered, &counts)
}

/// What `deploy/policies` says: a policy, and that it is enforced.
fn checked(rendered: &str) -> Result<()> {
    let counts = [
        ("kind: ValidatingAdmissionPolicy\n", 1),
        ("kind: ValidatingAdmissionPolicyBinding\n", 1),
        ("  - Deny\n", 1),
    ];
    has("deploy/policies", rendered, &counts)
}

/// What `deploy/process` and `deploy/process-pvc` add to a base.
fn without_pods(kubectl: &Kubectl) -> Result<()> {
    let rendered = component(kubectl, "base", "process")?;
    let volume = ("emptyDir:\n          sizeLimit: 7Gi\n", 1);
    let mount = ("- mountPath: /var/lib/olm-rs/catalogs\n", 1);
    has("deploy/process", &rendered, &[("- --catalogs=process\n", 1), mount, volume])?;
    let rendered = component(kubectl, "ha", "process-pvc")?;
    let claim = ("persistentVolumeClaim:\n          claimName: catalog-operator-catalogs\n", 1);
    let counts = [("- --catalogs=process\n", 1), ("emptyDir", 0), claim, ("replicas: 2\n", 2)];
    has("deploy/process-pvc", &rendered, &counts)?;
    has("deploy/process-pvc", &rendered, &[("kind: PersistentVolumeClaim\n", 1)])
}

/// An overlay of one folder with another one as its component.
pub fn component(kubectl: &Kubectl, base: &str, component: &str) -> Result<String> {
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    for name in ["base", "ha", "process", "process-pvc"] {
        copy(&deploy::folder().join(name), &folder.path().join(name))?;
    }
    let overlay = folder.path().join("overlay");
    std::fs::create_dir(&overlay).context("cannot create the overlay")?;
    let text = format!("resources: [../{base}]\ncomponents: [../{component}]\n");
    std::fs::write(overlay.join("kustomization.yaml"), text).context("cannot write the overlay")?;
    kubectl.run(&["kustomize", &overlay.to_string_lossy()])
}

fn has(folder: &str, rendered: &str, counts: &[(&str, usize)]) -> Result<()> {
    for (text, expected) in counts {
        let found = rendered.matches(text).count();
        ensure!(found == *expected, "{folder} has {text:?} {found} times");
    }
    Ok(())
}

/// What `deploy/example` sets, set our way.
fn example() -> Result<Vec<DynamicObject>> {
    let flags = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    let mut objects = deploy::objects(&Options {
        image: "registry.example.com:5000/team/olm-rs:v0.1.0-patched".to_owned(),
        replicas: 1,
        extra_args: [
            (Operator::Catalog, flags(&["--log-format=json", "--interval=30m"])),
            (Operator::Olm, flags(&["--debug"])),
        ]
        .into(),
        ..Options::default()
    })?;
    // The one thing for which there is no option.
    let memory = objects.iter_mut().find_map(|object| {
        let name = object.metadata.name.as_deref();
        let ours = name == Some(Operator::Olm.name()) && deploy::kind(object) == "Deployment";
        let resources = "/spec/template/spec/containers/0/resources/requests/memory";
        ours.then(|| object.data.pointer_mut(resources)).flatten()
    });
    *memory.context("the Deployment requests no memory")? = json!("256Mi");
    Ok(objects)
}

/// An overlay beside a copy of the base: kustomize takes relative paths only.
fn compare_overlay(kubectl: &Kubectl, says: &str, options: &Options) -> Result<()> {
    let folder = tempfile::tempdir().context("cannot create a directory")?;
    let (base, overlay) = (folder.path().join("base"), folder.path().join("overlay"));
    copy(&deploy::folder().join("base"), &base)?;
    std::fs::create_dir(&overlay).context("cannot create the overlay")?;
    let text = format!("resources: [../base]\n{says}\n");
    std::fs::write(overlay.join("kustomization.yaml"), text).context("cannot write the overlay")?;
    compare(kubectl, &overlay, &deploy::objects(options)?).context(says.to_owned())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir(to).context("cannot create the copy")?;
    for entry in std::fs::read_dir(from).context("cannot read the base")? {
        let entry = entry.context("cannot read the base")?;
        std::fs::copy(entry.path(), to.join(entry.file_name())).context("cannot copy the base")?;
    }
    Ok(())
}

/// Ours go through kustomize, too, so that both are spelled by the same writer.
fn compare(kubectl: &Kubectl, folder: &Path, ours: &[DynamicObject]) -> Result<()> {
    let again = tempfile::tempdir().context("cannot create a directory")?;
    let write = |name: &str, text: &str| std::fs::write(again.path().join(name), text);
    write("ours.yaml", &deploy::render("", ours)?).context("cannot write our objects")?;
    write("kustomization.yaml", "resources: [ours.yaml]\n").context("cannot write a list")?;
    let theirs = kubectl.run(&["kustomize", &folder.to_string_lossy()])?;
    let ours = kubectl.run(&["kustomize", &again.path().to_string_lossy()])?;
    for (number, (theirs, ours)) in theirs.lines().zip(ours.lines()).enumerate() {
        ensure!(theirs == ours, "line {}\nkustomize {theirs:?}\nours      {ours:?}", number + 1);
    }
    ensure!(theirs == ours, "one side has more objects");
    Ok(())
}
