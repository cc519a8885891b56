//! `events`: one timeline over a Subscription and all that came of it.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::Cluster;
use olm_client::operator::{TimelineEvent, subscription, timeline};

use super::observe;
use crate::Outcome;
use crate::output::{Kind, Output, Table, age};

/// Prints the events, oldest first.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    name: &str,
    output: Output,
) -> Result<Outcome> {
    let observed = observe(cluster, home, true).await?;
    let found = timeline(cluster, &observed, subscription(&observed, name)?, []);
    let entries = cluster.notices.slow("reading events", found).await?;
    let names = entries.iter().map(|entry| entry.object.clone());
    output.list(Kind::EventList, &entries, table(&entries), names)?;
    Ok(Outcome::Fine)
}

fn table(entries: &[TimelineEvent]) -> Table {
    let mut table = Table::new(&["NAME", "TYPE", "REASON", "COUNT", "MESSAGE", "AGE"]);
    for entry in entries {
        table.row(vec![
            entry.object.clone(),
            entry.type_.clone(),
            entry.reason.clone(),
            entry.count.to_string(),
            entry.message.clone(),
            age(entry.last_seen.as_deref(), Timestamp::now()),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Event;
    use serde_json::json;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_events() {
        let event: Event = serde_json::from_value(json!({"metadata": {}, "type": "Normal",
            "reason": "Created", "involvedObject": {"kind": "Pod", "name": "a"}, "count": 2,
            "lastTimestamp": "2026-01-02T03:04:05Z", "message": "made"}))
        .unwrap();
        let never = Event::default();
        assert_described(
            Kind::EventList,
            &json!({"items": [TimelineEvent::from(event), TimelineEvent::from(never)]}),
        );
    }
}
