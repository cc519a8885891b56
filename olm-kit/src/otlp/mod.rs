//! Sends spans to an OpenTelemetry collector, over OTLP and gRPC.
//!
//! Off unless `OTEL_EXPORTER_OTLP_ENDPOINT` names one, as `http://HOST:PORT`; `OTEL_SERVICE_NAME` may
//! rename the program. There is no TLS: the collector is an agent on the node, or a Service beside
//! the operators. Spans are those of our own crates, mostly one per reconcile, with the log lines
//! inside them as events. Nothing waits for a collector: what cannot be sent is dropped.
//!
//! Not opentelemetry-otlp: with the SDK and the layer for `tracing` it brings five crates, and a second
//! model of spans, for one message that tonic and prost, which are linked anyhow, can send.
//!
//! ```text
//! spans    from `tracing` to messages
//! export   messages in batches, to the collector
//! message  what is sent; the part of OTLP's protocol that is used
//! ```

mod export;
mod message;
mod spans;
#[cfg(test)]
mod tests;

use std::path::Path;

use tokio::sync::mpsc;
use tonic::transport::Endpoint;

use crate::tasks::contained;
use message::{InstrumentationScope, KeyValue, Resource};
pub use spans::SpanExport;

/// Names the collector.
pub const ENDPOINT_VARIABLE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// Renames the program.
const SERVICE_VARIABLE: &str = "OTEL_SERVICE_NAME";

/// Spans that wait to be sent; more are dropped.
const WAITING: usize = 4096;

/// Why spans are not exported.
#[derive(Debug, thiserror::Error)]
pub enum OtlpError {
    /// The collector's address cannot be used.
    #[error("{ENDPOINT_VARIABLE} is {0:?}; it must be http://HOST:PORT")]
    Endpoint(String),
}

/// What the environment asks for. To be called inside of an async runtime.
///
/// # Errors
/// The collector's address is malformed, or asks for TLS.
pub fn from_environment() -> Result<Option<SpanExport>, OtlpError> {
    let named = |variable| std::env::var(variable).ok().filter(|text| !text.is_empty());
    let program = std::env::args_os().next().unwrap_or_default();
    let program = Path::new(&program).file_stem().unwrap_or_default().to_string_lossy();
    let service = named(SERVICE_VARIABLE).unwrap_or_else(|| program.into_owned());
    named(ENDPOINT_VARIABLE).map(|endpoint| start(&endpoint, &service)).transpose()
}

/// Sends spans to `endpoint` from now on.
fn start(endpoint: &str, service: &str) -> Result<SpanExport, OtlpError> {
    let wrong = || OtlpError::Endpoint(endpoint.to_owned());
    if !endpoint.starts_with("http://") {
        return Err(wrong());
    }
    let collector = Endpoint::from_shared(endpoint.to_owned()).map_err(|_| wrong())?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let sender = SpanExport::new(sender);
    let origin = export::Origin {
        resource: Resource { attributes: vec![KeyValue::text("service.name", service)] },
        scope: InstrumentationScope {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
    };
    // Ends with the last sender. Without it spans are dropped, and nothing else suffers.
    contained("span export", export::run(collector.connect_lazy(), origin, receiver));
    Ok(sender)
}
