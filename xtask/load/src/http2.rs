//! As much of HTTP/2 (RFC 9113) as a caller needs that asks for single messages and does not look
//! into the answers. Headers are written in a form that needs no table (RFC 7541), and never read.

/// What a client says first.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Length of what stands in front of each frame, in bytes.
const HEAD: usize = 9;

/// The largest window there is, in bytes.
const LARGEST_WINDOW: u32 = (1 << 31) - 1;

/// The window that there is when neither side sets one, in bytes.
pub(crate) const FIRST_WINDOW: u32 = (1 << 16) - 1;

/// Types of frames.
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const RST_STREAM: u8 = 3;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const WINDOW_UPDATE: u8 = 8;
}

/// Flags of frames. The same bit says that a stream ends and that something is acknowledged.
pub(crate) mod flag {
    pub(crate) const END_STREAM: u8 = 1;
    pub(crate) const ACK: u8 = 1;
    pub(crate) const END_HEADERS: u8 = 4;
    pub(crate) const PADDED: u8 = 8;
}

/// What stands in front of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) length: usize,
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
}

impl Head {
    fn of(bytes: [u8; HEAD]) -> Self {
        let [a, b, c, kind, flags, stream @ ..] = bytes;
        let length = u32::from_be_bytes([0, a, b, c]) as usize;
        Self { length, kind, flags, stream: u32::from_be_bytes(stream) & LARGEST_WINDOW }
    }

    /// Whether a flag is set.
    pub(crate) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Takes what a server sends apart, in pieces of any size.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The frame that has begun, and how much of it is still to come.
    current: Option<(Head, usize)>,
    /// Bytes of a head, or of a frame other than DATA, that is not all there yet.
    kept: Vec<u8>,
}

impl Frames {
    /// Shows the frames in `bytes`: all of each at its end, but DATA piece by piece.
    pub(crate) fn read<E>(
        &mut self,
        mut bytes: &[u8],
        mut see: impl FnMut(Head, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let Some((head, missing)) = self.current else {
                let (now, rest) = split(bytes, HEAD - self.kept.len());
                self.kept.extend_from_slice(now);
                bytes = rest;
                let Ok(head) = <[u8; HEAD]>::try_from(self.kept.as_slice()) else { return Ok(()) };
                self.kept.clear();
                let head = Head::of(head);
                self.current = Some((head, head.length));
                continue;
            };
            let (now, rest) = split(bytes, missing);
            let missing = missing - now.len();
            self.current = (missing > 0).then_some((head, missing));
            bytes = rest;
            if head.kind == kind::DATA {
                see(head, now)?;
            } else {
                self.kept.extend_from_slice(now);
                if missing == 0 {
                    see(head, &std::mem::take(&mut self.kept))?;
                }
            }
            if missing > 0 {
                return Ok(());
            }
        }
    }
}

fn split(bytes: &[u8], at: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(at).unwrap_or((bytes, &[]))
}

/// Adds a frame.
pub(crate) fn frame(out: &mut Vec<u8>, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
    out.extend_from_slice(payload);
}

/// What a connection begins with: windows as large as they can be, no table of headers, nothing
/// that was not asked for.
pub(crate) fn beginning() -> Vec<u8> {
    let settings = [(1_u16, 0_u32), (2, 0), (4, LARGEST_WINDOW)];
    let settings: Vec<u8> = settings
        .iter()
        .flat_map(|(name, value)| [&name.to_be_bytes()[..], &value.to_be_bytes()].concat())
        .collect();
    let mut out = PREFACE.to_vec();
    frame(&mut out, kind::SETTINGS, 0, 0, &settings);
    widen(&mut out, LARGEST_WINDOW - FIRST_WINDOW);
    out
}

/// Lets the server send so much more, in bytes.
pub(crate) fn widen(out: &mut Vec<u8>, bytes: u32) {
    frame(out, kind::WINDOW_UPDATE, 0, 0, &bytes.to_be_bytes());
}

/// The headers of a call.
pub(crate) fn call_headers(authority: &str, path: &str) -> Vec<u8> {
    // Places in the static table: `:method: POST` and `:scheme: http` whole, then names alone.
    let mut out = vec![0x80 | 3, 0x80 | 6];
    let mut named = |name: &[u8], value: &str| {
        out.extend_from_slice(name);
        text(&mut out, value);
    };
    named(&[4], path);
    named(&[1], authority);
    named(&[0x0f, 31 - 0x0f], "application/grpc");
    named(b"\0\x02te", "trailers");
    out
}

/// A text as it is: its length and its bytes.
fn text(out: &mut Vec<u8>, value: &str) {
    let mut length = value.len();
    if length < 0x7f {
        out.push(length as u8);
    } else {
        out.push(0x7f);
        length -= 0x7f;
        while length >= 0x80 {
            out.push((length & 0x7f) as u8 | 0x80);
            length >>= 7;
        }
        out.push(length as u8);
    }
    out.extend_from_slice(value.as_bytes());
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rstest::rstest;

    use super::*;

    /// Read in pieces of any size, frames are the same.
    #[rstest]
    fn frames(#[values(1, 3, 8, 9, 10, 100)] size: usize) {
        let mut bytes = Vec::new();
        frame(&mut bytes, kind::SETTINGS, 0, 0, b"");
        frame(&mut bytes, kind::DATA, flag::END_STREAM, 5, b"0123456789abcdef");
        frame(&mut bytes, kind::PING, flag::ACK, 0, b"12345678");
        let mut seen: Vec<(u8, u32, bool, Vec<u8>)> = Vec::new();
        let mut frames = Frames::default();
        for piece in bytes.chunks(size) {
            let see = |head: Head, bytes: &[u8]| {
                match seen.last_mut() {
                    Some(last) if last.0 == head.kind => last.3.extend_from_slice(bytes),
                    _ => seen.push((head.kind, head.stream, head.has(1), bytes.to_vec())),
                }
                Ok::<_, Infallible>(())
            };
            frames.read(piece, see).unwrap();
        }
        let expected = [
            (kind::SETTINGS, 0, false, b"".to_vec()),
            (kind::DATA, 5, true, b"0123456789abcdef".to_vec()),
            (kind::PING, 0, true, b"12345678".to_vec()),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn long_texts_have_long_lengths() {
        for (length, front) in [(5, vec![5]), (127, vec![127, 0]), (400, vec![127, 0x91, 2])] {
            let mut out = Vec::new();
            text(&mut out, &"x".repeat(length));
            assert_eq!(out[..front.len()], front, "{length}");
            assert_eq!(out.len(), front.len() + length);
        }
    }
}
