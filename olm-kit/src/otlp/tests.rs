//! Against a collector in this process.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use futures::future::{BoxFuture, FutureExt, ready};
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::transport::Server;
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tracing_subscriber::layer::SubscriberExt;

use super::message::{ExportRequest, ExportResponse, Span, Value};
use super::*;

/// Takes spans, and shows what it took.
#[derive(Clone)]
struct Collector(mpsc::UnboundedSender<ExportRequest>);

impl NamedService for Collector {
    const NAME: &'static str = "opentelemetry.proto.collector.trace.v1.TraceService";
}

impl UnaryService<ExportRequest> for Collector {
    type Response = ExportResponse;
    type Future = futures::future::Ready<Result<Response<ExportResponse>, Status>>;

    fn call(&mut self, request: Request<ExportRequest>) -> Self::Future {
        self.0.send(request.into_inner()).unwrap();
        ready(Ok(Response::new(ExportResponse {})))
    }
}

impl tower::Service<http::Request<Body>> for Collector {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        assert!(request.uri().path().ends_with("/Export"), "{}", request.uri());
        let collector = self.clone();
        async move {
            let codec: ProstCodec<ExportResponse, ExportRequest> = ProstCodec::default();
            Ok(Grpc::new(codec).unary(collector, request).await)
        }
        .boxed()
    }
}

async fn collector() -> (SocketAddr, mpsc::UnboundedReceiver<ExportRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, taken) = mpsc::unbounded_channel();
    let incoming = tonic::transport::server::TcpIncoming::from(listener);
    let server = Server::builder().add_service(Collector(sender));
    tokio::spawn(server.serve_with_incoming(incoming));
    (address, taken)
}

fn attribute(span: &Span, key: &str) -> Option<Value> {
    let found = span.attributes.iter().find(|attribute| attribute.key == key)?;
    found.value.clone()?.value
}

#[tokio::test]
async fn a_collector_gets_spans_with_their_relations_and_what_happened_in_them() {
    let (address, mut taken) = collector().await;
    let export = start(&format!("http://{address}"), "operator").unwrap();
    let subscriber = tracing_subscriber::registry().with(export);
    tracing::subscriber::with_default(subscriber, || {
        let long = "ä".repeat(5000);
        let outer = tracing::info_span!("reconcile", controller = "csv", number = 7, long);
        outer.in_scope(|| {
            tracing::info_span!("act").in_scope(|| tracing::info!(kind = "Role", "created"));
            tracing::warn!("reconcile failed");
        });
        tracing::info_span!(target: "h2::client", "of another crate").in_scope(|| {});
    });
    let request = taken.recv().await.unwrap();
    let [resource] = request.resource_spans.as_slice() else { panic!("{request:?}") };
    let named = resource.resource.clone().unwrap().attributes;
    assert_eq!(named, [KeyValue::text("service.name", "operator")]);
    let [inner, outer] = resource.scope_spans[0].spans.as_slice() else { panic!("{request:?}") };

    assert_eq!((outer.name.as_str(), inner.name.as_str()), ("reconcile", "act"));
    assert_eq!((outer.trace_id.len(), outer.span_id.len()), (16, 8));
    assert_eq!((&inner.trace_id, &inner.parent_span_id), (&outer.trace_id, &outer.span_id));
    assert!(outer.parent_span_id.is_empty());
    assert!(outer.start_time_unix_nano <= inner.start_time_unix_nano);
    assert!(inner.end_time_unix_nano <= outer.end_time_unix_nano);
    assert_eq!(attribute(outer, "controller"), Some(Value::Text("csv".to_owned())));
    assert_eq!(attribute(outer, "number"), Some(Value::Int(7)));
    assert_eq!(attribute(outer, "long"), Some(Value::Text("ä".repeat(512))));
    let [created] = inner.events.as_slice() else { panic!("{inner:?}") };
    assert_eq!((created.name.as_str(), created.attributes.len()), ("created", 1));
    assert_eq!(inner.status, None);
    let status = outer.status.clone().unwrap();
    assert_eq!((status.code, status.message.as_str()), (2, "reconcile failed"));
}

#[tokio::test]
async fn no_request_waits_for_a_collector_that_is_away() {
    let (sender, mut waiting) = mpsc::channel(3);
    let subscriber = tracing_subscriber::registry().with(SpanExport::new(sender));
    tracing::subscriber::with_default(subscriber, || {
        (0..100).for_each(|number| tracing::info_span!("reconcile", number).in_scope(|| {}));
    });
    let mut kept = Vec::new();
    while let Some(span) = waiting.recv().await {
        kept.push(attribute(&span, "number"));
    }
    assert_eq!(kept, [0, 1, 2].map(|number| Some(Value::Int(number))));
}

#[tokio::test]
async fn an_address_without_http_is_refused() {
    for wrong in ["collector:4317", "https://collector:4317", "http://"] {
        let error = start(wrong, "operator").err().unwrap();
        let text = format!("OTEL_EXPORTER_OTLP_ENDPOINT is {wrong:?}; it must be http://HOST:PORT");
        assert_eq!(error.to_string(), text);
    }
}
