//! Takes answers without looking into them, so that the time measured is that of the server.

use prost::bytes::Buf;
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

use crate::registry::proto::GetBundleRequest;

/// Sends requests for bundles, and gives the size of what comes, in bytes.
#[derive(Debug, Default)]
pub(super) struct Weigh;

impl Codec for Weigh {
    type Encode = GetBundleRequest;
    type Decode = usize;
    type Encoder = ProstEncoder<GetBundleRequest>;
    type Decoder = Self;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(BufferSettings::default())
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Decoder for Weigh {
    type Item = usize;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<usize>, Status> {
        let size = buffer.remaining();
        buffer.advance(size);
        Ok(Some(size))
    }
}
