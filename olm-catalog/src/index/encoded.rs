//! Answers in the encoding of the protocol. Most of their bytes stay in the index until they are
//! sent, so that an answer costs no memory while its reader waits.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::sync::Arc;

use prost::Message;
use prost::bytes::{Buf, Bytes};

use super::QueryError;
use super::storage::{Span, Storage};

/// A message of type `T`, encoded. Reading takes its bytes from the front.
#[derive(Clone, Debug)]
pub struct EncodedMessage<T> {
    /// None of them is empty.
    parts: VecDeque<Part>,
    message: PhantomData<fn() -> T>,
}

#[derive(Clone, Debug)]
enum Part {
    Held(Bytes),
    Stored(Arc<Storage>, Span),
}

impl<T: Message + Default> EncodedMessage<T> {
    /// A message that is at hand.
    pub fn of(message: &T) -> Self {
        let mut answer = Self::default();
        answer.hold(message.encode_to_vec());
        answer
    }

    /// The message itself.
    ///
    /// # Errors
    /// The index was damaged since it was opened.
    pub fn message(mut self) -> Result<T, QueryError> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).map_err(|error| QueryError::unreadable(&error))?;
        T::decode(bytes.as_slice()).map_err(|error| QueryError::unreadable(&error))
    }
}

/// A message without fields.
impl<T> Default for EncodedMessage<T> {
    fn default() -> Self {
        Self { parts: VecDeque::new(), message: PhantomData }
    }
}

impl<T> EncodedMessage<T> {
    /// How many bytes are left.
    pub fn len(&self) -> u64 {
        self.parts.iter().map(Part::len).fold(0, u64::saturating_add)
    }

    /// Whether all bytes have been read.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The same with bytes in front of it.
    pub(crate) fn behind(mut self, bytes: Vec<u8>) -> Self {
        self.parts.push_front(Part::Held(bytes.into()));
        self
    }

    /// Adds bytes.
    pub(super) fn hold(&mut self, bytes: Vec<u8>) {
        self.add(Part::Held(bytes.into()));
    }

    /// Adds bytes of an index.
    pub(super) fn store(&mut self, storage: &Arc<Storage>, span: Span) {
        self.add(Part::Stored(Arc::clone(storage), span));
    }

    fn add(&mut self, part: Part) {
        if part.len() > 0 {
            self.parts.push_back(part);
        }
    }
}

impl<T> Read for EncodedMessage<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while let Some(part) = self.parts.front_mut() {
            let space = buffer.get_mut(done..).unwrap_or_default();
            if space.is_empty() {
                break;
            }
            done += part.read(space)?;
            if part.len() == 0 {
                self.parts.pop_front();
            }
        }
        Ok(done)
    }
}

impl Part {
    fn len(&self) -> u64 {
        match self {
            Self::Held(bytes) => bytes.len() as u64,
            Self::Stored(_, span) => span.len(),
        }
    }

    /// Takes as much as there is space for.
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let size = space.len().min(usize::try_from(self.len()).unwrap_or(usize::MAX));
        let space = space.get_mut(..size).unwrap_or_default();
        match self {
            Self::Held(bytes) => bytes.copy_to_slice(space),
            Self::Stored(storage, span) => {
                storage.read_into(*span, space)?;
                span.advance(size as u64);
            }
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// Read in pieces of any size, an answer is the same.
    #[rstest]
    fn pieces(#[values(1, 2, 3, 5, 100)] size: usize) {
        let storage = Arc::new(Storage::Memory(b"0123456789".to_vec()));
        let mut answer = EncodedMessage::<()>::default();
        answer.hold(b"ab".to_vec());
        answer.store(&storage, Span::new(3, 4));
        answer.store(&storage, Span::default());
        answer.hold(b"c".to_vec());
        assert_eq!(answer.len(), 7);
        let (mut read, mut buffer) = (Vec::new(), vec![0; size]);
        while !answer.is_empty() {
            let count = answer.read(&mut buffer).unwrap();
            read.extend_from_slice(&buffer[..count]);
        }
        assert_eq!(read, b"ab3456c");
    }

    #[test]
    fn what_is_not_there_cannot_be_read() {
        let storage = Arc::new(Storage::Memory(b"0123456789".to_vec()));
        let mut answer = EncodedMessage::<()>::default();
        answer.store(&storage, Span::new(8, 4));
        assert!(matches!(answer.message(), Err(QueryError::Unreadable(_))));
    }
}
