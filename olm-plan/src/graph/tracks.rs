//! Edges of a lane beside its nodes: two that run past the same rows have tracks of their own.

use std::collections::{BTreeMap, BTreeSet};

use super::Edge;

/// Most tracks of a lane; further edges share the last one.
const MOST: usize = 12;

/// The parts of a track that edges take: from row to row, none over another.
#[derive(Default)]
struct Track(BTreeMap<usize, usize>);

impl Track {
    fn is_free(&self, top: usize, bottom: usize) -> bool {
        self.0.range(..bottom).next_back().is_none_or(|(_, end)| *end <= top)
    }
}

/// Gives each edge its track; how many there are beside the straight one. `rows` has the row of each node, in
/// order.
pub(super) fn assign(rows: &[usize], edges: &mut [Edge]) -> usize {
    let span = |edge: &Edge| {
        let (a, b) = (rows[edge.from], rows[edge.to]);
        (a.min(b), a.max(b))
    };
    let mut order: Vec<usize> = (0..edges.len()).collect();
    // Short ones run closest to the nodes.
    order.sort_by_key(|&place| {
        let (top, bottom) = span(&edges[place]);
        (bottom - top, top, edges[place].kind, place)
    });
    let mut tracks: Vec<Track> = Vec::new();
    let mut straight: BTreeSet<(usize, usize)> = BTreeSet::new();
    for place in order {
        let (top, bottom) = span(&edges[place]);
        let next = rows.get(rows.partition_point(|row| *row <= top));
        if next.is_some_and(|row| *row >= bottom) && straight.insert((top, bottom)) {
            continue;
        }
        let free = tracks.iter().position(|track| track.is_free(top, bottom));
        let track = free.unwrap_or(tracks.len());
        if track < MOST {
            tracks.resize_with(tracks.len().max(track + 1), Track::default);
            tracks[track].0.insert(top, bottom);
        }
        edges[place].track = track.min(MOST - 1) + 1;
    }
    tracks.len()
}
