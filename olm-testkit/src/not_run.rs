//! What a test says when the machine lacks what it needs.

use std::fmt::Display;
use std::io::Write;

/// Says that the test of this thread is not run, and why. A program of tests counts it as passed all the
/// same; `cargo xtask test` reads the line and does not.
pub fn not_run(reason: impl Display) {
    let thread = std::thread::current();
    let name = thread.name().unwrap_or("a test");
    let reason = reason.to_string().replace('\n', " ");
    let line = format!("\nnot run: {name}: {}\n", reason.trim());
    // What is printed otherwise is kept back while tests pass.
    let _ = std::io::stdout().lock().write_all(line.as_bytes());
}
