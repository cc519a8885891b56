//! Sessions in memory: bounded, and over when they were not used for a while.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch::{self, Receiver, Sender};
use tokio::time::Instant;

/// Sessions at once.
const SESSIONS: usize = 200;

/// How long a session lasts that is not used.
pub(super) const IDLE: Duration = Duration::from_secs(30 * 60);

/// The digest of a secret that leads to a session.
pub(super) type Key = [u8; 32];

/// All sessions of a server.
#[derive(Debug)]
pub(super) struct Sessions<T>(Mutex<State<T>>);

#[derive(Debug)]
struct State<T> {
    sessions: HashMap<Key, Session<T>>,
    /// How many there ever were.
    count: u64,
}

#[derive(Debug)]
struct Session<T> {
    user: T,
    used: Instant,
    /// Goes with the session, which ends what is sent to its pages.
    _alive: Sender<()>,
}

impl<T: Clone> Sessions<T> {
    /// There is none.
    pub(super) fn new() -> Self {
        Self(Mutex::new(State { sessions: HashMap::new(), count: 0 }))
    }

    /// The user of a session. A page that reads itself anew is no use of it.
    pub(super) fn find(&self, key: &Key, is_use: bool, now: Instant) -> Option<T> {
        let mut state = self.state();
        state.sweep(now);
        let session = state.sessions.get_mut(key)?;
        if is_use {
            session.used = now;
        }
        Some(session.user.clone())
    }

    /// Begins a session; nothing if there are too many. The user is made of its number and its end.
    pub(super) fn begin(
        &self,
        key: Key,
        now: Instant,
        make: impl FnOnce(u64, Receiver<()>) -> T,
    ) -> Option<T> {
        let mut state = self.state();
        state.sweep(now);
        // Another request with the same token was faster.
        if let Some(session) = state.sessions.get_mut(&key) {
            session.used = now;
            return Some(session.user.clone());
        }
        if state.sessions.len() >= SESSIONS {
            return None;
        }
        state.count += 1;
        let (alive, end) = watch::channel(());
        let user = make(state.count, end);
        let session = Session { user: user.clone(), used: now, _alive: alive };
        state.sessions.insert(key, session);
        Some(user)
    }

    /// Ends a session.
    pub(super) fn end(&self, key: &Key) {
        self.state().sessions.remove(key);
    }

    /// Ends those that were not used for too long.
    pub(super) fn sweep(&self, now: Instant) {
        self.state().sweep(now);
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn sweep(&mut self, now: Instant) {
        let is_used = |session: &Session<T>| now.saturating_duration_since(session.used) < IDLE;
        self.sessions.retain(|_, session| is_used(session));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Key {
        let mut key = Key::default();
        key[..8].copy_from_slice(&number.to_be_bytes());
        key
    }

    #[test]
    fn a_session_ends_when_it_was_not_used_for_half_an_hour() {
        let (sessions, begin) = (Sessions::new(), Instant::now());
        let mut end = None;
        sessions.begin(key(1), begin, |number, over| {
            end = Some(over);
            number
        });
        let soon = Duration::from_secs(1);
        let later = begin + IDLE - soon;
        assert_eq!(sessions.find(&key(1), true, later), Some(1));
        assert_eq!(sessions.find(&key(1), false, later + IDLE - soon), Some(1));
        let end = end.unwrap();
        assert!(end.has_changed().is_ok(), "it was used meanwhile");
        sessions.sweep(later + IDLE);
        assert_eq!(sessions.find(&key(1), true, later + IDLE), None);
        assert!(end.has_changed().is_err(), "what is sent to its pages ends");
    }

    #[test]
    fn sessions_are_bounded_and_numbers_are_used_once() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        let begin = |place: usize, now| sessions.begin(key(place), now, |number, _| number);
        for place in 0..SESSIONS {
            assert!(begin(place, now).is_some());
        }
        assert_eq!(begin(SESSIONS, now), None);
        sessions.end(&key(0));
        assert_eq!(sessions.find(&key(0), true, now), None);
        let next = u64::try_from(SESSIONS).unwrap() + 1;
        assert_eq!(begin(SESSIONS, now), Some(next));
        assert_eq!(begin(0, now), None);
        assert!(begin(0, now + IDLE).is_some(), "all others are over");
    }
}
