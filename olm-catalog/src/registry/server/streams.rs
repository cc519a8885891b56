//! Streams of answers that are being read: how many there may be at the same time, and how long a
//! reader may stop.
//!
//! Answers are made when the transport can send them, so nothing runs for a reader that has stopped.
//! Its place is given to others when it is needed; when it reads on after too long a time, it gets
//! an error.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tonic::Status;

/// The streams of one server.
#[derive(Debug)]
pub(super) struct Streams {
    most: usize,
    idle_limit: Duration,
    open: Mutex<Open>,
}

/// When each open stream was last read.
#[derive(Debug, Default)]
struct Open {
    next: u64,
    read: BTreeMap<u64, Instant>,
}

impl Streams {
    /// At most `most` streams, whose readers may stop for `idle_limit`.
    pub(super) fn new(most: usize, idle_limit: Duration) -> Arc<Self> {
        Arc::new(Self { most, idle_limit, open: Mutex::default() })
    }

    /// A stream of answers, which are made while it is read.
    ///
    /// # Errors
    /// There are too many streams, all of which are being read.
    pub(super) fn open<T: Send + 'static>(
        self: &Arc<Self>,
        answers: impl Iterator<Item = Result<T, Status>> + Send + 'static,
    ) -> Result<impl Iterator<Item = Result<T, Status>> + Send + 'static, Status> {
        let number = self.enter()?;
        let place = StreamSlot { streams: Arc::clone(self), number };
        Ok(answers.scan(Some(place), |place, answer| {
            if place.as_ref()?.is_kept() {
                return Some(answer);
            }
            *place = None;
            Some(Err(Status::deadline_exceeded("the reader stopped for too long")))
        }))
    }

    /// Takes a place; if there is none, one of a reader that has stopped.
    fn enter(&self) -> Result<u64, Status> {
        let mut open = self.lock();
        if open.read.len() >= self.most {
            open.read.retain(|_, read| read.elapsed() < self.idle_limit);
        }
        if open.read.len() >= self.most {
            let message = format!("{} streams are being read: try again later", self.most);
            return Err(Status::resource_exhausted(message));
        }
        let number = open.next;
        open.next = number.wrapping_add(1);
        open.read.insert(number, Instant::now());
        Ok(number)
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one stream.
struct StreamSlot {
    streams: Arc<Streams>,
    number: u64,
}

impl StreamSlot {
    /// Notes that the stream is read; false when that comes too late.
    fn is_kept(&self) -> bool {
        let mut open = self.streams.lock();
        match open.read.get_mut(&self.number) {
            Some(read) if read.elapsed() <= self.streams.idle_limit => {
                *read = Instant::now();
                true
            }
            _ => false,
        }
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.streams.lock().read.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    fn numbers() -> impl Iterator<Item = Result<u8, Status>> + Send {
        (0..3).map(Ok)
    }

    #[test]
    fn a_place_is_free_again_when_its_stream_ends() {
        let streams = Streams::new(1, Duration::from_secs(3600));
        let first = streams.open(numbers()).unwrap();
        let refused = streams.open(numbers()).err().unwrap();
        assert_eq!(refused.code(), Code::ResourceExhausted);
        assert_eq!(refused.message(), "1 streams are being read: try again later");
        assert_eq!(first.count(), 3);
        assert!(streams.open(numbers()).is_ok());
    }

    #[test]
    fn who_stops_loses_the_place_to_others_and_is_reported() {
        let streams = Streams::new(1, Duration::ZERO);
        let mut stopped = streams.open(numbers()).unwrap();
        let next = streams.open(numbers()).unwrap();
        assert_eq!(stopped.next().unwrap().unwrap_err().code(), Code::DeadlineExceeded);
        assert!(stopped.next().is_none());
        drop(next);
        assert!(streams.lock().read.is_empty());
    }
}
