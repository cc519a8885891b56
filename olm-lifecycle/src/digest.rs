//! Whether two values say the same, without keeping either.

use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufWriter, Write as _};

use serde::Serialize;

/// Bytes that are hashed at once: JSON is written in pieces of few bytes, and the spec of a CSV has thousands.
const AT_ONCE: usize = 1 << 10;

/// The digest of a value. It never leaves the process, so its formula is free.
pub fn digest(value: &impl Serialize) -> u64 {
    let mut sink = BufWriter::with_capacity(AT_ONCE, Sink(DefaultHasher::new()));
    // Writing to a hasher cannot fail, and the types serialise.
    let _ = serde_json::to_writer(&mut sink, value);
    let _ = sink.flush();
    sink.get_ref().0.finish()
}

struct Sink(DefaultHasher);

impl io::Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_digest() {
        assert_eq!(digest(&("a", Some(1))), digest(&("a".to_owned(), Some(1))));
        assert_ne!(digest(&("a", "b")), digest(&("ab", "")));
    }

    #[test]
    fn the_last_bytes_count() {
        let long = "x".repeat(AT_ONCE);
        assert_ne!(digest(&(&long, "a")), digest(&(&long, "b")));
        assert_eq!(digest(&(&long, "a")), digest(&(long.clone(), "a")));
    }
}
