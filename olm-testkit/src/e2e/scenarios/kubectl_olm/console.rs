//! The console as a browser asks it: the real program serves the pages of a scenario's namespace.

use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::{HeaderMap, Request, StatusCode};
use hyper_util::rt::TokioIo;
use olm_types::annotations::PAUSE;
use olm_types::api::{ClusterServiceVersion, InstallPlan};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::net::TcpStream;
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};

use super::program::Program;
use super::{NEW, OLD, subscribe, waiting_plan};
use crate::builders::{self, Bundle, CsvBuilder, Package, csv};
use crate::e2e::TestContext;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::wait::TIMEOUT;

/// How often a page is asked for while OLM is at work.
const ASK: std::time::Duration = std::time::Duration::from_millis(500);

/// What is installed in all namespaces.
const EVERYWHERE: &str = "/installed?all=true";

/// What an author would do in a reader's browser.
const HOSTILE: &str = "# Tea\n\n<script>alert(1)</script>\n\n![p](https://pixel.example/p.png) \
                       [a](javascript:alert(1)) [b](https://ok.example)";

/// A console that serves.
pub(super) struct Served {
    /// Ends with the scenario.
    _child: Child,
    pub(super) host: String,
    pub(super) cookie: String,
}

/// An answer.
pub(in crate::e2e::scenarios) struct ConsoleResponse {
    pub(in crate::e2e::scenarios) status: StatusCode,
    pub(in crate::e2e::scenarios) headers: HeaderMap,
    pub(in crate::e2e::scenarios) body: String,
}

/// Every page has what `kubectl olm` prints; without the cookie, and under another name, there is none.
pub(super) async fn pages(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    ctx.operator_group().await?;
    subscribe(&ctx).await?;
    let kind = kettles(&ctx);
    let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)];
    let hostile = csv("teapot.v1.0.0", "1.0.0").deployment("teapot", "default").with(write);
    let teapots = ctx.content(&[teapot(&hostile)])?;
    let kettles = ctx.content(&stable(&versions))?;
    let [teapots, kettles] = [("shelf", teapots.path()), ("kitchen", kettles.path())]
        .map(|(name, path)| format!("{}/{name}={}", ctx.namespace, path.display()));
    let plan = waiting_plan(&ctx, "kettle").await?.metadata.name.unwrap_or_default();
    let flags = ["console", "--catalog", &kettles, "--catalog", &teapots, "--no-pull"];
    let served = Served::start(&program, &flags).await?;
    refuses(&served).await?;
    before_the_approval(&served, &plan).await?;
    all_namespaces(&ctx, &served).await?;
    hostile_package(&served).await?;
    approve(&ctx, &plan).await?;
    ctx.succeeded(OLD).await?;
    after_the_approval(&served).await?;
    nothing_may_be_read(&ctx, &program).await?;
    let next = waiting_plan(&ctx, "kettle").await?.metadata.name.unwrap_or_default();
    approve(&ctx, &next).await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    served.has("/health", &["0 findings, 0 of "]).await.map(drop)
}

fn teapot(csv: &CsvBuilder) -> Package {
    Package::new("teapot").channel("stable", vec![Bundle::new("1.0.0", csv)])
}

fn write(csv: &mut ClusterServiceVersion) {
    csv.spec.display_name = "<b>Tea</b>".to_owned();
    csv.spec.description = Some(HOSTILE.to_owned());
}

pub(in crate::e2e::scenarios) async fn approve(ctx: &TestContext, plan: &str) -> Result<()> {
    let patch = kube::api::Patch::Merge(serde_json::json!({"spec": {"approved": true}}));
    ctx.api::<InstallPlan>().patch(plan, &Default::default(), &patch).await?;
    Ok(())
}

/// Another name of this machine, another origin, no cookie, a token twice, a change.
async fn refuses(served: &Served) -> Result<()> {
    let own = served.host.as_str();
    let cookie = Some(served.cookie.as_str());
    for (what, host, origin, cookie, method, expected) in [
        ("no cookie", own, None, None, "GET", 403),
        ("another name", "rebound.example", None, cookie, "GET", 421),
        ("another origin", own, Some("http://rebound.example"), cookie, "GET", 403),
        ("a change without an origin", own, None, cookie, "POST", 403),
        ("no form", own, None, cookie, "PUT", 405),
        ("the cookie", own, None, cookie, "GET", 200),
    ] {
        let mut request = Request::builder().method(method).uri("/health").header("host", host);
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        if let Some(cookie) = cookie {
            request = request.header("cookie", cookie);
        }
        let answer = send(own, request.body(Full::default())?).await?;
        ensure!(answer.status == expected, "{what}: {} {}", answer.status, answer.body);
        let policy =
            answer.headers.get("content-security-policy").context("no policy")?.to_str()?;
        ensure!(policy.contains("default-src 'none'"), "{what}: {policy}");
        ensure!(
            policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
    }
    Ok(())
}

async fn before_the_approval(served: &Served, plan: &str) -> Result<()> {
    served.has("/catalog?q=kettle", &["kettle", "1.1.0", "1 package<", "search kettle"]).await?;
    served.has("/package?name=kettle", &["<svg", OLD, NEW, "replaces", "Upgraded from"]).await?;
    served.has("/installed", &["kettle", "NeedsApproval", "see the plan"]).await?;
    served.has("/plan", &[plan, OLD]).await?;
    let hash = "--plan-hash";
    served.has("/plan?name=kettle", &[plan, OLD, "version 1.0.0", hash, "Objects"]).await?;
    served.has("/health", &["OLM013", plan, "1 finding, 0 of "]).await?;
    served.has("/operator?name=kettle", &["Subscription kettle", plan, "UpgradePending"]).await?;
    served.has("/operator?name=stove", &["no Subscription is named stove"]).await?;
    let elsewhere = served.get("/catalog?namespace=../kube-system").await?;
    ensure!(elsewhere.status == 400, "{}", elsewhere.status);
    let style = served.get("/console.css").await?;
    ensure!(style.headers["content-type"] == "text/css; charset=utf-8", "{:?}", style.headers);
    let nowhere = served.get("/metrics").await?;
    ensure!(nowhere.status == 404, "{}", nowhere.status);
    Ok(())
}

/// What is installed in all namespaces has a row for each, and a link to its namespace.
async fn all_namespaces(ctx: &TestContext, served: &Served) -> Result<()> {
    let beside = ctx.beside("kubectl_olm::console::beside").await?;
    let mut paused = builders::subscription(&beside.namespace, "urn", "stable", "none");
    paused.metadata.annotations = Some([(PAUSE.to_owned(), "true".to_owned())].into());
    beside.create(&paused).await?;
    let links = [&ctx.namespace, &beside.namespace]
        .map(|home| format!("<a href=\"/installed?namespace={home}\">{home}</a>"));
    let [own, other] = links.each_ref().map(String::as_str);
    let live = "sse-connect=\"/live?page=all-installed&";
    let parts =
        [own, other, "NeedsApproval", "<td>paused</td>", " list -A</code>", ">Ready</th>", live];
    served.has(EVERYWHERE, &parts).await?;
    let one = served.has("/installed", &["?namespace=", "all=true\">All namespaces</a>"]).await?;
    ensure!(!one.contains(&beside.namespace), "another namespace is in {one}");
    beside.remove().await
}

/// What an author writes is text, and its picture is a picture under a policy of its own.
async fn hostile_package(served: &Served) -> Result<()> {
    let page = served.has("/package?name=teapot", &["<h3>Tea</h3>", "https://ok.example"]).await?;
    for act in ["<script>", "javascript:", "pixel.example", "<b>Tea"] {
        ensure!(!page.contains(act), "{act} is in {page}");
    }
    let icon = served.get("/icon?name=teapot").await?;
    let policy = icon.headers["content-security-policy"].to_str()?;
    ensure!(policy.contains("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    ensure!(icon.headers["content-type"] == "image/svg+xml", "{:?}", icon.headers);
    ensure!(icon.headers["x-content-type-options"] == "nosniff", "{:?}", icon.headers);
    Ok(())
}

async fn after_the_approval(served: &Served) -> Result<()> {
    served.has("/installed", &["1.0.0", "1.1.0"]).await?;
    served.has("/operator?name=kettle", &[OLD, "Deployment kettle", "InstallSucceeded"]).await?;
    served.has("/package?name=kettle", &["You are here", "installed in"]).await?;
    let waits = [NEW, "version 1.1.0", "Hash of what is approved"];
    served.has("/plan?name=kettle", &waits).await.map(drop)
}

/// Who may read nothing sees that on every page, and who gets no answer as well.
async fn nothing_may_be_read(ctx: &TestContext, program: &Program) -> Result<()> {
    let user = format!("{}-stranger", ctx.namespace);
    let served = Served::start(program, &["console", "--as", &user]).await?;
    // A port that was just given back has no listener.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").context("no port")?;
    let server = format!("https://{}", listener.local_addr()?);
    drop(listener);
    let away = Served::start(program, &["console", "--server", &server]).await?;
    for path in ["/catalog", "/installed", EVERYWHERE, "/health", "/plan", "/operator?name=kettle"]
    {
        served.has(path, &["not allowed"]).await?;
        away.has(path, &["no answer", &server]).await?;
    }
    served.has(EVERYWHERE, &["id=\"namespace\"", "Type a namespace above"]).await.map(drop)
}

impl Served {
    /// Starts a console, and opens the address that it prints.
    pub(super) async fn start(program: &Program, args: &[&str]) -> Result<Self> {
        let mut child = program.start(args)?;
        let out = child.stdout.take().context("it has no output")?;
        let mut lines = BufReader::new(out).lines();
        let line = timeout(TIMEOUT, lines.next_line()).await.context("it prints no address")??;
        let url = line.context("it prints nothing")?;
        let rest = url.strip_prefix("http://").with_context(|| format!("it prints {url}"))?;
        let (host, path) = rest.split_once('/').context("it prints no path")?;
        ensure!(host.starts_with("127.0.0.1:"), "{url}");
        let request = Request::get(format!("/{path}")).header("host", host);
        let answer = send(host, request.body(Full::default())?).await?;
        ensure!(
            answer.status == 303 && answer.headers["location"] == "/catalog",
            "{}",
            answer.body
        );
        let given = answer.headers["set-cookie"].to_str()?.to_owned();
        ensure!(given.ends_with("HttpOnly; SameSite=Strict; Path=/"), "{given}");
        let cookie = given.split(';').next().unwrap_or_default().to_owned();
        let again = Request::get(format!("/{path}")).header("host", host);
        let again = send(host, again.body(Full::default())?).await?;
        ensure!(again.status == 403, "a token is used twice: {}", again.status);
        Ok(Self { _child: child, host: host.to_owned(), cookie })
    }

    pub(super) async fn get(&self, path: &str) -> Result<ConsoleResponse> {
        let request = Request::get(path).header("host", &self.host).header("cookie", &self.cookie);
        send(&self.host, request.body(Full::default())?).await
    }

    /// Posts a form, from a page of this origin.
    pub(super) async fn post(
        &self,
        path: &str,
        origin: &str,
        fields: &[(String, String)],
    ) -> Result<ConsoleResponse> {
        let body = form(fields);
        let request = Request::post(path).header("host", &self.host).header("cookie", &self.cookie);
        let request = request.header("origin", origin);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        send(&self.host, request.body(Full::from(body))?).await
    }

    /// Waits until a page has all of this.
    pub(super) async fn has(&self, path: &str, parts: &[&str]) -> Result<String> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            let answer = self.get(path).await?;
            let missing = parts.iter().find(|part| !answer.body.contains(**part));
            match missing {
                None if answer.status == 200 => return Ok(answer.body),
                missing if Instant::now() > deadline => {
                    bail!("{path}: {} without {missing:?}:\n{}", answer.status, answer.body)
                }
                _ => sleep(ASK).await,
            }
        }
    }
}

/// Fields as a browser posts them.
pub(super) fn form<N: AsRef<str>, V: AsRef<str>>(fields: &[(N, V)]) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(fields).finish()
}

async fn send(host: &str, request: Request<Full<Bytes>>) -> Result<ConsoleResponse> {
    ask(TcpStream::connect(host).await.context("nothing listens")?, request).await
}

/// One request over a connection of its own.
pub(super) async fn ask<S>(stream: S, request: Request<Full<Bytes>>) -> Result<ConsoleResponse>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let asked = async {
        let response = sender.send_request(request).await?;
        let (head, body) = response.into_parts();
        let body = body.collect().await?.to_bytes();
        let body = String::from_utf8_lossy(&body).into_owned();
        anyhow::Ok(ConsoleResponse { status: head.status, headers: head.headers, body })
    };
    let answered = async {
        tokio::select! {
            answer = asked => answer,
            ended = connection => bail!("the connection ended: {ended:?}"),
        }
    };
    timeout(TIMEOUT, answered).await.context("no answer")?
}
