//! `kubectl olm` with a catalog that never ends: it says so, and does not wait.

use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::Binaries;
use olm_testkit::wait::TIMEOUT;
use tokio::process::Command;
use tokio::time::timeout;

/// What a user is shown, whatever was asked of the catalog.
pub async fn ends(ctx: &TestContext, address: &str, said: &str) -> Result<()> {
    let program = Binaries::beside_this_executable(&std::env::temp_dir())?.program("kubectl-olm");
    let catalog = format!("{}/endless={address}", ctx.namespace);
    for words in [&["plan", "install", "a"][..], &["graph", "a"]] {
        let mut command = Command::new(&program);
        command.arg("--kubeconfig").arg(ctx.kubeconfig().await?).args(["-n", &ctx.namespace]);
        command.args(words).args(["--catalog", &catalog]).stdin(Stdio::null()).kill_on_drop(true);
        let ended = timeout(TIMEOUT, command.output()).await;
        let ended = ended.with_context(|| format!("{words:?} does not end"))?;
        let ended = ended.context("cannot run kubectl-olm")?;
        let errors = String::from_utf8_lossy(&ended.stderr);
        ensure!(ended.status.code() == Some(1) && errors.contains(said), "{words:?}: {ended:?}");
        ensure!(ended.stdout.is_empty(), "{words:?}: {ended:?}");
    }
    Ok(())
}
