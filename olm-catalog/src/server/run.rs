//! Runs a command.

use std::io::{self, Write};

use anyhow::{Result, bail};
use serde_json::json;

use super::arguments::{Arguments, Command, Validate};
use super::{graph, list, render, serve};
use crate::fbc::{self, ReadLimits};

/// Runs what the arguments ask for, to its end.
///
/// # Errors
/// The catalog is not valid (the error lists everything that is wrong), the address cannot be
/// listened on, or the server fails.
pub async fn run(arguments: Arguments) -> Result<()> {
    let registries = arguments.registries;
    match arguments.command {
        Command::Serve(arguments) => serve::run(arguments).await,
        #[cfg(feature = "tools")]
        Command::Alpha(arguments) => arguments.run().await,
        Command::Version => {
            print(|out| writeln!(out, "olm-registry {}", env!("CARGO_PKG_VERSION")))
        }
        Command::Validate(arguments) => validate(&arguments),
        Command::Render(arguments) => {
            let blobs = render::blobs(&arguments, registries, &ReadLimits::default()).await?;
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

/// Says everything that is wrong with a catalog; in a form for programs also that nothing is.
fn validate(arguments: &Validate) -> Result<()> {
    let directory = &arguments.directory;
    if directory.is_file() {
        bail!("{:?} is not a directory", directory.display());
    }
    let verdict = fbc::load(directory, &ReadLimits::default());
    if let Some(form) = arguments.output {
        let mut reported = json!({ "passed": verdict.is_ok() });
        if let (Err(error), Some(fields)) = (&verdict, reported.as_object_mut()) {
            fields.insert("error".to_owned(), json!({ "message": error.to_string() }));
        }
        print(|out| render::print_one(&reported, form, out))?;
    }
    verdict?;
    Ok(())
}

/// Writes to standard output; a reader that wants no more is no error.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
