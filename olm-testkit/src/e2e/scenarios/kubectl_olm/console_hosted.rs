//! The console as it runs in a cluster: the real program, asked over TLS by users with tokens of ServiceAccounts.
//! `smoke::console` is about the same in a Pod.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::api::DeleteParams;
use kube::config::Kubeconfig;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use super::console_login::{ConsoleEndpoint, LoginConsole, Users, VIEWER, certificate};
use super::subscribe;
use crate::e2e::TestContext;
use crate::operators::Binaries;
use crate::wait::TIMEOUT;

/// The name under which browsers reach it.
const HOST: &str = "console.test";

/// A console that serves.
pub(in crate::e2e::scenarios) struct Hosted {
    /// Ends with the scenario.
    _child: Child,
    /// Where it listens.
    address: String,
    /// What trusts its certificate.
    connector: TlsConnector,
    _folder: TempDir,
}

/// Names of a console.
#[derive(Clone, Copy, Debug)]
pub(in crate::e2e::scenarios) struct Names<'a> {
    /// Where it listens.
    pub(in crate::e2e::scenarios) listen: &'a str,
    /// The name, or the address, in its certificate.
    pub(in crate::e2e::scenarios) certificate: &'a str,
    /// As browsers write it.
    pub(in crate::e2e::scenarios) host: &'a str,
}

/// Each user sees what he may; who brings no token, a wrong one or another's name sees the login page or a refusal.
pub(super) async fn logged_in(ctx: Arc<TestContext>) -> Result<()> {
    subscribe(&ctx).await?;
    let users = Users::make(&ctx).await?;
    let names = Names { listen: "127.0.0.1:0", certificate: HOST, host: HOST };
    let hosted = Hosted::start(&ctx, names).await?;
    let console = hosted.console();
    console.refuses(&users.viewer).await?;
    let page = format!("/installed?namespace={}", ctx.namespace);
    let cookie = users.see(&console, &page, "kettle").await?;
    expires(&ctx, &console, &page, &cookie).await
}

/// A token of an account that is gone leads to the login page, which says why.
async fn expires(
    ctx: &TestContext,
    console: &LoginConsole,
    page: &str,
    cookie: &str,
) -> Result<()> {
    ctx.api::<ServiceAccount>().delete(VIEWER, &DeleteParams::default()).await?;
    console.has(page, &[("cookie", cookie)], "it has expired").await?;
    let over = console.get(page, &[("cookie", cookie)]).await?;
    ensure!(over.status == 401, "{}", over.status);
    ensure!(over.body.contains("not logged in any more"), "{}", over.body);
    Ok(())
}

impl Hosted {
    /// Starts the program with a certificate of its own, for the API server of the scenario.
    pub(in crate::e2e::scenarios) async fn start(
        ctx: &TestContext,
        names: Names<'_>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let connector = certificate(folder.path(), names.certificate)?;
        let (server, authority) = api_server(&ctx.kubeconfig().await?)?;
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("ca.crt"), authority).context("cannot write the authority")?;
        let binaries = Binaries::beside_this_executable(&std::env::temp_dir())?;
        let mut command = Command::new(binaries.program("olm-console"));
        command.args(["--listen", names.listen, "--host", names.host, "--server", &server]);
        for (flag, name) in [
            ("--certificate-authority", "ca.crt"),
            ("--tls-cert", "tls.crt"),
            ("--tls-key", "tls.key"),
        ] {
            command.arg(flag).arg(file(name));
        }
        command.stdin(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("cannot run olm-console")?;
        let said = child.stderr.take().context("it has no standard error")?;
        let line = timeout(TIMEOUT, BufReader::new(said).lines().next_line()).await;
        let line = line.context("it says nothing")??.context("it has ended")?;
        let address = line.strip_prefix("Listening at ").and_then(|rest| rest.strip_suffix('.'));
        let address = address.with_context(|| format!("it says {line}"))?.to_owned();
        Ok(Self { _child: child, address, connector, _folder: folder })
    }

    /// The console as programs ask it.
    fn console(&self) -> LoginConsole {
        let place = ConsoleEndpoint::Address(self.address.clone());
        LoginConsole { host: HOST, place, connector: self.connector.clone() }
    }
}

/// The address of the API server, and its authority.
fn api_server(kubeconfig: &Path) -> Result<(String, Vec<u8>)> {
    let read = Kubeconfig::read_from(kubeconfig)?;
    let cluster = read.clusters.into_iter().next().and_then(|named| named.cluster);
    let cluster = cluster.context("the kubeconfig has no cluster")?;
    let authority = match (&cluster.certificate_authority_data, &cluster.certificate_authority) {
        (Some(data), _) => STANDARD.decode(data)?,
        (None, Some(file)) => std::fs::read(file)?,
        (None, None) => bail!("the kubeconfig has no authority"),
    };
    Ok((cluster.server.context("the cluster has no address")?, authority))
}
