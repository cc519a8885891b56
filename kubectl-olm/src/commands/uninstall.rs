//! `uninstall`: custom resources where that is asked for, then the Subscription and its CSV; a report at
//! the end.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::acts::{Removal, check_operands, remove, report};
use olm_client::cluster::{Cluster, one_namespace};
use olm_plan::preview::{Operation, PreviewRequest};

use super::act::{agreed, with_findings, writing};
use super::plan::{outcome, show, verdict};
use crate::Outcome;
use crate::args::{DryRun, UninstallArgs};
use crate::output::Output;
use crate::plan::in_cluster;

pub(super) use olm_client::acts::{delete, deleted_csvs, gone};

/// Removes an operator.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &UninstallArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let wanted = Operation::Uninstall { operator: asked.operator.clone() };
    let question =
        PreviewRequest { namespace: home.to_owned(), settings, now: Timestamp::now(), wanted };
    let preview = in_cluster(cluster, &question, &asked.reading).await?;
    show(&preview, asked.operands, output)?;
    verdict(&preview)?;
    check_operands(asked.operands, &preview)?;
    if asked.acting.dry_run == DryRun::Client || !agreed(&asked.acting, &preview)? {
        return Ok(outcome(&preview));
    }
    let is_dry = asked.acting.dry_run == DryRun::Server;
    let following = &asked.acting.following;
    let removal = Removal {
        operands: asked.operands,
        how: writing(is_dry),
        limit: following.timeout,
        wait: following.wait,
    };
    let removed = remove(cluster, &preview, removal).await;
    with_findings(cluster, home, removed).await?;
    output.progress(&report(&preview, asked.operands, is_dry))?;
    Ok(outcome(&preview))
}
