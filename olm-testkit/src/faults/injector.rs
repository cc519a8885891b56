//! Decides which requests fail, and how.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Request};

use super::dice::{fresh_seed, throw};

/// Something that goes wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// 429 and `Retry-After`, as from a server with too many requests; nothing was done.
    TooManyRequests,
    /// 500, 502, 503 or 504; nothing was done.
    ServerError,
    /// The connection ends before the API server sees the request.
    CutBefore,
    /// The API server carries the request out, and the connection ends before the answer.
    CutAfter,
    /// A watch ends in the middle of an event.
    CutWatch,
    /// A watch is answered that its version is too old, by the code 410 or by an event.
    Gone,
    /// 401, as with an expired token.
    Unauthorized,
    /// The answer takes a while.
    Slow,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::TooManyRequests,
        Self::ServerError,
        Self::CutBefore,
        Self::CutAfter,
        Self::CutWatch,
        Self::Gone,
        Self::Unauthorized,
        Self::Slow,
    ];

    /// Whether it can happen there.
    fn suits(self, moment: FaultPoint) -> bool {
        match self {
            Self::CutWatch => moment == FaultPoint::Event,
            Self::Gone => moment == FaultPoint::Watch,
            Self::CutAfter | Self::Slow => moment == FaultPoint::Call,
            Self::TooManyRequests | Self::ServerError | Self::CutBefore | Self::Unauthorized => {
                moment != FaultPoint::Event
            }
        }
    }
}

/// Where something can go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum FaultPoint {
    /// A request that is answered at once.
    Call,
    /// A request whose answer is a stream of events.
    Watch,
    /// An event of such a stream. Streams that began before there was a plan have those, too.
    Event,
}

/// What goes wrong, and how often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The kinds, each as likely as the others.
    pub faults: Vec<Fault>,
    /// How many of a hundred requests, or events, start a burst of faults.
    pub percent: u64,
    /// So many requests with the same method and path fail in a row.
    pub burst: u64,
    /// Most faults of one method and path, so that everything comes to an end.
    pub most: u64,
}

impl Plan {
    /// Nothing goes wrong.
    pub fn calm() -> Self {
        Self { faults: Vec::new(), percent: 0, burst: 1, most: 0 }
    }

    /// One in five requests fails in one of these ways, up to four times.
    pub fn of(faults: &[Fault]) -> Self {
        Self { faults: faults.to_vec(), percent: 20, burst: 1, most: 4 }
    }
}

/// Decides for each request. Clones share what happened so far.
#[derive(Clone)]
pub struct Injector {
    seed: u64,
    state: Arc<Mutex<State>>,
}

struct State {
    plan: Plan,
    /// Requests and faults since the plan was made, by method and path.
    seen: BTreeMap<Key, Counts>,
    /// Faults since the plan was made.
    injected: BTreeMap<Fault, u64>,
}

type Key = (FaultPoint, String, String);

#[derive(Clone, Copy, Default)]
struct Counts {
    requests: u64,
    faults: u64,
}

/// What happens to a request, and a number for the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct InjectedFault {
    pub fault: Fault,
    pub detail: u64,
}

impl Injector {
    /// With the seed in `OLM_FAULT_SEED`, or a new one. It is printed, so that a run can be repeated.
    pub fn from_environment() -> Self {
        let given = std::env::var("OLM_FAULT_SEED").ok().and_then(|seed| seed.parse().ok());
        let seed = given.unwrap_or_else(fresh_seed);
        println!("faults: OLM_FAULT_SEED={seed} repeats this run");
        Self::new(seed)
    }

    /// With this seed; nothing goes wrong yet.
    pub fn new(seed: u64) -> Self {
        let state = State { plan: Plan::calm(), seen: BTreeMap::new(), injected: BTreeMap::new() };
        Self { seed, state: Arc::new(Mutex::new(state)) }
    }

    /// Follows another plan from now on. What happened under the last one is forgotten, and returned.
    pub fn follow(&self, plan: Plan) -> BTreeMap<Fault, u64> {
        let mut state = self.state();
        state.plan = plan;
        state.seen.clear();
        std::mem::take(&mut state.injected)
    }

    /// A number below `limit` that depends on the seed and on what it is for, and on nothing else.
    pub fn chance(&self, purpose: impl Hash, limit: u64) -> u64 {
        throw(self.seed, purpose) % limit.max(1)
    }

    pub(super) fn judge(
        &self,
        moment: FaultPoint,
        method: &Method,
        path: &str,
    ) -> Option<InjectedFault> {
        self.state().judge(self.seed, (moment, method.to_string(), path.to_owned()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn judge(&mut self, seed: u64, key: Key) -> Option<InjectedFault> {
        let (faults, moment) = (self.plan.faults.iter().copied(), key.0);
        let suitable: Vec<Fault> = faults.filter(|fault| fault.suits(moment)).collect();
        let counts = self.seen.entry(key.clone()).or_default();
        let number = counts.requests;
        counts.requests += 1;
        let burst = number / self.plan.burst.max(1);
        let hits = throw(seed, (&key, burst, "hits")) % 100 < self.plan.percent;
        if suitable.is_empty() || !hits || counts.faults >= self.plan.most {
            return None;
        }
        let count = u64::try_from(suitable.len()).ok()?;
        let chosen = usize::try_from(throw(seed, (&key, burst, "kind")) % count).ok()?;
        let fault = *suitable.get(chosen)?;
        counts.faults += 1;
        *self.injected.entry(fault).or_default() += 1;
        Some(InjectedFault { fault, detail: throw(seed, (&key, number, "detail")) })
    }
}

impl FaultPoint {
    /// That of a request.
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        let mut parameters = request.uri().query().unwrap_or_default().split('&');
        match parameters.any(|parameter| matches!(parameter, "watch=true" | "watch=1")) {
            true => Self::Watch,
            false => Self::Call,
        }
    }
}
