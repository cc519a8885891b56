//! What annotations under `olm-rs.dev/` declare about a Subscription, so that it can be kept in Git as text.
//!
//! | annotation | declares |
//! |---|---|
//! | `approve` | names of CSVs, separated by commas: an InstallPlan that brings only these is approved |
//! | `first-install` | `Automatic`: the first InstallPlan of a Manual Subscription needs no approval |
//! | `pause` | `true`: nothing new is resolved or applied for the Subscription |
//!
//! A condition says what is wrong with a value that cannot be read. Such a value approves nothing, and
//! pauses: what was to be held back is not let through by a mistake.

use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube_core::ResourceExt;
use olm_types::annotations::{APPROVE, FIRST_INSTALL, OURS, PAUSE};
use olm_types::api::{Approval, Subscription, SubscriptionCondition, SubscriptionStatus};
use olm_types::conditions::subscription::{ANNOTATIONS_INVALID, UPGRADE_HELD};
use olm_types::reasons::subscription::{MALFORMED_VALUE, PAUSED};

use super::conditions;

/// The only value of `first-install`.
const AUTOMATIC: &str = "Automatic";

/// Every key that is known, without its prefix.
const KNOWN: &str = "approve, first-install, pause";

/// Most characters of a value that a message repeats.
const REPEATED: usize = 80;

/// The names of the CSVs that the Subscription approves; nothing without the annotation.
///
/// # Errors
/// The value is none, in words for a user.
pub(crate) fn approved(subscription: &Subscription) -> Option<Result<Vec<&str>, String>> {
    let value = subscription.annotations().get(APPROVE)?;
    let names: Vec<&str> = value.split(',').map(str::trim).collect();
    Some(match names.iter().find(|name| !is_name(name)) {
        Some(name) => Err(format!(
            "annotation {APPROVE} has to be names of CSVs, separated by commas, as in \"guestbook.v1.4.2\"; {:?} is \
             none",
            repeated(name)
        )),
        None => Ok(names),
    })
}

/// The approval that the next InstallPlan of the Subscription needs. Without a value it is Automatic, as in
/// v0.
pub(crate) fn approval(subscription: &Subscription) -> Approval {
    let is_installed =
        subscription.status.as_ref().is_some_and(|status| status.installed_csv.is_some());
    let is_free = subscription.annotations().get(FIRST_INSTALL).is_some_and(|it| it == AUTOMATIC);
    match subscription.spec.install_plan_approval {
        Some(Approval::Manual) if is_installed || !is_free => Approval::Manual,
        Some(Approval::Manual | Approval::Automatic) | None => Approval::Automatic,
    }
}

/// Whether nothing new is resolved or applied for the Subscription. A value that cannot be read pauses, too.
pub fn is_paused(subscription: &Subscription) -> bool {
    subscription.annotations().get(PAUSE).is_some_and(|value| value != "false")
}

/// The status with the conditions about annotations up to date; nothing when they are already.
pub(super) fn reconcile(
    status: &SubscriptionStatus,
    subscription: &Subscription,
    now: Timestamp,
) -> Option<SubscriptionStatus> {
    let mut wanted = status.clone();
    let invalid =
        keep(&mut wanted, ANNOTATIONS_INVALID, MALFORMED_VALUE, problems(subscription), now);
    let held = keep(&mut wanted, UPGRADE_HELD, PAUSED, held(subscription), now);
    let changed = invalid || held;
    changed.then_some(SubscriptionStatus { last_updated: Some(Time(now)), ..wanted })
}

/// Keeps a condition while there is a message; says whether that changed anything.
fn keep(
    status: &mut SubscriptionStatus,
    kind: &str,
    reason: &str,
    message: String,
    now: Timestamp,
) -> bool {
    let known = conditions::get(status, kind);
    if message.is_empty() {
        let changed = known.is_some();
        conditions::remove(status, &[kind]);
        return changed;
    }
    let condition = conditions::holding(kind, reason, Some(message));
    if known.is_some_and(|known| conditions::same(known, &condition)) {
        return false;
    }
    let last_transition_time = Some(Time(now));
    conditions::set(status, SubscriptionCondition { last_transition_time, ..condition });
    true
}

/// What holds back upgrades; empty when nothing does.
fn held(subscription: &Subscription) -> String {
    match is_paused(subscription) {
        true => {
            format!("annotation {PAUSE}: nothing new is resolved or applied until it is removed")
        }
        false => String::new(),
    }
}

/// What is wrong with the annotations, in the order of their keys; empty when nothing is.
fn problems(subscription: &Subscription) -> String {
    let annotations: &BTreeMap<String, String> = subscription.annotations();
    let ours = annotations.iter().filter(|(key, _)| key.starts_with(OURS));
    let problems = ours.filter_map(|(key, value)| match key.as_str() {
        APPROVE => approved(subscription)?.err(),
        FIRST_INSTALL if value == AUTOMATIC => None,
        FIRST_INSTALL => Some(format!(
            "annotation {FIRST_INSTALL} has to be \"{AUTOMATIC}\", not {:?}",
            repeated(value)
        )),
        PAUSE if ["true", "false"].contains(&value.as_str()) => None,
        PAUSE => Some(format!(
            "annotation {PAUSE} has to be \"true\" or \"false\", not {:?}; until then it pauses",
            repeated(value)
        )),
        _ => Some(format!("annotation {:?} is unknown; {OURS} has {KNOWN}", repeated(key))),
    });
    problems.collect::<Vec<_>>().join("; ")
}

/// As much of a value as a message repeats: annotations may have 256 KiB.
fn repeated(value: &str) -> String {
    value.chars().take(REPEATED).collect()
}

/// Names of CSVs are DNS subdomains to the API server.
fn is_name(name: &str) -> bool {
    let is_end = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    name.len() <= 253
        && name.starts_with(is_end)
        && name.ends_with(is_end)
        && name.chars().all(|c| is_end(c) || c == '.' || c == '-')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn subscription(annotations: Value, installed: Option<&str>) -> Subscription {
        serde_json::from_value(json!({
            "metadata": {"name": "lamp", "annotations": annotations},
            "spec": {"name": "lamp", "source": "c", "sourceNamespace": "ns",
                "installPlanApproval": "Manual"},
            "status": {"installedCSV": installed, "lastUpdated": null},
        }))
        .unwrap()
    }

    #[rstest]
    #[case::first(json!({FIRST_INSTALL: "Automatic"}), None, Approval::Automatic)]
    #[case::later(json!({FIRST_INSTALL: "Automatic"}), Some("lamp.v1"), Approval::Manual)]
    #[case::malformed(json!({FIRST_INSTALL: "automatic"}), None, Approval::Manual)]
    #[case::without(json!({}), None, Approval::Manual)]
    fn only_the_first_plan_needs_no_approval(
        #[case] annotations: Value,
        #[case] installed: Option<&str>,
        #[case] expected: Approval,
    ) {
        assert_eq!(approval(&subscription(annotations, installed)), expected);
    }

    #[rstest]
    #[case::two("lamp.v1, shade.v1.2.0", Some(vec!["lamp.v1", "shade.v1.2.0"]))]
    #[case::empty("", None)]
    #[case::comma_at_the_end("lamp.v1,", None)]
    #[case::capitals("Lamp.v1", None)]
    #[case::ends_with_a_dot("lamp.", None)]
    fn names_are_separated_by_commas(#[case] value: &str, #[case] expected: Option<Vec<&str>>) {
        let subscription = subscription(json!({APPROVE: value}), None);
        let found = approved(&subscription).unwrap();
        assert_eq!(found.ok(), expected);
    }

    #[rstest]
    #[case::paused("true", true, Some("annotation olm-rs.dev/pause: nothing new"), None)]
    #[case::not_paused("false", false, None, None)]
    #[case::malformed(
        "yes",
        true,
        Some("annotation olm-rs.dev/pause: nothing new"),
        Some("not \"yes\"")
    )]
    #[case::empty("", true, Some("annotation olm-rs.dev/pause: nothing new"), Some("not \"\""))]
    fn a_pause_holds_even_when_it_is_malformed(
        #[case] value: &str,
        #[case] paused: bool,
        #[case] held: Option<&str>,
        #[case] invalid: Option<&str>,
    ) {
        let subscription = subscription(json!({PAUSE: value}), None);
        assert_eq!(is_paused(&subscription), paused);
        let before = SubscriptionStatus::default();
        let status = reconcile(&before, &subscription, Timestamp::UNIX_EPOCH).unwrap_or(before);
        for (kind, expected) in [(UPGRADE_HELD, held), (ANNOTATIONS_INVALID, invalid)] {
            let found = conditions::get(&status, kind).and_then(|one| one.message.as_deref());
            match expected {
                Some(text) => assert!(found.unwrap().contains(text), "{found:?}"),
                None => assert_eq!(found, None),
            }
        }
    }

    #[test]
    fn messages_repeat_the_beginning_of_long_values() {
        let long = "x y".repeat(80_000);
        let all = json!({APPROVE: long, FIRST_INSTALL: long, PAUSE: long});
        assert!(problems(&subscription(all, None)).len() < 1_000);
    }

    #[test]
    fn malformed_annotations_are_reported_until_they_are_mended() {
        let now = Timestamp::UNIX_EPOCH;
        let bad =
            json!({"olm-rs.dev/aprove": "x", APPROVE: "a b", FIRST_INSTALL: "yes", "other": "x"});
        let reported =
            reconcile(&SubscriptionStatus::default(), &subscription(bad.clone(), None), now);
        let reported = reported.unwrap();
        insta::assert_snapshot!(reported.conditions[0].message.clone().unwrap(), @r#"annotation olm-rs.dev/approve has to be names of CSVs, separated by commas, as in "guestbook.v1.4.2"; "a b" is none; annotation "olm-rs.dev/aprove" is unknown; olm-rs.dev/ has approve, first-install, pause; annotation olm-rs.dev/first-install has to be "Automatic", not "yes""#);
        assert_eq!(reconcile(&reported, &subscription(bad, None), now), None);
        let mended = reconcile(&reported, &subscription(json!({}), None), now).unwrap();
        assert!(mended.conditions.is_empty());
        assert_eq!(reconcile(&mended, &subscription(json!({}), None), now), None);
    }
}
