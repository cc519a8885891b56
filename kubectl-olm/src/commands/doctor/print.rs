//! Findings as text, and as JUnit's XML.

use olm_client::clean::cell;
use olm_plan::doctor::{Code, Finding, Report, code};

/// Findings for a reader. What was skipped is counted, and never among what is well.
pub(super) fn text(report: &Report) -> String {
    let findings = report.findings.iter().map(|one| {
        format!(
            "{} {}\n  object:   {}\n  evidence: {}\n  fix:      {}{}\n",
            one.code,
            one.title,
            cell(&one.object()),
            cell(&one.evidence),
            cell(&one.fix),
            class(one)
        )
    });
    let findings: String = findings.collect();
    format!("{findings}{}\n", report.summary())
}

/// A finding on one line.
pub fn line(one: &Finding) -> String {
    format!("{} {}: {} Fix: {}", one.code, one.object(), one.evidence, one.fix)
}

/// Code and object, one a line.
pub(super) fn names(report: &Report) -> String {
    let lines = report.findings.iter().map(|one| format!("{} {}", one.code, one.object()));
    lines.map(|line| cell(&line) + "\n").collect()
}

/// A row of the table of codes.
pub(super) fn explained(row: &Code) -> String {
    let (id, title, trigger, fix) = (row.id, row.title, row.trigger, row.fix);
    let before = if row.is_before { "with --pre, " } else { "" };
    let (class, needs) = (row.class.as_str(), row.needs.join(", "));
    format!(
        "{id} {title}\n  when:  {before}{trigger}\n  fix:   {fix} ({class})\n  reads: {needs}\n"
    )
}

/// A test case for each code; each of its findings is a failure.
pub(super) fn junit(report: &Report) -> String {
    let (found, skipped) = (report.findings.len(), report.skipped.len());
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kubectl olm doctor\" tests=\"{}\" \
         failures=\"{found}\" skipped=\"{skipped}\">\n",
        report.checks.len()
    );
    for row in report.checks.iter().filter_map(|id| code(id)) {
        let name = format!("{} {}", row.id, escaped(row.title));
        xml.push_str(&format!("  <testcase classname=\"doctor\" name=\"{name}\">\n"));
        for one in report.findings.iter().filter(|one| one.code == row.id) {
            let (object, evidence, fix) =
                (escaped(&one.object()), escaped(&one.evidence), escaped(&one.fix));
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

/// A command stands alone on its line, to be copied.
fn class(one: &Finding) -> String {
    match one.class {
        olm_plan::doctor::Class::Command => String::new(),
        class => format!(" ({})", class.as_str()),
    }
}

/// Text for an attribute or an element, on one line.
fn escaped(text: &str) -> String {
    let text = cell(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use olm_plan::doctor::{Class, codes};

    use super::*;

    fn report() -> Report {
        let finding = Finding {
            code: "OLM002",
            title: "no OperatorGroup in the namespace",
            kind: "Namespace".to_owned(),
            namespace: String::new(),
            name: "ns".to_owned(),
            evidence: "a\n</failure><b \"\u{1b}".to_owned(),
            fix: "create & wait".to_owned(),
            class: Class::Command,
        };
        Report {
            findings: vec![finding],
            skipped: Vec::new(),
            checks: codes().iter().map(|code| code.id).collect(),
        }
    }

    #[test]
    fn hostile_evidence_breaks_neither_lines_nor_xml() {
        let printed = text(&report());
        assert!(printed.contains("  evidence: a </failure><b \"\u{fffd}\n"), "{printed}");
        let all = codes().len();
        let end = format!("1 finding, 0 of {all} checks skipped\n");
        assert!(printed.ends_with(&end), "{printed}");
        let xml = junit(&report());
        let expected = "<failure message=\"Namespace ns: a &lt;/failure&gt;&lt;b &quot;\u{fffd}\">";
        assert!(xml.contains(expected) && xml.contains("create &amp; wait"), "{xml}");
        assert_eq!(xml.matches("<testcase ").count(), all, "{xml}");
    }

    #[test]
    fn a_command_stands_alone_on_its_line() {
        assert!(text(&report()).contains("  fix:      create & wait\n"));
        let waits = Finding { class: Class::Wait, ..report().findings.remove(0) };
        let report = Report { findings: vec![waits], ..report() };
        assert!(text(&report).contains("  fix:      create & wait (wait)\n"));
    }

    #[test]
    fn a_code_is_explained() {
        let text = explained(code("olm037").unwrap());
        let expected =
            "OLM037 an aggregated API does not answer\n  when:  with --pre, an APIService";
        assert!(text.starts_with(expected) && text.contains("  reads: apiservices\n"), "{text}");
    }
}
