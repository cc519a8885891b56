//! `doctor` finds what is wrong; `explain` says what a code means, without a cluster.

use anyhow::{Context, Result};
use jiff::Timestamp;
use olm_plan::doctor::{CODES, Finding, Report, code, examine};
use serde_json::json;

use crate::Outcome;
use crate::args::{Doctor, Format};
use crate::cluster::Cluster;
use crate::output::{Output, cell};

/// Prints the findings of a namespace, or of all.
pub async fn run(
    cluster: &Cluster,
    home: Option<&str>,
    asked: &Doctor,
    output: Output,
) -> Result<Outcome> {
    let mut observed = cluster.observe(home, true).await?;
    cluster.observe_for_doctor(home, &mut observed).await?;
    let report = examine(&observed, Timestamp::now());
    match output.format() {
        Format::Table | Format::Wide => output.print(&text(&report))?,
        Format::Name => {
            let names = report.findings.iter().map(|one| format!("{} {}\n", one.code, object(one)));
            output.print(&cell_lines(names))?;
        }
        Format::Junit => output.print(&junit(&report))?,
        _ => output.object("DoctorReport", &report)?,
    }
    for skipped in &report.skipped {
        Output::complain(&format!("skipped {}: {}", skipped.code, skipped.cause));
    }
    let has_findings = asked.detailed_exitcode && !report.findings.is_empty();
    Ok(if has_findings { Outcome::Findings } else { Outcome::Fine })
}

/// Prints a row of the table of codes, or all of them.
pub fn explain(id: Option<&str>, output: Output) -> Result<Outcome> {
    let rows = match id {
        Some(id) => vec![code(id).with_context(|| format!("there is no code {id}"))?],
        None => CODES.iter().collect(),
    };
    if !matches!(output.format(), Format::Table | Format::Wide) {
        let items = rows.iter().map(|row| {
            json!({"code": row.id, "title": row.title, "trigger": row.trigger, "fix": row.fix,
                "class": row.class, "needs": row.needs})
        });
        output.object("CodeList", &json!({"items": items.collect::<Vec<_>>()}))?;
        return Ok(Outcome::Fine);
    }
    let texts = rows.iter().map(|row| {
        format!(
            "{} {}\n  when: {}\n  fix:  {} ({})\n",
            row.id,
            row.title,
            row.trigger,
            row.fix,
            row.class.as_str()
        )
    });
    output.print(&texts.collect::<String>())?;
    Ok(Outcome::Fine)
}

fn text(report: &Report) -> String {
    let findings = report.findings.iter().map(|one| {
        format!(
            "{} {}\n  object:   {}\n  evidence: {}\n  fix:      {} ({})\n",
            one.code,
            one.title,
            cell(&object(one)),
            cell(&one.evidence),
            cell(&one.fix),
            one.class.as_str()
        )
    });
    let findings: String = findings.collect();
    let (found, skipped) = (report.findings.len(), report.skipped.len());
    format!("{findings}{found} findings, {skipped} of {} checks skipped\n", CODES.len())
}

fn cell_lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| cell(line.trim_end()) + "\n").collect()
}

fn object(one: &Finding) -> String {
    match one.namespace.is_empty() {
        true => format!("{} {}", one.kind, one.name),
        false => format!("{} {}/{}", one.kind, one.namespace, one.name),
    }
}

/// A test case for each code; each of its findings is a failure.
fn junit(report: &Report) -> String {
    let (found, skipped) = (report.findings.len(), report.skipped.len());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kubectl olm doctor\" tests=\"{}\" \
         failures=\"{found}\" skipped=\"{skipped}\">\n",
        CODES.len()
    );
    for row in CODES {
        xml.push_str(&format!(
            "  <testcase classname=\"doctor\" name=\"{} {}\">\n",
            row.id, row.title
        ));
        for one in report.findings.iter().filter(|one| one.code == row.id) {
            let (object, evidence, fix) =
                (escaped(&object(one)), escaped(&one.evidence), escaped(&one.fix));
            xml.push_str(&format!(
                "    <failure message=\"{object}: {evidence}\">{fix}</failure>\n"
            ));
        }
        for one in report.skipped.iter().filter(|one| one.code == row.id) {
            xml.push_str(&format!("    <skipped message=\"{}\"/>\n", escaped(&one.cause)));
        }
        xml.push_str("  </testcase>\n");
    }
    xml + "</testsuite>\n"
}

/// Text for an attribute or an element, on one line.
fn escaped(text: &str) -> String {
    let text = cell(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use olm_plan::doctor::Class;

    use super::*;

    #[test]
    fn hostile_evidence_breaks_neither_lines_nor_xml() {
        let finding = Finding {
            code: "OLM002",
            title: "no OperatorGroup in the namespace",
            kind: "Namespace",
            namespace: String::new(),
            name: "ns".to_owned(),
            evidence: "a\n</failure><b \"\u{1b}".to_owned(),
            fix: "create & wait".to_owned(),
            class: Class::Command,
        };
        let report = Report { findings: vec![finding], skipped: Vec::new() };
        let printed = text(&report);
        assert!(printed.contains("  evidence: a </failure><b \"\u{fffd}\n"), "{printed}");
        assert!(printed.ends_with("1 findings, 0 of 32 checks skipped\n"), "{printed}");
        let xml = junit(&report);
        let expected = "<failure message=\"Namespace ns: a &lt;/failure&gt;&lt;b &quot;\u{fffd}\">";
        assert!(xml.contains(expected) && xml.contains("create &amp; wait"), "{xml}");
    }
}
