//! What is passed on of a piece: the piece itself as long as nothing is left out, and copied parts of it
//! from then on.

use std::ops::Range;

use hyper::body::Bytes;

/// The output of one piece.
pub(super) struct Output<'p> {
    piece: &'p Bytes,
    /// What is ready, apart from `last`.
    ready: Vec<u8>,
    /// The part of the piece that follows it; the parts after that are not known yet.
    last: Range<usize>,
    /// Whether `last` goes on.
    goes_on: bool,
    /// Where the part begins that is not decided about.
    held: Option<usize>,
}

impl<'p> Output<'p> {
    /// Of this piece, nothing so far.
    pub(super) fn of(piece: &'p Bytes) -> Self {
        Self { piece, ready: Vec::new(), last: 0..0, goes_on: false, held: None }
    }

    /// Passes on what comes from here on.
    pub(super) fn resume(&mut self, at: usize) {
        self.held = None;
        if self.goes_on {
            return;
        }
        if self.last.end != at {
            self.flush();
            self.last = at..at;
        }
        self.goes_on = true;
    }

    /// Leaves out what comes from here on.
    pub(super) fn stop(&mut self, at: usize) {
        if std::mem::take(&mut self.goes_on) {
            self.last.end = at;
        }
    }

    /// Passes on these bytes, which are not in the piece.
    pub(super) fn insert(&mut self, bytes: &[u8]) {
        self.flush();
        self.ready.extend_from_slice(bytes);
    }

    /// Holds what comes from here on.
    pub(super) fn hold(&mut self, at: usize) {
        self.stop(at);
        self.held = Some(at);
    }

    /// What is held of this piece.
    pub(super) fn held(&self) -> &'p [u8] {
        self.held_until(self.piece.len())
    }

    /// What is held of this piece up to here.
    pub(super) fn held_until(&self, end: usize) -> &'p [u8] {
        self.held.and_then(|from| self.piece.get(from..end)).unwrap_or_default()
    }

    /// Leaves out what is held.
    pub(super) fn drop_held(&mut self) {
        self.held = None;
    }

    /// Passes on `held`, which ends in this piece at `end` and may have begun in an earlier one, and what
    /// follows.
    pub(super) fn pass_held(&mut self, held: &[u8], end: usize) {
        match end.checked_sub(held.len()).filter(|from| self.held.is_some_and(|held| held <= *from))
        {
            Some(from) => self.resume(from),
            None => {
                self.insert(held);
                self.resume(end);
            }
        }
    }

    /// All of it.
    pub(super) fn finish(mut self) -> Bytes {
        self.stop(self.piece.len());
        if self.ready.is_empty() {
            return self.piece.slice(self.last);
        }
        self.flush();
        self.ready.into()
    }

    /// Copies the last part behind what is ready.
    fn flush(&mut self) {
        let last = std::mem::replace(&mut self.last, 0..0);
        self.ready.extend_from_slice(self.piece.get(last).unwrap_or_default());
    }
}
