//! Scenarios on a real API server.
//!
//! Most of them know a cluster only through its API: those are `olm_testkit::e2e::scenarios`,
//! which `cargo xtask e2e` plays elsewhere, too. Beside them are those that kill processes, count
//! writes of the whole cluster, or are about our definitions.
//!
//! One cluster and one pair of operators serve the whole run; each scenario has a namespace of
//! its own and they run side by side. Scenarios that break an aggregated API for a while have
//! another cluster: no namespace is deleted while one does not answer; so have those about
//! flags of the operators, and those whose input takes much of them. A cluster starts with its
//! first scenario that is not filtered out and ends with its last one, however that ends. Arguments
//! are those of any Rust test.

mod alone;
mod api;
mod catalog_servers;
mod conflicts;
mod deploy;
mod environment;
mod faults;
mod faulty_registry;
mod flags;
mod gitops;
mod hostile;
mod idle;
mod image_tools;
mod memory;
mod metrics;
mod only;
mod openshift;
mod rbac;
mod readiness;
mod real_registry;
mod replicas;
mod rolling;
mod schedule;
mod schema;
mod servers;
mod side_by_side;
mod silence;
mod slow;
mod take_over;
mod tenancy;
mod unpack;
mod used_permissions;
mod writes;

use std::future::Future;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use libtest_mimic::{Arguments, Failed, Trial};
use olm_lifecycle::tenancy::TenantPolicy;
use olm_testkit::e2e::context::plans;
use olm_testkit::e2e::provider::local::{self, Flags, Local};
use olm_testkit::e2e::{Scenario, TestContext, runner, scenarios};
use olm_testkit::oci::server::ImageRegistry;

use environment::Environment;
use tenancy::escalation::play;

/// Needs real catalogs.
const CORPUS: &str = "api::every_csv_of_the_corpus_is_accepted";

/// Takes minutes.
const HEAVY: &str = "rolling::heavy_objects";

/// Needs a registry of images.
const HOSTED: &str = "replicas::hosted";

/// Scenarios that take longer than a run may, beside others about the same: `cargo xtask e2e` plays them, and this
/// program where they are asked for by their names.
const ON_REQUEST: [&str; 3] = ["console::accessible", "console::log_in", "console::users"];

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let catalogs = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(error) => {
            eprintln!("scenarios cannot run: {error}");
            return ExitCode::FAILURE;
        }
    };
    let environments = match environments(catalogs.path()) {
        Ok(environments) => environments,
        Err(error) => {
            eprintln!("scenarios cannot run: {error:#}");
            return ExitCode::FAILURE;
        }
    };
    let [most, servers, strict, flags, faults, rolling, doctor, hostile] = &environments;
    let of = |name: &str| match name.split("::").next() {
        Some("servers") => servers,
        Some("doctor") => doctor,
        _ => most,
    };
    let library = scenarios::all().into_iter().filter(is_for_a_simulated_node);
    let library = library.map(|one| shared(of(one.name), one));
    let all = library.chain(own(most, servers)).chain(escalation(most, strict));
    let all = all.chain(flags::all(flags)).chain(faults::all(faults));
    let all = all.chain(of_hostile_input(hostile)).chain(slow::all(most, flags));
    let all = all.chain([
        local_trial(rolling, "rolling::nested_objects", hostile::nested),
        heavy(rolling),
        local_trial(rolling, "rolling::update", rolling::update),
        local_trial(rolling, "rolling::two_at_work", rolling::two_at_work),
        local_trial(rolling, "rolling::openshift", openshift::reports_and_profile),
        local_trial(rolling, "rolling::idle_callers_over_tls", silence::over_tls),
        local_trial(servers, "silence::idle_callers", silence::idle_callers),
    ]);
    let mut all: Vec<Trial> = all.chain(real_registry::all()).collect();
    if let Err(error) = schedule::prepare(&mut arguments, &mut all) {
        eprintln!("scenarios cannot run: {error:#}");
        return ExitCode::FAILURE;
    }
    let left_out = only::keep(&mut all);
    // From here on each cluster belongs to its scenarios, and ends with the last of them.
    drop(environments);
    let conclusion = libtest_mimic::run(&arguments, all);
    plans::print_summary();
    let complete = is_complete(&arguments) && !left_out && !conclusion.has_failed();
    let permissions = used_permissions::conclude(&arguments, complete);
    let conflicts = conflicts::conclude(&arguments);
    let readiness = readiness::conclude(&arguments, complete);
    let memory = memory::conclude(&arguments);
    let all = [conclusion, permissions, conflicts, readiness, memory];
    all.iter().find(|one| one.has_failed()).unwrap_or(&all[0]).exit_code()
}

/// The clusters, each with its flags of the operators: most scenarios share the first.
fn environments(catalogs: &Path) -> Result<[Arc<Environment>; 8]> {
    let most = Environment::new("scenarios")?;
    let servers = Environment::new("servers")?;
    let strict = Flags { both: &["--tenant-policy=strict"], ..Flags::default() };
    let strict = Environment::new("strict")?.with(strict);
    let flags = Environment::new("flags")?.with(flags::flags(catalogs)?);
    let faults = Environment::new("faults")?.with(faults::FLAGS);
    let rolling = Environment::new("rolling")?.with(rolling::FLAGS);
    let doctor = Environment::new("doctor")?;
    let hostile = Environment::new("hostile")?;
    Ok([most, servers, strict, flags, faults, rolling, doctor, hostile].map(Arc::new))
}

/// Whether no scenario is left out on request.
fn is_complete(arguments: &Arguments) -> bool {
    arguments.filter.is_none() && arguments.skip.is_empty()
}

/// Each of its objects takes the API server seconds, and what is built for tests more than that.
fn heavy(environment: &Arc<Environment>) -> Trial {
    let is_left_out = !only::names(HEAVY);
    if is_left_out {
        println!("ignored: {HEAVY}: it takes minutes; cargo xtask test --scenarios plays it");
    }
    local_trial(environment, HEAVY, hostile::heavy).with_ignored_flag(is_left_out)
}

/// Scenarios that run on this tier only.
fn own(environment: &Arc<Environment>, servers: &Arc<Environment>) -> Vec<Trial> {
    let no_corpus = std::env::var_os("OLM_CORPUS").is_none();
    if no_corpus {
        println!("ignored: {CORPUS}: OLM_CORPUS is unset");
    }
    let corpus = trial(environment, CORPUS, api::corpus);
    let no_registry = !ImageRegistry::is_available();
    if no_registry {
        println!("ignored: {HOSTED}: there is no docker-registry on this machine");
    }
    let hosted = trial(environment, HOSTED, replicas::hosted);
    vec![
        trial(environment, "alone::csv_by_hand", alone::csv_by_hand),
        trial(environment, "alone::no_catalog_operator", alone::no_catalog_operator),
        trial(environment, "gitops::one_apply", gitops::one_apply),
        trial(environment, "gitops::helm_chart", gitops::helm_chart),
        trial(environment, "idle::no_writes", idle::no_writes),
        trial(environment, "idle::as_v0", idle::as_v0),
        local_trial(environment, "idle::waits", idle::waits),
        trial(environment, "writes::each_object_once", writes::each_object_once),
        trial(environment, "side_by_side::no_foreign_writes", side_by_side::no_foreign_writes),
        trial(environment, "writes::for_all_namespaces", writes::for_all_namespaces),
        trial(environment, "replicas::take_over", replicas::take_over),
        trial(environment, "replicas::deposed", replicas::deposed),
        trial(environment, "take_over::from_v0", take_over::from_v0),
        trial(environment, "rbac::agrees", rbac::agrees_with_the_api_server),
        trial(environment, "rbac::escalation", rbac::agrees_about_escalation),
        trial(environment, "schema::agrees", schema::agrees_with_the_api_server),
        trial(environment, "catalog_servers::image", catalog_servers::image),
        trial(environment, "catalog_servers::not_served", catalog_servers::not_served),
        trial(environment, "catalog_servers::polling", catalog_servers::polling),
        trial(environment, "catalog_servers::config_map", catalog_servers::config_map),
        trial(environment, "servers::conversion_on_its_own", servers::conversion),
        trial(environment, "servers::upgrade_on_its_own", servers::conversion_of_an_upgrade),
        trial(environment, "tenancy::users", tenancy::users),
        trial(environment, "unpack::by_a_job", unpack::by_a_job),
        trial(environment, "unpack::causes_are_reported", unpack::causes_are_reported),
        trial(environment, "unpack::retries", unpack::retries),
        trial(environment, "unpack::another_bundle", unpack::another_bundle),
        trial(environment, "unpack::so_many_at_a_time", unpack::so_many_at_a_time),
        trial(environment, "tenancy::targets", tenancy::targets),
        trial(environment, "tenancy::selector", tenancy::selector),
        trial(environment, "tenancy::everywhere", tenancy::everywhere),
        trial(environment, "image_tools::serve_jobs_and_pods", image_tools::serve_jobs_and_pods),
        trial(servers, "deploy::the_operators_are_admitted", deploy::the_operators_are_admitted),
        trial(environment, "deploy::kubectl_applies_the_files", deploy::kubectl_applies_the_files),
        trial(environment, "deploy::kustomize_says_the_same", deploy::says_the_same),
        trial(environment, "deploy::helm_says_the_same", deploy::helm::says_the_same),
        trial(environment, "deploy::the_flags_are_known", deploy::flags::are_known),
        trial(environment, "api::every_version_is_served", api::every_version_is_served),
        trial(environment, "api::made_csvs_are_accepted", api::made_csvs_are_accepted),
        trial(
            environment,
            "api::lists_are_merged_by_their_keys",
            api::lists_are_merged_by_their_keys,
        ),
        corpus.with_ignored_flag(no_corpus),
        hosted.with_ignored_flag(no_registry),
    ]
}

/// What catalogs and users may send.
fn of_hostile_input(environment: &Arc<Environment>) -> Vec<Trial> {
    vec![
        local_trial(environment, "hostile::definitions", hostile::definitions),
        local_trial(environment, "hostile::deployments", hostile::deployments),
        local_trial(environment, "hostile::accepted", hostile::accepted),
        local_trial(environment, "hostile::many", hostile::many),
        local_trial(environment, "hostile::one_by_one", hostile::one_by_one),
        local_trial(environment, "hostile::references", hostile::references),
        local_trial(environment, "hostile::registries", hostile::registries),
        local_trial(environment, "hostile::multiplying_aliases", hostile::multiplying_aliases),
    ]
}

/// Each way for tenants to gain rights, under both policies.
fn escalation(v0: &Arc<Environment>, strict: &Arc<Environment>) -> Vec<Trial> {
    let both = |&(lax, closed, way)| {
        let lax = trial(v0, lax, move |ctx| play(ctx, TenantPolicy::V0, way));
        [lax, trial(strict, closed, move |ctx| play(ctx, TenantPolicy::Strict, way))]
    };
    tenancy::escalation::WAYS.iter().flat_map(both).collect()
}

/// Whether a simulated node is enough for a scenario, and it is one of every run. Those that need a real one are
/// played there, and counted, by `cargo xtask e2e --cluster real --needs-node`.
fn is_for_a_simulated_node(scenario: &Scenario) -> bool {
    if ON_REQUEST.contains(&scenario.name) && !only::names(scenario.name) {
        return false;
    }
    let facts = local::facts();
    let mut of_a_node = scenario.needs.iter().filter(|need| !need.is_of_the_machine());
    of_a_node.all(|need| facts.lacks(*need).is_none())
}

/// A scenario of the library.
fn shared(environment: &Arc<Environment>, scenario: Scenario) -> Trial {
    let environment = Arc::clone(environment);
    let name = scenario.name;
    let facts = local::facts();
    let mut of_the_machine = scenario.needs.iter().filter(|need| need.is_of_the_machine());
    let lacking = of_the_machine.find_map(|need| facts.lacks(*need));
    if let Some(reason) = &lacking {
        println!("ignored: {name}: {reason}");
    }
    let trial = Trial::test(name, move || {
        let _place = schedule::enter(name);
        let played = environment
            .run(|provider| async move { runner::play(&provider, &scenario, None).await });
        played.map_err(|error| failed(name, &error))
    });
    trial.with_ignored_flag(lacking.is_some())
}

/// A scenario with a namespace named after it.
fn trial<F, S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    F: Future<Output = Result<()>>,
    S: FnOnce(Arc<TestContext>) -> F + Send + 'static,
{
    let environment = Arc::clone(environment);
    Trial::test(name, move || {
        let _place = schedule::enter(name);
        let run = environment.run_own(name, scenario);
        run.map_err(|error| failed(name, &error))
    })
}

/// The same, for one that does something with the processes of its cluster.
fn local_trial<F, S>(environment: &Arc<Environment>, name: &'static str, scenario: S) -> Trial
where
    F: Future<Output = Result<()>>,
    S: FnOnce(Arc<Local>, Arc<TestContext>) -> F + Send + 'static,
{
    let environment = Arc::clone(environment);
    Trial::test(name, move || {
        let _place = schedule::enter(name);
        let run = environment.run_local(name, scenario);
        run.map_err(|error| failed(name, &error))
    })
}

/// The failure of a scenario, which is said at once, too: the list of failures comes when all others are over.
fn failed(name: &str, error: &anyhow::Error) -> Failed {
    let why = format!("{error:#}");
    println!("{name} failed: {why}");
    Failed::from(why)
}
