//! Parses several files at the same time and hands their documents over in order.
//!
//! A parser that is ahead waits with two documents in hand, so memory is bounded by a few blobs per
//! thread, whatever the size of the catalog.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use olm_types::document::{Budget, DocumentError, Meter, documents};
use serde_json::Value;

use super::digest::{FileDigest, Hashed};
use super::walk::SourceFile;

/// Documents that wait at the end of a parser.
const AHEAD: usize = 2;

/// How much of a file is read at once, in bytes.
const CHUNK: usize = 256 << 10;

/// What comes out of a file: documents with their numbers, then its end.
pub(super) enum Piece {
    Document(usize, Result<Value, DocumentError>),
    /// The file was read to its end or to its first error.
    End(FileDigest),
    /// The file cannot be opened.
    Closed(io::Error),
}

/// Gives the pieces of every file to `visit`, in the order of files and documents, until it says
/// that it wants no more. Each document may cost `budget`; at most so many threads parse.
pub(super) fn pieces(
    files: &[SourceFile],
    budget: Budget,
    threads: usize,
    mut visit: impl FnMut(&SourceFile, Piece) -> ControlFlow<()>,
) {
    let (senders, receivers): (Vec<SyncSender<Piece>>, Vec<Receiver<Piece>>) =
        files.iter().map(|_| sync_channel(AHEAD)).unzip();
    let jobs = Mutex::new(files.iter().zip(senders));
    let stop = AtomicBool::new(false);
    let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|scope| {
        for _ in 0..available(threads).min(files.len()) {
            scope.spawn(|| {
                while let Some((file, sender)) = next() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    parse(file, budget, &sender);
                }
            });
        }
        // Files are taken in order, so the one that is waited for is always being parsed.
        for (file, receiver) in files.iter().zip(receivers) {
            if receiver.into_iter().try_for_each(|piece| visit(file, piece)).is_break() {
                stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
}

fn available(most: usize) -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(most).max(1)
}

/// Sends what is in a file; ends early when no receiver is left.
fn parse(source: &SourceFile, budget: Budget, sender: &SyncSender<Piece>) {
    let file = match File::open(&source.path) {
        Ok(file) => file,
        Err(error) => {
            let _ = sender.send(Piece::Closed(error));
            return;
        }
    };
    let mut input = BufReader::with_capacity(CHUNK, Hashed::new(file));
    documents(&mut input, &mut Meter::per_document(budget), |number, document| {
        match sender.send(Piece::Document(number, document)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    });
    let _ = sender.send(Piece::End(input.into_inner().finish()));
}
