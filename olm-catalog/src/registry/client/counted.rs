//! Decoding of answers that are not larger in memory than they may be.

use std::marker::PhantomData;

use prost::Message;
use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use crate::registry::decoded::{Decoded, on_the_wire};

/// A codec whose answers are counted before they are decoded.
pub(super) struct Counted<T, U> {
    limit: usize,
    types: PhantomData<fn(T) -> U>,
}

impl<T, U> Counted<T, U> {
    /// Answers take at most `limit` bytes in memory.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, types: PhantomData }
    }
}

impl<T: Message + Default + 'static, U: Decoded> Codec for Counted<T, U> {
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = Self;

    fn encoder(&mut self) -> ProstEncoder<T> {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self {
        Self::new(self.limit)
    }
}

impl<T, U: Decoded> Decoder for Counted<T, U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, source: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        let bytes = source.copy_to_bytes(source.remaining());
        let malformed = |error: prost::DecodeError| Status::internal(error.to_string());
        let weight = on_the_wire::<U>(&bytes).map_err(malformed)?;
        if weight.bytes > self.limit {
            let what = weight.most.map(|(field, count)| format!(", with {count} {field}"));
            return Err(Status::resource_exhausted(format!(
                "a {} takes {} bytes in memory{}, more than {}: split it, or leave out what nothing reads",
                U::NAME,
                weight.bytes,
                what.unwrap_or_default(),
                self.limit,
            )));
        }
        U::decode(bytes).map(Some).map_err(malformed)
    }
}
