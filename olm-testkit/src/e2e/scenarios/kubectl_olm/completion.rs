//! kubectl completes `kubectl olm` by the program that `completion kubectl` prints.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;
use tokio::time::{Duration, Instant, sleep};

use super::program::Program;
use crate::e2e::TestContext;
use crate::kubectl::Kubectl;
use crate::wait::TIMEOUT;

/// How often kubectl is asked.
const ASK: Duration = Duration::from_millis(250);

/// kubectl itself offers commands of the plugin, and flags of these.
pub(super) async fn by_kubectl(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let bash = program.prints(&["completion", "bash"]).await?;
    ensure!(bash.contains("complete -F _kubectl_olm kubectl-olm"), "{bash}");
    is_installed(&program, &bash).await?;
    let folder = tempfile::tempdir().context("no folder for the program")?;
    let file = folder.path().join("kubectl_complete-olm");
    std::fs::write(&file, program.prints(&["completion", "kubectl"]).await?)?;
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))?;
    offered(&program, folder.path(), "kubectl __complete olm stat", "status\t").await?;
    offered(&program, folder.path(), "kubectl __complete olm plan install --appr", "--approval")
        .await
}

/// With `--install` the script is where bash looks for it, and its place is printed.
async fn is_installed(program: &Program, script: &str) -> Result<()> {
    let home = tempfile::tempdir().context("no folder for a home")?;
    let ended = program.run_at_home(home.path(), &["completion", "bash", "--install"]).await?;
    let file = home.path().join(".local/share/bash-completion/completions/kubectl-olm");
    let is_named = ended.code == Some(0) && ended.printed.trim_end() == file.display().to_string();
    ensure!(is_named, "{ended:?}");
    let written = std::fs::read_to_string(&file).context("no script was written")?;
    ensure!(written == script, "{written}");
    Ok(())
}

/// Waits until kubectl offers this: a program that was just written may be open elsewhere for a moment.
async fn offered(program: &Program, folder: &Path, line: &str, expected: &str) -> Result<()> {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        let output = asked(program, folder, line).await?;
        if output.lines().any(|one| one.starts_with(expected)) {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "{line} does not offer {expected}: {output}");
        sleep(ASK).await;
    }
}

/// What kubectl prints of a line for a shell.
async fn asked(program: &Program, folder: &Path, line: &str) -> Result<String> {
    let kubectl = Kubectl::of(program.kubeconfig())?;
    let first = [folder, program.folder()?, kubectl.folder()?];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = first.into_iter().map(ToOwned::to_owned).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(all).context("PATH is malformed")?;
    let mut shell = Command::new("sh");
    shell.args(["-c", line]).env("PATH", path).env("KUBECONFIG", program.kubeconfig());
    let output = shell.stdin(Stdio::null()).output().await.context("cannot run a shell")?;
    String::from_utf8(output.stdout).context("kubectl prints no text")
}
