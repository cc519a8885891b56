//! The programs of the image in one executable, which is the one that it is called as.
//!
//! | called as | is |
//! |---|---|
//! | `olm` | `olm-operator` |
//! | `catalog` | `catalog-operator` |
//! | `opm`, `configmap-server` | `olm-registry` |
//! | `olm-console` | `olm-console` |
//!
//! They share most of their code, so that an image with one executable is half as large. Each is what it is as an
//! executable of its own: its crate's `main` reads the command line and starts its threads, and of the others only
//! code is there. What runs in images of others stays by itself, because it is copied: binary `olm-copy`.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitCode, Termination};

/// A program that is not there, as shells say it.
const NOT_FOUND: u8 = 127;

/// A name of the executable, and what it starts.
type Program = (&'static str, fn() -> ExitCode);

/// Every name. Those in the image are the same ones, which `cargo xtask image` takes from a list of its own.
const PROGRAMS: [Program; 5] = [
    ("olm", || olm_operator::main().report()),
    ("catalog", || catalog_operator::main().report()),
    // Which of both it is asks for the name once more.
    ("opm", olm_catalog::server::main),
    ("configmap-server", olm_catalog::server::main),
    ("olm-console", olm_console::main),
];

/// Runs the program that this process is called as, until it ends.
pub fn main() -> ExitCode {
    let called = std::env::args_os().next().unwrap_or_default();
    if let Some((_, start)) = program(&called) {
        return start();
    }
    let names = PROGRAMS.map(|(name, _)| name).join(", ");
    eprintln!("Error: {} is none of the programs {names}", Path::new(&called).display());
    ExitCode::from(NOT_FOUND)
}

/// The program of this name, with or without the folder that it lies in.
fn program(called: &OsStr) -> Option<Program> {
    let name = Path::new(called).file_name()?;
    PROGRAMS.into_iter().find(|(known, _)| name == *known)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("/bin/olm", Some("olm"))]
    #[case("catalog", Some("catalog"))]
    #[case("/bin/opm", Some("opm"))]
    #[case("configmap-server", Some("configmap-server"))]
    #[case("../bin/olm-console", Some("olm-console"))]
    #[case("/bin/olm-programs", None)]
    #[case("/olm/bin", None)]
    #[case("/bin/..", None)]
    #[case("", None)]
    fn the_name_decides(#[case] called: &str, #[case] expected: Option<&str>) {
        assert_eq!(program(OsStr::new(called)).map(|(name, _)| name), expected);
    }
}
