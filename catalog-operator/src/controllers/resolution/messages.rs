//! What Subscriptions say about a resolution: v0's line, on which tools match, then sentences for
//! people with what would help.

use olm_lifecycle::subscription::resolution::Held;
use olm_resolver::{BlockedUpgrade, Explanation, HeldUpgrade};
use olm_types::annotations::{PIN, VERSION_RANGE};

/// Longest v0 line, in bytes. It lists every candidate, and large channels have hundreds.
const LINE: usize = 8_192;

/// Why Subscriptions are refused.
pub(super) fn refused(explanation: &Explanation) -> String {
    let line = explanation.to_string();
    format!("{}. {}", cut(&line), explanation.summary())
}

/// Why an upgrade is blocked.
pub(super) fn blocked(upgrade: &BlockedUpgrade) -> String {
    format!(
        "{} is not upgraded to {} (channel {} of {}). {}",
        upgrade.installed,
        upgrade.bundle.name,
        upgrade.bundle.channel,
        upgrade.bundle.catalog,
        upgrade.explanation.summary()
    )
}

/// What a Subscription holds back by what it declares about versions.
pub(super) fn held(upgrade: &HeldUpgrade) -> Held {
    let subscription = &upgrade.subscription;
    let pin = subscription.pin();
    let pin = pin.map(|csv| format!("annotation {PIN} keeps it at spec.startingCSV {csv}"));
    let range = subscription.version_range.as_ref();
    let range = range.map(|range| format!("annotation {VERSION_RANGE} accepts only \"{range}\""));
    let by_pin = pin.is_some();
    let declared: Vec<String> = pin.into_iter().chain(range).collect();
    let mut message = declared.join(" and ");
    if let Some(csv) = &upgrade.outside {
        message +=
            &format!("; {csv}, which is installed, is not in it, and no upgrade leads into it");
    }
    if !upgrade.names.is_empty() {
        message += &format!("; held back: {}", upgrade.names.join(", "));
    }
    if upgrade.more > 0 {
        message += &format!(" and {} more", upgrade.more);
    }
    let newest = upgrade.names.first().map(ToString::to_string);
    Held { by_pin, newest, message }
}

fn cut(line: &str) -> String {
    if line.len() <= LINE {
        return line.to_owned();
    }
    let end = (0..=LINE).rev().find(|end| line.is_char_boundary(*end)).unwrap_or_default();
    format!("{}…", line.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use olm_resolver::{Fact, SubscriptionFacts};
    use olm_types::api::Subscription;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn upgrade(annotations: Value, names: &[&str], more: usize, is_outside: bool) -> HeldUpgrade {
        let subscription: Subscription = serde_json::from_value(json!({
            "metadata": {"name": "lamp", "annotations": annotations},
            "spec": {"name": "lamp", "startingCSV": "lamp.v1"},
            "status": {"installedCSV": "lamp.v1", "lastUpdated": null},
        }))
        .unwrap();
        HeldUpgrade {
            subscription: Arc::new(SubscriptionFacts::from(&subscription)),
            names: names.iter().map(|name| (*name).into()).collect(),
            more,
            outside: is_outside.then(|| "lamp.v1".into()),
        }
    }

    #[rstest]
    #[case::by_pin(
        upgrade(json!({PIN: "true"}), &["lamp.v2"], 0, false),
        "annotation olm-rs.dev/pin keeps it at spec.startingCSV lamp.v1; held back: lamp.v2",
        Some("lamp.v2")
    )]
    #[case::many(
        upgrade(json!({VERSION_RANGE: "<2"}), &["lamp.v3", "lamp.v2"], 4, false),
        "annotation olm-rs.dev/version-range accepts only \"<2\"; held back: lamp.v3, lamp.v2 and 4 more",
        Some("lamp.v3")
    )]
    #[case::outside_of_the_range(
        upgrade(json!({VERSION_RANGE: ">=3"}), &["lamp.v2"], 0, true),
        "annotation olm-rs.dev/version-range accepts only \">=3\"; lamp.v1, which is installed, is not in it, and no \
         upgrade leads into it; held back: lamp.v2",
        Some("lamp.v2")
    )]
    #[case::newer_than_the_range(
        upgrade(json!({VERSION_RANGE: "<1"}), &[], 0, true),
        "annotation olm-rs.dev/version-range accepts only \"<1\"; lamp.v1, which is installed, is not in it, and no \
         upgrade leads into it",
        None
    )]
    fn what_is_held_back_is_said(
        #[case] one: HeldUpgrade,
        #[case] expected: &str,
        #[case] newest: Option<&str>,
    ) {
        let held = held(&one);
        assert_eq!((held.message.as_str(), held.newest.as_deref()), (expected, newest));
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = refused(&Explanation::new([Fact::Other("ä".repeat(9_000))]));
        let (v0, ours) = line.split_once("…. ").unwrap();
        assert!(v0.starts_with("constraints not satisfiable: ää") && v0.len() <= LINE, "{v0}");
        assert!(ours.starts_with("ää"));
    }
}
