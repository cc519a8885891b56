//! Catalogs in ConfigMaps: v0's server and ours with the same ConfigMap, and everything that they can
//! be asked. Whoever ends is started once more with `--permissive`.
//!
//! `configmap-server` of v0 is built from its Go module on first use.

mod cases;
mod play;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;

use cases::Case;
use futures::StreamExt;
use olm_testkit::peer::ConfigMapServer;
use olm_testkit::progress::Progress;
use play::{Said, said};
use tempfile::TempDir;

use crate::support::built;

/// Cases in which channels of one name lead to one CSV from several packages: v0 lists it for each, ours once
/// (docs/differences.md). What ours lists is in the tests of `tools/legacy`; all other answers are the same.
const LISTED_ONCE: [&str; 3] = [
    "apis: providers in two packages and channels",
    "packages: one CSV in five packages",
    "versions: in two packages",
];

/// ConfigMaps that are played at the same time.
const AT_ONCE: usize = 4;

#[tokio::test(flavor = "multi_thread")]
async fn both_take_refuse_and_answer_the_same() {
    let theirs = ConfigMapServer::ensure(&Progress::to_stderr()).unwrap();
    let folder = TempDir::new().unwrap();
    let ours = folder.path().join("configmap-server");
    symlink(built("olm-registry"), &ours).unwrap();
    let cases = cases::all();
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "two cases have one name");
    let played = futures::stream::iter(&cases).map(|case| play(case, theirs.program(), &ours));
    let played: Vec<Played> = played.buffer_unordered(AT_ONCE).collect().await;
    let differences: Vec<&str> =
        played.iter().flat_map(|played| &played.differences).map(String::as_str).collect();
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
    let taken = played.iter().filter(|played| played.is_taken).count();
    let answers: usize = played.iter().map(|played| played.answers).sum();
    println!("{taken} of {} ConfigMaps are taken, {answers} answers are the same", cases.len());
    assert!(taken >= 60 && cases.len() - taken >= 60, "{taken} of {}", cases.len());
}

/// Of a CRD of `v1` ours keeps what an API server needs.
#[tokio::test(flavor = "multi_thread")]
async fn v0_serves_crds_as_v1beta1_has_them() {
    let theirs = ConfigMapServer::ensure(&Progress::to_stderr()).unwrap();
    let folder = TempDir::new().unwrap();
    let ours = folder.path().join("configmap-server");
    symlink(built("olm-registry"), &ours).unwrap();
    let case = cases::crd_of_v1();
    let mut listings = Vec::new();
    for program in [theirs.program(), &ours] {
        let (said, log) = said(program, &case.data, false).await;
        listings.push(said.expect(&log).remove("ListBundles").unwrap());
    }
    let has =
        |text: &str| listings.iter().map(|listing| listing.contains(text)).collect::<Vec<_>>();
    assert_eq!(has("JSONPath"), [true, false]);
    assert_eq!(has("jsonPath"), [false, true]);
    assert_eq!(has("conversionReviewVersions"), [false, true]);
}

/// What came out of one ConfigMap.
struct Played {
    is_taken: bool,
    answers: usize,
    differences: Vec<String>,
}

async fn play(case: &Case, theirs: &Path, ours: &Path) -> Played {
    let mut played = Played { is_taken: true, answers: 0, differences: Vec::new() };
    for permissive in [false, true] {
        let (v0, v0_log) = said(theirs, &case.data, permissive).await;
        let (own, own_log) = said(ours, &case.data, permissive).await;
        let name = format!("{}{}", case.name, if permissive { ", permissive" } else { "" });
        played.compare(&name, &v0, &own, &format!("v0's log: {v0_log}\nours: {own_log}"));
        if v0.is_some() {
            break;
        }
        played.is_taken = false;
    }
    played
}

impl Played {
    fn compare(&mut self, name: &str, v0: &Said, ours: &Said, logs: &str) {
        if v0.is_some() != ours.is_some() {
            let verdict = |said: &Said| if said.is_some() { "takes" } else { "refuses" };
            let text = format!("{name}: v0 {} it, ours {} it\n{logs}", verdict(v0), verdict(ours));
            self.differences.push(text);
            return;
        }
        let nothing = BTreeMap::new();
        let (v0, ours) = (v0.as_ref().unwrap_or(&nothing), ours.as_ref().unwrap_or(&nothing));
        self.answers += v0.len();
        for question in v0.keys().chain(ours.keys()).collect::<BTreeSet<_>>() {
            let (v0, ours) = (v0.get(question), ours.get(question));
            let differs = question == "ListBundles" && LISTED_ONCE.contains(&name);
            if (v0 != ours) != differs {
                let text = format!("{name}, {question}\n v0:   {v0:?}\n ours: {ours:?}");
                self.differences.push(text);
            }
        }
    }
}
