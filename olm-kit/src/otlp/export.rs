//! Sends spans in batches. A batch that the collector does not take is dropped, and that is
//! reported once until it takes one again.

use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tonic::client::Grpc;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use super::message::{
    ExportRequest, ExportResponse, InstrumentationScope, Resource, ResourceSpans, ScopeSpans, Span,
};

/// Pause after the first span of a batch, so that others come with it.
const PAUSE: Duration = Duration::from_secs(1);

/// Spans of one batch.
const BATCH: usize = 512;

/// What sending a batch may take; OTLP's default.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The method.
const EXPORT: &str = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";

/// Where spans come from.
#[derive(Clone)]
pub(super) struct Origin {
    pub(super) resource: Resource,
    pub(super) scope: InstrumentationScope,
}

/// Sends until there is no sender of spans any more.
pub(super) async fn run(channel: Channel, origin: Origin, mut spans: mpsc::Receiver<Span>) {
    let mut client = Grpc::new(channel);
    let mut reported = false;
    while let Some(first) = spans.recv().await {
        sleep(PAUSE).await;
        let mut batch = vec![first];
        while batch.len() < BATCH
            && let Ok(span) = spans.try_recv()
        {
            batch.push(span);
        }
        let sent = timeout(TIMEOUT, send(&mut client, request(&origin, batch))).await;
        let failed = match sent {
            Ok(Ok(())) => None,
            Ok(Err(status)) => Some(status.to_string()),
            Err(_) => Some(format!("no answer within {TIMEOUT:?}")),
        };
        if let Some(error) = failed.as_ref().filter(|_| !reported) {
            tracing::warn!(error, "the collector takes no spans, they are dropped");
        }
        reported = failed.is_some();
    }
}

fn request(origin: &Origin, spans: Vec<Span>) -> ExportRequest {
    let Origin { resource, scope } = origin.clone();
    let scope_spans = vec![ScopeSpans { scope: Some(scope), spans }];
    ExportRequest { resource_spans: vec![ResourceSpans { resource: Some(resource), scope_spans }] }
}

async fn send(client: &mut Grpc<Channel>, request: ExportRequest) -> Result<(), Status> {
    let ready = client.ready().await;
    ready.map_err(|error| Status::unavailable(crate::tasks::chain(&error)))?;
    let codec: ProstCodec<ExportRequest, ExportResponse> = ProstCodec::default();
    client.unary(Request::new(request), PathAndQuery::from_static(EXPORT), codec).await.map(drop)
}
