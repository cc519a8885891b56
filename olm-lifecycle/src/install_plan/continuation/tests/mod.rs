//! Every order in which a user removes an operator, at every point of two plans; and single rules.

mod goes_on;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;

const OLD: &str = "kettle.v1";
const NEW: &str = "kettle.v2";

/// What a user deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UserObject {
    Subscription,
    Csvs,
    Plan,
    Group,
    Catalog,
    Namespace,
}

const THINGS: [UserObject; 6] = [
    UserObject::Subscription,
    UserObject::Csvs,
    UserObject::Plan,
    UserObject::Group,
    UserObject::Catalog,
    UserObject::Namespace,
];

/// How far the judged plan came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Point {
    /// The older plan is tried again and again; its CSV exists.
    Older,
    /// The newer plan was made just now.
    Fresh,
    /// It has waited for the older one.
    Waited,
    /// Its first step failed.
    Begun,
    /// Its CSV exists.
    CsvThere,
}

const POINTS: [Point; 5] =
    [Point::Older, Point::Fresh, Point::Waited, Point::Begun, Point::CsvThere];

fn subscription(name: &str, package: &str) -> Value {
    json!({
        "metadata": {"name": name, "namespace": "ns", "uid": name},
        "spec": {"name": package, "channel": "stable", "source": "c", "sourceNamespace": "ns"},
        "status": {
            "currentCSV": NEW, "installedCSV": OLD, "installPlanGeneration": 2,
            "installPlanRef": {"name": "install-2", "uid": "install-2"},
        },
    })
}

fn csv(name: &str, replaces: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "ns", "uid": name}, "spec": {"replaces": replaces}})
}

fn csv_step(name: &str, package: &str, status: &str) -> Value {
    let properties = json!({"properties": [{"type": "olm.package", "value": {"packageName": package, "version": "1.0.0"}}]});
    let annotations = json!({"operatorframework.io/properties": properties.to_string()});
    let manifest = json!({"metadata": {"name": name, "annotations": annotations}});
    let resource =
        json!({"kind": "ClusterServiceVersion", "name": name, "manifest": manifest.to_string()});
    json!({"resolving": name, "resource": resource, "status": status})
}

fn plan(number: i64, owners: &[&str], steps: &[Value]) -> Value {
    let owner = |name: &&str| {
        let version = "operators.coreos.com/v1alpha1";
        json!({"apiVersion": version, "kind": "Subscription", "name": name, "uid": name})
    };
    let name = format!("install-{number}");
    json!({
        "metadata": {
            "name": name, "namespace": "ns", "uid": name, "generateName": "install-",
            "ownerReferences": owners.iter().map(owner).collect::<Vec<_>>(),
        },
        "spec": {
            "generation": number, "approval": "Automatic", "approved": true,
            "clusterServiceVersionNames": [],
        },
        "status": {"phase": "Installing", "catalogSources": [], "plan": steps},
    })
}

fn parse<K: serde::de::DeserializeOwned>(object: &Value) -> K {
    serde_json::from_value(object.clone()).unwrap()
}

fn around(subscriptions: &[Value], csvs: &[Value]) -> Surroundings {
    Surroundings {
        subscriptions: subscriptions.iter().map(|one| Arc::new(parse(one))).collect(),
        csvs: csvs.iter().map(|one| Arc::new(parse(one))).collect(),
        ..Surroundings::default()
    }
}

/// The plan at a point, and the CSVs that there are.
fn at(point: Point) -> (Value, Vec<Value>) {
    let waits = json!("waiting for InstallPlan install-1, which is older, to be done");
    let (number, name, status) = match point {
        Point::Older => (1, OLD, "Created"),
        Point::CsvThere => (2, NEW, "Created"),
        Point::Fresh | Point::Waited | Point::Begun => (2, NEW, "Unknown"),
    };
    let mut plan = plan(number, &["s"], &[csv_step(name, "kettle", status)]);
    match point {
        Point::Waited => plan["status"]["message"] = waits,
        Point::Fresh => {}
        Point::Older | Point::Begun | Point::CsvThere => {
            plan["status"]["startTime"] = json!("2026-01-01T00:00:00Z");
        }
    }
    let mut csvs = vec![csv(OLD, "")];
    csvs.extend((point == Point::CsvThere).then(|| csv(NEW, OLD)));
    (plan, csvs)
}

fn going(mut object: Value) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    object
}

/// What is known after these deletions; objects with a finalizer stay for a while.
fn after(deleted: &[UserObject], point: Point, kept: bool) -> (InstallPlan, Surroundings) {
    let gone = |thing: UserObject| deleted.contains(&thing);
    let (plan, csvs) = at(point);
    let remove = |objects: Vec<Value>, gone: bool| match (gone, kept) {
        (false, _) => objects,
        (true, true) => objects.into_iter().map(going).collect(),
        (true, false) => Vec::new(),
    };
    let plan = if gone(UserObject::Plan) { going(plan) } else { plan };
    let subscriptions = remove(vec![subscription("s", "kettle")], gone(UserObject::Subscription));
    let mut around = around(&subscriptions, &remove(csvs, gone(UserObject::Csvs)));
    around.namespace_goes = gone(UserObject::Namespace);
    around.unoffered.extend(gone(UserObject::Catalog).then(|| "of-another-catalog".to_owned()));
    (parse(&plan), around)
}

fn orders(left: &[UserObject]) -> Vec<Vec<UserObject>> {
    if left.is_empty() {
        return vec![Vec::new()];
    }
    let with = |first: &UserObject| {
        let rest: Vec<_> = left.iter().copied().filter(|thing| thing != first).collect();
        orders(&rest)
            .into_iter()
            .map(|mut order| {
                order.insert(0, *first);
                order
            })
            .collect::<Vec<_>>()
    };
    left.iter().flat_map(with).collect()
}

/// All 720 orders, after each of their deletions, at each point, with and without finalizers: the
/// plan is executed only as long as its Subscription, its CSV, itself and its namespace stay. (The
/// OperatorGroup is a matter of the account.)
#[test]
fn nothing_comes_back_in_any_order_of_deletion() {
    let orders = orders(&THINGS);
    assert_eq!(orders.len(), 720);
    for (order, point, kept) in orders.iter().flat_map(|order| {
        POINTS.iter().flat_map(move |point| [true, false].map(|kept| (order, *point, kept)))
    }) {
        for count in 0..=order.len() {
            let deleted = &order[..count];
            let (plan, around) = after(deleted, point, kept);
            let stays = deleted
                .iter()
                .all(|thing| matches!(thing, UserObject::Group | UserObject::Catalog));
            let goes =
                matches!(judge(&plan, &around), PlanDecision::Go(without) if without.is_empty());
            assert_eq!(goes, stays, "{point:?}, {kept}, {deleted:?}");
        }
    }
}

/// Plans that no Subscription owns: written by users and tools, restored from a backup, or
/// orphaned.
#[rstest]
#[case::by_a_user(json!({"name": "mine"}), 0, false, true)]
#[case::by_a_tool(json!({"name": "install-x", "generateName": "install-"}), 0, false, true)]
#[case::with_a_number(json!({"name": "mine"}), 7, false, true)]
#[case::orphaned(json!({"name": "install-2", "generateName": "install-"}), 2, false, false)]
#[case::restored(json!({"name": "install-2", "generateName": "install-"}), 2, true, true)]
fn plans_without_owner(
    #[case] metadata: Value,
    #[case] number: i64,
    #[case] named: bool,
    #[case] goes: bool,
) {
    let mut plan = plan(number, &[], &[csv_step(NEW, "kettle", "Unknown")]);
    plan["metadata"] = metadata;
    plan["metadata"]["namespace"] = json!("ns");
    let mut subscription = subscription("s", "kettle");
    subscription["status"]["installPlanRef"] =
        json!({"name": if named { "install-2" } else { "other" }});
    let around = around(&[subscription], &[csv(OLD, "")]);
    let expected = match goes {
        true => PlanDecision::Go(BTreeSet::new()),
        false => PlanDecision::Held(
            "no Subscription refers to this InstallPlan any more; delete it".to_owned(),
        ),
    };
    assert_eq!(judge(&parse(&plan), &around), expected);
}

#[test]
fn a_subscription_that_was_made_anew_is_another_one() {
    let plan: InstallPlan = parse(&at(Point::Waited).0);
    let mut anew = subscription("s", "kettle");
    anew["metadata"]["uid"] = json!("another");
    assert_eq!(judge(&plan, &around(&[anew], &[csv(OLD, "")])), PlanDecision::Over);
}

#[test]
fn a_subscription_that_is_being_deleted_holds_the_plan() {
    let plan: InstallPlan = parse(&at(Point::Waited).0);
    let verdict = judge(&plan, &around(&[going(subscription("s", "kettle"))], &[csv(OLD, "")]));
    let why = "the Subscription that this InstallPlan was made for is being deleted";
    assert_eq!(verdict, PlanDecision::Held(why.to_owned()));
}

fn go(without: &[&str]) -> PlanDecision {
    PlanDecision::Go(without.iter().map(|name| (*name).to_owned()).collect())
}

fn withdrawn(why: &str) -> PlanDecision {
    PlanDecision::Withdrawn(why.to_owned())
}

/// A plan for Subscriptions `s` to kettle and `t` to tea; `s` is gone.
#[rstest]
#[case::not_begun("", "", withdrawn("no Subscription asks for kettle.v2 any more"))]
#[case::begun("2026-01-01T00:00:00Z", "", go(&["kettle.v2"]))]
#[case::required_by_the_other("", "kettle.v2", go(&[]))]
fn one_of_two_subscriptions_is_gone(
    #[case] started: &str,
    #[case] generated: &str,
    #[case] expected: PlanDecision,
) {
    let mut steps = vec![csv_step(NEW, "kettle", "Unknown"), csv_step("tea.v1", "tea", "Unknown")];
    if !generated.is_empty() {
        let resource = json!({"kind": "Subscription", "name": "kettle-stable-c-ns"});
        steps.push(json!({"resolving": generated, "resource": resource, "status": "Unknown"}));
    }
    let mut plan = plan(2, &["s", "t"], &steps);
    if !started.is_empty() {
        plan["status"]["startTime"] = json!(started);
    }
    let mut other = subscription("t", "tea");
    (other["status"]["currentCSV"], other["status"]["installedCSV"]) = (json!("tea.v1"), json!(""));
    let here = around(&[other], &[]);
    assert_eq!(judge(&parse(&plan), &here), expected);
}

/// A bundle of several packages: the first version of another one replaces it.
#[rstest]
#[case::of_both("kettle", go(&[]))]
#[case::of_another("tea", withdrawn("no Subscription asks for kettle.v2 any more"))]
fn a_subscription_to_any_package_of_a_csv_asks_for_it(
    #[case] package: &str,
    #[case] expected: PlanDecision,
) {
    let mut step = csv_step(NEW, "cauldron", "Unknown");
    let named = |name: &str| json!({"type": "olm.package", "value": {"packageName": name, "version": "1.0.0"}});
    let properties = json!({"properties": [named("cauldron"), named("kettle")]}).to_string();
    let annotations = json!({"operatorframework.io/properties": properties});
    let manifest = json!({"metadata": {"name": NEW, "annotations": annotations}});
    step["resource"]["manifest"] = json!(manifest.to_string());
    let mut asking = subscription("s", package);
    asking["status"] = json!({});
    let verdict = judge(&parse(&plan(2, &["s"], &[step])), &around(&[asking], &[]));
    assert_eq!(verdict, expected);
}

/// The plan is owned by every Subscription of the namespace, and made for one.
#[rstest]
#[case::not_begun(Point::Waited)]
#[case::begun(Point::Begun)]
fn other_owners_do_not_keep_a_plan(#[case] point: Point) {
    let (mut plan, csvs) = at(point);
    let other = plan["metadata"]["ownerReferences"][0].clone();
    plan["metadata"]["ownerReferences"] = json!([other, {
        "apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "name": "t", "uid": "t",
    }]);
    let mut other = subscription("t", "tea");
    other["status"] = json!({"currentCSV": "tea.v1", "installedCSV": "tea.v1"});
    let verdict = judge(&parse(&plan), &around(&[other], &csvs));
    assert_eq!(verdict, withdrawn("no Subscription asks for kettle.v2 any more"));
}

/// What a resolution would say now.
#[rstest]
#[case::the_same(Point::Waited, NEW, 2, false, go(&[]))]
#[case::is_not_recorded_yet(Point::Fresh, OLD, 1, false, go(&[]))]
#[case::another_version(
    Point::Waited,
    "kettle.v3",
    3,
    false,
    withdrawn("the Subscription that asked for kettle.v2 follows a newer InstallPlan")
)]
#[case::the_same_in_a_newer_plan(Point::Waited, NEW, 3, false, go(&[]))]
#[case::not_in_the_channel(
    Point::Waited,
    NEW,
    2,
    true,
    withdrawn("the subscribed channel does not offer kettle.v2 any more")
)]
#[case::was_in_the_channel_a_moment_ago(Point::Fresh, NEW, 2, true, go(&[]))]
#[case::is_begun(Point::Begun, "kettle.v3", 3, true, go(&[]))]
fn a_plan_that_waited_is_what_a_resolution_would_say(
    #[case] point: Point,
    #[case] current: &str,
    #[case] number: i64,
    #[case] unoffered: bool,
    #[case] expected: PlanDecision,
) {
    let (plan, csvs) = at(point);
    let mut subscription = subscription("s", "kettle");
    subscription["status"]["currentCSV"] = json!(current);
    subscription["status"]["installPlanGeneration"] = json!(number);
    let mut around = around(&[subscription], &csvs);
    around.unoffered.extend(unoffered.then(|| NEW.to_owned()));
    assert_eq!(judge(&parse(&plan), &around), expected);
}

/// The plan for version 2, when these CSVs are there.
#[rstest]
#[case::replaced_in_the_meantime(Point::Begun, "Automatic", &[("kettle.v1a", OLD)], true)]
#[case::deleted(Point::Begun, "Automatic", &[], false)]
#[case::deleted_before_it_was_begun(Point::Fresh, "Automatic", &[], false)]
#[case::deleted_before_the_approval(Point::Fresh, "Manual", &[], true)]
#[case::deleted_while_it_waited(Point::Waited, "Manual", &[], false)]
#[case::its_own_was_replaced(Point::CsvThere, "Automatic", &[("kettle.v3", NEW)], true)]
#[case::its_own_was_deleted(Point::CsvThere, "Automatic", &[(OLD, "")], false)]
#[case::the_old_one_is_gone_after_it(Point::CsvThere, "Automatic", &[(NEW, OLD)], true)]
fn csvs_that_were_deleted(
    #[case] point: Point,
    #[case] approval: &str,
    #[case] csvs: &[(&str, &str)],
    #[case] goes: bool,
) {
    let mut plan = at(point).0;
    plan["spec"]["approval"] = json!(approval);
    let csvs: Vec<_> = csvs.iter().map(|(name, replaces)| csv(name, replaces)).collect();
    let verdict = judge(&parse(&plan), &around(&[subscription("s", "kettle")], &csvs));
    assert_eq!(verdict == go(&[]), goes, "{verdict:?}");
    assert!(goes || matches!(verdict, PlanDecision::Held(_)), "{verdict:?}");
}

#[test]
fn a_csv_without_a_package_belongs_to_every_plan() {
    let mut plan = at(Point::Waited).0;
    plan["status"]["plan"][0]["resource"]["manifest"] = json!("{}");
    let mut subscription = subscription("s", "other");
    subscription["status"] = json!({});
    assert_eq!(judge(&parse(&plan), &around(&[subscription], &[])), go(&[]));
}
