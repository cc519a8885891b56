//! Lists, written item by item: of an answer no more than a piece is in memory at once, however many
//! objects there are and however large they become.

use std::io::{self, Write};

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream;

use super::reply;
use super::resource::Item;
use super::status::Failure;

/// Behind the items of every list.
const END: &[u8] = b"]}";

type WriteItem = Box<dyn Fn(&dyn Item) -> Result<String, String> + Send>;

/// A list that is yet to be written.
pub(super) struct List {
    /// What stands before the items; nothing once it is written.
    start: String,
    items: std::vec::IntoIter<Box<dyn Item>>,
    write: WriteItem,
    is_first: bool,
    is_ended: bool,
}

impl List {
    /// A list that begins with `start`, which ends with the bracket before its items.
    pub(super) fn new(
        start: String,
        items: Vec<Box<dyn Item>>,
        write: impl Fn(&dyn Item) -> Result<String, String> + Send + 'static,
    ) -> Self {
        let items = items.into_iter();
        Self { start, items, write: Box::new(write), is_first: true, is_ended: false }
    }

    /// The answer: at once if it is small, else in pieces, packed when the caller understands that.
    ///
    /// # Errors
    /// An item among the first cannot be given. A later one ends the answer.
    pub(super) async fn answer(self, headers: &HeaderMap) -> Result<Response, Failure> {
        let (list, first) = self.advance().await.map_err(Failure::internal)?;
        if list.is_ended {
            return Ok(reply::json(first, headers));
        }
        let is_packed = reply::understands_gzip(headers);
        let packing = is_packed.then(|| GzEncoder::new(Vec::new(), Compression::fast()));
        let pieces = Pieces { list: Some(list), waiting: Some(first), packing };
        let pieces = stream::try_unfold(pieces, |pieces| pieces.next());
        Ok(reply::described(Body::from_stream(pieces), is_packed))
    }

    /// Writes items until there is a piece, away from the threads that others wait for.
    async fn advance(mut self) -> Result<(Self, Vec<u8>), String> {
        let work = crate::tasks::blocking(move || {
            let piece = self.piece()?;
            Ok((self, piece))
        });
        work.await.map_err(|error| error.to_string())?
    }

    fn piece(&mut self) -> Result<Vec<u8>, String> {
        let mut piece = std::mem::take(&mut self.start).into_bytes();
        while piece.len() < reply::PACKED_FROM {
            let Some(item) = self.items.next() else {
                piece.extend_from_slice(END);
                self.is_ended = true;
                break;
            };
            if !std::mem::take(&mut self.is_first) {
                piece.push(b',');
            }
            piece.extend_from_slice((self.write)(&*item)?.as_bytes());
        }
        Ok(piece)
    }
}

/// What is left of an answer.
struct Pieces {
    /// Nothing once the last piece was taken.
    list: Option<List>,
    /// A piece that was written and not sent.
    waiting: Option<Vec<u8>>,
    packing: Option<GzEncoder<Vec<u8>>>,
}

impl Pieces {
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        loop {
            let Some(piece) = self.waiting.take() else { return Ok(None) };
            let list = self.list.take().filter(|list| !list.is_ended);
            let bytes = self.pack(piece, list.is_none())?;
            if let Some(list) = list {
                let (list, piece) = list.advance().await.map_err(io::Error::other)?;
                (self.list, self.waiting) = (Some(list), Some(piece));
            }
            if !bytes.is_empty() {
                return Ok(Some((bytes.into(), self)));
            }
        }
    }

    /// The bytes that a piece becomes; none while the packer gathers them.
    fn pack(&mut self, piece: Vec<u8>, is_last: bool) -> io::Result<Vec<u8>> {
        let Some(mut packing) = self.packing.take() else { return Ok(piece) };
        packing.write_all(&piece)?;
        if is_last {
            return packing.finish();
        }
        let packed = std::mem::take(packing.get_mut());
        self.packing = Some(packing);
        Ok(packed)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Read;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::http::HeaderValue;
    use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING};
    use flate2::read::GzDecoder;
    use futures::{StreamExt, TryStreamExt};
    use rstest::rstest;
    use serde_json::value::RawValue;
    use serde_json::{Value, json};

    use super::*;

    /// An object of a size.
    struct Sized(usize, BTreeMap<String, String>);

    impl Item for Sized {
        fn name(&self) -> &str {
            "it"
        }

        fn namespace(&self) -> &str {
            "ns"
        }

        fn labels(&self) -> &BTreeMap<String, String> {
            &self.1
        }

        fn metadata(&self) -> Value {
            json!({})
        }

        fn cells(&self) -> Vec<String> {
            Vec::new()
        }

        fn object(&self) -> Result<Box<RawValue>, String> {
            match self.0 {
                0 => Err("it is damaged".to_owned()),
                size => Ok(RawValue::from_string(json!("x".repeat(size)).to_string()).unwrap()),
            }
        }
    }

    fn list(sizes: &[usize], written: &Arc<AtomicUsize>) -> List {
        let items =
            sizes.iter().map(|size| Box::new(Sized(*size, BTreeMap::new())) as Box<dyn Item>);
        let written = Arc::clone(written);
        List::new("{\"items\":[".to_owned(), items.collect(), move |item| {
            written.fetch_add(1, Ordering::Relaxed);
            Ok(item.object()?.get().to_owned())
        })
    }

    fn gzip(is_understood: bool) -> HeaderMap {
        let value = HeaderValue::from_static("gzip");
        is_understood.then_some((ACCEPT_ENCODING, value)).into_iter().collect()
    }

    #[rstest]
    #[case::empty(&[])]
    #[case::small(&[1, 2])]
    #[case::one_large(&[300_000])]
    #[case::many(&[50_000; 20])]
    #[tokio::test]
    async fn all_items_are_in_the_answer(
        #[case] sizes: &[usize],
        #[values(true, false)] is_packed: bool,
    ) {
        let answer = list(sizes, &Arc::default()).answer(&gzip(is_packed)).await.unwrap();
        let encoded = answer.headers().contains_key(CONTENT_ENCODING);
        let pieces: Vec<Bytes> = answer.into_body().into_data_stream().try_collect().await.unwrap();
        let bytes = pieces.concat();
        let mut text = String::new();
        match encoded {
            true => GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap(),
            false => (&bytes[..]).read_to_string(&mut text).unwrap(),
        };
        let value: Value = serde_json::from_str(&text).unwrap();
        let found = value["items"].as_array().unwrap().iter().map(|it| it.as_str().unwrap().len());
        assert_eq!(found.collect::<Vec<_>>(), sizes);
        assert_eq!(encoded, is_packed && sizes.iter().sum::<usize>() > 200_000);
    }

    #[tokio::test]
    async fn no_more_is_written_than_the_caller_takes() {
        let written = Arc::default();
        let answer = list(&[100_000; 1_000], &written).answer(&gzip(false)).await.unwrap();
        let mut body = answer.into_body().into_data_stream();
        assert!(body.next().await.unwrap().is_ok());
        assert!(written.load(Ordering::Relaxed) < 10, "{written:?} of a thousand are written");
    }

    #[tokio::test]
    async fn a_damaged_item_is_an_error_at_first_and_later_the_end() {
        assert!(list(&[0], &Arc::default()).answer(&gzip(false)).await.is_err());
        let sizes = [200_000, 200_000, 200_000, 0];
        let answer = list(&sizes, &Arc::default()).answer(&gzip(false)).await.unwrap();
        let pieces: Result<Vec<Bytes>, _> =
            answer.into_body().into_data_stream().try_collect().await;
        assert!(pieces.is_err());
    }
}
