//! Asks for single bundles, many at the same time on one connection, and does no more with the
//! answers than to see that they are whole: the time measured is to be that of the server.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::{Context, Result, bail, ensure};
use prost::Message;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::http2::{self, FIRST_WINDOW, Frames, Head, flag, kind};
use olm_catalog::registry::proto::GetBundleRequest;

/// How much is taken from the socket at once, in bytes.
const READ: usize = 512 << 10;

/// After so many bytes the server is notified that it may send as many again.
const TAKEN: u32 = 1 << 28;

/// Length of what stands in front of a message, in bytes: whether it is compressed, its length.
const PREFIX: usize = 5;

/// A connection.
pub(crate) struct Caller {
    stream: TcpStream,
    frames: Frames,
    calls: Calls,
}

/// The calls of a connection.
struct Calls {
    headers: Vec<u8>,
    next: u32,
    open: BTreeMap<u32, PartialMessage>,
    /// How much the server takes before it says more, in bytes.
    credit: u32,
    /// What was taken since the last notification, in bytes.
    taken: u32,
    /// What is to be sent.
    out: Vec<u8>,
}

/// An answer, as far as it is there.
struct PartialMessage {
    asked: String,
    prefix: Vec<u8>,
    /// Bytes of the message.
    size: usize,
}

impl Caller {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await.context("connect")?;
        stream.set_nodelay(true)?;
        let headers = http2::call_headers(&address.to_string(), "/api.Registry/GetBundle");
        let calls = Calls {
            headers,
            next: 1,
            open: BTreeMap::new(),
            credit: FIRST_WINDOW,
            taken: 0,
            out: http2::beginning(),
        };
        Ok(Self { stream, frames: Frames::default(), calls })
    }

    /// Asks for all of these, so many at the same time, and waits for all of the answers.
    pub(crate) async fn get_all(
        mut self,
        requests: Vec<GetBundleRequest>,
        at_once: usize,
    ) -> Result<()> {
        let mut requests = requests.into_iter().peekable();
        let mut buffer = vec![0; READ];
        loop {
            while self.calls.open.len() < at_once
                && let Some(request) = requests.next_if(|next| self.calls.may_send(next))
            {
                self.calls.ask(request);
            }
            if self.calls.open.is_empty() && requests.peek().is_none() {
                return Ok(());
            }
            self.stream.write_all(&self.calls.out).await?;
            self.calls.out.clear();
            let count = self.stream.read(&mut buffer).await?;
            ensure!(count > 0, "the server is gone");
            let bytes = buffer.get(..count).unwrap_or_default();
            self.frames.read(bytes, |head, payload| self.calls.see(head, payload))?;
        }
    }
}

impl Calls {
    fn may_send(&self, request: &GetBundleRequest) -> bool {
        request.encoded_len() + PREFIX <= self.credit as usize
    }

    fn ask(&mut self, request: GetBundleRequest) {
        let message = request.encode_to_vec();
        let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
        let body = [&[0][..], &length.to_be_bytes(), &message].concat();
        let stream = self.next;
        http2::frame(&mut self.out, kind::HEADERS, flag::END_HEADERS, stream, &self.headers);
        http2::frame(&mut self.out, kind::DATA, flag::END_STREAM, stream, &body);
        self.credit = self.credit.saturating_sub(length.saturating_add(PREFIX as u32));
        self.next += 2;
        self.open.insert(
            stream,
            PartialMessage { asked: request.csv_name, prefix: Vec::new(), size: 0 },
        );
    }

    fn see(&mut self, head: Head, payload: &[u8]) -> Result<()> {
        match head.kind {
            kind::DATA => self.take(head, payload),
            kind::HEADERS if head.has(flag::END_STREAM) => self.end(head.stream),
            kind::SETTINGS if !head.has(flag::ACK) => {
                http2::frame(&mut self.out, kind::SETTINGS, flag::ACK, 0, &[]);
                Ok(())
            }
            kind::PING if !head.has(flag::ACK) => {
                http2::frame(&mut self.out, kind::PING, flag::ACK, 0, payload);
                Ok(())
            }
            kind::WINDOW_UPDATE if head.stream == 0 => {
                let bytes = payload.try_into().context("a window without a size")?;
                self.credit = self.credit.saturating_add(u32::from_be_bytes(bytes));
                Ok(())
            }
            kind::RST_STREAM | kind::GOAWAY => {
                bail!("the server ends stream {} or the connection: {payload:?}", head.stream)
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, head: Head, mut bytes: &[u8]) -> Result<()> {
        ensure!(!head.has(flag::PADDED), "padded answers are not understood");
        let answer = self.open.get_mut(&head.stream).context("an answer to no question")?;
        self.taken += u32::try_from(bytes.len())?;
        if self.taken >= TAKEN {
            http2::widen(&mut self.out, std::mem::take(&mut self.taken));
        }
        let missing = PREFIX - answer.prefix.len();
        if missing > 0 {
            let (now, rest) = bytes.split_at(missing.min(bytes.len()));
            answer.prefix.extend_from_slice(now);
            bytes = rest;
        }
        answer.size += bytes.len();
        Ok(())
    }

    /// An error comes without a message, and a cut answer is shorter than it says.
    fn end(&mut self, stream: u32) -> Result<()> {
        let answer = self.open.remove(&stream).context("an end of no answer")?;
        let whole = match answer.prefix.as_slice() {
            [0, length @ ..] if answer.size > 0 => <[u8; 4]>::try_from(length)
                .is_ok_and(|length| u32::from_be_bytes(length) as usize == answer.size),
            _ => false,
        };
        ensure!(whole, "{}: no whole answer, {} bytes", answer.asked, answer.size);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use tokio::net::TcpListener;

    use super::*;
    use crate::calls::request;
    use olm_catalog::fbc::ReadLimits;
    use olm_catalog::index::Index;
    use olm_catalog::registry::server::{ServerOptions, serve};

    /// More calls than are asked at once, and more than the first window of a connection takes.
    const CALLS: usize = 3_000;

    #[tokio::test]
    async fn all_are_answered_and_errors_are_seen() {
        let folder = Path::new("../../olm-catalog/tests/catalogs/peculiar");
        let index = Arc::new(Index::build(folder, &ReadLimits::default(), None).unwrap());
        let listed = (0..index.len()).map(|place| index.listed(place).unwrap().message().unwrap());
        let listed: Vec<_> = listed.collect();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server =
            tokio::spawn(serve(listener, index, ServerOptions::default(), std::future::pending()));
        let requests = listed.iter().cycle().take(CALLS).map(request).collect();
        Caller::connect(address).await.unwrap().get_all(requests, 16).await.unwrap();
        let mut unknown = request(&listed[0]);
        unknown.csv_name = "unknown".to_owned();
        let caller = Caller::connect(address).await.unwrap();
        let refused = caller.get_all(vec![unknown], 1).await.unwrap_err();
        assert_eq!(refused.to_string(), "unknown: no whole answer, 0 bytes");
        server.abort();
    }
}
