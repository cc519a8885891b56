//! What the pods of test operators run.
//!
//! A package of its own with few dependencies, so that its static build takes seconds.

mod answers;
mod arguments;
mod reader;
mod secure;
mod server;

use std::process::ExitCode;
use std::rc::Rc;

use arguments::{Command, USAGE};
use tokio::signal::unix::{SignalKind, signal};

/// The program.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> ExitCode {
    match Command::parse(std::env::args().skip(1), |name| std::env::var(name).ok()) {
        Ok(Command::Exit { code }) => ExitCode::from(code),
        Ok(command) => finish(run(command).await),
        Err(problem) => {
            eprintln!("error: {problem}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn finish(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs until a signal ends it. As the first process of a container it must ask for
/// SIGTERM: the kernel's default does not apply to it.
async fn run(command: Command) -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let ended = async {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    match command {
        Command::Serve { port, identity } => {
            let name = format!("{} {}", identity.name, identity.version);
            let body = format!("{name}\n").into();
            server::serve(port, &name, || Rc::clone(&body), ended).await
        }
        Command::Read { port, from } => reader::serve(port, &from, ended).await,
        Command::Respond(answer) => secure::serve(answer, ended).await,
        Command::Pause | Command::Exit { .. } => {
            ended.await;
            Ok(())
        }
    }
}
