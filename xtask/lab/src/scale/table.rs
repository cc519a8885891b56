//! Figures beside their limits.

use std::fmt;

/// Measured figures in the order in which they are shown.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

/// One figure.
#[derive(Debug)]
struct Row {
    name: String,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Bounded { measured: f64, limit: f64, unit: &'static str },
    Free(String),
    Missing(&'static str),
}

impl Table {
    /// A figure that must not be above `limit`; both in `unit`.
    pub(crate) fn bounded(&mut self, name: &str, measured: f64, limit: f64, unit: &'static str) {
        self.push(name, Value::Bounded { measured, limit, unit });
    }

    /// A figure to know, without a limit.
    pub(crate) fn free(&mut self, name: &str, value: String) {
        self.push(name, Value::Free(value));
    }

    /// A figure that this run cannot give.
    pub(crate) fn missing(&mut self, name: &str, why: &'static str) {
        self.push(name, Value::Missing(why));
    }

    /// Whether no figure is above its limit.
    pub(crate) fn is_within_limits(&self) -> bool {
        self.rows.iter().all(|row| match row.value {
            Value::Bounded { measured, limit, .. } => measured <= limit,
            Value::Free(_) | Value::Missing(_) => true,
        })
    }

    fn push(&mut self, name: &str, value: Value) {
        self.rows.push(Row { name: name.to_owned(), value });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
        for row in &self.rows {
            write!(f, "{:<width$}  ", row.name)?;
            match &row.value {
                Value::Bounded { measured, limit, unit } => {
                    let verdict = if measured <= limit { "" } else { "  TOO MUCH" };
                    writeln!(f, "{measured:>10.1} {unit:<4} limit {limit} {unit}{verdict}")?;
                }
                Value::Free(value) => writeln!(f, "{value}")?,
                Value::Missing(why) => writeln!(f, "not measured: {why}")?,
            }
        }
        Ok(())
    }
}

/// The smallest of `sorted` that at least `share` of 100 are not above; zero when there is none.
pub(crate) fn percentile<T: Copy + Default>(sorted: &[T], share: usize) -> T {
    let rank = (sorted.len() * share).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_above_its_limit_fails_and_is_marked() {
        let mut table = Table::default();
        table.bounded("memory", 100.0, 120.0, "MB");
        table.free("objects", "12".to_owned());
        table.missing("lists", "no audit log");
        assert!(table.is_within_limits());
        table.bounded("writes", 3.0, 0.0, "");
        assert!(!table.is_within_limits());
        let text = table.to_string();
        assert_eq!(text.matches("TOO MUCH").count(), 1, "{text}");
        assert!(text.contains("not measured: no audit log"));
    }

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 50), percentile(&hundred, 99)), (50, 99));
        assert_eq!((percentile(&[7, 8], 99), percentile::<u32>(&[], 99)), (8, 0));
    }
}
