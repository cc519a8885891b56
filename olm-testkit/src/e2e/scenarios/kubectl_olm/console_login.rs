//! A console that users log in to with tokens of ServiceAccounts, asked over TLS with a certificate of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http_body_util::Full;
use hyper::Request;
use hyper::body::Bytes;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Pod, ServiceAccount};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{Api, PostParams};
use rustls::crypto::aws_lc_rs::default_provider;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use serde_json::{from_value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

use super::console::{ConsoleResponse, ask, form};
use crate::e2e::TestContext;
use crate::wait::TIMEOUT;

/// The account that may look at the namespace of the scenario.
pub(super) const VIEWER: &str = "viewer";

/// How often a page is asked for until the API server knows what has changed.
const ASK: Duration = Duration::from_millis(500);

/// A console that serves.
pub(in crate::e2e::scenarios) struct LoginConsole {
    /// The name under which browsers reach it.
    pub(in crate::e2e::scenarios) host: &'static str,
    /// Where it listens.
    pub(in crate::e2e::scenarios) place: ConsoleEndpoint,
    /// What trusts its certificate.
    pub(in crate::e2e::scenarios) connector: TlsConnector,
}

/// Where a console listens.
pub(in crate::e2e::scenarios) enum ConsoleEndpoint {
    /// At an address of this machine.
    Address(String),
    /// At a port of a Pod, to which the API server forwards.
    Pod {
        /// The Pods of its namespace.
        pods: Api<Pod>,
        /// The name of the Pod.
        name: String,
        /// The port of its container.
        port: u16,
    },
}

/// Tokens of two ServiceAccounts.
pub(in crate::e2e::scenarios) struct Users {
    /// May look at the namespace of the scenario.
    pub(in crate::e2e::scenarios) viewer: String,
    /// Has no rights.
    pub(in crate::e2e::scenarios) stranger: String,
}

/// A connection.
trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What is tried, its headers, the status of the answer and a part of it.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16, &'a str);

impl LoginConsole {
    /// No token, a wrong one, the name of another user, another name of the server, a page of another site.
    pub(in crate::e2e::scenarios) async fn refuses(&self, token: &str) -> Result<()> {
        let bearer = format!("Bearer {token}");
        let with = ("authorization", bearer.as_str());
        let wrong = ("authorization", "Bearer wrong");
        let cases: [Case<'_>; 6] = [
            ("no token", &[], 401, "<h1>Log in</h1>"),
            ("a wrong token", &[wrong], 401, "does not accept this token"),
            ("a user", &[with, ("x-forwarded-user", "admin")], 400, "x-forwarded-user"),
            ("an impersonation", &[with, ("impersonate-user", "admin")], 400, "impersonate-user"),
            ("another name", &[with, ("host", "rebound.example")], 421, "--host"),
            ("another site", &[with, ("origin", "https://rebound.example")], 403, "another site"),
        ];
        for (what, headers, expected, text) in cases {
            let answer = self.get("/installed", headers).await?;
            ensure!(answer.status == expected, "{what}: {} {}", answer.status, answer.body);
            ensure!(answer.body.contains(text), "{what}: {}", answer.body);
            let policy = answer.headers.get("content-security-policy").context("no policy")?;
            ensure!(policy.to_str()?.contains("frame-ancestors 'none'"), "{what}: {policy:?}");
        }
        let healthy = self.get("/healthz", &[("host", "10.0.0.1:8443")]).await?;
        ensure!(healthy.status == 200, "{}", healthy.status);
        Ok(())
    }

    /// Logs in, and gives the cookie.
    pub(in crate::e2e::scenarios) async fn log_in(
        &self,
        token: &str,
        next: &str,
    ) -> Result<String> {
        let answer = self.enter(token, next).await?;
        ensure!(answer.status == 303, "{} {}", answer.status, answer.body);
        let given = answer.headers["set-cookie"].to_str()?;
        let kept = "; Path=/; Secure; HttpOnly; SameSite=Strict";
        ensure!(given.starts_with("__Host-") && given.ends_with(kept), "{given}");
        ensure!(!given.contains(token), "the cookie has the token");
        Ok(given.split(';').next().unwrap_or_default().to_owned())
    }

    /// Posts a token from the login page.
    pub(in crate::e2e::scenarios) async fn enter(
        &self,
        token: &str,
        next: &str,
    ) -> Result<ConsoleResponse> {
        let body = form(&[("token", token), ("next", next)]);
        let request = Request::post("/login").header("host", self.host);
        let request = request.header("origin", format!("https://{}", self.host));
        self.send(request.body(Full::from(body))?).await
    }

    /// Asks for a page.
    pub(in crate::e2e::scenarios) async fn get(
        &self,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<ConsoleResponse> {
        let mut request = Request::get(path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.host);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Full::default())?).await
    }

    /// Waits until a page has this.
    pub(in crate::e2e::scenarios) async fn has(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        part: &str,
    ) -> Result<()> {
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

    /// One request over a connection of its own.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<ConsoleResponse> {
        let (name, stream) = (ServerName::try_from(self.host)?, self.place.connect().await?);
        let stream = self.connector.connect(name, stream).await.context("no TLS")?;
        ask(stream, request).await
    }
}

impl ConsoleEndpoint {
    async fn connect(&self) -> Result<Box<dyn Stream>> {
        match self {
            Self::Address(address) => {
                let stream = TcpStream::connect(address).await.context("nothing listens")?;
                Ok(Box::new(stream))
            }
            Self::Pod { pods, name, port } => {
                let forwarded = pods.portforward(name, &[*port]).await;
                let mut forwarded = forwarded.context("there is no way to the Pod")?;
                let stream = forwarded.take_stream(*port).context("the port is not forwarded")?;
                Ok(Box::new(stream))
            }
        }
    }
}

impl Users {
    /// Makes the accounts in the namespace of the scenario, and has tokens issued.
    pub(in crate::e2e::scenarios) async fn make(ctx: &TestContext) -> Result<Self> {
        let users =
            Self { viewer: token(ctx, VIEWER).await?, stranger: token(ctx, "stranger").await? };
        view(ctx, VIEWER).await?;
        Ok(users)
    }

    /// The viewer sees this on a page, and the stranger that he is not allowed to; neither sees a token. Gives the
    /// viewer's cookie.
    pub(in crate::e2e::scenarios) async fn see(
        &self,
        console: &LoginConsole,
        page: &str,
        part: &str,
    ) -> Result<String> {
        let cookie = console.log_in(&self.viewer, page).await?;
        let bearer = format!("Bearer {}", self.stranger);
        // The viewer's rights come from a role that is aggregated within moments.
        console.has(page, &[("cookie", &cookie)], part).await?;
        let refused = console.get(page, &[("authorization", &bearer)]).await?;
        ensure!(refused.status == 200, "{}", refused.status);
        ensure!(refused.body.contains("not allowed"), "{}", refused.body);
        ensure!(!refused.body.contains(part), "the stranger sees {}", refused.body);
        for answer in [&refused, &console.get(page, &[("cookie", &cookie)]).await?] {
            let shows =
                [&self.viewer, &self.stranger].iter().any(|token| answer.body.contains(*token));
            ensure!(!shows, "a token stands in a page");
        }
        Ok(cookie)
    }
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

/// Writes a certificate for a name and its key, `tls.crt` and `tls.key`, and makes what trusts it.
pub(in crate::e2e::scenarios) fn certificate(folder: &Path, host: &str) -> Result<TlsConnector> {
    let issued = rcgen::generate_simple_self_signed([host.to_owned()])?;
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
