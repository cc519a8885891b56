//! Answers of the API server that every reader can read.
//!
//! An API server takes objects that nest ten thousand levels where a definition lets fields be anything,
//! and a reader of JSON that calls itself for each level has to give up long before. In a list it gives
//! up all of it: one object of one tenant would leave the operator blind to its kind, in all namespaces,
//! deleted. So what is nested deeper than any manifest may be
//! (`olm_types::document::Budget`) reads as `null`; where that is not allowed, the object is malformed,
//! and it alone.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http::Response;
use http::header::CONTENT_TYPE;
use hyper::body::{Body, Bytes, Frame};

/// Most nested maps and lists of an answer. `serde_json` reads 127; in a list, an object begins at the
/// third, and manifests have 120.
const MOST_NESTED: usize = 125;

/// What stands in the place of what is nested deeper.
const NOTHING: &[u8] = b"null";

/// An answer without what is nested too deep. Other formats than JSON stay as they are.
pub(super) fn shallow<B>(answer: Response<B>) -> Response<Shallow<B>> {
    let format = answer.headers().get(CONTENT_TYPE).map(|format| format.as_bytes());
    let is_json = format.is_some_and(|format| format.starts_with(b"application/json"));
    answer.map(|body| Shallow { body, cut: is_json.then(Cut::default) })
}

/// The body of an answer, of one object, a list or any number of events.
pub(super) struct Shallow<B> {
    body: B,
    cut: Option<Cut>,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Shallow<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let Self { body, cut } = self.get_mut();
        let frame = ready!(Pin::new(body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            frame.map(|frame| match cut {
                Some(cut) => frame.map_data(|data| cut.pass(data)),
                None => frame,
            })
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}

/// Where in JSON text, which may arrive in any pieces, the next byte stands.
#[derive(Default)]
struct Cut {
    /// Open maps and lists.
    depth: usize,
    /// Inside of a text.
    in_text: bool,
    /// After a backslash of a text.
    is_escaped: bool,
}

impl Cut {
    /// The next piece, without what is nested too deep in it.
    fn pass(&mut self, piece: Bytes) -> Bytes {
        // Nearly no piece has any of it, and those are not copied.
        let Some(first) = piece.iter().position(|byte| self.leaves_out(*byte)) else {
            return piece;
        };
        let (head, tail) = piece.split_at(first);
        let mut left = head.to_vec();
        let Some((begin, tail)) = tail.split_first() else { return piece };
        self.replace(*begin, &mut left);
        for byte in tail {
            match self.leaves_out(*byte) {
                true => self.replace(*byte, &mut left),
                false => left.push(*byte),
            }
        }
        left.into()
    }

    /// Takes in a byte, and says whether it is nested too deep.
    fn leaves_out(&mut self, byte: u8) -> bool {
        let was_deep = self.depth > MOST_NESTED;
        if self.in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return was_deep;
        }
        match byte {
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        was_deep || self.depth > MOST_NESTED
    }

    /// Leaves a byte out; the first one of a map or a list gives way to what stands for all of it.
    fn replace(&self, byte: u8, left: &mut Vec<u8>) {
        let opens = !self.in_text && matches!(byte, b'{' | b'[');
        if opens && self.depth == MOST_NESTED + 1 {
            left.extend_from_slice(NOTHING);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rstest::rstest;
    use serde_json::Value;

    /// What is left of a text that arrives in pieces of these lengths, again and again.
    fn left_of(text: &str, lengths: &[usize]) -> String {
        let (mut cut, mut rest, mut left) = (Cut::default(), text.as_bytes(), Vec::new());
        for length in lengths.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*length).clamp(1, rest.len()));
            left.extend_from_slice(&cut.pass(Bytes::copy_from_slice(piece)));
            rest = after;
        }
        String::from_utf8(left).unwrap()
    }

    /// A value inside of so many lists.
    fn nested(levels: usize, value: &str) -> String {
        format!("{}{value}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[rstest]
    #[case::shallow(r#"{"a":[1,{"b":"]}"}]}"#.to_owned(), r#"{"a":[1,{"b":"]}"}]}"#.to_owned())]
    #[case::just_as_deep(nested(MOST_NESTED, "7"), nested(MOST_NESTED, "7"))]
    #[case::a_level_too_many(nested(MOST_NESTED + 1, "7"), nested(MOST_NESTED, "null"))]
    #[case::many(nested(9_000, r#"{"a":"\"]"}"#), nested(MOST_NESTED, "null"))]
    #[case::brackets_in_texts(
        format!(r#"{{"a":"{}\\\"{}"}}"#, "[".repeat(200), "{".repeat(200)),
        format!(r#"{{"a":"{}\\\"{}"}}"#, "[".repeat(200), "{".repeat(200))
    )]
    #[case::what_follows_stays(
        format!("{{\"a\":{},\"b\":[1,2]}}\n{{\"c\":3}}\n", nested(200, "7")),
        format!("{{\"a\":{},\"b\":[1,2]}}\n{{\"c\":3}}\n", nested(MOST_NESTED - 1, "null"))
    )]
    fn what_is_nested_too_deep_reads_as_null(#[case] text: String, #[case] expected: String) {
        for lengths in [vec![usize::MAX], vec![1], vec![3, 1, 7]] {
            assert_eq!(left_of(&text, &lengths), expected, "{lengths:?}");
        }
        for document in expected.lines() {
            serde_json::from_str::<Value>(document).unwrap();
        }
    }

    #[test]
    fn only_json_is_looked_at() {
        let of = |format: &str| {
            let answer = Response::builder().header(CONTENT_TYPE, format).body(()).unwrap();
            shallow(answer).into_body().cut.is_some()
        };
        assert_eq!(
            ["application/json", "application/json;stream=watch", "text/plain"].map(of),
            [true, true, false]
        );
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ];
        leaf.prop_recursive(6, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// What is not deep stays byte for byte, wherever it is inside, and however it arrives.
        #[test]
        fn the_rest_stays(value in value(), around in 0_usize..300, lengths in prop::collection::vec(1_usize..50, 1..5)) {
            let text = nested(around, &value.to_string());
            let left = left_of(&text, &lengths);
            let read: Value = serde_json::from_str(&left).unwrap();
            if around + 8 <= MOST_NESTED {
                prop_assert_eq!(&left, &text);
            }
            prop_assert_eq!(read.to_string(), left);
        }
    }
}
