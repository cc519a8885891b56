//! From spans and log lines of `tracing` to messages, each of bounded size.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::mpsc;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event as LogLine, Level, Metadata, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::message::{Event, KeyValue, Span, Status, Value};

/// Crates whose spans are exported: those of others would describe the export itself.
const OURS: [&str; 2] = ["olm_", "catalog_operator"];

/// Attributes of a span or an event, and events of a span.
const MOST: usize = 32;

/// Bytes of a text.
const TEXT: usize = 1024;

/// Kind and status of OTLP: an operation inside of a program, and one that failed.
const INTERNAL: i32 = 1;
const ERROR: i32 = 2;

/// The field of a log line that holds its text.
const MESSAGE: &str = "message";

/// Hands spans that have ended to the exporter.
pub struct SpanExport {
    sender: mpsc::Sender<Span>,
}

impl SpanExport {
    pub(super) fn new(sender: mpsc::Sender<Span>) -> Self {
        Self { sender }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for SpanExport {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id).filter(|span| is_ours(span.metadata())) else { return };
        let parent = span.parent().and_then(|parent| {
            let parent = parent.extensions();
            parent.get::<Span>().map(|span| (span.trace_id.clone(), span.span_id.clone()))
        });
        let Some(mut message) = begin(span.metadata().name(), parent) else { return };
        attributes.record(&mut Fields(&mut message.attributes));
        span.extensions_mut().insert(message);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(message) = span.extensions_mut().get_mut::<Span>() {
            values.record(&mut Fields(&mut message.attributes));
        }
    }

    /// A warning inside of a span means that it failed.
    fn on_event(&self, line: &LogLine<'_>, context: Context<'_, S>) {
        let Some(span) = context.event_span(line) else { return };
        let mut extensions = span.extensions_mut();
        let Some(message) = extensions.get_mut::<Span>() else { return };
        let event = event(line);
        if *line.metadata().level() <= Level::WARN {
            message.status = Some(Status { message: event.name.clone(), code: ERROR });
        }
        if message.events.len() < MOST {
            message.events.push(event);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let Some(span) = context.span(&id) else { return };
        if let Some(mut message) = span.extensions_mut().remove::<Span>() {
            message.end_time_unix_nano = now();
            // A collector that is slow costs spans, not memory.
            drop(self.sender.try_send(message));
        }
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    OURS.iter().any(|ours| metadata.target().starts_with(ours))
}

/// A span that begins now, in the trace of its parent or in one of its own. Nothing without a source
/// of randomness.
fn begin(name: &str, parent: Option<(Vec<u8>, Vec<u8>)>) -> Option<Span> {
    let (trace_id, parent_span_id) = match parent {
        Some(ids) => ids,
        None => (random::<16>()?, Vec::new()),
    };
    Some(Span {
        trace_id,
        span_id: random::<8>()?,
        parent_span_id,
        name: name.to_owned(),
        kind: INTERNAL,
        start_time_unix_nano: now(),
        ..Span::default()
    })
}

fn event(line: &LogLine<'_>) -> Event {
    let mut attributes = Vec::new();
    line.record(&mut Fields(&mut attributes));
    let is_message = |attribute: &KeyValue| attribute.key == MESSAGE;
    let found = attributes.iter().position(is_message).map(|at| attributes.remove(at));
    let name = match found.and_then(|message| message.value).and_then(|any| any.value) {
        Some(Value::Text(text)) => text,
        _ => line.metadata().name().to_owned(),
    };
    Event { time_unix_nano: now(), name, attributes }
}

fn random<const LENGTH: usize>() -> Option<Vec<u8>> {
    let mut bytes = vec![0; LENGTH];
    aws_lc_rs::rand::fill(&mut bytes).ok()?;
    Some(bytes)
}

/// Nanoseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Collects fields.
struct Fields<'a>(&'a mut Vec<KeyValue>);

impl Fields<'_> {
    fn push(&mut self, field: &Field, value: Value) {
        if self.0.len() < MOST {
            self.0.push(KeyValue::new(field.name(), value));
        }
    }
}

impl Visit for Fields<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.push(field, Value::Double(value));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.push(field, Value::Int(value));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.push(field, Value::Int(i64::try_from(value).unwrap_or(i64::MAX)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.push(field, Value::Bool(value));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let end = value.floor_char_boundary(TEXT);
        self.push(field, Value::Text(value.get(..end).unwrap_or_default().to_owned()));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
