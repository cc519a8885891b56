//! Asks for single bundles and takes the answers without looking into them or copying them, so that
//! the time measured is that of the server.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use prost::bytes::Bytes;
use tokio::net::TcpStream;

use crate::registry::proto::GetBundleRequest;

/// Where gRPC says how a call ended.
const STATUS: &str = "grpc-status";

/// A connection.
#[derive(Clone)]
pub(super) struct Caller {
    sender: SendRequest<Full<Bytes>>,
    uri: String,
}

impl Caller {
    pub(super) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("connect")?;
        stream.set_nodelay(true)?;
        let builder = Builder::new(TokioExecutor::new());
        let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
        // What it ends with is seen by the call that it cuts off.
        tokio::spawn(connection);
        Ok(Self { sender, uri: format!("http://{address}/api.Registry/GetBundle") })
    }

    /// Asks for a bundle, and waits until all of it is there.
    pub(super) async fn get(mut self, asked: GetBundleRequest) -> Result<()> {
        let message = asked.encode_to_vec();
        let mut body = vec![0];
        body.extend_from_slice(&u32::try_from(message.len())?.to_be_bytes());
        body.extend_from_slice(&message);
        let request = Request::post(&self.uri)
            .header(CONTENT_TYPE, "application/grpc")
            .header("te", "trailers")
            .body(Full::from(body))?;
        self.sender.ready().await.context("the server is gone")?;
        let mut answer = self.sender.send_request(request).await?;
        let (mut size, mut status) = (0, answer.headers().get(STATUS).cloned());
        while let Some(frame) = answer.frame().await.transpose()? {
            size += frame.data_ref().map_or(0, Bytes::len);
            status = frame.trailers_ref().and_then(|trailers| trailers.get(STATUS)).cloned();
        }
        ensure!(
            status == Some(HeaderValue::from_static("0")) && size > message.len(),
            "{}: {status:?}, {size} bytes",
            asked.csv_name
        );
        Ok(())
    }
}
