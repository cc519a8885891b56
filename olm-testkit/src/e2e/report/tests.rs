//! Reports of a made-up run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use super::{Report, json, junit};
use crate::e2e::figures::{Figure, Figures};
use crate::e2e::{Outcome, ScenarioResult};

fn report() -> Report {
    let outcome = |name, verdict| Outcome { name, took: Duration::from_millis(1250), verdict };
    Report {
        cluster: "local".to_owned(),
        kubernetes: "v1.34.4".to_owned(),
        outcomes: vec![
            outcome("install::an_operator", ScenarioResult::Passed),
            outcome(
                "upgrades::another_channel",
                ScenarioResult::Failed {
                    message: "found <none> & \"two\"\u{7}\nsecond line".to_owned(),
                    evidence: Some(PathBuf::from("kept")),
                },
            ),
            outcome("smoke::on_a_node", ScenarioResult::Skipped { reason: "no node".to_owned() }),
        ],
        figures: Figures(vec![Figure::new("wall time", "2.5 s")]),
        took: Duration::from_millis(2500),
    }
}

#[test]
fn the_closing_line_is_followed_by_the_reason_of_each_skip() {
    let expected = "1 passed, 1 failed, 1 skipped\nskipped: smoke::on_a_node: no node";
    assert_eq!(report().summary_line(), expected);
}

#[test]
fn junit_names_what_failed_and_what_was_skipped() {
    let expected = concat!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
        "<testsuites tests=\"3\" failures=\"1\" time=\"2.500\">\n",
        "<testsuite name=\"e2e on local\" tests=\"3\" failures=\"1\" skipped=\"1\" time=\"2.500\">\n",
        "<testcase classname=\"install\" name=\"an_operator\" time=\"1.250\"/>\n",
        "<testcase classname=\"upgrades\" name=\"another_channel\" time=\"1.250\">",
        "<failure message=\"found &lt;none&gt; &amp; &quot;two&quot;\u{fffd}\">",
        "found &lt;none&gt; &amp; &quot;two&quot;\u{fffd}\nsecond line\nsee kept",
        "</failure></testcase>\n",
        "<testcase classname=\"smoke\" name=\"on_a_node\" time=\"1.250\">",
        "<skipped message=\"no node\"/></testcase>\n",
        "</testsuite>\n</testsuites>\n",
    );
    assert_eq!(junit::render(&report()), expected);
}

#[test]
fn json_holds_everything() {
    let value: Value = serde_json::from_str(&json::render(&report())).unwrap();
    assert_eq!(
        (&value["passed"], &value["failed"], &value["skipped"]),
        (&1.into(), &1.into(), &1.into())
    );
    assert_eq!(value["scenarios"][1]["verdict"], "failed");
    assert_eq!(value["scenarios"][1]["evidence"], "kept");
    assert_eq!(value["scenarios"][2]["reason"], "no node");
    assert_eq!(value["figures"][0]["name"], "wall time");
}
