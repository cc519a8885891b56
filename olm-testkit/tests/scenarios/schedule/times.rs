//! What is known of scenarios: how long they take, and what they share.

/// The names of those that the table of times has.
pub(super) fn known() -> impl Iterator<Item = &'static str> {
    SECONDS.iter().map(|(name, _)| *name)
}

/// What a scenario shares with others, of which one is played at a time.
pub(super) fn lane(name: &str) -> Option<&'static str> {
    LANES.iter().find(|(begin, _)| name.starts_with(begin)).map(|(_, lane)| *lane)
}

/// How many seconds a scenario takes, where that is known.
pub(super) fn seconds(name: &str) -> u32 {
    sum(|known| known == name)
}

/// The same, or those of all of its lane together.
pub(super) fn seconds_of_lane(name: &str) -> u32 {
    let mine = lane(name);
    sum(|known| known == name || mine.is_some() && lane(known) == mine)
}

fn sum(counts: impl Fn(&str) -> bool) -> u32 {
    SECONDS.iter().filter(|(known, _)| counts(known)).map(|(_, seconds)| seconds).sum()
}

/// Beginnings of names, and what those scenarios share: of each lane one is played at a time.
const LANES: &[(&str, &str)] = &[
    // What a busy machine disturbs: clusters of their own start one at a time.
    ("replicas::deposed", "steps and seconds"),
    ("writes::", "steps and seconds"),
    ("slow::", "slow servers"),
    // Two operators, between which and the API server something goes wrong.
    ("faults::", "faults"),
    // Two operators that are replaced, or get a second program beside them.
    ("rolling::", "replaced operators"),
    // A browser, which takes as many processors as there are.
    ("console::", "browser"),
    // What takes much memory of catalog-operator, which each of them looks at.
    ("hostile::", "memory"),
    // Catalogs that all namespaces of a cluster see, or the lack of any, or of any change of them: the statuses
    // of all Subscriptions of the cluster list them.
    ("catalogs::the_only_one_is_missing", "global catalogs"),
    ("escalation_v0::changed_plan", "global catalogs"),
    ("escalation_v0::cleared_targets", "global catalogs"),
    ("escalation_v0::excluded_catalogs", "global catalogs"),
    ("escalation_v0::forged_certificates", "global catalogs"),
    ("escalation_v0::global_catalog", "global catalogs"),
    ("escalation_v0::lost_certificate", "global catalogs"),
    ("escalation_v0::older_definition", "global catalogs"),
    ("escalation_v0::shared_bundle", "global catalogs"),
    ("escalation_v0::shared_names", "global catalogs"),
    ("gitops::", "global catalogs"),
    ("packages::nothing_is_known", "global catalogs"),
];

/// Seconds that scenarios take on two cores, of those that take much longer than most.
const SECONDS: &[(&str, u32)] = &[
    ("kubectl_olm::install", 200),
    ("kubectl_olm::plan", 120),
    ("kubectl_olm::console_acts", 100),
    ("doctor::findings", 130),
    ("console::attacks", 100),
    ("console::look", 60),
    ("console::whole_way", 100),
    ("approval::each_its_own", 60),
    ("approval::malformed", 60),
    ("approval::paused", 40),
    ("approval::pairs", 90),
    ("approval::pairs_fail_forward", 45),
    ("approval::pairs_dead_catalog", 30),
    ("approval::taken_back", 45),
    ("approval::pairs_in_common", 90),
    ("approval::of_a_range", 30),
    ("approval::in_common", 30),
    ("gitops::applied_again", 30),
    ("gitops::one_apply", 20),
    ("gitops::helm_chart", 30),
    ("catalogs::the_only_one_is_missing", 15),
    ("escalation_v0::changed_plan", 15),
    ("escalation_v0::cleared_targets", 25),
    ("escalation_v0::excluded_catalogs", 10),
    ("escalation_v0::forged_certificates", 25),
    ("escalation_v0::forged_marks", 25),
    ("escalation_v0::global_catalog", 15),
    ("escalation_v0::lost_certificate", 15),
    ("escalation_v0::older_definition", 15),
    ("escalation_v0::shared_bundle", 15),
    ("escalation_v0::shared_names", 15),
    ("uninstall::namespace", 40),
    ("hostile::accepted", 80),
    ("idle::no_writes", 250),
    ("idle::as_v0", 110),
    ("idle::waits", 20),
    ("silence::idle_callers", 120),
    ("replicas::deposed", 45),
    ("hostile::multiplying_aliases", 25),
    ("hostile::many", 40),
    ("hostile::one_by_one", 30),
    ("hostile::registries", 15),
    ("hostile::references", 15),
    ("hostile::definitions", 40),
    ("hostile::deployments", 60),
    ("rolling::nested_objects", 60),
    ("rolling::heavy_objects", 300),
    ("rolling::idle_callers_over_tls", 70),
    ("rolling::openshift", 30),
    ("faults::api_server_away", 25),
    ("faults::api_server_frozen", 15),
    ("faults::api_server_killed", 25),
    ("faults::busy_server", 20),
    ("faults::cut_and_expired_watches", 15),
    ("faults::cut_connections", 15),
    ("faults::expired_token", 15),
    ("faults::mixed", 10),
    ("faults::slow_answers", 15),
    ("faults::terminated", 10),
    ("tools::kubectl_operator", 55),
    ("tools::kubectl_operator_twice", 55),
    ("tools::operator_sdk", 55),
    ("rolling::update", 50),
    ("replicas::hosted", 60),
    ("replicas::take_over", 45),
    ("take_over::from_v0", 90),
    ("deploy::kubectl_applies_the_files", 80),
    ("side_by_side::no_foreign_writes", 30),
    ("writes::for_all_namespaces", 30),
    ("writes::each_object_once", 30),
    ("tenancy::selector", 30),
    ("tenancy::targets", 30),
    ("packages::rotation", 25),
    ("image_tools::serve_jobs_and_pods", 25),
    ("flags::hosted_faults", 90),
    ("flags::hosted_mirror_set", 70),
    ("flags::hosted_limits", 45),
    ("flags::block", 20),
    ("flags::follower", 20),
    ("servers::conversion_on_its_own", 20),
    ("servers::upgrade_on_its_own", 20),
    ("servers::rotation", 20),
    ("install_plans::objects_that_do_not_fit", 20),
    ("upgrades::a_missing_api", 20),
    ("upgrades::absent_names", 20),
    ("upgrades::edited_by_users", 20),
    ("upgrades::from_every_version", 20),
    ("upgrades::from_the_starting_csv", 20),
    ("tenancy::everywhere", 20),
    ("rbac::escalation", 20),
    ("schema::agrees", 15),
    ("rbac::agrees", 15),
    ("upgrades::two_versions_with_a_crd_change", 15),
    ("lifecycle::a_missed_deadline", 15),
    ("lifecycle::hundreds_of_deployments", 15),
    ("lifecycle::predecessors", 15),
    ("alone::no_catalog_operator", 15),
    ("packages::nothing_is_known", 15),
];
