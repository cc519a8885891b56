//! Entry point of the console in a cluster.

fn main() -> std::process::ExitCode {
    olm_console::main()
}
