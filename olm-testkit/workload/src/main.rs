//! Entry point of what the pods of test operators run.

use std::process::ExitCode;

fn main() -> ExitCode {
    olm_workload::main()
}
