//! JSON text without what is left out, in any pieces and without ever holding more than a name.
//!
//! As long as nothing is left out, a piece is passed on as it is. The names of fields are looked at only
//! in maps on the way to a field that is left out; all other text is only searched for where it ends.

use hyper::body::Bytes;
use memchr::memchr2;

use super::fields::{FieldPosition, Fields};
use super::output::Output;

/// Most nested maps and lists of an answer. `serde_json` reads 127; in a list, an object begins at the
/// third, and manifests have 120.
pub(super) const MOST_NESTED: usize = 125;

/// What stands in the place of what is nested deeper.
const NOTHING: &[u8] = b"null";

/// Where in a text the next byte stands, and what is done with it.
pub(super) struct Filter {
    fields: Fields,
    /// Open maps and lists.
    depth: usize,
    /// The outermost of them, below which something may be left out.
    way: Vec<Open>,
    quoted: Quoted,
    mode: Mode,
    /// What was held of earlier pieces: a comma and the beginning of a name.
    held: Vec<u8>,
}

/// A map or a list on the way.
struct Open {
    place: FieldPosition,
    is_map: bool,
    /// Whether a field was passed on, so that the next one needs a comma.
    has_fields: bool,
    /// The place of the value that comes next, if something at or below it may be left out.
    next: Option<FieldPosition>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    Yes,
    /// After a backslash.
    Escaped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// What comes is passed on, unless it is nested too deep.
    Pass,
    /// A name is awaited or under way that is not decided about; what comes is held.
    Hold,
    /// A field is left out.
    LeaveOut,
}

impl Filter {
    /// At the beginning of an answer.
    pub(super) fn new(fields: Fields) -> Self {
        let (way, held) = (Vec::new(), Vec::new());
        Self { fields, depth: 0, way, quoted: Quoted::No, mode: Mode::Pass, held }
    }

    /// The next piece, without what is left out.
    pub(super) fn pass(&mut self, piece: Bytes) -> Bytes {
        let mut output = Output::of(&piece);
        match self.mode {
            Mode::Pass if self.depth <= MOST_NESTED => output.resume(0),
            Mode::Hold => output.hold(0),
            Mode::Pass | Mode::LeaveOut => {}
        }
        let mut at = 0;
        while let Some(byte) = piece.get(at) {
            at = match self.quoted {
                Quoted::No => self.unquoted(at, *byte, &mut output),
                Quoted::Yes => self.quoted(at, &piece, &mut output),
                Quoted::Escaped => {
                    self.quoted = Quoted::Yes;
                    at + 1
                }
            };
        }
        self.held.extend_from_slice(output.held());
        output.finish()
    }

    /// Goes on after the next quote or backslash.
    fn quoted(&mut self, at: usize, piece: &[u8], output: &mut Output<'_>) -> usize {
        let rest = piece.get(at..).unwrap_or_default();
        let Some(found) = memchr2(b'"', b'\\', rest) else { return piece.len() };
        if rest.get(found) == Some(&b'\\') {
            self.quoted = Quoted::Escaped;
        } else {
            self.quoted = Quoted::No;
            if self.mode == Mode::Hold {
                self.decide(at + found + 1, output);
            }
        }
        at + found + 1
    }

    fn unquoted(&mut self, at: usize, byte: u8, output: &mut Output<'_>) -> usize {
        match byte {
            b'"' => self.quoted = Quoted::Yes,
            b'{' | b'[' => self.open(at, byte == b'{', output),
            b'}' | b']' => self.close(at, output),
            b',' => self.comma(at, output),
            _ => {}
        }
        at + 1
    }

    fn open(&mut self, at: usize, is_map: bool, output: &mut Output<'_>) {
        let is_next = self.mode == Mode::Pass && self.depth == self.way.len();
        let place = match self.way.last() {
            _ if !is_next => None,
            Some(around) => around.next,
            None => Some(self.fields.root()),
        };
        self.depth = self.depth.saturating_add(1);
        if let Some(place) = place {
            let next = if is_map { None } else { self.fields.each(place) };
            self.way.push(Open { place, is_map, has_fields: false, next });
            if is_map {
                self.hold(at + 1, output);
            }
        } else if self.mode == Mode::Pass && self.depth == MOST_NESTED + 1 {
            output.stop(at);
            output.insert(NOTHING);
        }
    }

    fn close(&mut self, at: usize, output: &mut Output<'_>) {
        let is_on_way = self.depth > 0 && self.depth == self.way.len();
        self.depth = self.depth.saturating_sub(1);
        if is_on_way {
            self.way.pop();
            if self.mode != Mode::Pass {
                self.held.clear();
                self.mode = Mode::Pass;
                output.resume(at);
            }
        } else if self.mode == Mode::Pass && self.depth == MOST_NESTED {
            output.resume(at + 1);
        }
    }

    /// In a map on the way, another name follows.
    fn comma(&mut self, at: usize, output: &mut Output<'_>) {
        let is_on_way = self.depth == self.way.len();
        if is_on_way && self.way.last().is_some_and(|around| around.is_map) {
            self.hold(at, output);
        }
    }

    fn hold(&mut self, at: usize, output: &mut Output<'_>) {
        self.mode = Mode::Hold;
        output.hold(at);
    }

    /// A name is complete with the byte before `end`.
    fn decide(&mut self, end: usize, output: &mut Output<'_>) {
        let Some(around) = self.way.last_mut() else { return };
        self.held.extend_from_slice(output.held_until(end));
        let next = self.fields.named(around.place, name(&self.held));
        if next.is_some_and(|next| self.fields.is_left_out(next)) {
            self.mode = Mode::LeaveOut;
            output.drop_held();
        } else {
            around.next = next;
            // Those before it were left out, together with their commas.
            let skip = usize::from(!around.has_fields && self.held.first() == Some(&b','));
            around.has_fields = true;
            self.mode = Mode::Pass;
            output.pass_held(self.held.get(skip..).unwrap_or_default(), end);
        }
        self.held.clear();
    }
}

/// The name in a comma and a name.
fn name(held: &[u8]) -> &[u8] {
    let begin = held.iter().position(|byte| *byte == b'"').map_or(held.len(), |quote| quote + 1);
    held.get(begin..held.len().saturating_sub(1)).unwrap_or_default()
}
