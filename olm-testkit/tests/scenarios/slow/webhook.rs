//! A proxy before a real conversion webhook, which passes on no request until it is let go.

use std::io::Result as Io;
use std::net::SocketAddr;

use anyhow::{Context, Result};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{Secret, Service};
use olm_testkit::e2e::TestContext;
use olm_testkit::stand_in::Server;
use rcgen::{CertificateParams, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::waiting::Waiting;

/// Where the webhook listens.
const PORT: u16 = 8443;
/// Its Deployment.
const NAME: &str = "valve";
/// Bytes of a TLS record before its content; the last two are the length of that.
const RECORD: usize = 5;

/// Such a proxy, until it is dropped.
pub struct SilentWebhook {
    /// What a definition says about its conversion.
    pub conversion: Value,
    /// The requests that are kept waiting.
    pub waiting: Waiting,
    silent: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl SilentWebhook {
    /// Serves a webhook in the namespace of a scenario, and listens before it.
    pub async fn start(ctx: &TestContext) -> Result<Self> {
        let (certificate, webhook) = serve(ctx).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let url = format!("https://{}/convert", listener.local_addr()?);
        let client = json!({"url": url, "caBundle": ByteString(certificate.into_bytes())});
        let called = json!({"clientConfig": client, "conversionReviewVersions": ["v1"]});
        let conversion = json!({"strategy": "Webhook", "webhook": called});
        let (waiting, silent) = (Waiting::default(), watch::Sender::new(true));
        let (all, reported) = (waiting.clone(), silent.subscribe());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (all, reported) = (all.clone(), reported.clone());
                tokio::spawn(async move {
                    // Either side may leave at any time.
                    let _ = pass(client, webhook, all, reported).await;
                });
            }
        });
        Ok(Self { conversion, waiting, silent, task })
    }

    /// Passes on what was kept, and whatever comes.
    pub fn release(&self) {
        self.silent.send_replace(false);
    }
}

impl Drop for SilentWebhook {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The webhook itself: the certificate that callers have to trust, and its address.
async fn serve(ctx: &TestContext) -> Result<(String, SocketAddr)> {
    let key = KeyPair::generate().context("cannot make a key")?;
    let names = CertificateParams::new(["127.0.0.1".to_owned()]).context("bad names")?;
    let certificate = names.self_signed(&key).context("cannot sign a certificate")?.pem();
    let service = json!({
        "metadata": {"name": format!("{NAME}-service")}, "spec": {"ports": [{"port": PORT}]},
    });
    let secret = json!({
        "metadata": {"name": format!("{NAME}-service-cert")}, "type": "kubernetes.io/tls",
        "stringData": {"tls.crt": certificate, "tls.key": key.serialize_pem()},
    });
    ctx.create(&serde_json::from_value::<Secret>(secret)?).await?;
    let service: Service = ctx.create(&serde_json::from_value(service)?).await?;
    let namespace = ctx.namespace.clone();
    let api = format!("v1/api.{namespace}.example.com/readings/Reading");
    let (deployment, port) = (NAME.to_owned(), PORT);
    ctx.stand_in(&Server { namespace, deployment, port, api }).await?;
    let address = service.spec.and_then(|spec| spec.cluster_ip).context("no address")?;
    Ok((certificate, SocketAddr::new(address.parse()?, PORT)))
}

/// One connection. Shaking hands is quick; what the client sends after its first record has to wait.
async fn pass(
    mut client: TcpStream,
    webhook: SocketAddr,
    waiting: Waiting,
    mut silent: watch::Receiver<bool>,
) -> Io<()> {
    let mut server = TcpStream::connect(webhook).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let requests = ask(&mut from_client, &mut to_server, waiting, silent.clone());
    // A webhook that hangs up meanwhile is silent, too.
    let answers = async {
        copy(&mut from_server, &mut to_client).await?;
        over(&mut silent).await;
        Io::Ok(())
    };
    tokio::select! {
        ended = requests => ended,
        ended = answers => ended,
    }
}

/// Passes on what the client sends, when its time has come. Ends with the client.
async fn ask(
    client: &mut ReadHalf<'_>,
    server: &mut WriteHalf<'_>,
    waiting: Waiting,
    mut silent: watch::Receiver<bool>,
) -> Io<()> {
    let mut kept = vec![0; RECORD];
    client.read_exact(&mut kept).await?;
    let length = usize::from(u16::from_be_bytes([kept[RECORD - 2], kept[RECORD - 1]]));
    kept.resize(RECORD + length, 0);
    client.read_exact(&mut kept[RECORD..]).await?;
    server.write_all(&kept).await?;
    kept.clear();
    let one = waiting.keep();
    loop {
        tokio::select! {
            () = over(&mut silent) => break,
            read = client.read_buf(&mut kept) => if read? == 0 { return Ok(()) },
        }
    }
    drop(one);
    server.write_all(&kept).await?;
    copy(client, server).await.map(drop)
}

/// Waits for the end of the silence.
async fn over(silent: &mut watch::Receiver<bool>) {
    // Whoever could end it later is gone with the scenario.
    let _ = silent.wait_for(|silent| !silent).await;
}
