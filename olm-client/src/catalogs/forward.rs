//! The way into a Pod: a port-forward of the API server, without a port on this machine.

use std::fmt;
use std::io;

use anyhow::{Result, bail};
use async_trait::async_trait;
use k8s_openapi::api::core::v1::Pod;
use kube::api::Api;
use kube::client::UpgradeConnectionError;
use olm_catalog::registry::client::{Dial, Stream};
use tokio::sync::Mutex;

/// A port of a Pod.
pub(super) struct Forward {
    pods: Api<Pod>,
    pod: String,
    port: u16,
    /// The first connection, until it is used.
    first: Mutex<Option<Box<dyn Stream>>>,
}

impl Forward {
    /// Nothing is asked yet.
    pub(super) fn new(pods: Api<Pod>, pod: &str, port: u16) -> Self {
        Self { pods, pod: pod.to_owned(), port, first: Mutex::new(None) }
    }

    /// What the server at the other end is called.
    pub(super) fn authority(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Opens the first connection. Its request is a GET that becomes a WebSocket: `get` is asked for by every API
    /// server, `create` as well since Kubernetes 1.35.
    ///
    /// # Errors
    /// The API server does not let the user do that, or the Pod has no such port.
    pub(super) async fn begin(&self) -> Result<()> {
        match self.open().await {
            Ok(stream) => {
                *self.first.lock().await = Some(stream);
                Ok(())
            }
            Err(error) if is_forbidden(&error) => {
                bail!("no right to get and create pods/portforward for Pod {}", self.pod)
            }
            Err(kube::Error::Api(status)) => {
                bail!("no port-forward to Pod {}: {}", self.pod, status.message)
            }
            Err(error) => bail!("no port-forward to Pod {}: {error}", self.pod),
        }
    }

    async fn open(&self) -> kube::Result<Box<dyn Stream>> {
        let mut forwarder = self.pods.portforward(&self.pod, &[self.port]).await?;
        match forwarder.take_stream(self.port) {
            Some(stream) => Ok(Box::new(stream)),
            None => Err(kube::Error::Service("the port was not forwarded".into())),
        }
    }
}

/// The API server refuses with an object that says so, or, where it had agreed to the protocol, with a code alone.
fn is_forbidden(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 403,
        kube::Error::UpgradeConnection(UpgradeConnectionError::ProtocolSwitch(status)) => {
            status.as_u16() == 403
        }
        _ => false,
    }
}

#[async_trait]
impl Dial for Forward {
    async fn dial(&self) -> io::Result<Box<dyn Stream>> {
        if let Some(first) = self.first.lock().await.take() {
            return Ok(first);
        }
        self.open().await.map_err(io::Error::other)
    }
}

impl fmt::Debug for Forward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (pod, port) = (&self.pod, &self.port);
        f.debug_struct("Forward").field("pod", pod).field("port", port).finish_non_exhaustive()
    }
}
