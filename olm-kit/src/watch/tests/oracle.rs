//! A model API server decides: whatever happens to a watch, in the end the store holds what the
//! server holds.

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;

use super::*;
use crate::ObjectKey;

/// What can happen to the server and to the watch on it.
#[derive(Clone, Debug)]
enum Step {
    /// The process writes an object; the answer arrives later.
    Write(u8),
    /// A client deletes an object.
    Delete(u8),
    /// The answer to the oldest write arrives.
    Respond,
    /// The watch delivers the next event.
    Event,
    /// The watch is interrupted and lists anew; events not yet delivered are skipped. In between,
    /// this many answers arrive.
    Relist(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let name = 0..3u8;
    prop_oneof![
        4 => name.clone().prop_map(Step::Write),
        2 => name.clone().prop_map(Step::Delete),
        3 => Just(Step::Respond),
        4 => Just(Step::Event),
        1 => name.prop_map(Step::Relist),
    ]
}

#[derive(Clone)]
enum Event {
    Apply(ConfigMap),
    Delete(ConfigMap),
}

#[derive(Default)]
struct Server {
    version: u64,
    objects: BTreeMap<u8, ConfigMap>,
    events: VecDeque<Event>,
    answers: VecDeque<ConfigMap>,
}

impl Server {
    fn write(&mut self, name: u8) {
        self.version += 1;
        let existing = self.objects.get(&name).and_then(|map| map.metadata.uid.clone());
        let uid = existing.unwrap_or_else(|| format!("uid-{}", self.version));
        let written = object(&name.to_string(), &uid, self.version);
        self.objects.insert(name, written.clone());
        self.events.push_back(Event::Apply(written.clone()));
        self.answers.push_back(written);
    }

    fn delete(&mut self, name: u8) {
        if let Some(mut gone) = self.objects.remove(&name) {
            self.version += 1;
            gone.metadata.resource_version = Some(self.version.to_string());
            self.events.push_back(Event::Delete(gone));
        }
    }

    fn answer(&mut self, store: &Store<ConfigMap>) {
        self.answers.pop_front().into_iter().for_each(|object| store.insert_written(object));
    }

    fn event(&mut self, store: &Store<ConfigMap>) {
        match self.events.pop_front() {
            Some(Event::Apply(object)) => store.apply(object),
            Some(Event::Delete(object)) => store.delete(&object.metadata),
            None => {}
        }
    }

    fn relist(&mut self, store: &Store<ConfigMap>, answers: u8) {
        self.events.clear();
        store.begin_list();
        let listed: Vec<_> = self.objects.values().cloned().collect();
        (0..answers).for_each(|_| self.answer(store));
        listed.into_iter().for_each(|object| store.list_one(object));
        store.end_list();
    }

    fn converge(&mut self, store: &Store<ConfigMap>) {
        while !self.answers.is_empty() {
            self.answer(store);
        }
        while !self.events.is_empty() {
            self.event(store);
        }
        for suspect in store.unconfirmed() {
            match self.objects.values().find(|map| ObjectKey::of(*map) == suspect.key) {
                Some(object) => store.apply(object.clone()),
                None => store.drop_unconfirmed(&suspect),
            }
        }
    }
}

proptest! {
    #[test]
    fn the_store_converges_to_the_server(steps in prop::collection::vec(step(), 0..40)) {
        let (mut server, store) = (Server::default(), Store::with_objects([]));
        let listeners = Arc::new(Mutex::new(BTreeMap::new()));
        let seen = listeners.clone();
        store.on_change(move |change: &Change<ConfigMap>| {
            let key = ObjectKey::of(&**change.latest().unwrap());
            let known = match &change.new {
                Some(new) => seen.lock().insert(key, new.clone()),
                None => seen.lock().remove(&key),
            };
            assert_eq!(known, change.old, "a listener was notified of something else before");
        });
        for step in steps {
            match step {
                Step::Write(name) => server.write(name),
                Step::Delete(name) => server.delete(name),
                Step::Respond => server.answer(&store),
                Step::Event => server.event(&store),
                Step::Relist(answers) => server.relist(&store, answers),
            }
        }
        server.converge(&store);
        let held: Vec<_> = store.list().iter().map(|map| (**map).clone()).collect();
        let expected: Vec<_> = server.objects.into_values().collect();
        prop_assert_eq!(&held, &expected);
        let reported: Vec<_> = listeners.lock().values().map(|map| (**map).clone()).collect();
        prop_assert_eq!(reported, expected);
    }
}
