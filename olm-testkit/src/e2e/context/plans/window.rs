//! What the operators have done of a plan: their writes since it was shown, until something else was done.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::audit::Write;
use crate::operators::Operator;
use crate::plan_check::{is_of_kubernetes, is_passing};

/// As the audit log names them.
const INSTALL_PLANS: &str = "installplans";

/// The scenario itself wrote.
pub(super) const WRITTEN: &str = "the scenario wrote something else in the namespace";

/// The scenario changed a catalog.
pub(super) const PUBLISHED: &str = "a catalog changed";

/// The scenario approved more than the plan shows, which ends before that.
pub(super) const APPROVED: &str = "an InstallPlan was approved that was not shown to wait for it";

/// What a plan is about.
pub(super) struct Span<'a> {
    pub(super) namespace: &'a str,
    /// The Subscription whose creation was planned.
    pub(super) subscription: &'a str,
    /// The objects that were shown, as the audit log names them.
    pub(super) shown: &'a BTreeSet<String>,
    /// How many InstallPlans were shown to wait for approval.
    pub(super) approvals: usize,
    /// Names of InstallPlans that were not shown.
    pub(super) strangers: &'a BTreeSet<String>,
    /// All namespaces of the scenario.
    pub(super) namespaces: &'a [String],
    /// When the program was started.
    pub(super) begun: Timestamp,
    /// When it had ended.
    pub(super) ended: Timestamp,
}

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// By the operators, and by Kubernetes of objects that were shown or made meanwhile. What was made meanwhile may
    /// have gone later.
    pub(super) writes: Vec<Write>,
    /// Objects that were written while the plan was made: whether it was made of the objects before that is not known.
    pub(super) meanwhile: BTreeSet<String>,
    /// What was done otherwise, after which writes are not compared any more.
    pub(super) ended_by: Option<&'static str>,
    /// Whether the scenario wrote an OperatorGroup of another namespace, which may have reached this one.
    pub(super) has_other_groups: bool,
}

impl Window {
    /// Of the writes since a plan was begun, and the times of changes of catalogs.
    pub(super) fn of(mut writes: Vec<Write>, span: &Span<'_>, changes: &[Timestamp]) -> Self {
        let has_other_groups = writes.iter().any(|write| span.is_of_other_group(write));
        writes.retain(|write| span.concerns(write));
        let first = span.end(&writes, changes);
        let is_in_time = |write: &Write| first.is_none_or(|(end, _)| write.received < end);
        let new = writes.iter().filter(|write| is_of_olm(write) && write.is_new);
        let new = new.filter(|write| is_in_time(write)).map(|write| write.object.clone());
        let new: BTreeSet<String> = new.collect();
        writes.retain(|write| {
            let goes = write.verb == "delete" && new.contains(&write.object) && follows(write);
            goes || is_in_time(write) && span.is_of_plan(write)
        });
        let meanwhile = writes.iter().filter(|write| write.received <= span.ended);
        let meanwhile = meanwhile.map(|write| write.object.clone()).collect();
        Self { writes, meanwhile, ended_by: first.map(|(_, what)| what), has_other_groups }
    }

    /// Whether an InstallPlan was made.
    pub(super) fn has_install_plan(&self) -> bool {
        self.writes.iter().any(|write| write.resource() == INSTALL_PLANS && write.is_new)
    }

    /// How many InstallPlans the operators have removed: of each Subscription they keep a few.
    pub(super) fn removed_install_plans(&self) -> usize {
        let gone = |write: &&Write| write.resource() == INSTALL_PLANS && write.verb == "delete";
        self.writes.iter().filter(gone).count()
    }
}

impl Span<'_> {
    /// Whether an object belongs to the scenario, or was shown.
    fn concerns(&self, write: &Write) -> bool {
        let is_of_cluster = write.namespace.is_empty();
        write.namespace == self.namespace
            || is_of_cluster && is_named_after(&write.object, self.namespace)
            || self.shown.contains(&write.object)
    }

    /// When something was done otherwise at first, and what.
    fn end(&self, writes: &[Write], changes: &[Timestamp]) -> Option<(Timestamp, &'static str)> {
        let by_others = writes.iter().filter(|write| self.is_by_others(write));
        let by_others = by_others.map(|write| (write.received, WRITTEN));
        let changes = changes.iter().filter(|change| **change > self.begun);
        let changes = changes.map(|change| (*change, PUBLISHED));
        by_others.chain(changes).chain(self.beyond_approval(writes)).min()
    }

    /// The first write of an InstallPlan that is no approval of one that was shown: each of these takes one write.
    fn beyond_approval(&self, writes: &[Write]) -> Option<(Timestamp, &'static str)> {
        let mut approved = BTreeSet::new();
        let is_of_user = |write: &&Write| {
            write.resource() == INSTALL_PLANS
                && !write.verb.starts_with("delete")
                && !follows(write)
        };
        writes.iter().filter(is_of_user).find_map(|write| {
            let is_first = approved.insert(write.object.as_str());
            let name = write.object.rsplit('/').next().unwrap_or_default();
            let is_one_more = approved.len() > self.approvals || self.strangers.contains(name);
            let what = if is_first { APPROVED } else { WRITTEN };
            (is_one_more || !is_first).then_some((write.received, what))
        })
    }

    /// Whether the scenario wrote an OperatorGroup of another one of its namespaces.
    fn is_of_other_group(&self, write: &Write) -> bool {
        let is_elsewhere =
            write.namespace != self.namespace && self.namespaces.contains(&write.namespace);
        is_elsewhere && write.resource() == "operatorgroups" && !follows(write)
    }

    /// Whether a write may follow from the plan. What Kubernetes collects late may be of an earlier one.
    fn is_of_plan(&self, write: &Write) -> bool {
        is_of_olm(write) || is_of_kubernetes(write) && self.shown.contains(&write.object)
    }

    /// Whether a write neither follows from a plan, nor is planned, nor only a report or an approval.
    fn is_by_others(&self, write: &Write) -> bool {
        let planned = format!("subscriptions {}/{}", self.namespace, self.subscription);
        let is_planned = write.is_new && write.object == planned;
        let is_report = write.resource().contains('/');
        let is_deleted_plan = write.resource() == INSTALL_PLANS && write.verb.starts_with("delete");
        let passes = is_passing(&write.object) && !is_deleted_plan;
        !(follows(write) || is_planned || is_report || passes)
    }
}

/// Whether a write follows from others, and is none of the scenario itself.
fn follows(write: &Write) -> bool {
    is_of_olm(write) || is_of_kubernetes(write)
}

fn is_of_olm(write: &Write) -> bool {
    Operator::NAMES.contains(&write.program.as_str())
}

/// Whether the name of a namespace is a part of a name, and not only its beginning.
fn is_named_after(object: &str, namespace: &str) -> bool {
    let goes_on = |rest: &str| rest.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '-');
    object.split(namespace).skip(1).any(|rest| !goes_on(rest))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn write(second: i64, program: &str, verb: &str, object: &str, namespace: &str) -> Write {
        let (time, namespace) = (at(second), namespace.to_owned());
        Write { namespace, received: time, done: time, ..Write::example(program, verb, object) }
    }

    fn window(more: Option<Write>, change: Option<i64>) -> Window {
        let olm = |second, object: &str, namespace: &str| {
            write(second, "olm-operator", "create", object, namespace)
        };
        let mut writes = vec![
            olm(1, "roles ns/early", "ns"),
            write(3, "", "create", "subscriptions ns/mine", "ns"),
            write(4, "", "patch", "installplans ns/install-a", "ns"),
            olm(5, "services ns/a", "ns"),
            olm(5, "clusterroles a-shown", ""),
            olm(5, "clusterroles other", ""),
            olm(5, "crds a.ns.example.com", ""),
            olm(5, "crds a.ns-2.example.com", ""),
            olm(5, "services other/a", "other"),
            write(6, "", "update", "deployments/status ns/a", "ns"),
            write(6, "kube-controller-manager", "delete", "configmaps ns/b", "ns"),
            write(6, "kube-controller-manager", "delete", "clusterroles a-shown", ""),
            write(9, "kube-controller-manager", "delete", "services ns/a", "ns"),
            olm(9, "services ns/late", "ns"),
        ];
        writes.extend(more);
        let shown = BTreeSet::from(["clusterroles a-shown".to_owned()]);
        let (begun, ended) = (at(0), at(2));
        let namespaces = ["ns".to_owned(), "other".to_owned()];
        let strangers = BTreeSet::from(["install-strange".to_owned()]);
        let span = Span {
            namespace: "ns",
            subscription: "mine",
            shown: &shown,
            approvals: 2,
            strangers: &strangers,
            namespaces: &namespaces,
            begun,
            ended,
        };
        let changes: Vec<Timestamp> = change.into_iter().map(at).collect();
        Window::of(writes, &span, &changes)
    }

    #[test]
    fn what_follows_from_a_plan_is_in_its_window() {
        let all = window(None, Some(0));
        let objects: Vec<&str> = all.writes.iter().map(|write| write.object.as_str()).collect();
        let expected = [
            "roles ns/early",
            "services ns/a",
            "clusterroles a-shown",
            "crds a.ns.example.com",
            "clusterroles a-shown",
            "services ns/a",
            "services ns/late",
        ];
        assert_eq!(objects, expected);
        assert_eq!(all.meanwhile, BTreeSet::from(["roles ns/early".to_owned()]));
        assert!(all.ended_by.is_none() && !all.has_install_plan());
    }

    #[rstest]
    #[case::another_subscription(
        Some(write(7, "", "create", "subscriptions ns/b", "ns")),
        None,
        Some(WRITTEN)
    )]
    #[case::a_plan_goes(
        Some(write(7, "", "delete", "installplans ns/a", "ns")),
        None,
        Some(WRITTEN)
    )]
    #[case::one_more_of_two(
        Some(write(7, "", "patch", "installplans ns/install-b", "ns")),
        None,
        None
    )]
    #[case::approval_of_what_was_not_shown(
        Some(write(7, "", "patch", "installplans ns/install-strange", "ns")),
        None,
        Some(APPROVED)
    )]
    #[case::a_plan_changes(
        Some(write(7, "", "patch", "installplans ns/install-a", "ns")),
        None,
        Some(WRITTEN)
    )]
    #[case::elsewhere(Some(write(7, "", "delete", "services other/a", "other")), None, None)]
    #[case::catalog(None, Some(7), Some(PUBLISHED))]
    #[case::first(Some(write(8, "", "delete", "services ns/a", "ns")), Some(7), Some(PUBLISHED))]
    fn it_ends_with_what_is_done_otherwise(
        #[case] more: Option<Write>,
        #[case] change: Option<i64>,
        #[case] expected: Option<&str>,
    ) {
        let window = window(more, change);
        assert_eq!(window.ended_by, expected);
        let is_late = window.writes.iter().any(|write| write.object == "services ns/late");
        assert_eq!(is_late, expected.is_none());
        // It was made before that, and has gone since.
        let gone = window.writes.iter().any(|write| {
            write.verb == "delete" && write.object == "services ns/a" && write.received == at(9)
        });
        assert!(gone, "{:?}", window.writes);
    }

    #[rstest]
    #[case("", "operatorgroups other/group", "other", true)]
    #[case("", "operatorgroups ns/group", "ns", false)]
    #[case("", "operatorgroups third/group", "third", false)]
    #[case("", "operatorgroups/status other/group", "other", false)]
    #[case("olm-operator", "operatorgroups other/group", "other", false)]
    fn groups_of_other_namespaces_are_noted(
        #[case] program: &str,
        #[case] object: &str,
        #[case] namespace: &str,
        #[case] expected: bool,
    ) {
        let window = window(Some(write(7, program, "patch", object, namespace)), None);
        assert_eq!(window.has_other_groups, expected);
    }

    #[test]
    fn removed_install_plans_are_counted() {
        let removed = |program| {
            let more = write(7, program, "delete", "installplans ns/install-a", "ns");
            window(Some(more), None).removed_install_plans()
        };
        assert_eq!((removed("catalog-operator"), removed("")), (1, 0));
    }

    #[rstest]
    #[case("operators kettle.e2e-a", true)]
    #[case("crds kettles.e2e-a.example.com", true)]
    #[case("crds kettles.e2e-a-b.example.com", false)]
    #[case("clusterroles kettle.v1.0.0-abc", false)]
    fn a_longer_name_is_another(#[case] object: &str, #[case] expected: bool) {
        assert_eq!(is_named_after(object, "e2e-a"), expected);
    }
}
