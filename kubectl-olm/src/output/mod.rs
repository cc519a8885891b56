//! What is printed. Everything passes one writer, which lets no control character of a name, message or
//! description through, and reports a closed pipe instead of panicking.

mod kind;
#[cfg(test)]
mod schema_tests;
mod table;

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use olm_client::Notices;
use olm_client::clean::{cell, json_text, text};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::args::Format;

pub use kind::Kind;
#[cfg(test)]
pub use schema_tests::assert_described;
pub use table::{Table, age};

/// The `apiVersion` of what is printed as JSON or YAML.
pub const API_VERSION: &str = "kubectl-olm/v1alpha1";

/// How results are printed.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    format: Format,
}

impl Output {
    /// Results in a form.
    pub fn new(format: Format) -> Self {
        Self { format }
    }

    /// The form.
    pub fn format(self) -> Format {
        self.format
    }

    /// Whether all columns were asked for.
    pub fn is_wide(self) -> bool {
        self.format == Format::Wide
    }

    /// Prints objects of a kind: the table is for readers, names are KIND/NAME.
    ///
    /// # Errors
    /// The form is not one of lists, or standard output cannot be written.
    pub fn list<T: Serialize>(
        self,
        kind: Kind,
        items: &[T],
        table: Table,
        names: impl Iterator<Item = String>,
    ) -> Result<()> {
        match self.format {
            Format::Table | Format::Wide => self.print(&table.to_string()),
            Format::Name => self.print(&names.map(|name| cell(&name) + "\n").collect::<String>()),
            _ => self.object(kind, &json!({ "items": items })),
        }
    }

    /// Prints one value as JSON or YAML, with `apiVersion` and `kind` before its fields.
    ///
    /// # Errors
    /// The form is another one, or standard output cannot be written.
    pub fn object(self, kind: Kind, value: &impl Serialize) -> Result<()> {
        let object = document(kind, value)?;
        match self.format {
            Format::Json => self.print(&(json_text(&format!("{object:#}")) + "\n")),
            Format::Yaml => {
                let yaml = yaml_serde::to_string(&object).context("cannot write YAML")?;
                self.print(&yaml)
            }
            other => bail!("-o {} is not for this command, json and yaml are", other.as_str()),
        }
    }

    /// Prints manifests for `kubectl apply`, or for a repository: YAML documents, or a JSON list.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn manifests(self, manifests: &[Value]) -> Result<()> {
        if self.format == Format::Json {
            let list = json!({"apiVersion": "v1", "kind": "List", "items": manifests});
            return self.print(&(json_text(&format!("{list:#}")) + "\n"));
        }
        let mut documents = Vec::new();
        for manifest in manifests {
            documents.push(yaml_serde::to_string(manifest).context("cannot write YAML")?);
        }
        self.print(&documents.join("---\n"))
    }

    /// Prints text that may stand on a terminal.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn print(self, lines: &str) -> Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text(lines).as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// Says how far something is: text beside a result for readers, otherwise no part of the result.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub fn progress(self, lines: &str) -> Result<()> {
        match self.format {
            Format::Table | Format::Wide => self.print(lines),
            _ => {
                Self::complain(lines.trim_end());
                Ok(())
            }
        }
    }

    /// Takes what is said beside a result.
    pub fn notices() -> Notices {
        Notices::new(Self::complain)
    }

    /// Says something that is no result.
    pub fn complain(line: &str) {
        // Where this goes to is closed when it fails.
        let _ = writeln!(io::stderr(), "{}", text(line));
    }
}

/// A value with `apiVersion` and `kind`, which stand for any fields of these names that it has itself.
fn document(kind: Kind, value: &impl Serialize) -> Result<Value> {
    let fields = serde_json::to_value(value).context("cannot write the result as JSON")?;
    let mut object = match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    object.insert("apiVersion".to_owned(), API_VERSION.into());
    object.insert("kind".to_owned(), kind.as_str().into());
    Ok(Value::Object(object))
}

/// Whether who reads standard output has gone: `| head` has seen enough.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
