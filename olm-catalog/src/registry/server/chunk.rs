//! Buffers for what is sent. They are used again and again: a new one for each answer would have to
//! be cleared, and the kernel would have to find its pages.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use prost::bytes::Bytes;

/// Most that is read at once, in bytes. More would only lie around while readers are slow.
pub(super) const SIZE: usize = 64 << 10;

/// Less than this is copied, so that few bytes do not keep a buffer, in bytes.
const SMALL: usize = 4 << 10;

/// How many unused buffers are kept.
const KEPT: usize = 32;

/// The unused buffers of a server.
#[derive(Debug, Default)]
pub(super) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// A buffer that is being filled or sent. It goes back when it is dropped.
#[derive(Debug)]
pub(super) struct Chunk {
    buffer: Vec<u8>,
    filled: usize,
    home: Arc<Buffers>,
}

impl Buffers {
    /// An empty chunk.
    pub(super) fn chunk(self: &Arc<Self>) -> Chunk {
        let unused = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let buffer = unused.unwrap_or_else(|| vec![0; SIZE]);
        Chunk { buffer, filled: 0, home: Arc::clone(self) }
    }
}

impl Chunk {
    /// How many bytes fit in.
    pub(super) fn free(&self) -> usize {
        self.buffer.len().saturating_sub(self.filled)
    }

    /// Whether nothing is in it.
    pub(super) fn is_empty(&self) -> bool {
        self.filled == 0
    }

    /// Takes as many bytes as there are and fit. When the reader fails, it is as before.
    pub(super) fn take(&mut self, from: &mut impl Read) -> io::Result<()> {
        let start = self.filled;
        loop {
            match from.read(self.buffer.get_mut(self.filled..).unwrap_or_default()) {
                Ok(0) => return Ok(()),
                Ok(count) => self.filled += count,
                Err(error) => {
                    self.filled = start;
                    return Err(error);
                }
            }
        }
    }

    /// Its bytes, to be sent.
    pub(super) fn into_bytes(self) -> Bytes {
        if self.filled < SMALL {
            return Bytes::copy_from_slice(self.as_ref());
        }
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Chunk {
    fn as_ref(&self) -> &[u8] {
        self.buffer.get(..self.filled).unwrap_or_default()
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        let mut unused = self.home.0.lock().unwrap_or_else(PoisonError::into_inner);
        if unused.len() < KEPT {
            unused.push(std::mem::take(&mut self.buffer));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_goes_back_when_it_was_sent() {
        let buffers = Arc::new(Buffers::default());
        for size in [SMALL - 1, SMALL, SIZE + 1] {
            let mut chunk = buffers.chunk();
            chunk.take(&mut vec![7; size].as_slice()).unwrap();
            assert_eq!(chunk.free(), SIZE.saturating_sub(size));
            let bytes = chunk.into_bytes();
            assert_eq!(bytes, vec![7; size.min(SIZE)]);
            drop(bytes);
            assert_eq!(buffers.0.lock().unwrap().len(), 1);
        }
    }

    #[test]
    fn few_buffers_are_kept() {
        let buffers = Arc::new(Buffers::default());
        let chunks: Vec<_> = (0..KEPT + 5).map(|_| buffers.chunk()).collect();
        drop(chunks);
        assert_eq!(buffers.0.lock().unwrap().len(), KEPT);
    }
}
