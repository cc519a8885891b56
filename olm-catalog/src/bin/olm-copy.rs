//! Copies files inside images that hold nothing else; everything is in `olm_catalog::copy`.

use std::process::ExitCode;

fn main() -> ExitCode {
    olm_catalog::copy::main(std::env::args_os())
}
