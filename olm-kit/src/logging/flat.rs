//! Log lines as flat JSON objects.
//!
//! The format that comes with tracing-subscriber writes each span as an object with its own
//! `name`, which collides with the `name` of the object that a controller works on. Here the
//! fields of all spans and of the message lie side by side; the innermost wins.

use std::fmt;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// One JSON object per message.
pub(super) struct Flat;

impl<S, N> FormatEvent<S, N> for Flat
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut line = Line(Map::new());
        line.put("timestamp", crate::clock::now().to_string());
        line.put("level", event.metadata().level().as_str());
        line.put("target", event.metadata().target());
        for span in context.event_scope().into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>()
                && let Ok(fields) = serde_json::from_str::<Map<String, Value>>(fields)
            {
                line.0.extend(fields);
            }
        }
        event.record(&mut line);
        writeln!(writer, "{}", Value::Object(line.0))
    }
}

struct Line(Map<String, Value>);

impl Line {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field.name(), value);
    }
}
