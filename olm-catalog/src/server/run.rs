//! Runs a command.

use std::io::{self, Write};

use anyhow::Result;

use super::arguments::{Arguments, Command};
use super::{graph, list, render, serve};
use crate::fbc::{self, ReadLimits};

/// Runs what the arguments ask for, to its end.
///
/// # Errors
/// The catalog is not valid (the error lists everything that is wrong), the address cannot be
/// listened on, or the server fails.
pub async fn run(arguments: Arguments) -> Result<()> {
    match arguments.command {
        Command::Serve(arguments) => serve::run(arguments).await,
        #[cfg(feature = "tools")]
        Command::Alpha(arguments) => arguments.run().await,
        Command::Version => {
            print(|out| writeln!(out, "olm-registry {}", env!("CARGO_PKG_VERSION")))
        }
        Command::Validate(arguments) => {
            fbc::load(&arguments.directory, &ReadLimits::default())?;
            Ok(())
        }
        Command::Render(arguments) => {
            let blobs = render::blobs(&arguments.references, &ReadLimits::default())?;
            print(|out| render::print(&blobs, arguments.output, out))
        }
        Command::List(arguments) => {
            let catalog = fbc::load(&arguments.directory, &ReadLimits::default())?;
            let table = list::table(&catalog, arguments.what, arguments.package.as_deref())?;
            print(|out| list::print(&table, out))
        }
        Command::Graph(arguments) => {
            let catalog = fbc::load(&arguments.directory, &ReadLimits::default())?;
            let channels = graph::select(
                &catalog,
                arguments.package.as_deref(),
                arguments.channel.as_deref(),
            )?;
            print(|out| graph::print(&channels, arguments.output, out))
        }
    }
}

/// Writes to standard output; a reader that wants no more is no error.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
