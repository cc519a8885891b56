//! Reads a layer, and stops when there is too much of it.

use std::io::{self, Read};

use super::super::{LayerError, Limits};

/// Reads at most as much as limits allow.
pub(super) struct Bounded<'a> {
    content: &'a mut dyn Read,
    /// Bytes of the layer as it was transferred.
    compressed: u64,
    /// Bytes that came out of this layer.
    here: u64,
    /// Bytes that came out of all layers.
    total: u64,
    limits: &'a Limits,
    stopped: Option<LayerError>,
}

impl<'a> Bounded<'a> {
    pub(super) fn new(
        content: &'a mut dyn Read,
        compressed: u64,
        total: u64,
        limits: &'a Limits,
    ) -> Self {
        Self { content, compressed, here: 0, total, limits, stopped: None }
    }

    /// Bytes that came out of all layers, and why reading was stopped, if it was.
    pub(super) fn end(self) -> (u64, Option<LayerError>) {
        let late = self.limits.is_late().then_some(LayerError::Late);
        (self.total, self.stopped.or(late))
    }

    fn check(&self) -> Option<LayerError> {
        let Limits { unpacked, ratio, free, .. } = *self.limits;
        if self.limits.is_late() {
            return Some(LayerError::Late);
        }
        if self.here > free && self.here > self.compressed.saturating_mul(ratio) {
            return Some(LayerError::Bomb(ratio));
        }
        (self.total > unpacked).then_some(LayerError::TooMuch { limit: unpacked, unit: "bytes" })
    }
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.content.read(buffer)?;
        self.here = self.here.saturating_add(read as u64);
        self.total = self.total.saturating_add(read as u64);
        match self.check() {
            Some(error) => {
                let text = error.to_string();
                self.stopped = Some(error);
                Err(io::Error::other(text))
            }
            None => Ok(read),
        }
    }
}
