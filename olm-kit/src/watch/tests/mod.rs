//! Stores without a server.

mod oracle;
mod started;

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ObjectMeta;
use parking_lot::Mutex;
use serde_json::json;

use super::fill::{Fill, Filled};
use super::*;

fn object(name: &str, uid: &str, version: u64) -> ConfigMap {
    let metadata = ObjectMeta {
        namespace: Some("ns".to_owned()),
        name: Some(name.to_owned()),
        uid: Some(uid.to_owned()),
        resource_version: Some(version.to_string()),
        ..ObjectMeta::default()
    };
    ConfigMap { metadata, ..ConfigMap::default() }
}

type Log = Arc<Mutex<Vec<String>>>;

/// A store whose changes are written down as `name old->new` with resource versions.
fn logged(objects: impl IntoIterator<Item = ConfigMap>) -> (Store<ConfigMap>, Log) {
    let (store, log) = (Store::with_objects(objects), Log::default());
    let written = log.clone();
    store.on_change(move |change| written.lock().push(line(change)));
    (store, log)
}

fn line(change: &Change<ConfigMap>) -> String {
    let version = |side: &Option<Arc<ConfigMap>>| {
        let meta = side.as_ref().map(|object| &object.metadata);
        meta.and_then(|meta| meta.resource_version.clone()).unwrap_or("-".to_owned())
    };
    let name = change.latest().and_then(|object| object.metadata.name.clone()).unwrap();
    format!("{name} {}->{}", version(&change.old), version(&change.new))
}

fn take(log: &Log) -> Vec<String> {
    std::mem::take(&mut *log.lock())
}

fn relist(store: &Store<ConfigMap>, objects: impl IntoIterator<Item = ConfigMap>) {
    store.begin_list();
    objects.into_iter().for_each(|object| store.list_one(object));
    store.end_list();
}

#[test]
fn reading_is_ordered() {
    let mut other = object("z", "u", 1);
    other.metadata.namespace = Some("aa".to_owned());
    let store = Store::with_objects([object("b", "u", 1), object("a", "u", 1), other]);
    let names = |objects: Vec<Arc<ConfigMap>>| -> Vec<String> {
        objects.iter().map(|object| object.metadata.name.clone().unwrap()).collect()
    };
    assert_eq!(names(store.list()), ["z", "a", "b"]);
    assert_eq!(names(store.list_in("ns")), ["a", "b"]);
    assert_eq!(names(store.list_in("n")), Vec::<String>::new());
    assert!(store.get(Some("aa"), "z").is_some() && store.get(None, "z").is_none());
    assert!(store.is_synced());
}

#[test]
fn listeners_hear_changes_and_nothing_else() {
    let (store, log) = logged([object("a", "u", 5)]);
    store.apply(object("a", "u", 5));
    store.apply(object("a", "u", 6));
    store.delete(&object("a", "u", 7).metadata);
    store.delete(&object("a", "u", 7).metadata);
    assert_eq!(take(&log), ["a 5->6", "a 6->-"]);
}

#[test]
fn a_relist_reports_what_happened_in_the_gap() {
    let (store, log) =
        logged([object("gone", "u", 1), object("same", "u", 2), object("new", "u", 3)]);
    relist(&store, [object("same", "u", 2), object("new", "u", 9), object("more", "u", 8)]);
    assert_eq!(take(&log), ["new 3->9", "more -->8", "gone 1->-"]);
}

#[test]
fn a_relist_after_a_restore_goes_back_in_time() {
    let (store, log) = logged([object("a", "u", 90)]);
    relist(&store, [object("a", "u", 40)]);
    assert_eq!(take(&log), ["a 90->40"]);
}

#[test]
fn own_writes_are_read_back() {
    let (store, log) = logged([object("a", "u", 5)]);
    store.insert_written(object("a", "u", 7));
    store.insert_written(object("a", "u", 6));
    store.apply(object("a", "u", 6));
    store.apply(object("a", "u", 7));
    store.insert_written(object("b", "u", 8));
    assert_eq!(take(&log), ["a 5->7", "b -->8"]);
}

#[test]
fn what_the_process_wrote_is_not_read_again() {
    let (store, log) = logged([object("a", "u", 5)]);
    store.insert_written(object("a", "u", 7));
    let filled = Filled::<ConfigMap, ConfigMap>::new(store.clone());
    assert!(filled.is_known(&object("a", "u", 7).metadata));
    assert!(store.unconfirmed().is_empty(), "the watch has reported it");
    for other in [object("a", "u", 6), object("a", "u", 8), object("b", "u", 7)] {
        assert!(!filled.is_known(&other.metadata), "{:?} is read", other.metadata);
    }
    assert_eq!(take(&log), ["a 5->7"]);
}

#[test]
fn a_deleted_object_stays_deleted() {
    let (store, log) = logged([object("a", "u1", 5)]);
    store.delete(&object("a", "u1", 8).metadata);
    store.insert_written(object("a", "u1", 7));
    assert_eq!(take(&log), ["a 5->-"]);
    store.insert_written(object("a", "u2", 9));
    store.delete(&object("a", "u1", 8).metadata);
    assert_eq!(take(&log), ["a -->9"], "a late deletion of the old one");
}

#[test]
fn an_object_that_vanished_in_a_gap_stays_gone() {
    let (store, log) = logged([object("a", "u1", 5)]);
    relist(&store, []);
    store.insert_written(object("a", "u1", 6));
    assert_eq!(take(&log), ["a 5->-"]);
}

#[test]
fn a_list_older_than_a_write_leaves_the_object_unconfirmed() {
    let (store, log) = logged([]);
    store.begin_list();
    store.insert_written(object("a", "u", 9));
    store.end_list();
    assert_eq!(take(&log), ["a -->9"]);
    let unconfirmed = store.unconfirmed().pop_first().unwrap();
    store.apply(object("a", "u", 9));
    store.drop_unconfirmed(&unconfirmed);
    assert_eq!(store.len(), 1, "confirmed meanwhile");
    store.insert_written(object("a", "u", 10));
    store.drop_unconfirmed(&unconfirmed);
    assert_eq!(store.len(), 1, "written meanwhile");
    let unconfirmed = store.unconfirmed().pop_first().unwrap();
    store.drop_unconfirmed(&unconfirmed);
    assert_eq!(take(&log), ["a 9->10", "a 10->-"]);
}

#[test]
fn a_malformed_version_keeps_the_last_good_one() {
    let (store, log) = logged([object("a", "u", 5)]);
    let bad = object("a", "u", 6).metadata;
    assert!(store.reject(&bad, "spec: wrong".to_owned()));
    assert!(!store.reject(&bad, "spec: wrong".to_owned()), "reported once");
    assert_eq!((store.len(), store.malformed().len()), (1, 1));
    store.begin_list();
    store.reject(&bad, "spec: wrong".to_owned());
    store.end_list();
    assert_eq!((store.len(), store.malformed().len()), (1, 1));
    store.apply(object("a", "u", 7));
    assert_eq!((take(&log), store.malformed()), (vec!["a 5->7".to_owned()], vec![]));
}

/// What the process wrote may be more than the watch reads. It is there all the same, and need not be looked for.
#[test]
fn a_malformed_version_confirms_what_is_here_unless_that_is_newer() {
    let (store, log) = logged([object("a", "u", 5)]);
    store.insert_written(object("a", "u", 7));
    store.reject(&object("a", "u", 6).metadata, "spec: wrong".to_owned());
    assert_eq!(store.unconfirmed().len(), 1, "an older version");
    for version in [7, 9] {
        store.insert_written(object("a", "u", version));
        store.reject(&object("a", "u", version).metadata, "spec: wrong".to_owned());
        assert!(store.unconfirmed().is_empty(), "version {version}");
    }
    assert_eq!(take(&log), ["a 5->7", "a 7->9"]);
}

#[test]
fn absorbed_values_are_read_as_the_kind() {
    let (store, log) = logged([]);
    store.absorb_value(&serde_json::to_value(object("a", "u", 3)).unwrap());
    store.absorb_value(&json!({"metadata": {"name": "b"}, "data": 7}));
    let owners = vec![json!({}); 150_000];
    store.absorb_value(&json!({"metadata": {"name": "c", "ownerReferences": owners}}));
    assert_eq!(take(&log), ["a -->3"]);
}
