//! Columns for a reader, as kubectl prints them.

use std::fmt;

use jiff::Timestamp;
use olm_client::clean::cell;

/// Spaces between columns.
const GAP: usize = 3;

/// Rows below headers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headers: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(headers: &[&'static str]) -> Self {
        Self { headers: headers.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; an empty cell is printed as `-`.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells.iter().map(|text| cell(text)).collect());
    }

    fn widths(&self) -> Vec<usize> {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count().max(1)).max();
            widest.unwrap_or_default().max(self.headers[column].len())
        };
        (0..self.headers.len()).map(width).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let headers: Vec<String> = self.headers.iter().map(ToString::to_string).collect();
        for row in std::iter::once(&headers).chain(&self.rows) {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                let cell = if cell.is_empty() { "-" } else { cell };
                let padding = width.saturating_sub(cell.chars().count()) + GAP;
                line.push_str(cell);
                line.push_str(&" ".repeat(padding));
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// How long ago something was, as kubectl shortens it: `45s`, `12m`, `5h`, `3d`.
pub fn age(since: Option<&str>, now: Timestamp) -> String {
    let since: Option<Timestamp> = since.and_then(|text| text.parse().ok());
    let Some(since) = since else { return String::new() };
    let seconds = (now.as_second() - since.as_second()).max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_hostile_cells_are_one_line() {
        let mut table = Table::new(&["NAME", "AGE"]);
        table.row(vec!["a-long-name".to_owned(), "5s".to_owned()]);
        table.row(vec!["b\n\u{1b}".to_owned(), String::new()]);
        assert_eq!(
            table.to_string(),
            "NAME          AGE\na-long-name   5s\nb \u{fffd}           -\n"
        );
    }

    #[test]
    fn ages_are_those_of_kubectl() {
        let now: Timestamp = "2026-01-03T00:00:00Z".parse().unwrap();
        let ages = ["2026-01-02T23:59:15Z", "2026-01-02T23:30:00Z", "2026-01-01T00:00:01Z"];
        let ages = ages.map(|text| age(Some(text), now));
        assert_eq!(ages, ["45s", "30m", "47h"]);
        assert_eq!(age(Some("2025-12-03T00:00:00Z"), now), "31d");
        assert_eq!(age(Some("2026-02-03T00:00:00Z"), now), "0s");
        assert_eq!(age(None, now) + &age(Some("x"), now), "");
    }
}
