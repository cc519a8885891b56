//! The table.

use std::fmt::Write as _;

use super::catalogs::COUNT;
use super::measure::{Measured, Windows};

/// Minutes from one look to the next one in the hour that is reckoned.
const POLLED: f64 = 15.0;

/// A figure of each way to serve.
struct Figure {
    name: &'static str,
    unit: &'static str,
    of: fn(&Measured, f64) -> f64,
}

/// What is said of each; the number is how many such windows an hour with looks every 15 minutes has.
const FIGURES: [Figure; 10] = [
    Figure { name: "from a new CatalogSource to READY, median", unit: "s", of: |all, _| all.ready },
    Figure { name: "from a restart to READY, all of them", unit: "s", of: |all, _| all.restarted },
    Figure { name: "writes in the window", unit: "", of: |all, _| count(all.writes) },
    Figure { name: "writes in an hour", unit: "", of: |all, hour| count(all.writes) * hour },
    Figure {
        name: "requests of the operator to the registry in the window",
        unit: "",
        of: |all, _| count(all.requests),
    },
    Figure {
        name: "requests of the operator to the registry in an hour",
        unit: "",
        of: |all, hour| count(all.requests) * hour,
    },
    Figure {
        name: "Pods that look in an hour; a node asks for the image of each",
        unit: "",
        of: |all, hour| count(all.pods) * hour,
    },
    Figure {
        name: "memory of the operator for each catalog",
        unit: "MiB",
        of: |all, _| mebibytes(all.operator),
    },
    Figure {
        name: "memory of what serves each catalog beside it",
        unit: "MiB",
        of: |all, _| mebibytes(all.server),
    },
    Figure {
        name: "failed reads while the operators restart",
        unit: "",
        of: |all, _| all.reads.failed as f64,
    },
];

/// The figures of all.
pub(super) fn table(measured: &[Measured], windows: Windows) -> String {
    let hour = 60.0 / POLLED * f64::from(windows.interval) / f64::from(windows.counted);
    let mut text = format!(
        "{COUNT} catalogs, looked at every {} s; a window of {} s\n",
        windows.interval, windows.counted
    );
    let width = FIGURES.iter().map(|figure| figure.name.len()).max().unwrap_or_default();
    let mut line = |name: &str, cells: Vec<String>, unit: &str| {
        let cells: String = cells.iter().map(|cell| format!(" {cell:>16}")).collect();
        // Writing to a text cannot fail.
        let _ = writeln!(text, "{name:<width$}{cells} {unit}");
    };
    line("", measured.iter().map(|all| all.title.clone()).collect(), "");
    for figure in &FIGURES {
        let cells = measured.iter().map(|all| format!("{:.2}", (figure.of)(all, hour)));
        line(figure.name, cells.collect(), figure.unit);
    }
    text
}

fn count(number: usize) -> f64 {
    number as f64
}

fn mebibytes(bytes: f64) -> f64 {
    bytes / f64::from(1 << 20)
}
