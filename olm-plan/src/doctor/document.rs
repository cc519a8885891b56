//! The table of codes for docs/kubectl-olm.md.

use super::codes;

/// A Markdown table with a row for each code, in their order.
#[must_use]
pub fn table() -> String {
    let mut table =
        "| code | what is wrong | found when | what helps | class |\n|---|---|---|---|---|\n"
            .to_owned();
    for code in codes() {
        let before = if code.is_before { "with `--pre`: " } else { "" };
        table.push_str(&format!(
            "| {} | {} | {before}{} | {} | {} |\n",
            code.id,
            code.title,
            code.trigger,
            code.fix,
            code.class.as_str()
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "../docs/kubectl-olm.md";
    const BEGIN: &str = "<!-- codes: begin -->\n";
    const END: &str = "<!-- codes: end -->\n";

    /// With `INSTA_UPDATE=always` the page is written, as snapshots are.
    #[test]
    fn the_page_has_the_table() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let (before, rest) = page.split_once(BEGIN).expect("the page says where the table begins");
        let (found, after) = rest.split_once(END).expect("the page says where the table ends");
        if found != table() && std::env::var("INSTA_UPDATE").is_ok_and(|it| it == "always") {
            std::fs::write(PAGE, format!("{before}{BEGIN}{}{END}{after}", table())).unwrap();
            return;
        }
        assert_eq!(found, table(), "stale: INSTA_UPDATE=always writes docs/kubectl-olm.md");
    }

    #[test]
    fn a_row_has_as_many_cells_as_the_header() {
        let table = table();
        let mut lines = table.lines();
        let cells = lines.next().unwrap().matches('|').count();
        assert!(lines.all(|line| line.matches('|').count() == cells), "{table}");
    }
}
