//! What `/debug/state` says: facts for support, of bounded size.
//!
//! Parts give names and numbers. However many objects a cluster has, a list is cut after
//! [`ENTRIES`] and a text after [`TEXT`], so that an answer stays small.

use serde_json::{Map, Value, json};

use super::Admin;
use crate::tasks::Readiness;

/// Entries of a list or of a map that are shown.
const ENTRIES: usize = 500;

/// Characters of a text that are shown.
const TEXT: usize = 1000;

/// Lists within lists that are shown.
const DEPTH: usize = 6;

/// Everything.
pub(super) fn of(admin: &Admin, readiness: &Readiness) -> Value {
    let mut parts = Map::new();
    if let Value::Object(measured) = admin.metrics.state() {
        parts.extend(measured);
    }
    parts.insert("waiting_for".to_owned(), json!(readiness.waiting_for()));
    parts.extend(admin.states.iter().map(|(name, dump)| (name.clone(), dump())));
    bounded(Value::Object(parts), DEPTH)
}

/// The same with what is long cut short.
fn bounded(value: Value, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => json!("…"),
        Value::Array(entries) => {
            let more = entries.len().saturating_sub(ENTRIES);
            let shown = entries.into_iter().take(ENTRIES).map(|one| bounded(one, depth - 1));
            shown.chain((more > 0).then(|| json!(rest(more)))).collect()
        }
        Value::Object(entries) => {
            let more = entries.len().saturating_sub(ENTRIES);
            let shown = entries.into_iter().take(ENTRIES);
            let shown = shown.map(|(name, one)| (cut(name), bounded(one, depth - 1)));
            shown.chain((more > 0).then(|| ("…".to_owned(), json!(rest(more))))).collect()
        }
        Value::String(text) => Value::String(cut(text)),
        other => other,
    }
}

fn rest(count: usize) -> String {
    format!("and {count} more")
}

fn cut(text: String) -> String {
    match text.char_indices().nth(TEXT) {
        Some((end, _)) => text.get(..end).map(|start| format!("{start}…")).unwrap_or_default(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::metrics::Metrics;
    use crate::queue::QueueFigures;
    use crate::tasks::Tasks;

    #[test]
    fn support_sees_what_the_process_waits_for_and_works_on() {
        let (metrics, tasks) = (Metrics::new().unwrap(), Tasks::new(CancellationToken::new()));
        let _gate = tasks.readiness().gate("leader election");
        metrics.controllers().queue("csv", || QueueFigures { due: 3, ..QueueFigures::default() });
        let admin = Admin::new(metrics).state("catalogs", || json!({"a/b": "READY"}));
        let state = of(&admin, tasks.readiness());
        assert_eq!(state["queues"]["csv"]["due"], 3);
        assert_eq!(state["waiting_for"], json!(["leader election"]));
        assert_eq!(state["catalogs"]["a/b"], "READY");
        assert_eq!(state["process"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn whatever_parts_report_the_answer_is_small() {
        let (metrics, tasks) = (Metrics::new().unwrap(), Tasks::new(CancellationToken::new()));
        let names = || (0..100_000).map(|n| (format!("ns/{n}"), json!("x"))).collect::<Value>();
        let admin = Admin::new(metrics)
            .state("map", names)
            .state("list", || json!(vec!["y"; 100_000]))
            .state("text", || json!("ä".repeat(1_000_000)))
            .state("deep", || (0..100).fold(json!("z"), |inner, _| json!([inner])));
        let state = of(&admin, tasks.readiness());
        assert!(state.to_string().len() < 64 * 1024, "{}", state.to_string().len());
        assert_eq!(state["map"]["…"], "and 99500 more");
        assert_eq!(state["list"][ENTRIES], "and 99500 more");
    }
}
