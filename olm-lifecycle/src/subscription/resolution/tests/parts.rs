//! InstallPlans of a namespace whose Subscriptions have not all operators in common.

use olm_types::annotations::{APPROVE, FIRST_INSTALL, GENERATED_BY, PAUSE, PIN};
use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::install_plan::approval::planned_csvs;
use crate::install_plan::collect::surplus_of_each;
use crate::install_plan::requesters::Requesters;
use crate::tenancy::Attestor;

/// What a Subscription to a package of its name is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sub {
    pub(super) name: &'static str,
    pub(super) current: &'static str,
    pub(super) manual: bool,
    pub(super) words: &'static [(&'static str, &'static str)],
}

pub(super) fn sub(one: Sub) -> Subscription {
    let mut made = subscription(one.name, "alpha", one.current);
    made.metadata.name = Some(one.name.to_owned());
    made.spec.install_plan_approval = one.manual.then_some(Approval::Manual);
    if !one.current.is_empty() {
        made = with_status(made, |status| status.state = SubscriptionState::AtLatestKnown);
    }
    for (key, value) in one.words {
        match *key {
            "start" => made.spec.starting_csv = Some((*value).to_owned()),
            key => drop(made.annotations_mut().insert(key.to_owned(), (*value).to_owned())),
        }
    }
    made
}

pub(super) const fn auto(name: &'static str, current: &'static str) -> Sub {
    Sub { name, current, manual: false, words: &[] }
}

pub(super) const fn manual(name: &'static str, current: &'static str) -> Sub {
    Sub { name, current, manual: true, words: &[] }
}

/// A namespace in which the CSVs that Subscriptions have are installed; those that are paused are held.
pub(super) fn home(all: &[Sub]) -> Namespace {
    let (held, free): (Vec<_>, Vec<_>) =
        all.iter().map(|one| sub(*one)).partition(crate::subscription::is_held);
    let mut home = namespace(free);
    home.held = held.into_iter().map(Arc::new).collect();
    let installed = all.iter().map(|one| one.current.to_owned()).filter(|csv| !csv.is_empty());
    home.csvs = installed.map(|csv| (csv, CsvState::default())).collect();
    home
}

/// `x.v1 of 0 for a,b`: a bundle of package `x` in part 0 that `a` and `b` need.
pub(super) fn chosen(text: &str) -> Choice {
    let words: Vec<&str> = text.split_whitespace().collect();
    let [csv, "of", part, "for", by] = words.as_slice() else { panic!("{text}") };
    let package = csv.split('.').next().unwrap();
    Choice {
        needed_by: by.split(',').filter(|name| *name != "-").map(str::to_owned).collect(),
        part: part.parse().unwrap(),
        ..choice(entry(package, "alpha", csv), "")
    }
}

/// Makes the plans as the operator does, and has everyone know it afterwards. Each plan as
/// `a.v1 #1 Manual of a`.
pub(super) fn reconcile(home: &mut Namespace, choices: &[&str], refused: &[&str]) -> Vec<String> {
    let refused = refused.iter().map(|name| (*name).to_owned()).collect();
    let choices: Vec<Choice> = choices.iter().map(|text| chosen(text)).collect();
    let mut made = Vec::new();
    for part in parts(home, &home.without(&refused), &choices) {
        let bundles = fetch(&part.selection);
        let Some(request) = plan(home, &part.selection, &bundles, &[]).unwrap() else { continue };
        let found = request.existing(&home.plans).cloned();
        let is_new = found.is_none();
        let live = found.unwrap_or_else(|| {
            let object = request.object(&home.plans);
            let name = object.metadata.name.clone().unwrap();
            Arc::new(stored(object, &name))
        });
        let effects =
            record(&part.namespace, &part.selection, &request, &live, &Attestor::default(), now());
        if is_new {
            let plan = InstallPlan { status: Some(request.status()), ..(*live).clone() };
            home.plans.push(Arc::new(plan));
        }
        let written = written(&effects);
        for one in &mut home.subscriptions {
            if let Some(status) = written.get(&one.name_any()) {
                Arc::make_mut(one).status = Some(status.clone());
            }
        }
        made.push(reported(&live, &request.owners));
    }
    made
}

fn reported(plan: &InstallPlan, owners: &[Arc<Subscription>]) -> String {
    let owners: Vec<String> = owners.iter().map(|owner| owner.name_any()).collect();
    let csvs = plan.spec.cluster_service_version_names.join(" ");
    let (number, approval) = (plan.spec.generation.unwrap(), plan.spec.approval.as_str());
    format!("{csvs} #{number} {approval} of {}", owners.join(","))
}

fn change(home: &mut Namespace, number: i64, change: impl FnOnce(&mut InstallPlan)) {
    let mut all = home.plans.iter_mut();
    let plan = all.find(|plan| plan.spec.generation == Some(number)).unwrap();
    change(Arc::make_mut(plan));
}

pub(super) fn approve(home: &mut Namespace, number: i64) {
    change(home, number, |plan| {
        plan.spec.approved = true;
        plan.status.as_mut().unwrap().phase = InstallPlanPhase::Installing;
    });
}

/// Everything of a plan is there, and its Subscriptions say so.
pub(super) fn done(home: &mut Namespace, number: i64) {
    change(home, number, |plan| plan.status.as_mut().unwrap().phase = InstallPlanPhase::Complete);
    let plan = home.plans.iter().find(|plan| plan.spec.generation == Some(number)).unwrap().clone();
    let names = plan.spec.cluster_service_version_names.iter().cloned();
    home.csvs.extend(names.map(|csv| (csv, CsvState::default())));
    for one in &mut home.subscriptions {
        let status = Arc::make_mut(one).status.as_mut().unwrap();
        if status.current_csv.as_ref().is_some_and(|csv| home.csvs.contains_key(csv)) {
            status.installed_csv.clone_from(&status.current_csv);
            status.state = SubscriptionState::AtLatestKnown;
        }
    }
}

pub(super) fn followed(home: &Namespace) -> Vec<(String, Option<i64>)> {
    let number = |one: &Subscription| one.status.as_ref().unwrap().install_plan_generation;
    home.subscriptions.iter().map(|one| (one.name_any(), number(one))).collect()
}

#[test]
fn an_automatic_one_is_not_held_by_a_manual_sibling() {
    let mut home = home(&[manual("a", ""), auto("b", ""), auto("c", "c.v1")]);
    let made = reconcile(&mut home, &["a.v1 of 0 for a", "b.v1 of 1 for b"], &[]);
    assert_eq!(made, ["a.v1 #1 Manual of a", "b.v1 #2 Automatic of b"]);
    assert_eq!(followed(&home), [("a".into(), Some(1)), ("b".into(), Some(2)), ("c".into(), None)]);
    assert!(home.plans.iter().all(|plan| Requesters::of(plan).is_none()), "each is for one");
    let waiting = &home.plans[0];
    assert_eq!(waiting.status.as_ref().unwrap().message, None, "as in v0");
    assert!(waiting.waits_for_approval() && !home.plans[1].waits_for_approval());
}

#[test]
fn what_two_need_is_in_one_plan_which_says_for_whom() {
    let mut home = home(&[manual("a", ""), auto("b", ""), auto("c", "")]);
    let shared = ["a.v1 of 0 for a", "b.v1 of 0 for b", "c.v1 of 1 for c", "x.v1 of 0 for a,b"];
    let made = reconcile(&mut home, &shared, &[]);
    assert_eq!(made, ["a.v1 b.v1 x.v1 #1 Manual of a,b", "c.v1 #2 Automatic of c"]);
    let message = home.plans[0].status.as_ref().unwrap().message.as_deref();
    let expected = "waits for approval of what Subscription a asks for: \
                    it brings a.v1 for a; b.v1 for b; x.v1 for a, b";
    assert_eq!(message, Some(expected));
    assert_eq!(Requesters::of(&home.plans[0]).unwrap().message(), expected);
    assert_eq!(reconcile(&mut home, &shared, &[]), [""; 0], "nothing changed");
}

/// A Manual operator's dependency, which has a Subscription that was generated.
pub(super) const DEPENDENCY: Sub =
    Sub { words: &[(GENERATED_BY, "install-x")], ..auto("x", "x.v1") };

#[rstest]
#[case::it_is_manual(manual("a", "a.v1"), "Manual of a,x")]
#[case::it_is_automatic(auto("a", "a.v1"), "Automatic of a,x")]
#[case::its_first_install_was_free(
    Sub { words: &[(FIRST_INSTALL, "Automatic")], ..manual("a", "a.v1") },
    "Manual of a,x"
)]
#[case::it_is_pinned_to_what_it_has(
    Sub { words: &[(PIN, "true"), ("start", "a.v1")], ..manual("a", "a.v1") },
    "Manual of a,x"
)]
#[case::it_is_paused(Sub { words: &[(PAUSE, "true")], ..auto("a", "a.v1") }, "Manual of a,x")]
#[case::it_approves_by_annotation(
    Sub { words: &[(APPROVE, "x.v2")], ..manual("a", "a.v1") },
    "Manual of a,x"
)]
fn a_dependency_takes_the_strictest_approval(#[case] who: Sub, #[case] expected: &str) {
    let mut home = home(&[who, DEPENDENCY, manual("z", "z.v1")]);
    let made = reconcile(&mut home, &["x.v2 of 0 for a,x"], &[]);
    assert_eq!(made, [format!("x.v2 #1 {expected}")]);
}

/// A user's own Subscription to what a paused operator needs is not paused with it; one that wants to be asked
/// is asked, paused or not.
#[rstest]
#[case::paused(Sub { words: &[(PAUSE, "true")], ..auto("a", "a.v1") }, "Automatic of x")]
#[case::paused_and_manual(Sub { words: &[(PAUSE, "true")], ..manual("a", "a.v1") }, "Manual of a,x")]
#[case::manual(manual("a", "a.v1"), "Manual of a,x")]
fn a_subscription_of_its_own_is_asked_for_less(#[case] who: Sub, #[case] expected: &str) {
    let mut home = home(&[who, auto("x", "x.v1")]);
    let made = reconcile(&mut home, &["x.v2 of 0 for a,x"], &[]);
    assert_eq!(made, [format!("x.v2 #1 {expected}")]);
}

/// The catalog of `a` is away, so that it is refused; its dependency comes from another one.
#[test]
fn who_is_refused_is_asked_for_its_dependency() {
    let mut home = home(&[manual("a", "a.v1"), DEPENDENCY]);
    assert_eq!(reconcile(&mut home, &["x.v2 of 0 for a,x"], &["a"]), ["x.v2 #1 Manual of a,x"]);
}

#[rstest]
#[case::first_install(Sub { words: &[(FIRST_INSTALL, "Automatic")], ..manual("a", "") }, "Automatic")]
#[case::pinned(Sub { words: &[(PIN, "true"), ("start", "a.v1")], ..manual("a", "") }, "Automatic")]
#[case::manual(manual("a", ""), "Manual")]
fn what_leads_to_a_version_is_approved_with_it(#[case] who: Sub, #[case] approval: &str) {
    let mut home = home(&[who, manual("b", "b.v1")]);
    let made = reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    assert_eq!(made, [format!("a.v1 x.v1 #1 {approval} of a")]);
}

/// While `a` waits, `b` comes and needs the same: both follow one plan, and what `a` had is left.
#[test]
fn who_joins_a_plan_that_waits_gets_a_plan_with_all() {
    let mut home = home(&[manual("a", ""), auto("b", "")]);
    home.subscriptions.pop();
    reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    home.subscriptions.push(Arc::new(sub(auto("b", ""))));
    let all = ["a.v1 of 0 for a", "b.v1 of 0 for b", "x.v1 of 0 for a,b"];
    assert_eq!(reconcile(&mut home, &all, &[]), ["a.v1 b.v1 x.v1 #2 Manual of a,b"]);
    assert_eq!(followed(&home), [("a".into(), Some(2)), ("b".into(), Some(2))]);

    // The older one is approved: what it brings needs no approval any more.
    approve(&mut home, 1);
    done(&mut home, 1);
    assert_eq!(reconcile(&mut home, &["b.v1 of 0 for b"], &[]), ["b.v1 #3 Automatic of b"]);
    assert_eq!(followed(&home), [("a".into(), Some(2)), ("b".into(), Some(3))]);
}

#[test]
fn who_asked_for_approval_and_is_gone_holds_no_plan() {
    let mut home = home(&[manual("a", ""), auto("b", "")]);
    reconcile(&mut home, &["a.v1 of 0 for a", "b.v1 of 0 for b", "x.v1 of 0 for a,b"], &[]);
    home.subscriptions.remove(0);
    let made = reconcile(&mut home, &["b.v1 of 0 for b", "x.v1 of 0 for b"], &[]);
    assert_eq!(made, ["b.v1 x.v1 #2 Automatic of b"]);
}

#[test]
fn what_was_approved_is_not_asked_about_again() {
    let mut home = home(&[manual("a", ""), auto("b", "")]);
    home.subscriptions.pop();
    reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    approve(&mut home, 1);
    home.subscriptions.push(Arc::new(sub(auto("b", ""))));
    let all = ["a.v1 of 0 for a", "b.v1 of 0 for b", "x.v1 of 0 for a,b"];
    assert_eq!(reconcile(&mut home, &all, &[]), ["a.v1 b.v1 x.v1 #2 Automatic of a,b"]);
    assert_eq!(followed(&home), [("a".into(), Some(1)), ("b".into(), Some(2))]);
}

/// The process ended when the plan of two was made and one of them did not know it.
#[test]
fn a_plan_that_waits_is_found_again() {
    let mut home = home(&[manual("a", ""), auto("b", "")]);
    home.subscriptions.pop();
    reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 0 for a"], &[]);
    let before = home.subscriptions[0].clone();
    home.subscriptions.push(Arc::new(sub(auto("b", ""))));
    let all = ["a.v1 of 0 for a", "b.v1 of 0 for b", "x.v1 of 0 for a,b"];
    reconcile(&mut home, &all, &[]);
    home.subscriptions[0] = before;
    assert_eq!(reconcile(&mut home, &all, &[]), ["a.v1 b.v1 x.v1 #2 Manual of a,b"]);
    assert_eq!((home.plans.len(), followed(&home)[0].1), (2, Some(2)));
}

/// A part whose Subscriptions all wait is left alone, whatever the catalog has meanwhile, as a namespace is in v0.
#[test]
fn who_waits_is_not_chosen_for_again_because_of_others() {
    let mut home = home(&[manual("a", "a.v1"), auto("b", "b.v1")]);
    reconcile(&mut home, &["a.v2 of 0 for a"], &[]);
    let made = reconcile(&mut home, &["a.v3 of 0 for a", "b.v2 of 1 for b"], &[]);
    assert_eq!(made, ["b.v2 #2 Automatic of b"]);
}

/// A CSV without a Subscription that lacks something: no Subscription asks for it.
#[test]
fn what_is_not_asked_for_gets_no_plan() {
    let mut home = home(&[auto("a", "")]);
    let made = reconcile(&mut home, &["a.v1 of 0 for a", "x.v1 of 1 for -"], &[]);
    assert_eq!(made, ["a.v1 #1 Automatic of a"]);
}

/// As in v0: one plan for all, and one Manual Subscription is enough.
#[test]
fn together_as_in_v0() {
    let home = home(&[manual("a", "a.v1"), auto("b", "")]);
    let part = Part::whole(&home, &[chosen("b.v1 of 0 for b")]);
    let request = plan(&home, &part.selection, &fetch(&part.selection), &[]).unwrap().unwrap();
    let object = request.object(&[]);
    assert_eq!(reported(&object, &request.owners), "b.v1 #1 Manual of a,b");
    assert_eq!((object.metadata.annotations, request.status().message), (None, None));
}

/// Twelve that wait and one that is installed, looked at four times a minute for an hour.
#[test]
fn an_hour_of_looks_changes_nothing() {
    const ALL: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let mut all: Vec<Sub> = ALL.iter().map(|name| manual(name, "")).collect();
    all.push(auto("z", "z.v1"));
    let mut home = home(&all);
    let texts: Vec<String> = ALL
        .iter()
        .enumerate()
        .map(|(part, name)| format!("{name}.v1 of {part} for {name}"))
        .collect();
    let choices: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(reconcile(&mut home, &choices, &[]).len(), ALL.len());
    for minute in 0..240 {
        let now = now() + jiff::SignedDuration::from_secs(minute * 15);
        let settings = ResolutionSettings::default();
        assert_eq!(decide_resolution(&home, now), ResolutionDecision::Resolve(settings));
        assert_eq!(reconcile(&mut home, &choices, &[]), [""; 0]);
        assert_eq!(surplus_of_each(&home.plans, &home.subscriptions), []);
    }
    assert_eq!(home.plans.len(), ALL.len());
}

const NAMES: [&str; 4] = ["a", "b", "c", "x"];

fn any_sub(name: &'static str) -> impl Strategy<Value = Sub> {
    let words = prop::sample::select(vec![
        &[][..],
        &[(FIRST_INSTALL, "Automatic")],
        &[(PIN, "true"), ("start", "any.v1")],
        &[(PAUSE, "true")],
        &[(GENERATED_BY, "install-x")],
    ]);
    (any::<bool>(), any::<bool>(), words).prop_map(move |(manual, is_installed, words)| Sub {
        name,
        manual,
        words,
        current: if is_installed {
            ["a.v1", "b.v1", "c.v1", "x.v1"][NAMES.iter().position(|one| *one == name).unwrap()]
        } else {
            ""
        },
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whoever has to be asked about a bundle is asked before it is installed.
    #[test]
    fn nothing_is_installed_without_approval(
        subs in [any_sub("a"), any_sub("b"), any_sub("c"), any_sub("x")],
        bundles in prop::collection::vec((0usize..3, prop::collection::btree_set(0usize..4, 0..4)), 4),
    ) {
        let mut home = home(&subs);
        let choices: Vec<String> = bundles.iter().zip(NAMES).map(|((part, by), name)| {
            let by: Vec<&str> = by.iter().map(|place| NAMES[*place]).collect();
            format!("{name}.v2 of {part} for {}", if by.is_empty() { "-".to_owned() } else { by.join(",") })
        }).collect();
        let texts: Vec<&str> = choices.iter().map(String::as_str).collect();
        reconcile(&mut home, &texts, &[]);
        for plan in home.plans.iter().filter(|plan| plan.spec.approved) {
            let planned_csvs = planned_csvs(plan);
            for (bundle, name) in bundles.iter().zip(NAMES) {
                let csv = format!("{name}.v2");
                if !planned_csvs.contains(csv.as_str()) { continue }
                let needs = NAMES.iter().enumerate().filter(|(place, other)| {
                    // No other brings the package of one that is paused.
                    let is_own = **other == name && !has(&subs[*place], PAUSE);
                    bundle.1.contains(place) || is_own
                });
                for (place, _) in needs {
                    let own = format!("{}.v2", NAMES[place]);
                    prop_assert!(is_free(&subs[place], planned_csvs.contains(own.as_str())), "{csv}: {choices:?}");
                }
            }
        }
    }
}

/// Whether a Subscription lets a plan pass that it needs something of: one that moves it, or not.
fn is_free(one: &Sub, is_moved: bool) -> bool {
    let declared = has(one, PIN) || (has(one, FIRST_INSTALL) && one.current.is_empty());
    !one.manual || (is_moved && declared && !has(one, PAUSE))
}

fn has(one: &Sub, key: &str) -> bool {
    one.words.iter().any(|(known, _)| *known == key)
}
