//! Structured logs on standard error, as text for people or as JSON for machines.

mod flat;

use std::io;

use clap::ValueEnum;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::JsonFields;
#[cfg(not(feature = "otlp"))]
use tracing_subscriber::layer::Identity;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Environment variable with the filter, in the syntax of `tracing_subscriber::EnvFilter`.
pub const FILTER_VARIABLE: &str = "OLM_LOG";

/// How a log line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// One line of text per message.
    #[default]
    Text,
    /// One JSON object per message.
    Json,
}

/// Why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The filter is not understood.
    #[error("invalid log filter {filter:?}")]
    Filter {
        /// The filter as given.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// Spans cannot be exported.
    #[cfg(feature = "otlp")]
    #[error(transparent)]
    Otlp(#[from] crate::otlp::OtlpError),
    /// Logging was set up before.
    #[error("logging is set up already")]
    AlreadySet(#[source] tracing_subscriber::util::TryInitError),
}

/// Logs to standard error from now on. The filter comes from [`FILTER_VARIABLE`], else everything
/// from `info` on is logged, or from `debug` on when `debug` is set.
///
/// # Errors
/// When the filter cannot be parsed or logging was set up before.
pub fn init(format: Format, debug: bool) -> Result<(), LoggingError> {
    let fallback = if debug { "debug,hyper_util=info,tower=info,kube_client=info" } else { "info" };
    let filter = std::env::var(FILTER_VARIABLE).unwrap_or_else(|_| fallback.to_owned());
    let subscriber = subscriber(format, &filter, io::stderr, spans()?)?;
    subscriber.try_init().map_err(LoggingError::AlreadySet)
}

type BoxSubscriber = Box<dyn tracing::Subscriber + Send + Sync>;

/// Where spans go besides the log.
#[cfg(feature = "otlp")]
type Spans = Option<crate::otlp::SpanExport>;
#[cfg(not(feature = "otlp"))]
type Spans = Option<Identity>;

#[cfg(feature = "otlp")]
fn spans() -> Result<Spans, LoggingError> {
    Ok(crate::otlp::from_environment()?)
}

#[cfg(not(feature = "otlp"))]
fn spans() -> Result<Spans, LoggingError> {
    Ok(None)
}

fn subscriber<W>(
    format: Format,
    filter: &str,
    writer: W,
    spans: Spans,
) -> Result<BoxSubscriber, LoggingError>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let env_filter = EnvFilter::try_new(filter)
        .map_err(|source| LoggingError::Filter { filter: filter.to_owned(), source })?;
    let builder =
        tracing_subscriber::fmt().with_env_filter(env_filter).with_writer(writer).with_ansi(false);
    Ok(match format {
        Format::Text => Box::new(builder.finish().with(spans)),
        Format::Json => {
            let builder = builder.fmt_fields(JsonFields::new()).event_format(flat::Flat);
            Box::new(builder.finish().with(spans))
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: Format, filter: &str) -> String {
        let sink = Sink::default();
        let writer = sink.clone();
        let subscriber = subscriber(format, filter, move || writer.clone(), None).unwrap();
        tracing::subscriber::with_default(subscriber, || {
            tracing::info_span!("reconcile", name = "etcd").in_scope(|| {
                tracing::info!(phase = "Succeeded", "done");
                tracing::debug!("detail");
            });
        });
        let bytes = sink.0.lock().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn json_lines_carry_fields_and_span() {
        let text = logged(Format::Json, "info");
        let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
        assert_eq!(line["message"], "done");
        assert_eq!(line["phase"], "Succeeded");
        assert_eq!((&line["name"], &line["level"]), (&"etcd".into(), &"INFO".into()));
    }

    #[test]
    fn text_lines_follow_the_filter() {
        let text = logged(Format::Text, "debug");
        assert_eq!(text.lines().count(), 2);
        assert!(text.contains("reconcile{name=\"etcd\"}"), "{text}");
    }

    #[test]
    fn a_bad_filter_is_named() {
        let error = subscriber(Format::Text, "a=b=c", io::stderr, None).err().unwrap();
        assert_eq!(error.to_string(), "invalid log filter \"a=b=c\"");
        assert!(Format::from_str("yaml", false).is_err());
    }
}
