//! The console as it runs in a cluster: the real program, asked over TLS by users with tokens of ServiceAccounts.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{DeleteParams, PostParams};
use kube::config::Kubeconfig;
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{from_value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;

use super::console::{Answer, ask, form};
use super::subscribe;
use crate::e2e::TestContext;
use crate::operators::Binaries;
use crate::wait::TIMEOUT;

/// The name under which browsers reach it.
const HOST: &str = "console.test";

/// How often a page is asked for until the API server knows what has changed.
const ASK: std::time::Duration = std::time::Duration::from_millis(500);

/// A console that serves.
struct Hosted {
    /// Ends with the scenario.
    _child: Child,
    address: String,
    connector: TlsConnector,
    _folder: TempDir,
}

/// Each user sees what he may; who brings no token, a wrong one or another's name sees the login page or a refusal.
pub(super) async fn logged_in(ctx: Arc<TestContext>) -> Result<()> {
    subscribe(&ctx).await?;
    let viewer = token(&ctx, "viewer").await?;
    let stranger = token(&ctx, "stranger").await?;
    view(&ctx, "viewer").await?;
    let hosted = Hosted::start(&ctx).await?;
    refuses(&hosted, &viewer).await?;
    let page = format!("/installed?namespace={}", ctx.namespace);
    let cookie = hosted.log_in(&viewer, &page).await?;
    let bearer = format!("Bearer {stranger}");
    // The viewer's rights come from a role that is aggregated within moments.
    hosted.has(&page, &[("cookie", &cookie)], "kettle").await?;
    let refused = hosted.get(&page, &[("authorization", &bearer)]).await?;
    ensure!(refused.status == 200, "{}", refused.status);
    ensure!(refused.body.contains("not allowed"), "{}", refused.body);
    ensure!(!refused.body.contains("kettle"), "the stranger sees {}", refused.body);
    for answer in [&refused, &hosted.get(&page, &[("cookie", &cookie)]).await?] {
        let shows = answer.body.contains(&viewer) || answer.body.contains(&stranger);
        ensure!(!shows, "a token stands in a page");
    }
    expires(&ctx, &hosted, &page, &cookie).await
}

/// What is tried, its headers, the status of the answer and a part of it.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, &'a str);

/// No token, a wrong one, the name of another user, another name of the server, a page of another site.
async fn refuses(hosted: &Hosted, token: &str) -> Result<()> {
    let bearer = format!("Bearer {token}");
    let with = ("authorization", bearer.as_str());
    let cases: [Case<'_>; 6] = [
        ("no token", &[], 401, "<h1>Log in</h1>"),
        ("a wrong token", &[("authorization", "Bearer wrong")], 401, "does not accept this token"),
        ("a user", &[with, ("x-forwarded-user", "admin")], 400, "x-forwarded-user"),
        ("an impersonation", &[with, ("impersonate-user", "admin")], 400, "impersonate-user"),
        ("another name", &[with, ("host", "rebound.example")], 421, "--host"),
        ("another site", &[with, ("origin", "https://rebound.example")], 403, "another site"),
    ];
    for (what, headers, expected, text) in cases {
        let answer = hosted.get("/installed", headers).await?;
        ensure!(answer.status == expected, "{what}: {} {}", answer.status, answer.body);
        ensure!(answer.body.contains(text), "{what}: {}", answer.body);
        let policy = answer.headers.get("content-security-policy").context("no policy")?;
        ensure!(policy.to_str()?.contains("frame-ancestors 'none'"), "{what}: {policy:?}");
    }
    let healthy = hosted.get("/healthz", &[("host", "10.0.0.1:8443")]).await?;
    ensure!(healthy.status == 200, "{}", healthy.status);
    Ok(())
}

/// A token of an account that is gone leads to the login page, which says why.
async fn expires(ctx: &TestContext, hosted: &Hosted, page: &str, cookie: &str) -> Result<()> {
    ctx.api::<ServiceAccount>().delete("viewer", &DeleteParams::default()).await?;
    hosted.has(page, &[("cookie", cookie)], "it has expired").await?;
    let over = hosted.get(page, &[("cookie", cookie)]).await?;
    ensure!(over.status == 401, "{}", over.status);
    ensure!(over.body.contains("not logged in any more"), "{}", over.body);
    Ok(())
}

/// A ServiceAccount, and a token of it.
async fn token(ctx: &TestContext, name: &str) -> Result<String> {
    let account: ServiceAccount = from_value(json!({"metadata": {"name": name}}))?;
    ctx.create(&account).await?;
    let request: TokenRequest = from_value(json!({"metadata": {}, "spec": {"audiences": []}}))?;
    let accounts = ctx.api::<ServiceAccount>();
    let issued = accounts.create_token_request(name, &PostParams::default(), &request).await?;
    issued.status.and_then(|status| status.token).context("the API server issues no token")
}

/// Lets a ServiceAccount look at the namespace.
async fn view(ctx: &TestContext, account: &str) -> Result<()> {
    let subject = json!({"kind": "ServiceAccount", "name": account, "namespace": ctx.namespace});
    let role =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"});
    let binding = json!({"metadata": {"name": account}, "roleRef": role, "subjects": [subject]});
    ctx.create::<RoleBinding>(&from_value(binding)?).await.map(drop)
}

impl Hosted {
    /// Starts the program with a certificate of its own, for the API server of the scenario.
    async fn start(ctx: &TestContext) -> Result<Self> {
        let folder = tempfile::tempdir().context("cannot create a folder")?;
        let connector = certificate(folder.path())?;
        let (server, authority) = api_server(&ctx.kubeconfig().await?)?;
        let file = |name: &str| folder.path().join(name);
        std::fs::write(file("ca.crt"), authority).context("cannot write the authority")?;
        let binaries = Binaries::beside_this_executable(&std::env::temp_dir())?;
        let mut command = Command::new(binaries.program("olm-console"));
        command.args(["--listen", "127.0.0.1:0", "--host", HOST, "--server", &server]);
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

    /// Logs in, and gives the cookie.
    async fn log_in(&self, token: &str, next: &str) -> Result<String> {
        let body = form(&[("token", token), ("next", next)]);
        let request = Request::post("/login").header("host", HOST);
        let request = request.header("origin", format!("https://{HOST}"));
        let answer = self.send(request.body(Full::from(body))?).await?;
        ensure!(answer.status == 303, "{} {}", answer.status, answer.body);
        let given = answer.headers["set-cookie"].to_str()?;
        let kept = "; Path=/; Secure; HttpOnly; SameSite=Strict";
        ensure!(given.starts_with("__Host-") && given.ends_with(kept), "{given}");
        ensure!(!given.contains(token), "the cookie has the token");
        Ok(given.split(';').next().unwrap_or_default().to_owned())
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Result<Answer> {
        let mut request = Request::get(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", HOST);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::default())?).await
    }

    /// Waits until a page has this.
    async fn has(&self, path: &str, headers: &[(&str, &str)], part: &str) -> Result<()> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let answer = self.get(path, headers).await?;
            if answer.body.contains(part) {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "{} without {part}: {}", answer.status, answer.body);
            sleep(ASK).await;
        }
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Answer> {
        let stream = TcpStream::connect(&self.address).await.context("nothing listens")?;
        ask(self.connector.connect(ServerName::try_from(HOST)?, stream).await?, request).await
    }
}

/// Writes a certificate and its key, and makes what trusts it.
fn certificate(folder: &Path) -> Result<TlsConnector> {
    let issued = rcgen::generate_simple_self_signed([HOST.to_owned()])?;
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).with_context(|| format!("cannot write {name}"))
    };
    write("tls.crt", issued.cert.pem())?;
    write("tls.key", issued.signing_key.serialize_pem())?;
    let mut roots = RootCertStore::empty();
    roots.add(issued.cert.der().clone())?;
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
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
