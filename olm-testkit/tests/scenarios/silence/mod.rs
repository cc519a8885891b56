//! Callers that connect and say nothing: hundreds from one Pod, renewed for a minute, at the packages
//! API and at the port of metrics and probes. Whoever asks is answered all the same.

mod tls;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::{join_all, try_join_all};
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1::APIService;
use kube::api::Api;
use olm_testkit::builders::{Bundle, Package, csv};
use olm_testkit::e2e::TestContext;
use olm_testkit::e2e::provider::local::Local;
use olm_testkit::kubectl::Kubectl;
use olm_testkit::operators::Operator;
use olm_testkit::packages as served;
use olm_testkit::wait;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep};

pub use tls::over_tls;

/// Connections of the Pod to each port.
const SILENT: usize = 500;

/// How long it renews them.
const ATTACK: Duration = Duration::from_secs(60);

/// The address of the Pod.
const POD: &str = "127.0.0.2:0";

/// How many people ask at the same time: the API server has more connections than it keeps idle.
const PEOPLE: usize = 6;

/// What an answer may take.
const SOON: &str = "--request-timeout=5s";

/// No request fails, the APIService stays available, and the operator is ready all the time.
pub async fn idle_callers(started: Arc<Local>, ctx: Arc<TestContext>) -> Result<()> {
    served::until_available(&ctx.client).await?;
    let lamp = csv("lamp.v1.0.0", "1.0.0").deployment("lamp", "default");
    ctx.catalog("hall", &[Package::single("lamp", Bundle::new("1.0.0", &lamp))]).await?;
    let kubectl = Arc::new(Kubectl::of(&ctx.kubeconfig().await?)?);
    until_shown(&kubectl, &ctx.namespace).await?;
    let admin = started.admin(Operator::Catalog)?;
    let ports = [served::address(&ctx.client).await?, admin.address()];
    let (begun, mut answers, mut slowest) = (Instant::now(), 0, Duration::ZERO);
    while begun.elapsed() < ATTACK {
        let silent = join_all(ports.map(silence)).await;
        let asked = Instant::now();
        try_join_all((0..PEOPLE).map(|_| ask(&kubectl, &ctx.namespace))).await?;
        slowest = slowest.max(asked.elapsed());
        ensure!(admin.is_ready().await, "the operator does not answer a probe");
        ensure!(is_available(&ctx).await?, "the APIService is not available any more");
        answers += PEOPLE;
        drop(silent);
    }
    println!("{answers} answers beside {SILENT} silent connections, {PEOPLE} within {slowest:?}");
    Ok(())
}

/// The connections that the port accepts of as many as there are.
async fn silence(port: SocketAddr) -> Vec<TcpStream> {
    let connect = || async move {
        let socket = TcpSocket::new_v4().ok()?;
        socket.bind(POD.parse().ok()?).ok()?;
        socket.connect(port).await.ok()
    };
    join_all((0..SILENT).map(|_| connect())).await.into_iter().flatten().collect()
}

/// A client asks for all packages of a namespace.
async fn ask(kubectl: &Arc<Kubectl>, namespace: &str) -> Result<()> {
    let (kubectl, namespace) = (Arc::clone(kubectl), namespace.to_owned());
    let args = move || kubectl.run(&["get", "packagemanifests", SOON, "-n", &namespace]);
    let answer = spawn_blocking(args).await.context("kubectl was not waited for")??;
    ensure!(answer.contains("lamp"), "another answer: {answer}");
    Ok(())
}

/// There is no watch, so packages are asked for until they are there.
async fn until_shown(kubectl: &Arc<Kubectl>, namespace: &str) -> Result<()> {
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        match ask(kubectl, namespace).await {
            Err(error) if Instant::now() > deadline => return Err(error),
            Err(_) => sleep(Duration::from_millis(200)).await,
            Ok(()) => return Ok(()),
        }
    }
}

async fn is_available(ctx: &TestContext) -> Result<bool> {
    let services: Api<APIService> = Api::all(ctx.client.clone());
    let status = services.get_status(served::API_SERVICE).await?.status.unwrap_or_default();
    let mut conditions = status.conditions.into_iter().flatten();
    Ok(conditions.any(|one| one.type_ == "Available" && one.status == "True"))
}
