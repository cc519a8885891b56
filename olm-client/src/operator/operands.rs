//! The custom resources of an operator in the namespace that is looked at, each with what it says of itself.

use anyhow::{Context, Result, ensure};
use kube::api::{Api, DynamicObject, ListParams};
use olm_effect::Resource;
use olm_plan::Health;
use olm_types::api::{ClusterServiceVersion, CrdDescription};
use serde_json::Value;

use crate::acts::example_kinds;
use crate::cluster::{Cluster, TimedOut, cause, is_not_found};
use crate::discovery::is_segment;

/// Kinds that are looked at.
const KINDS: usize = 20;

/// Objects of one kind that are read.
const OBJECTS: usize = 50;

/// Objects of one answer: each may have more than a megabyte, of which a few words are kept.
const PAGE: u32 = 10;

/// Characters that are kept of what an object says of itself.
const STATE: usize = 1_000;

/// Conditions that say how an object is, the first that it has.
const CONDITIONS: [&str; 3] = ["Ready", "Available", "Healthy"];

/// Conditions that say, when they are true, that an object does not work.
const FAILING: [&str; 4] = ["Failed", "Degraded", "Stalled", "ReconcileError"];

/// Fields of a status that say it in one word, the first that it has.
const WORDS: [&str; 2] = ["phase", "state"];

/// Words of objects that work, and of those that do not.
const WORKING: [&str; 8] =
    ["Active", "Available", "Bound", "Complete", "Healthy", "Ready", "Running", "Succeeded"];
const BROKEN: [&str; 2] = ["Error", "Failed"];

/// A custom resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// As far as its status follows the conventions of Kubernetes.
    pub health: Health,
    /// What its status says; empty where that is nothing that is known.
    pub state: String,
}

/// The custom resources of the kinds that a CSV owns, and what could not be read.
///
/// # Errors
/// Time runs out.
pub async fn operands(
    cluster: &Cluster,
    csv: &ClusterServiceVersion,
) -> Result<(Vec<Operand>, Vec<String>)> {
    let (mut found, mut unread) = (Vec::new(), Vec::new());
    for owned in kinds(csv) {
        match objects(cluster, owned).await {
            Ok(objects) => found.extend(objects),
            Err(error) if error.downcast_ref::<TimedOut>().is_some() => return Err(error),
            Err(error) => unread.push(format!("{}: {}", owned.name, cause(&error))),
        }
    }
    Ok((found, unread))
}

/// The kinds, each in the first of the versions that the CSV lists of it: every version has the same objects.
fn kinds(csv: &ClusterServiceVersion) -> Vec<&CrdDescription> {
    let mut kinds: Vec<&CrdDescription> = Vec::new();
    for owned in example_kinds(csv) {
        if kinds.len() < KINDS && kinds.iter().all(|known| known.name != owned.name) {
            kinds.push(owned);
        }
    }
    kinds
}

async fn objects(cluster: &Cluster, crd: &CrdDescription) -> Result<Vec<Operand>> {
    let resource = resource(crd)?;
    let in_namespace = cluster.objects(&resource, Some(&cluster.namespace));
    match pages(cluster, crd, &in_namespace).await {
        // Objects of the cluster are in no namespace.
        Err(error) if is_not_found(&error) => {
            pages(cluster, crd, &cluster.objects(&resource, None)).await
        }
        read => read,
    }
}

async fn pages(
    cluster: &Cluster,
    crd: &CrdDescription,
    api: &Api<DynamicObject>,
) -> Result<Vec<Operand>> {
    let mut found = Vec::new();
    let mut parameters = ListParams::default().limit(PAGE);
    loop {
        let page = cluster.answer(api.list(&parameters)).await?;
        found.extend(page.items.into_iter().map(|object| operand(crd, object)));
        let next = page.metadata.continue_.filter(|token| !token.is_empty());
        match next.filter(|_| found.len() < OBJECTS) {
            Some(token) => parameters = parameters.continue_token(&token),
            None => return Ok(found),
        }
    }
}

/// How the API server is asked for a kind. What a CSV says becomes a part of an address.
fn resource(crd: &CrdDescription) -> Result<Resource> {
    let (plural, group) = crd.name.split_once('.').context("the CSV names it without a group")?;
    let is_address = [plural, group, &crd.version].iter().all(|part| is_segment(part));
    ensure!(is_address, "the CSV names no kind that may be");
    Ok(Resource::new(group, &crd.version, &crd.kind, plural))
}

fn operand(crd: &CrdDescription, object: DynamicObject) -> Operand {
    let status = &object.data["status"];
    let (health, state) = match object.metadata.deletion_timestamp {
        Some(_) => (Health::Progressing, "is being deleted".to_owned()),
        None => (health(status), state(status).chars().take(STATE).collect()),
    };
    let name = object.metadata.name.unwrap_or_default();
    Operand { kind: crd.kind.clone(), name, health, state }
}

/// How an object is; unknown where it does not say that in a form that is known.
fn health(status: &Value) -> Health {
    if let Some(one) = condition(status) {
        let is_good = CONDITIONS.iter().any(|kind| one["type"] == *kind);
        return match one["status"].as_str() {
            Some("True") if is_good => Health::Healthy,
            Some("True") => Health::Unhealthy,
            Some("False") => Health::Progressing,
            _ => Health::Unknown,
        };
    }
    match word(status) {
        Some(word) if WORKING.contains(&word) => Health::Healthy,
        Some(word) if BROKEN.contains(&word) => Health::Unhealthy,
        Some(_) => Health::Progressing,
        None => Health::Unknown,
    }
}

/// A condition that says how an object is, or a word.
fn state(status: &Value) -> String {
    let Some(one) = condition(status) else { return word(status).unwrap_or_default().to_owned() };
    let text = |field: &str| one[field].as_str().unwrap_or_default();
    let said = [text("reason"), text("message")];
    let said: Vec<&str> = said.into_iter().filter(|text| !text.is_empty()).collect();
    match text("status") {
        "True" if CONDITIONS.contains(&text("type")) => format!("{}: True", text("type")),
        other if said.is_empty() => format!("{}: {other}", text("type")),
        other => format!("{}: {other} ({})", text("type"), said.join(": ")),
    }
}

/// The condition that says how an object is: that it does not work, or whether it does.
fn condition(status: &Value) -> Option<&Value> {
    let all = status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let of_type = |kind: &str| all.iter().find(|one| one["type"] == kind);
    let failing = FAILING.iter().filter_map(|kind| of_type(kind));
    let mut failing = failing.filter(|one| one["status"] == "True");
    failing.next().or_else(|| CONDITIONS.iter().find_map(|kind| of_type(kind)))
}

fn word(status: &Value) -> Option<&str> {
    WORDS.iter().find_map(|field| status[*field].as_str())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{from_value, json};

    use super::*;
    use crate::stub;

    const IN_NAMESPACE: &str = "/apis/x.io/v1/namespaces/ns/kettles?&limit=10";

    fn kettles() -> CrdDescription {
        let [name, version, kind] = ["kettles.x.io", "v1", "Kettle"].map(str::to_owned);
        CrdDescription { name, version, kind, ..CrdDescription::default() }
    }

    fn kettle(status: &Value) -> Value {
        let metadata = json!({"name": "a"});
        json!({"apiVersion": "x.io/v1", "kind": "Kettle", "metadata": metadata, "status": status})
    }

    /// A page of so many objects, and the token of the next one.
    fn page(count: usize, next: &str) -> Value {
        let items = vec![kettle(&json!({})); count];
        let metadata = json!({"resourceVersion": "7", "continue": next});
        json!({"apiVersion": "x.io/v1", "kind": "KettleList", "metadata": metadata, "items": items})
    }

    /// A cluster whose API server has these answers, and no others.
    fn cluster(answers: Vec<(String, Value)>) -> Cluster {
        stub::cluster(move |address| {
            let known = answers.iter().find(|(wanted, _)| *wanted == address);
            known.map(|(_, answer)| answer.clone())
        })
    }

    #[rstest]
    #[case::one_page(vec![(IN_NAMESPACE.to_owned(), page(3, ""))], 3)]
    #[case::two_pages(vec![
        (IN_NAMESPACE.to_owned(), page(10, "next")),
        (format!("{IN_NAMESPACE}&continue=next"), page(2, "")),
    ], 12)]
    #[case::without_end(vec![
        (IN_NAMESPACE.to_owned(), page(10, "next")),
        (format!("{IN_NAMESPACE}&continue=next"), page(10, "next")),
    ], OBJECTS)]
    #[case::of_the_cluster(vec![("/apis/x.io/v1/kettles?&limit=10".to_owned(), page(1, ""))], 1)]
    #[tokio::test]
    async fn objects_are_read_where_they_are_and_in_pages(
        #[case] answers: Vec<(String, Value)>,
        #[case] expected: usize,
    ) {
        let found = objects(&cluster(answers), &kettles()).await.unwrap();
        assert_eq!(found.len(), expected);
    }

    #[tokio::test]
    async fn what_is_not_served_is_an_error() {
        assert!(is_not_found(&objects(&cluster(Vec::new()), &kettles()).await.unwrap_err()));
    }

    #[test]
    fn an_object_does_not_say_much() {
        let long = from_value(kettle(&json!({"phase": "x".repeat(STATE + 1)}))).unwrap();
        assert_eq!(operand(&kettles(), long).state.len(), STATE);
    }

    #[rstest]
    #[case::nothing(json!(null), "")]
    #[case::word(json!({"phase": "Running"}), "Running")]
    #[case::ready(json!({"conditions": [{"type": "Other", "status": "False"},
        {"type": "Ready", "status": "True", "message": "m"}]}), "Ready: True")]
    #[case::not_ready(json!({"conditions": [{"type": "Ready", "status": "False", "reason": "NoWater",
        "message": "it is empty"}]}), "Ready: False (NoWater: it is empty)")]
    #[case::degraded(json!({"conditions": [{"type": "Ready", "status": "True"},
        {"type": "Degraded", "status": "True", "reason": "NoWater"}]}), "Degraded: True (NoWater)")]
    #[case::silent(json!({"conditions": [{"type": "Available", "status": "Unknown"}]}), "Available: Unknown")]
    #[case::other_types(json!({"conditions": "yes", "phase": 1}), "")]
    fn an_object_says_how_it_is(#[case] status: Value, #[case] expected: &str) {
        assert_eq!(state(&status), expected);
    }

    #[rstest]
    #[case::nothing(json!(null), Health::Unknown)]
    #[case::ready(json!({"conditions": [{"type": "Ready", "status": "True"}]}), Health::Healthy)]
    #[case::not_yet(json!({"conditions": [{"type": "Ready", "status": "False"}]}), Health::Progressing)]
    #[case::unsaid(json!({"conditions": [{"type": "Ready", "status": "Unknown"}]}), Health::Unknown)]
    #[case::degraded(json!({"conditions": [{"type": "Available", "status": "True"},
        {"type": "Degraded", "status": "True"}]}), Health::Unhealthy)]
    #[case::not_degraded(json!({"phase": "Error", "conditions": [{"type": "Available", "status": "True"},
        {"type": "Degraded", "status": "False"}]}), Health::Healthy)]
    #[case::runs(json!({"phase": "Running"}), Health::Healthy)]
    #[case::fails(json!({"state": "Failed"}), Health::Unhealthy)]
    #[case::begins(json!({"phase": "Creating"}), Health::Progressing)]
    fn an_object_has_a_health(#[case] status: Value, #[case] expected: Health) {
        assert_eq!(health(&status), expected);
    }

    #[test]
    fn a_kind_is_looked_at_in_one_version() {
        let owned =
            |name: String, version: &str| json!({"name": name, "version": version, "kind": "K"});
        let many = (0..30).map(|number| owned(format!("k{number}.x.io"), "v1"));
        let all: Vec<Value> = ["v1alpha1", "v1", "v2"]
            .map(|version| owned("kettles.x.io".to_owned(), version))
            .into_iter()
            .chain(many)
            .collect();
        let csv: ClusterServiceVersion = from_value(json!({"metadata": {},
            "spec": {"install": {"strategy": "deployment"}, "customresourcedefinitions": {"owned": all}}}))
        .unwrap();
        let found = kinds(&csv);
        assert_eq!((found.len(), found[0].version.as_str()), (KINDS, "v1alpha1"));
        assert!(found[1..].iter().all(|one| one.name != "kettles.x.io"));
    }

    #[rstest]
    #[case("kettles.x.io", "v1", "")]
    #[case("kettles", "v1", "without a group")]
    #[case("up.s/../x", "v1", "no kind that may be")]
    #[case("kettles.x.io", "v1/../../secrets", "no kind that may be")]
    fn what_a_csv_says_stays_in_its_address(
        #[case] name: &str,
        #[case] version: &str,
        #[case] expected: &str,
    ) {
        let (name, version) = (name.to_owned(), version.to_owned());
        let crd = CrdDescription { name, version, ..CrdDescription::default() };
        match resource(&crd) {
            Ok(found) => assert_eq!((expected, found.plural.as_str()), ("", "kettles")),
            Err(error) => {
                let error = error.to_string();
                assert!(!expected.is_empty() && error.contains(expected), "{error}");
            }
        }
    }
}
