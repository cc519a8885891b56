//! Rotation while servers go on answering.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use olm_effect::Action;
use olm_types::api::ClusterServiceVersion;
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::{days, issue, mk_csv, mk_secret, now, objects_with};
use crate::certificates::{
    Announcement, Condition, ServingNames, ServingObjects, ServingSecret, Validity, announce,
    condition, is_announced, judge, plan_serving, trim, trusts,
};

fn csv() -> ClusterServiceVersion {
    mk_csv()
}

/// Announces, with certificates issued where they are asked for.
fn announced(objects: &ServingObjects) -> Announcement {
    announce(&csv(), objects, now()).unwrap_or_else(|order| {
        let objects = ServingObjects { issued: Some(issue(&order)), ..objects.clone() };
        announce(&csv(), &objects, now()).unwrap()
    })
}

/// The Secret after the writes of an announcement or a plan.
fn after(secret: &Secret, writes: &[olm_effect::Effect]) -> Secret {
    let mut value = serde_json::to_value(secret).unwrap();
    for write in writes {
        let Action::MergePatch { patch, .. } = &write.action else { panic!("{write:?}") };
        merge(&mut value, patch);
    }
    serde_json::from_value(value).unwrap()
}

fn merge(target: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *target = patch.clone();
        return;
    };
    for (key, value) in patch {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key.as_str()], value);
        }
    }
}

fn is_good(secret: &Secret) -> bool {
    let hosts = ServingNames::new("ns", "dep").hosts();
    matches!(judge(ServingSecret::new(secret).active(), &hosts, now()), Validity::Good { .. })
}

#[rstest]
#[case::good(Some(days(3)), "Good { rotate_at: Some(2026-01-03T00:00:00Z), has_surplus: false }")]
#[case::due(Some(days(1)), "Due")]
#[case::over(Some(days(0) - jiff::SignedDuration::from_secs(1)),
    "Unusable { secret: \"dep-service-cert\", reason: NotNow { part: \"olmCAKey\" } }")]
#[case::missing(None, "Unusable { secret: \"dep-service-cert\", reason: NoSecret }")]
fn conditions(#[case] left: Option<jiff::SignedDuration>, #[case] expected: &str) {
    let objects = left.map_or_else(ServingObjects::default, |left| objects_with(mk_secret(left)));
    assert_eq!(format!("{:?}", condition(&csv(), &objects, now())), expected);
}

#[test]
fn a_csv_without_servers_needs_nothing() {
    let mut csv = csv();
    csv.spec.webhookdefinitions.clear();
    csv.spec.apiservicedefinitions = None;
    let nothing = Condition::Good { rotate_at: None, has_surplus: false };
    assert_eq!(condition(&csv, &ServingObjects::default(), now()), nothing);
}

#[test]
fn at_each_step_callers_trust_what_pods_show_before_and_after_it() {
    let old = mk_secret(days(1));
    let old_authority = ServingSecret::new(&old).active().authority.to_vec();

    let announcement = announced(&objects_with(old.clone()));
    let with_next = after(&old, &announcement.secrets);
    let objects = objects_with(with_next.clone());
    let next_authority = ServingSecret::new(&with_next).next().unwrap().authority.to_vec();
    assert_eq!(ServingSecret::new(&with_next).active(), ServingSecret::new(&old).active());
    assert!(is_announced(&csv(), &objects));
    let trusted = &announcement.trusted["dep"];
    assert!(trusts(trusted, &old_authority) && trusts(trusted, &next_authority));

    let plan = plan_serving(&csv(), &objects, |_| trusted.clone(), now()).unwrap();
    let promoted = after(&with_next, &plan.secrets);
    assert!(is_good(&promoted));
    assert_eq!(ServingSecret::new(&promoted).active().authority, next_authority);
    assert_eq!(ServingSecret::new(&promoted).previous(), old_authority);
    assert!(trusts(&plan.trusted["dep"], &old_authority));
    assert!(trusts(&plan.trusted["dep"], &next_authority));
    assert_eq!(plan.renewed_until, Some(now() + days(729)));

    let objects = objects_with(promoted.clone());
    let surplus = Condition::Good { rotate_at: Some(now() + days(729)), has_surplus: true };
    assert_eq!(condition(&csv(), &objects, now()), surplus);
    let trimmed = trim(&csv(), &objects);
    assert_eq!(trimmed.trusted["dep"], next_authority);
    let done = after(&promoted, &trimmed.secrets);
    let keys: Vec<&String> = done.data.as_ref().unwrap().keys().collect();
    assert_eq!(keys, ["olmCAKey", "tls.crt", "tls.key"]);
}

#[test]
fn what_was_announced_before_a_crash_is_kept() {
    let old = mk_secret(days(1));
    let with_next = after(&old, &announced(&objects_with(old.clone())).secrets);
    let again = announce(&csv(), &objects_with(with_next.clone()), now()).unwrap();
    assert!(again.secrets.is_empty());
    assert_eq!(again.trusted["dep"], ServingSecret::new(&with_next).trusted());
}

#[test]
fn an_announced_certificate_that_is_garbage_is_issued_anew() {
    let old = mk_secret(days(1));
    let mut with_next = after(&old, &announced(&objects_with(old.clone())).secrets);
    let data = with_next.data.as_mut().unwrap();
    data.insert("next.tls.crt".to_owned(), super::fixtures::bytes("garbage"));
    let order = announce(&csv(), &objects_with(with_next), now()).unwrap_err();
    assert_eq!(order.servers.keys().collect::<Vec<_>>(), ["dep-service-cert"]);
}

#[test]
fn only_what_is_due_is_announced() {
    let mut csv = csv();
    let idle = json!({
        "generateName": "x.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "idle",
    });
    csv.spec.webhookdefinitions.push(serde_json::from_value(idle).unwrap());
    let mut objects = objects_with(mk_secret(days(1)));
    let hosts = ServingNames::new("ns", "idle").hosts();
    let (authority, issuer) = super::fixtures::mk_authority(now(), now() + days(9));
    let server = super::fixtures::mk_server(&issuer, &hosts, now(), now() + days(9));
    let mut good = mk_secret(days(9));
    good.metadata.name = Some("idle-service-cert".to_owned());
    let data = good.data.as_mut().unwrap();
    data.insert("tls.crt".to_owned(), super::fixtures::bytes(&server.certificate));
    data.insert("olmCAKey".to_owned(), super::fixtures::bytes(&authority));
    objects.secrets.insert("idle-service-cert".to_owned(), Arc::new(good));
    let order = announce(&csv, &objects, now()).unwrap_err();
    assert_eq!(order.servers.keys().collect::<Vec<_>>(), ["dep-service-cert"]);
}
