//! Texts in any pieces against what is read of them as a whole.

use kube::client::ClientBuilder;
use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::filter::MOST_NESTED;
use super::*;

/// What the tests leave out beside `managedFields`.
const LEFT_OUT: [&[&str]; 3] =
    [&["spec", "versions", "*", "schema"], &["spec", "icon"], &["status"]];

/// What is left of a text that arrives in pieces of these lengths, again and again.
fn left_of(text: &str, lengths: &[usize]) -> String {
    let fields = Fields::of(&LEFT_OUT);
    let (mut filter, mut rest, mut left) = (Filter::new(fields), text.as_bytes(), Vec::new());
    for length in lengths.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).clamp(1, rest.len()));
        left.extend_from_slice(&filter.pass(Bytes::copy_from_slice(piece)));
        rest = after;
    }
    String::from_utf8(left).unwrap()
}

/// The same by reading it: the oracle.
fn read_and_left(text: &str) -> Value {
    let mut answer: Value = serde_json::from_str(text).unwrap();
    leave_out(&mut answer);
    if let Some(object) = answer.get_mut("object") {
        leave_out(object);
    }
    for object in answer.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten() {
        leave_out(object);
    }
    answer
}

fn leave_out(object: &mut Value) {
    let remove = |value: Option<&mut Value>, name: &str| {
        value.and_then(Value::as_object_mut).and_then(|fields| fields.remove(name));
    };
    remove(object.get_mut("metadata"), "managedFields");
    remove(Some(object), "status");
    remove(object.get_mut("spec"), "icon");
    let versions = object.pointer_mut("/spec/versions").and_then(Value::as_array_mut);
    versions.into_iter().flatten().for_each(|version| remove(Some(version), "schema"));
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
#[case::the_first_and_the_last_field(
    r#"{"status":[{"a":"}"}],"b":1,"spec":{"icon":"x","versions":[{"schema":{"a":[1]}},{"n":1,"schema":0,"m":2}]}}"#.to_owned(),
    r#"{"b":1,"spec":{"versions":[{},{"n":1,"m":2}]}}"#.to_owned()
)]
#[case::events(
    "{\"type\":\"ADDED\",\"object\":{\"status\":{},\"metadata\":{\"managedFields\":[],\"name\":\"a\"}}}\n{\"status\" : 1 , \"a\" : 2 }\n".to_owned(),
    "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"a\"}}}\n{ \"a\" : 2 }\n".to_owned()
)]
#[case::the_same_names_elsewhere(
    r#"{"a":{"status":1},"items":[{"b":{"status":1},"status":2}],"spec":{"versions":{"schema":1}}}"#.to_owned(),
    r#"{"a":{"status":1},"items":[{"b":{"status":1}}],"spec":{"versions":{"schema":1}}}"#.to_owned()
)]
#[case::no_json_at_all("]},,\"{[}".to_owned(), "]},,\"{[}".to_owned())]
fn texts_are_filtered(#[case] text: String, #[case] expected: String) {
    for lengths in [vec![usize::MAX], vec![1], vec![3, 1, 7]] {
        assert_eq!(left_of(&text, &lengths), expected, "{lengths:?}");
    }
}

#[test]
fn only_json_is_looked_at() {
    let of = |format: &str| {
        let answer = Response::builder().header(CONTENT_TYPE, format).body(()).unwrap();
        filtered(answer, Fields::default()).into_body().filter.is_some()
    };
    assert_eq!(
        ["application/json", "application/json;stream=watch", "text/plain"].map(of),
        [true, true, false]
    );
}

#[tokio::test]
async fn a_client_without_fields_asks_for_it() {
    let object = json!({"metadata": {"name": "a", "managedFields": []}, "status": {}});
    let script = crate::scripted::Script::new()
        .answer("GET /a", 200, object.clone())
        .header("content-type", "application/json")
        .answer("GET /a", 200, object)
        .header("content-type", "application/json");
    let served = script.client();
    let served = service_fn(move |request| {
        let served = served.clone();
        async move { served.send(request).await }
    });
    let client = ClientBuilder::new(served, "default").with_layer(&AnswerLayer::default()).build();
    let get = async |client: &Client| {
        let request = Request::get("/a").body(Vec::new()).unwrap();
        client.request::<Value>(request).await.unwrap()
    };
    let metadata = json!({"name": "a"});
    assert_eq!(get(&client).await, json!({"metadata": metadata, "status": {}}));
    let without = without(&client, &Fields::of(&[&["status"]]));
    assert_eq!(get(&without).await, json!({"metadata": metadata}));
}

/// Objects with names that matter, in places where they do and where they do not.
fn value() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "metadata",
        "managedFields",
        "spec",
        "versions",
        "schema",
        "icon",
        "status",
        "items",
        "object",
        "a\"",
        "\\",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        ".*".prop_map(Value::from)
    ];
    leaf.prop_recursive(7, 60, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.clone(), inner.clone(), 0..6).prop_map(map),
            prop::collection::btree_map(".*", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn map(fields: std::collections::BTreeMap<&str, Value>) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

proptest! {
    /// Whatever arrives in whatever pieces, what is left is what a reader would have left of it.
    #[test]
    fn what_is_left_is_what_is_read(value in value(), pretty in any::<bool>(), lengths in prop::collection::vec(1_usize..50, 1..5)) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let left: Value = serde_json::from_str(&left_of(&text, &lengths)).unwrap();
        prop_assert_eq!(left, read_and_left(&text));
    }

    /// What is not deep stays byte for byte, wherever it is inside, and however it arrives.
    #[test]
    fn the_rest_stays(value in value(), around in 2_usize..300, lengths in prop::collection::vec(1_usize..50, 1..5)) {
        let text = nested(around, &value.to_string());
        let left = left_of(&text, &lengths);
        let read: Value = serde_json::from_str(&left).unwrap();
        if around + 9 <= MOST_NESTED {
            prop_assert_eq!(&left, &text);
        }
        prop_assert_eq!(read.to_string(), left);
    }

    /// Bytes that are no JSON neither panic nor get longer.
    #[test]
    fn anything_passes(bytes in prop::collection::vec(prop::sample::select(b"{}[],:\"\\ astu\n".to_vec()), 0..200), lengths in prop::collection::vec(1_usize..9, 1..4)) {
        let text = String::from_utf8(bytes).unwrap();
        let nested = text.matches(['[', '{']).count();
        let most = text.len() + 4 * nested;
        prop_assert!(left_of(&text, &lengths).len() <= most);
    }
}
