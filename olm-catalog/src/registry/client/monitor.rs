//! Keeps a connection open and publishes its state.

use std::sync::Arc;

use olm_tasks::Restart;
use tokio::sync::watch;
use tonic::Code;
use tonic::transport::Channel;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use super::ClientOptions;
use super::backoff::Backoff;
use super::link::Link;
use crate::connection::{ConnectionEvent, ConnectionStatus, RpcError};

/// The service whose health v0 asks for.
const SERVICE: &str = "Registry";

/// The task behind a client. It ends when it is dropped, and starts again when it panics.
#[derive(Clone)]
pub(super) struct Monitor {
    pub(super) channel: Channel,
    pub(super) link: Link,
    pub(super) options: ClientOptions,
    pub(super) status: Arc<watch::Sender<ConnectionStatus>>,
}

impl Monitor {
    /// Connects, waits for the loss, connects again.
    pub(super) async fn run(self) {
        let mut backoff = Backoff::new(self.options.first_retry, self.options.longest_retry);
        loop {
            self.publish(&ConnectionEvent::Dial);
            match self.check().await {
                Ok(()) => {
                    backoff.reset();
                    let epoch = self.link.epoch();
                    self.publish(&ConnectionEvent::Answered);
                    self.until_lost(epoch).await;
                    self.publish(&ConnectionEvent::Lost);
                }
                Err(reason) => {
                    self.link.abort();
                    self.publish(&ConnectionEvent::Failed(reason));
                    tokio::time::sleep(backoff.advance()).await;
                }
            }
        }
    }

    /// Returns when the connection ended or no longer answers.
    async fn until_lost(&self, epoch: u64) {
        loop {
            tokio::select! {
                () = self.link.lost(epoch) => return,
                () = tokio::time::sleep(self.options.check_interval) => {
                    if self.check().await.is_err() {
                        self.link.abort();
                        return;
                    }
                }
            }
        }
    }

    /// Asks for the server's health. A server without a health service is healthy: it answered.
    async fn check(&self) -> Result<(), Arc<str>> {
        let mut health = HealthClient::new(self.channel.clone());
        let request = HealthCheckRequest { service: SERVICE.to_owned() };
        let answer = tokio::time::timeout(self.options.check_timeout, health.check(request)).await;
        match answer {
            Ok(Ok(response)) => match response.into_inner().status() {
                ServingStatus::Serving | ServingStatus::ServiceUnknown => Ok(()),
                other => Err(format!("the server says {}", other.as_str_name()).into()),
            },
            Ok(Err(status)) if matches!(status.code(), Code::Unimplemented | Code::NotFound) => {
                Ok(())
            }
            Ok(Err(status)) => Err(RpcError::from(status).to_string().into()),
            Err(_) => {
                let limit = self.options.check_timeout.as_secs_f32();
                Err(format!("the server did not answer within {limit} s").into())
            }
        }
    }

    /// Has the status say that the connection is not looked after until the next start.
    pub(super) fn failed(&self, restart: &Restart) {
        self.link.abort();
        let reason = format!("looking after the connection {restart}");
        self.publish(&ConnectionEvent::Failed(reason.into()));
    }

    fn publish(&self, event: &ConnectionEvent) {
        self.status.send_if_modified(|status| {
            let next = status.after(event);
            let changed = next != *status;
            *status = next;
            changed
        });
    }
}
