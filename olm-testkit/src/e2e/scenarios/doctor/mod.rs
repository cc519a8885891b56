//! What `kubectl olm doctor` finds: each of its codes is made on purpose in a cluster, found, and repaired
//! by the command that is printed.
//!
//! Cases have namespaces of their own and are made side by side; one look at all namespaces finds them all,
//! a second one after the fixes finds them gone. What disturbs a whole cluster comes last.

mod case;
mod catalog;
mod found;
mod made;
mod on_a_node;

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use kube::api::{Api, PostParams};
use olm_types::api::CatalogSource;

use crate::builders;
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::operators::OLM_NAMESPACE;
use crate::wait;

use case::{Case, FindingOutcome};
use found::Doctor;

/// The catalog that all cases see.
const CATALOG: &str = "pantry";

/// Cases that are made at the same time.
const AT_ONCE: usize = 8;

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    let findings = scenario(
        "doctor::findings",
        "every code of kubectl olm doctor is made, found exactly once, and ended by the command that is printed",
        findings,
    );
    let image = scenario(
        "doctor::image_not_pulled",
        "kubectl olm doctor finds an image that a kubelet cannot pull",
        on_a_node::image_not_pulled,
    );
    vec![
        findings.needs(&[Need::Kubectl, Need::Simulation]).exclusive(),
        image.needs(&[Need::Kubectl, Need::Containers]),
    ]
}

/// Makes every case that this OLM can get to, and compares what is found, and what is left after the fixes.
async fn findings(home: Arc<TestContext>) -> Result<()> {
    serve(&home).await?;
    let doctor = Doctor::new(&home).await?;
    let is_v0 = home.facts().is_v0;
    let cases: Vec<Case> = case::all().into_iter().filter(|case| case.is_made(is_v0)).collect();
    let made = made(&home, &cases).await?;
    doctor.finds(&made).await?;
    home.conclude_all_plans().await?;
    repair(&doctor, &made).await?;
    doctor.finds_nothing_of(&made).await?;
    made::cluster::before_a_take_over(&home, &doctor).await?;
    made::cluster::packages_api_away(&home, &doctor).await
}

/// A case, and its namespace.
type PreparedCase<'a> = (&'a Case, Arc<TestContext>);

async fn made<'a>(home: &TestContext, cases: &'a [Case]) -> Result<Vec<PreparedCase<'a>>> {
    let all = cases.iter().map(|case| make(home, case)).collect::<Vec<_>>();
    stream::iter(all).buffer_unordered(AT_ONCE).try_collect().await
}

async fn make<'a>(home: &TestContext, case: &'a Case) -> Result<PreparedCase<'a>> {
    let ctx = home.beside(&format!("doctor::{}", case.place)).await?;
    let made = case.make(Arc::clone(&ctx)).await;
    made.with_context(|| format!("{} in {}", case.code, ctx.namespace))?;
    Ok((case, ctx))
}

/// Runs the printed fix of each case of class `command`; of the others the text is compared.
async fn repair(doctor: &Doctor, made: &[PreparedCase<'_>]) -> Result<()> {
    let all = made.iter().map(|(case, ctx)| ended(doctor, case, ctx)).collect::<Vec<_>>();
    let all: Vec<Result<()>> = stream::iter(all).buffer_unordered(AT_ONCE).collect().await;
    let failed: Vec<String> =
        all.into_iter().filter_map(|one| Some(format!("{:#}", one.err()?))).collect();
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    Ok(())
}

async fn ended(doctor: &Doctor, case: &Case, ctx: &TestContext) -> Result<()> {
    let finding = doctor.finding(&[], case.code, &ctx.namespace).await?;
    let (class, fix) = (&finding["class"], finding["fix"].as_str().unwrap_or_default());
    match case.ends {
        FindingOutcome::Repaired => {
            ensure!(class == "command", "{finding:#}");
            let ran = doctor.as_printed(fix).await;
            ran.with_context(|| format!("{} in {}", case.code, ctx.namespace))
        }
        FindingOutcome::Waits(text) => {
            ensure!(class == "wait" && fix.contains(text), "{finding:#}");
            Ok(())
        }
        FindingOutcome::Asks(text) => {
            ensure!(class == "ask the author" && fix.contains(text), "{finding:#}");
            Ok(())
        }
    }
}

async fn serve(home: &TestContext) -> Result<()> {
    let address = home.registry(CATALOG, home.content(&catalog::packages())?).await?;
    let sources: Api<CatalogSource> = Api::namespaced(home.client.clone(), OLM_NAMESPACE);
    let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &address);
    sources.create(&PostParams::default(), &source).await.context("cannot add the catalog")?;
    wait::until_connected(&sources, CATALOG).await.map(drop)
}
