//! The condition about an upgrade that is blocked is true to the last resolution, whatever came
//! of the rest of it.

use rstest::rstest;

use super::*;
use crate::install_plan::steps;
use crate::unpack::lookup::{note_failed, note_pending};

/// What a resolution leads to.
#[derive(Clone, Copy, Debug)]
enum End {
    Nothing,
    Unpacking,
    NotUnpacked,
    BadBundle,
    Refused,
}

fn awaited(note: impl FnOnce(&mut BundleLookup)) -> Vec<Awaited> {
    let entry = entry("a", "alpha", "a.v2");
    let mut lookup = steps::bundle_lookup(&entry, "quay.io/a.v2", None).unwrap();
    note(&mut lookup);
    vec![Awaited { lookup, cause: None }]
}

fn effects(end: End, namespace: &Namespace, kept_back: &KeptBack) -> Vec<Effect> {
    match end {
        End::Nothing => {
            let selection = Selection { kept_back: kept_back.clone(), ..Selection::default() };
            clear_failures(namespace, &selection, now())
        }
        End::Unpacking => {
            let awaited = awaited(|lookup| note_pending(lookup, "JobIncomplete", "", now()));
            unpacking(namespace, &awaited, kept_back, now())
        }
        End::NotUnpacked => {
            let awaited = awaited(|lookup| note_failed(lookup, "X", "no", now()));
            unpack_failed(namespace, &awaited, kept_back, now())
        }
        End::BadBundle => fail(namespace, &Failure::Bundle("bad".to_owned()), kept_back, now()),
        End::Refused => {
            fail(namespace, &Failure::NotSatisfiable("no".to_owned()), kept_back, now())
        }
    }
}

/// The namespace after the end was reported: the same end is not reported again.
fn after(end: End, mut namespace: Namespace, kept_back: &KeptBack) -> Namespace {
    let written = written(&effects(end, &namespace, kept_back));
    for subscription in &mut namespace.subscriptions {
        let subscription = Arc::make_mut(subscription);
        if let Some(status) = written.get(&subscription.name_any()) {
            subscription.status = Some(status.clone());
        }
    }
    assert_eq!(effects(end, &namespace, kept_back), [], "{end:?}");
    namespace
}

/// What the Subscriptions say about blocked upgrades.
fn reported(namespace: &Namespace) -> Vec<Option<&str>> {
    namespace.subscriptions.iter().map(|subscription| why(subscription)).collect()
}

fn why(subscription: &Subscription) -> Option<&str> {
    let mut conditions = subscription.status.as_ref()?.conditions.iter();
    conditions.find(|condition| condition.type_ == "UpgradeBlocked")?.message.as_deref()
}

#[rstest]
fn it_comes_and_goes_with_every_end(
    #[values(End::Nothing, End::Unpacking, End::NotUnpacked, End::BadBundle)] end: End,
    #[values(End::Nothing, End::Unpacking, End::NotUnpacked, End::BadBundle, End::Refused)]
    next: End,
) {
    let namespace = namespace(vec![subscription("a", "alpha", ""), subscription("b", "alpha", "")]);
    let because = |why: &str| KeptBack {
        blocked: [("b-alpha".to_owned(), why.to_owned())].into(),
        ..KeptBack::default()
    };
    let namespace = after(end, namespace, &because("no provider"));
    assert_eq!(reported(&namespace), [None, Some("no provider")]);
    let changed = after(next, namespace.clone(), &because("another reason"));
    assert_eq!(reported(&changed), [None, Some("another reason")]);
    let over = after(next, namespace, &KeptBack::default());
    assert_eq!(reported(&over), [None, None]);
}

#[test]
fn a_blocked_upgrade_is_no_failure_of_the_namespace() {
    let namespace = namespace(vec![subscription("a", "alpha", "")]);
    let failure = Failure::Prevented("x".to_owned());
    let reported = after(End::Refused, namespace, &KeptBack::default());
    let kept_back = KeptBack {
        blocked: [("a-alpha".to_owned(), "no provider".to_owned())].into(),
        ..KeptBack::default()
    };
    let again = fail(&reported, &Failure::NotSatisfiable("no".to_owned()), &kept_back, now());
    assert_eq!((written(&again).len(), events(&again).len()), (1, 0));
    assert_eq!(events(&fail(&reported, &failure, &kept_back, now())).len(), 1);
}
