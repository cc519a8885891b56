//! The section of CHANGELOG.md that belongs to a release.

use std::path::Path;

use anyhow::{Context, Result, ensure};

/// The section of this version, or of what was not released yet.
pub(super) fn of(version: &str, changelog: &Path) -> Result<String> {
    let text = std::fs::read_to_string(changelog)
        .with_context(|| format!("cannot read {}", changelog.display()))?;
    let found = section(&text, version).or_else(|| section(&text, "Unreleased"));
    let found =
        found.with_context(|| format!("CHANGELOG.md has no section {version} or Unreleased"))?;
    ensure!(!found.trim().is_empty(), "the section of CHANGELOG.md for {version} is empty");
    Ok(format!("# olm-rs {version}\n\n{}\n", found.trim()))
}

/// What stands between the heading of this name and the next one.
fn section<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let heading = format!("## {name}");
    let start = text.lines().find(|line| {
        line.strip_prefix(&heading).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })?;
    let (_, after) = text.split_once(start)?;
    Some(after.split("\n## ").next().unwrap_or(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# Changes\n\n## Unreleased\n\n- new\n\n## 0.1.0 (2026-01-02)\n\n- old\n### more\n- x\n";

    #[test]
    fn a_section_ends_at_the_next_heading() {
        assert_eq!(section(TEXT, "Unreleased").map(str::trim), Some("- new"));
        assert_eq!(section(TEXT, "0.1.0").map(str::trim), Some("- old\n### more\n- x"));
        assert_eq!(section(TEXT, "0.1"), None);
    }
}
