//! Upgrades of definitions: the rows of spec catalog-operator 9.7 on CRDs, and the rules of
//! OpenShift's guide to OLM (docs/differences.md).

use olm_effect::{Outcome, Refusal};
use rstest::rstest;
use serde_json::json;

use super::*;

mod conversion;
mod cost;
mod rows;

fn version(name: &str, served: bool, schema: Value) -> Value {
    json!({"name": name, "served": served, "storage": false, "schema": {"openAPIV3Schema": schema}})
}

fn definition(versions: &[Value], stored: &[&str]) -> Value {
    json!({
        "metadata": {"name": "crontabs.stable.example.com", "resourceVersion": "7", "uid": "u"},
        "spec": {"group": "stable.example.com", "names": {"kind": "CronTab", "plural": "crontabs"}, "versions": versions},
        "status": {"storedVersions": stored},
    })
}

fn replicas(max: i64) -> Value {
    json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"replicas": {"type": "integer", "maximum": max}}}}})
}

fn cron_tab() -> Value {
    json!({"metadata": {"name": "my-crontab"}, "spec": {"replicas": 10}})
}

/// Upgrades with `items` as the objects of every version; the object that is written and the
/// warning.
fn upgraded(
    live: Value,
    desired: &Value,
    items: &[Value],
) -> Result<(Value, Option<String>), CrdError> {
    owned(live, desired, items, &[])
}

fn owned(
    live: Value,
    desired: &Value,
    items: &[Value],
    owners: &[(&str, &str, &str)],
) -> Result<(Value, Option<String>), CrdError> {
    let owner = |(namespace, name, replaces): &(&str, &str, &str)| CrdOwner {
        namespace: (*namespace).to_owned(),
        name: (*name).to_owned(),
        replaces: (*replaces).to_owned(),
    };
    let owners = Owners { owners: owners.iter().map(owner).collect(), ..Owners::default() };
    let mut live_now = live.clone();
    let mut upgrade = Upgrade::begin(live, desired, &owners)?;
    loop {
        match upgrade.request()? {
            UpgradeRequest::Page(..) => upgrade.page(items, None)?,
            UpgradeRequest::Write(effect) => match effect.action {
                olm_effect::Action::Status { object, .. } => {
                    live_now.clone_from(&object);
                    upgrade.written(Outcome::Changed(live_now.clone()))?;
                }
                _ => upgrade.written(Outcome::Changed(json!({})))?,
            },
            UpgradeRequest::Ready(object) | UpgradeRequest::Touch(object) => {
                return Ok((object, upgrade.take_warning()));
            }
        }
    }
}

#[rstest]
#[case::valid(true, true, 10, None)]
#[case::unserved_in_the_new_one(true, false, 9, None)]
#[case::unserved_in_the_old_one(false, true, 9, None)]
#[case::invalid(
    true,
    true,
    9,
    Some(
        "error validating existing CRs against new CRD's schema for \"crontabs.stable.example.com\": error validating \
     stable.example.com/v2, Kind=CronTab \"my-crontab\": updated validation is too restrictive: [].spec.replicas: \
     Invalid value: 10: spec.replicas in body should be less than or equal to 9"
    )
)]
fn objects_have_to_be_valid_where_both_serve(
    #[case] before: bool,
    #[case] after: bool,
    #[case] max: i64,
    #[case] error: Option<&str>,
) {
    let live = definition(&[version("v2", before, replicas(20))], &["v2"]);
    let desired = definition(&[version("v2", after, replicas(max))], &[]);
    let result = upgraded(live, &desired, &[cron_tab()]);
    assert_eq!(result.err().map(|error| error.to_string()).as_deref(), error);
}

/// v1beta1 has one schema for all versions, or one version without a list.
#[rstest]
#[case::no_list(json!({"version": "v1alpha1"}), json!({"version": "v1alpha1"}), true)]
#[case::list_with_one_schema(
    json!({"versions": [{"name": "v1alpha1", "served": true}]}), json!({"versions": [{"name": "v1alpha1", "served": true}]}), true
)]
#[case::another_version(json!({"version": "v1alpha1"}), json!({"version": "v1alpha2"}), false)]
#[case::unserved(
    json!({"versions": [{"name": "v1alpha1", "served": false}]}), json!({"versions": [{"name": "v1alpha1", "served": true}]}), false
)]
fn old_definitions_have_one_schema(
    #[case] before: Value,
    #[case] after: Value,
    #[case] checked: bool,
) {
    let names = json!({"kind": "testcrd", "plural": "testcrds"});
    let schema = json!({"properties": {"spec": {"properties": {"scalar": {"type": "integer", "minimum": 3}}}}});
    let with = |mut spec: Value| {
        spec["group"] = json!("cluster.com");
        spec["names"] = names.clone();
        spec["validation"] = json!({"openAPIV3Schema": schema});
        json!({"metadata": {"name": "testcrds.cluster.com"}, "spec": spec})
    };
    let object = json!({"metadata": {"name": "my-cr-1"}, "spec": {"scalar": 2}});
    let error =
        upgraded(with(before), &with(after), &[object]).err().map(|error| error.to_string());
    let expected = "error validating existing CRs against new CRD's schema for \"testcrds.cluster.com\": error \
        validating cluster.com/v1alpha1, Kind=testcrd \"my-cr-1\": updated validation is too restrictive: \
        [].spec.scalar: Invalid value: 2: spec.scalar in body should be greater than or equal to 3";
    assert_eq!(error.as_deref(), checked.then_some(expected));
}

#[test]
fn a_conversion_webhook_is_trusted() {
    let live = definition(&[version("v2", true, replicas(20))], &["v2"]);
    let mut desired = definition(&[version("v2", true, replicas(9))], &[]);
    desired["spec"]["conversion"] = json!({"strategy": "Webhook"});
    let (object, warning) = upgraded(live, &desired, &[cron_tab()]).unwrap();
    assert_eq!(object["metadata"]["resourceVersion"], "7");
    assert!(warning.unwrap().contains("[].spec.replicas: Invalid value: 10"));
}

#[test]
fn objects_come_in_pages_and_an_expired_listing_begins_anew() {
    let live = definition(&[version("v2", true, replicas(20))], &["v2"]);
    let desired = definition(&[version("v2", true, replicas(9))], &[]);
    let mut upgrade = Upgrade::begin(live, &desired, &Owners::default()).unwrap();
    let expired = || Refusal { code: 410, reason: "Expired".to_owned(), message: "old".to_owned() };
    let mut tokens = Vec::new();
    for _ in 0..2 {
        for next in ["a", "b"] {
            let Ok(UpgradeRequest::Page(resource, token)) = upgrade.request() else {
                panic!("no page")
            };
            assert_eq!((&*resource.version, &*resource.plural), ("v2", "crontabs"));
            tokens.push(token);
            upgrade.page(&[], Some(next.to_owned())).unwrap();
        }
        upgrade.unlisted(expired()).unwrap();
    }
    let some = |token: &str| Some(token.to_owned());
    assert_eq!(tokens, [None, some("a"), None, some("a")]);
    upgrade.page(&[], some("a")).unwrap();
    let error = upgrade.unlisted(expired()).unwrap_err();
    assert!(error.to_string().ends_with("\"crontabs.stable.example.com\": old"), "{error}");
}

#[rstest]
#[case::removed(&["v1alpha2"], &["v1alpha3"], Some("v1alpha2"))]
#[case::kept(&["v1alpha2", "v1alpha3"], &["v1alpha2", "v1alpha3", "v1alpha4"], None)]
#[case::nothing_stored(&[], &["v1"], None)]
fn stored_versions_must_stay(
    #[case] stored: &[&str],
    #[case] versions: &[&str],
    #[case] lost: Option<&str>,
) {
    let any = |name: &&str| version(name, true, json!({}));
    let live = definition(&stored.iter().map(any).collect::<Vec<_>>(), stored);
    let desired = definition(&versions.iter().map(any).collect::<Vec<_>>(), &[]);
    let lost = lost.map(|version| CrdError::StoredVersionRemoved {
        name: "crontabs.stable.example.com".to_owned(),
        version: version.to_owned(),
    });
    assert_eq!(upgraded(live, &desired, &[]).err(), lost);
}

/// A version goes as the guide says: first not served, then not stored, then gone.
#[test]
fn an_unserved_version_goes_after_every_object_was_written_anew() {
    let mut old = version("v1", false, json!({}));
    let mut new = version("v2", true, json!({}));
    new["storage"] = json!(true);
    let live = definition(&[old.clone(), new.clone()], &["v1", "v2"]);
    let desired = definition(&[new.clone()], &[]);
    let mut upgrade = Upgrade::begin(live.clone(), &desired, &Owners::default()).unwrap();
    let mut seen = Vec::new();
    let written = loop {
        match upgrade.request().unwrap() {
            UpgradeRequest::Page(resource, _) => {
                seen.push(format!("list {}", resource.version));
                upgrade.page(&[cron_tab()], None).unwrap();
            }
            UpgradeRequest::Write(effect) => {
                seen.push(effect.target.to_string());
                let written = match effect.action {
                    olm_effect::Action::Status { mut object, .. } => {
                        assert_eq!(object["status"]["storedVersions"], json!(["v2"]));
                        object["metadata"]["resourceVersion"] = json!("8");
                        object
                    }
                    _ => cron_tab(),
                };
                upgrade.written(Outcome::Changed(written)).unwrap();
            }
            UpgradeRequest::Ready(object) | UpgradeRequest::Touch(object) => break object,
        }
    };
    assert_eq!(written["metadata"]["resourceVersion"], "8");
    let definition_write = "CustomResourceDefinition crontabs.stable.example.com";
    assert_eq!(seen, ["list v2", "list v2", "CronTab my-crontab", definition_write]);
    old["storage"] = json!(true);
    new["storage"] = json!(false);
    let live = definition(&[old, new], &["v1"]);
    let error = upgraded(live, &desired, &[]).unwrap_err();
    assert!(matches!(error, CrdError::StoredVersionRemoved { .. }), "still written in v1");
}

/// What is written anew is reported; with the switch nothing is, and the upgrade is refused as in
/// v0.
#[rstest]
#[case::retired(false)]
#[case::kept(true)]
fn objects_are_written_anew_unless_stored_versions_are_kept(#[case] keep: bool) {
    let mut new = version("v2", true, json!({}));
    new["storage"] = json!(true);
    let live = definition(&[version("v1", false, json!({})), new.clone()], &["v1", "v2"]);
    let owners = Owners { keeps_stored_versions: keep, ..Owners::default() };
    let mut upgrade = Upgrade::begin(live.clone(), &definition(&[new], &[]), &owners).unwrap();
    let mut reported = Vec::new();
    let refused = loop {
        match upgrade.request() {
            Ok(UpgradeRequest::Page(..)) => upgrade.page(&[cron_tab()], None).unwrap(),
            Ok(UpgradeRequest::Write(_)) => {
                let mut retired = live.clone();
                retired["status"]["storedVersions"] = json!(["v2"]);
                upgrade.written(Outcome::Changed(retired)).unwrap();
                reported.extend(upgrade.take_rewritten());
            }
            Ok(UpgradeRequest::Ready(_) | UpgradeRequest::Touch(_)) => break None,
            Err(error) => break Some(error),
        }
    };
    let text = "1 object(s) of CRD \"crontabs.stable.example.com\" were written anew, so that none is stored in v1, \
                which the new CRD does not have";
    assert_eq!(reported, if keep { Vec::new() } else { vec![text.to_owned()] });
    assert_eq!(matches!(refused, Some(CrdError::StoredVersionRemoved { .. })), keep, "{refused:?}");
}

#[test]
fn an_object_that_cannot_be_written_anew_keeps_its_version() {
    let mut new = version("v2", true, json!({}));
    new["storage"] = json!(true);
    let live = definition(&[version("v1", false, json!({})), new.clone()], &["v1", "v2"]);
    let desired = definition(&[new], &[]);
    let mut upgrade = Upgrade::begin(live, &desired, &Owners::default()).unwrap();
    upgrade.page(&[], None).unwrap();
    upgrade.request().unwrap();
    upgrade.page(&[cron_tab()], None).unwrap();
    let cause = Refusal { code: 422, reason: "Invalid".to_owned(), message: "no".to_owned() };
    let error = upgrade.written(Outcome::Refused(cause)).unwrap_err().to_string();
    let start = "risk of data loss updating \"crontabs.stable.example.com\": new CRD removes version v1 that is \
        listed as a stored version on the existing CRD";
    assert!(
        error.starts_with(start)
            && error.ends_with("CronTab my-crontab cannot be stored in another version: no")
    );
}

#[rstest]
#[case::no_caller(&[], true)]
#[case::one(&[("ns", "a.v1", "")], true)]
#[case::one_chain(&[("ns", "a.v1", ""), ("ns", "a.v2", "a.v1")], true)]
#[case::two_operators(&[("ns", "a.v1", ""), ("other", "b.v1", "")], false)]
#[case::names_meet_in_other_namespaces(&[("ns", "a.v1", ""), ("other", "a.v2", "a.v1")], false)]
#[case::a_loop_is_no_head(&[("ns", "a.v1", "a.v2"), ("ns", "a.v2", "a.v1")], true)]
fn only_one_chain_may_remove_a_served_version(
    #[case] owners: &[(&str, &str, &str)],
    #[case] allowed: bool,
) {
    let any = |name: &str, served: bool| version(name, served, json!({}));
    let live = definition(&[any("v1", true), any("v2", true)], &[]);
    let desired = definition(&[any("v2", true)], &[]);
    let result = owned(live, &desired, &[], owners);
    assert_eq!(result.is_ok(), allowed);
    let unserved = definition(&[any("v1", false), any("v2", true)], &[]);
    assert!(owned(unserved, &desired, &[], owners).is_ok(), "it was not served any more");
}

#[test]
fn annotations_of_csvs_that_exist_are_kept() {
    let key = |number: u8| format!("operatorframework.io/installed-alongside-{number}");
    let mut live = definition(&[], &[]);
    live["metadata"]["annotations"] =
        json!({key(1): "ns/here", key(2): "ns/gone", "other": "dropped"});
    let mut desired = definition(&[], &[]);
    desired["metadata"] = json!({"name": "crontabs.stable.example.com",
        "annotations": {key(3): "ns/new", key(4): "ns/stale", "kept": "1"}});
    let existing = [("ns".to_owned(), "here".to_owned())].into();
    let owners = Owners { current: ("ns", "new"), existing: Some(&existing), ..Owners::default() };
    let mut upgrade = Upgrade::begin(live, &desired, &owners).unwrap();
    let Ok(UpgradeRequest::Ready(object)) = upgrade.request() else { panic!("not ready") };
    assert_eq!(
        object["metadata"]["annotations"],
        json!({key(1): "ns/here", key(3): "ns/new", "kept": "1"})
    );
}

#[rstest]
#[case("apiextensions.k8s.io/v1", Some("v1"))]
#[case("apiextensions.k8s.io/v1beta1", Some("v1beta1"))]
#[case::a_manifest_of_a_tool("v1", Some("v1"))]
#[case("v2", None)]
#[case("apiextensions.k8s.io/v2", None)]
#[case("", None)]
fn versions_of_manifests(#[case] text: &str, #[case] version: Option<&str>) {
    assert_eq!(api_version(&json!({"apiVersion": text})).ok(), version);
}

#[rstest]
#[case(&["Established", "NamesAccepted"], true)]
#[case(&["NamesAccepted"], false)]
#[case(&[], false)]
fn served_when_established_and_accepted(#[case] holding: &[&str], #[case] served: bool) {
    let conditions: Vec<_> =
        holding.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
    assert_eq!(is_served(&json!({"status": {"conditions": conditions}})), served);
}
