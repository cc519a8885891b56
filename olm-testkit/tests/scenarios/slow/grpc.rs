//! A proxy before a real registry server that takes its time with one call.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use anyhow::{Context, Result};
use futures::future::{BoxFuture, poll_fn};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{Service, http};
use tonic::server::NamedService;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint};

use super::waiting::Waiting;

/// The call for one bundle.
pub const GET_BUNDLE: &str = "/api.Registry/GetBundle";

/// The call for all of them.
pub const LIST_BUNDLES: &str = "/api.Registry/ListBundles";

/// Such a proxy, until it is dropped.
pub struct SlowRegistry {
    pub address: SocketAddr,
    /// The calls that are kept waiting.
    pub waiting: Waiting,
    task: JoinHandle<Result<(), tonic::transport::Error>>,
}

impl SlowRegistry {
    /// Answers as the server at `server` does, `call` only after `delay`.
    pub async fn before(server: &str, call: &'static str, delay: Duration) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let address = listener.local_addr()?;
        let server = Endpoint::from_shared(format!("http://{server}"))?.connect_lazy();
        let waiting = Waiting::default();
        let proxy = Proxy { server, call, delay, waiting: waiting.clone() };
        let router = tonic::transport::Server::builder().add_service(proxy);
        let task = tokio::spawn(router.serve_with_incoming(TcpIncoming::from(listener)));
        Ok(Self { address, waiting, task })
    }
}

impl Drop for SlowRegistry {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone)]
struct Proxy {
    server: Channel,
    call: &'static str,
    delay: Duration,
    waiting: Waiting,
}

impl Proxy {
    async fn pass(mut self, request: http::Request<Body>) -> http::Response<Body> {
        if request.uri().path() == self.call {
            let _kept = self.waiting.keep();
            tokio::time::sleep(self.delay).await;
        }
        let answer = async {
            poll_fn(|context| self.server.poll_ready(context)).await?;
            self.server.call(request).await
        };
        answer.await.unwrap_or_else(|error: tonic::transport::Error| {
            Status::unavailable(error.to_string()).into_http()
        })
    }
}

impl NamedService for Proxy {
    const NAME: &'static str = "api.Registry";
}

impl Service<http::Request<Body>> for Proxy {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let me = self.clone();
        Box::pin(async move { Ok(me.pass(request).await) })
    }
}
