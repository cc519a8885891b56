//! How much memory the fields of an object take, and how much the object says.

use serde::de::Error as _;
use serde_json::{Error, Value};

/// Bytes of memory that an object may take however little it says.
const AT_LEAST: usize = 1 << 20;

/// Bytes of memory for each byte that an object says. Rules of roles, of which an object has thousands, take
/// eight, and entries of maps with one label fifty, of which it has few.
const FOR_EACH: usize = 16;

/// Bytes of memory that an allocator adds to a text.
const TEXT: usize = 16;

/// Quotes around a text, brackets around a list or a map.
const AROUND: usize = 2;

/// A sum of what was read so far.
#[derive(Debug, Default)]
pub(super) struct Count {
    /// Bytes of memory.
    taken: usize,
    /// Bytes of text at least.
    said: usize,
}

impl Count {
    /// So many bytes of text were read.
    pub(super) fn say(&mut self, bytes: usize) {
        self.said = self.said.saturating_add(bytes);
    }

    /// A list or a map begins.
    pub(super) fn open(&mut self) {
        self.say(AROUND);
    }

    /// So many bytes of memory are about to be taken.
    ///
    /// # Errors
    /// They are too many for what was said.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.taken = self.taken.saturating_add(bytes);
        let most = AT_LEAST.saturating_add(self.said.saturating_mul(FOR_EACH));
        if self.taken <= most {
            return Ok(());
        }
        Err(Error::custom(format_args!(
            "its fields take more than {most} bytes of memory: leave out those that are empty"
        )))
    }

    /// The same for a text, if the value is one.
    pub(super) fn text(&mut self, value: &Value) -> Result<(), Error> {
        let Value::String(text) = value else { return Ok(()) };
        self.say(text.len().saturating_add(AROUND));
        self.take(text.len().saturating_add(TEXT))
    }
}
