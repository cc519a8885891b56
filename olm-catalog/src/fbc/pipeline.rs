//! Parses several files at the same time and hands their documents over in order.
//!
//! A parser that is ahead waits with a few documents in hand, and begins with no other file while as many
//! files are in hand as there are threads. So memory is bounded by a few blobs per thread, whatever the size
//! of the catalog and the number of its files.

use std::fs::File;
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::slice::Iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use olm_types::document::{Budget, DocumentError, Meter, documents};
use serde_json::Value;

use super::digest::{FileDigest, Hashed};
use super::walk::SourceFile;

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

/// How much is in memory at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct PipelineLimits {
    /// What each document may cost.
    pub(super) budget: Budget,
    /// Most threads that parse.
    pub(super) threads: usize,
    /// Documents that wait at the end of each.
    pub(super) ahead: usize,
}

/// A file, and what comes out of it.
type Begun<'a> = (&'a SourceFile, Receiver<Piece>);

/// Gives the pieces of every file to `visit`, in the order of files and documents, until it says
/// that it wants no more.
pub(super) fn pieces(
    files: &[SourceFile],
    limits: PipelineLimits,
    mut visit: impl FnMut(&SourceFile, Piece) -> ControlFlow<()>,
) {
    let threads = available(limits.threads).min(files.len());
    // Beside the file that is visited, so many may have begun.
    let (order, begun) = sync_channel::<Begun<'_>>(threads.saturating_sub(1));
    let jobs = Mutex::new(files.iter());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (order, jobs, stop) = (order.clone(), &jobs, &stop);
            scope.spawn(move || {
                while let Some((file, sender)) = begin(jobs, &order, limits.ahead) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    parse(file, limits.budget, &sender);
                }
            });
        }
        // The last parser that ends closes the channel.
        drop(order);
        for (file, receiver) in begun {
            if receiver.into_iter().try_for_each(|piece| visit(file, piece)).is_break() {
                stop.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
}

/// Takes the next file, and hands over where its pieces will come out: in the order of files, as one parser at
/// a time does that. Waits while too many files have begun; nothing is next when no more is wanted.
fn begin<'a>(
    jobs: &Mutex<Iter<'a, SourceFile>>,
    order: &SyncSender<Begun<'a>>,
    ahead: usize,
) -> Option<(&'a SourceFile, SyncSender<Piece>)> {
    let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
    let file = jobs.next()?;
    let (sender, receiver) = sync_channel(ahead);
    order.send((file, receiver)).ok()?;
    Some((file, sender))
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::super::read::ReadLimits;
    use super::super::walk::files;
    use super::*;

    const FILES: usize = 40;

    fn limits(threads: usize) -> PipelineLimits {
        PipelineLimits { budget: Budget::CATALOG, threads, ahead: 0 }
    }

    fn written() -> (tempfile::TempDir, Vec<SourceFile>) {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..FILES {
            std::fs::write(folder.path().join(format!("{number:02}.json")), "{}\n{}").unwrap();
        }
        let files = files(folder.path(), &ReadLimits::default()).unwrap();
        (folder, files)
    }

    #[rstest]
    #[case(1)]
    #[case(4)]
    #[case(FILES * 2)]
    fn files_and_documents_come_in_order(#[case] threads: usize) {
        let (_folder, files) = written();
        let mut seen = Vec::new();
        pieces(&files, limits(threads), |file, piece| {
            let what = match piece {
                Piece::Document(number, Ok(_)) => number.to_string(),
                Piece::End(_) => "end".to_owned(),
                Piece::Document(_, Err(error)) => error.to_string(),
                Piece::Closed(error) => error.to_string(),
            };
            seen.push(format!("{} {what}", file.relative.display()));
            ControlFlow::Continue(())
        });
        assert_eq!(seen.len(), 3 * FILES, "two documents and an end each: {seen:?}");
        assert!(seen.iter().skip(2).step_by(3).all(|line| line.ends_with(" end")), "{seen:?}");
        let names: Vec<&str> = seen.iter().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.is_sorted(), "{seen:?}");
    }

    /// A catalog of very many small files would be in memory as a whole otherwise.
    #[test]
    fn no_file_is_opened_long_before_it_is_visited() {
        let (_folder, files) = written();
        let (mut read, mut gone) = (0, 0);
        pieces(&files, limits(1), |_, piece| {
            match piece {
                Piece::Closed(_) => gone += 1,
                Piece::End(_) => read += 1,
                Piece::Document(..) => {
                    for later in files.iter().skip(1) {
                        let _ = std::fs::remove_file(&later.path);
                    }
                }
            }
            ControlFlow::Continue(())
        });
        assert_eq!((read, gone), (1, FILES - 1));
    }

    #[test]
    fn who_wants_no_more_gets_no_more() {
        let (_folder, files) = written();
        let mut count = 0;
        pieces(&files, limits(4), |_, _| {
            count += 1;
            if count == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(count, 5);
    }
}
