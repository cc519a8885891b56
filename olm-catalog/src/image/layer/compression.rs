//! How layers are compressed, and readers of what they hold.

use std::io::{self, BufRead, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Most bytes that a frame of zstd may refer back to, which is memory of the reader: what RFC 8878
/// recommends that readers support.
const WINDOW: u64 = 8 << 20;

/// How a layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// By gzip.
    Gzip,
    /// By zstd.
    Zstd,
}

impl Compression {
    /// What is in compressed bytes.
    pub(in super::super) fn reader<'a>(self, compressed: impl BufRead + 'a) -> Box<dyn Read + 'a> {
        match self {
            Self::None => Box::new(compressed),
            Self::Gzip => Box::new(MultiGzDecoder::new(compressed)),
            Self::Zstd => Box::new(Frames::new(compressed)),
        }
    }
}

/// The content of frames of zstd, one after the other; those without content are passed over.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    /// Whether a frame has begun, and not all of it was read.
    open: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self { source, decoder, open: false }
    }

    /// Begins with the next frame, if there is one.
    fn begin(&mut self) -> io::Result<()> {
        match self.decoder.reset(&mut self.source) {
            Ok(()) => self.open = true,
            Err(error) => {
                let length = skippable(error)?;
                io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            while self.open && self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.source, one).map_err(io::Error::other)?;
            }
            let read = if self.open { self.decoder.read(buffer)? } else { 0 };
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            self.open = false;
            if self.source.fill_buf()?.is_empty() {
                return Ok(0);
            }
            self.begin()?;
        }
    }
}

/// The length of a frame that has no content.
fn skippable(error: FrameDecoderError) -> io::Result<u64> {
    match error {
        FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
            length, ..
        }) => Ok(u64::from(length)),
        error => Err(io::Error::other(error)),
    }
}
