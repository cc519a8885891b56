//! Objects as a table for people (`kubectl get`).

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::resource::{Item, Kind};

/// What goes with each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Include {
    /// Nothing.
    Nothing,
    /// The metadata.
    Metadata,
    /// The whole object.
    Object,
}

impl Include {
    /// Understands the parameter `includeObject`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "" | "Metadata" => Some(Self::Metadata),
            "None" => Some(Self::Nothing),
            "Object" => Some(Self::Object),
            _ => None,
        }
    }
}

/// The table up to its rows: name, the columns of the kind, age.
pub(super) fn start(kind: &Kind, version: &str) -> String {
    let columns = Value::Array(columns(kind));
    format!(
        r#"{{"kind":"Table","apiVersion":"meta.k8s.io/{version}","metadata":{{}},"columnDefinitions":{columns},"rows":["#
    )
}

/// The metadata of an object, as an object of its own.
pub(super) fn partial(version: &str, item: &dyn Item) -> Value {
    json!({
        "kind": "PartialObjectMetadata",
        "apiVersion": format!("meta.k8s.io/{version}"),
        "metadata": item.metadata(),
    })
}

fn columns(kind: &Kind) -> Vec<Value> {
    let column = |name: &str, format: &str, description: &str| {
        json!({
            "name": name, "type": "string", "format": format, "description": description,
            "priority": 0,
        })
    };
    let name = column("Name", "name", "Name of the object, unique within its namespace.");
    let own = kind.columns.iter().map(|one| column(one.name, "", one.description));
    let age = column("Age", "", "Time since the object was created.");
    std::iter::once(name).chain(own).chain([age]).collect()
}

/// The row of an object.
///
/// # Errors
/// A text for the caller, when the object cannot be given.
pub(super) fn row(
    version: &str,
    item: &dyn Item,
    include: Include,
    now: Timestamp,
) -> Result<Value, String> {
    let mut cells = vec![item.name().to_owned()];
    cells.extend(item.cells());
    cells.push(age(item, now));
    let mut row = json!({"cells": cells});
    match include {
        Include::Nothing => {}
        Include::Metadata => row["object"] = partial(version, item),
        Include::Object => row["object"] = parsed(&item.object()?)?,
    }
    Ok(row)
}

fn parsed(object: &RawValue) -> Result<Value, String> {
    serde_json::from_str(object.get()).map_err(|error| error.to_string())
}

fn age(item: &dyn Item, now: Timestamp) -> String {
    let metadata = item.metadata();
    let created = metadata.get("creationTimestamp").and_then(Value::as_str);
    match created.and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(created) => duration(now.as_second().saturating_sub(created.as_second())),
        None => "<unknown>".to_owned(),
    }
}

/// Seconds in the short form of kubectl: two units at most, fewer the longer it is.
fn duration(seconds: i64) -> String {
    let two = |one: i64, unit: char, rest: i64, smaller: char| match rest {
        0 => format!("{one}{unit}"),
        rest => format!("{one}{unit}{rest}{smaller}"),
    };
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1..0 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        10_800..28_800 => two(hours, 'h', minutes % 60, 'm'),
        28_800..172_800 => format!("{hours}h"),
        172_800..691_200 => two(days, 'd', hours % 24, 'h'),
        691_200..63_072_000 => format!("{days}d"),
        63_072_000..252_288_000 => two(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case(-5, "<invalid>")]
    #[case(-1, "0s")]
    #[case(0, "0s")]
    #[case(119, "119s")]
    #[case(120, "2m")]
    #[case(125, "2m5s")]
    #[case(3_600, "60m")]
    #[case(3 * 3_600, "3h")]
    #[case(3 * 3_600 + 60, "3h1m")]
    #[case(9 * 3_600 + 60, "9h")]
    #[case(3 * 86_400 + 3_600, "3d1h")]
    #[case(30 * 86_400, "30d")]
    #[case(800 * 86_400, "2y70d")]
    #[case(4_000 * 86_400, "10y")]
    fn durations(#[case] seconds: i64, #[case] expected: &str) {
        assert_eq!(duration(seconds), expected);
    }
}
