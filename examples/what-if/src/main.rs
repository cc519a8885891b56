//! Reports what the Subscriptions of namespaces would get: `what-if CATALOGS FILE...`.
//!
//! `CATALOGS` is a folder of file-based catalogs, each in a folder `NAMESPACE/NAME` that is named
//! after its CatalogSource. The files are what `kubectl get subscriptions,csv,catalogsources -o yaml`
//! (or json) prints: CatalogSources give their catalogs a priority, everything else in them is passed
//! over. The resolver is that of the cluster, so what it answers here is what would happen there, if
//! the namespaces see all of these catalogs and their OperatorGroups change nothing of the defaults.

mod catalogs;
mod objects;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use olm_catalog::snapshot::SnapshotSet;
use olm_resolver::{Policy, Refusal, ResolutionOutcome, ResolutionRequest, ResolveError, Resolver};

use objects::{Namespace, Objects};

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let catalogs = arguments.next().context("usage: what-if CATALOGS FILE...")?;
    let files: Vec<PathBuf> = arguments.collect();
    print!("{}", report(&catalogs, &files)?);
    Ok(())
}

/// What every namespace with a Subscription gets.
fn report(folder: &Path, files: &[PathBuf]) -> Result<String> {
    let mut objects = Objects::default();
    files.iter().try_for_each(|file| objects.read(file))?;
    let universe = catalogs::universe(folder, &objects.priorities)?;
    let mut text = String::new();
    for (name, namespace) in &objects.namespaces {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "namespace {name}");
        text.push_str(&outcome(&answer(name, namespace, &universe)));
    }
    Ok(text)
}

fn answer(name: &str, namespace: &Namespace, universe: &SnapshotSet) -> ResolutionOutcome {
    let request = ResolutionRequest {
        subscriptions: namespace.subscriptions.clone(),
        installed: namespace.installed.clone(),
        ..ResolutionRequest::new(name, universe)
    };
    Resolver::default().outcome(&request, Policy::Isolated)
}

/// A line for each bundle that the namespace would have, and for each group of Subscriptions that gets
/// nothing; below it why.
fn outcome(answer: &ResolutionOutcome) -> String {
    let mut text = String::new();
    for chosen in &answer.resolution.chosen {
        let entry = &chosen.entry;
        let _ = write!(text, "  {} from {}", entry.name, entry.catalog);
        let replaced = chosen.replaces.iter().try_for_each(|old| write!(text, ", replaces {old}"));
        let _ = replaced.and_then(|()| writeln!(text));
        for why in &chosen.wanted_by {
            let _ = writeln!(text, "    {why}");
        }
    }
    for refusal in &answer.refusals {
        let _ = writeln!(text, "  nothing for {}", refusal.subscriptions.join(", "));
        let _ = writeln!(text, "    {}", reason(refusal));
    }
    text
}

fn reason(refusal: &Refusal) -> String {
    match &refusal.error {
        ResolveError::NotSatisfiable(explanation) => explanation.summary(),
        error => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(path: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("sample").join(path)
    }

    #[test]
    fn one_is_upgraded_with_what_it_needs_and_the_other_gets_a_reason() {
        let report = report(&sample("catalogs"), &[sample("team.yaml")]).unwrap();
        let lines: Vec<&str> = report.lines().filter(|line| !line.starts_with("    ")).collect();
        assert_eq!(
            lines,
            [
                "namespace team",
                "  guestbook.v1.1.0 from olm/community, replaces guestbook.v1.0.0",
                "  kvstore.v1.0.0 from olm/community",
                "  nothing for printer",
            ]
        );
        assert!(report.contains("stable"), "it says which channel would help:\n{report}");
    }

    #[test]
    fn what_is_read_from_a_cluster_is_what_kubectl_prints() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("objects.yaml");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            report(&sample("catalogs"), std::slice::from_ref(&file))
        };
        let subscription = "{apiVersion: operators.coreos.com/v1alpha1, kind: Subscription, \
             metadata: {name: s, namespace: ns}, \
             spec: {name: kvstore, source: community, sourceNamespace: olm}}";
        let one = read(subscription).unwrap();
        assert!(one.contains("namespace ns\n  kvstore.v1.0.0 from olm/community\n"), "{one}");
        let copy = "{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, \
             metadata: {name: c, namespace: ns, labels: {olm.copiedFrom: far}}, spec: {}}";
        assert_eq!(read(&format!("{subscription}\n---\n{copy}\n---\nkind: Pod\n")).unwrap(), one);
        assert_eq!(read("").unwrap(), "");
        let error = read("kind: Subscription\nspec: 5\n").unwrap_err();
        assert!(format!("{error:#}").contains("objects.yaml"), "{error:#}");
        assert!(read("kind: [").is_err());
    }

    #[test]
    fn a_folder_that_holds_no_catalog_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("olm/bad")).unwrap();
        std::fs::write(folder.path().join("olm/bad/a.yaml"), "schema: olm.package\n").unwrap();
        let error = report(folder.path(), &[]).unwrap_err();
        assert!(format!("{error:#}").contains("olm/bad"), "{error:#}");
    }
}
