//! CSVs in a simulated cluster: the tables of spec olm-operator 8.
//!
//! Where its rows are:
//! - 8.1 `transitions`, `groups` (OperatorGroups) and `replacement` (replacement);
//! - 8.2 `replacement`; 8.3 `scenarios`, `bad_input`, `groups`, and on a real API server
//!   `olm-testkit/src/e2e/scenarios/lifecycle`; 8.4 `updates`; 8.9 `csv/chain.rs`;
//! - 8.12 `csv/requirements/tests.rs`; 8.13 `csv/requirements/min_kube_version.rs`;
//!   8.14 `csv/requirements/alongside.rs`, and for the annotations `olm-types`;
//! - 8.21 `install/disruption.rs`;
//! - 3.7, item 6 `legacy`; 8.8 `rotation` and `certificates/tests`; 8.10 `api_service/tests.rs`; 8.11 `webhook/tests.rs`;
//!   8.27 `certificates/tests`;
//! - 8.23 `install/tests.rs`; 8.24 `install/rollout.rs`; 8.25 and 8.26 `olm-rbac`;
//!   8.28 `install/overrides/tests.rs`;
//! - 8.29 `operator_group/service_account/attenuation.rs`; 8.30 `operator/tests.rs`, `operator_condition/tests.rs`,
//!   olm-operator `triggers/components/tests.rs`, and on a real API server the scenarios
//!   `related_objects`; 8.31 `cluster_operator/tests.rs`; 8.32 olm-operator `args.rs`, olm-kit
//!   `admin`; 8.33 `csv/status.rs` and the tests of `olm-opgroup` and `olm-types`.
//!
//! The golden values of section 9 are in olm-types `hash/tests.rs`, that of a Deployment in
//! `install/tests.rs`. The register of section 10 is in `quirks`.
//!
//! Scenarios of 8.3 that no real API server plays: 299 and 301 seconds of Installing, which take as
//! long; rules without verbs that flap and a list of requirements that stays, which are quirks that
//! are gone; two parts of a server missing at once, since the first is noticed before the second
//! goes. The others are `lifecycle`, `servers`, `recovery`, `operator_groups` and
//! `install_plans::scoped`.
//!
//! Rows that cannot be tested: 8.22, labels `olm.api.*` of a CSV, which v0 computes for a type that
//! it never meets, so that no CSV carries them; in 8.23, a strategy of the wrong Go type and a
//! lister that fails, since a store answers always.

mod accounts;
mod api_roles;
mod bad_input;
mod deletion;
pub(crate) mod fixtures;
mod group_rules;
mod groups;
mod legacy;
mod overrides;
mod quirks;
mod replacement;
mod rotation;
mod scenarios;
mod selectors;
mod servers;
mod tenants;
mod transitions;
mod updates;
pub(crate) mod world;
