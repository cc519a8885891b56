//! What layers may hold.

use std::io::Write;

use flate2::write::GzEncoder;
use proptest::prelude::*;
use rstest::rstest;
use tar::{Builder, EntryType, Header};

use super::super::{Compression, LayerError, Limits, Tree, Unlistable, apply};

/// One entry: type, path, content or target.
type Entry<'a> = (EntryType, &'a str, &'a str);

fn file<'a>(path: &'a str, content: &'a str) -> Entry<'a> {
    (EntryType::Regular, path, content)
}

fn link<'a>(path: &'a str, target: &'a str) -> Entry<'a> {
    (EntryType::Symlink, path, target)
}

fn hard_link<'a>(path: &'a str, target: &'a str) -> Entry<'a> {
    (EntryType::Link, path, target)
}

/// An archive with paths as they are given: the library would refuse the interesting ones.
fn layer(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut archive = Builder::new(Vec::new());
    for (kind, path, content) in entries {
        let mut header = Header::new_ustar();
        header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(*kind);
        let is_link = matches!(kind, EntryType::Link | EntryType::Symlink);
        let data = if is_link { "" } else { content };
        if is_link {
            header.as_old_mut().linkname[..content.len()].copy_from_slice(content.as_bytes());
        }
        header.set_size(data.len() as u64);
        header.set_cksum();
        archive.append(&header, data.as_bytes()).unwrap();
    }
    archive.into_inner().unwrap()
}

fn tree(layers: &[Vec<u8>]) -> Result<Tree, LayerError> {
    let layers = layers.iter().map(|layer| (layer.as_slice(), Compression::None));
    apply(layers, &Limits::default())
}

/// `path=content` of every file at these paths.
fn read(tree: &Tree, paths: &[&str]) -> Vec<String> {
    let show = |path: &&str| match tree.file(path) {
        Ok(content) => format!("{path}={}", String::from_utf8_lossy(content)),
        Err(why) => format!("{path}: {why:?}"),
    };
    paths.iter().map(show).collect()
}

#[test]
fn upper_layers_change_lower_ones() {
    let lower = layer(&[
        (EntryType::Directory, "a/", ""),
        file("a/kept", "1"),
        file("a/changed", "1"),
        file("a/gone", "1"),
        file("b/hidden", "1"),
        file("c", "was a file"),
    ]);
    let upper = layer(&[
        file("a/changed", "2"),
        file("a/.wh.gone", ""),
        file("b/new", "2"),
        file("b/.wh..wh..opq", ""),
        file("c/d", "2"),
    ]);
    let tree = tree(&[lower, upper]).unwrap();
    assert_eq!(
        read(&tree, &["a/kept", "a/changed", "a/gone", "b/hidden", "b/new", "c/d"]),
        ["a/kept=1", "a/changed=2", "a/gone: Absent", "b/hidden: Absent", "b/new=2", "c/d=2"]
    );
}

#[test]
fn files_of_a_folder_are_listed_in_order_while_their_names_fit() {
    let lower = layer(&[
        file("a/b/old", "1"),
        file("a/b-c", "1"),
        file("a0", "1"),
        file("elsewhere", "12"),
        link("a/link", "../elsewhere"),
        link("a/folder", "b"),
    ]);
    // What is new in a folder that is taken away stays.
    let upper = layer(&[file("a/b/new", "2"), file("a/.wh.b", "")]);
    let tree = tree(&[lower, upper]).unwrap();
    let listed = |names| tree.files_below("a", names);
    let files = listed(1_000).unwrap();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["b-c", "b/new", "link"]);
    assert_eq!(files.iter().map(|(_, content)| content.len()).sum::<usize>(), 4);
    assert_eq!(listed(312).map(|files| files.len()), Ok(3));
    assert_eq!(listed(311), Err(Unlistable::Names(311)));
}

#[test]
fn large_files_of_a_folder_are_named() {
    let limits = Limits { file: 2, ..Limits::default() };
    let layer = layer(&[file("b/large", "123"), file("a/small", "12")]);
    let tree = apply([(layer.as_slice(), Compression::None)], &limits).unwrap();
    assert_eq!(tree.files_below("", 1_000), Err(Unlistable::Large("b/large".to_owned(), 3)));
    assert_eq!(tree.files_below("a", 1_000).map(|files| files.len()), Ok(1));
}

#[test]
fn what_a_layer_takes_away_frees_the_memory_of_names() {
    let lower = layer(&[file("a/b/c", "1"), file("a/d", "1"), file("e", "1")]);
    let before = tree(std::slice::from_ref(&lower)).unwrap();
    let upper = layer(&[file("a/.wh..wh..opq", "")]);
    let after = tree(&[lower, upper]).unwrap();
    let gone = ["a/b", "a/b/c", "a/d"].map(|path| 100 + path.len() as u64);
    assert_eq!(after.names(), before.names() - gone.iter().sum::<u64>());
}

#[test]
fn links_are_followed_inside_the_image() {
    let tree = tree(&[layer(&[
        file("real/a", "A"),
        link("absolute", "/real"),
        link("relative", "./real/../real"),
        link("real/up", "../other"),
        file("other", "O"),
        hard_link("hard", "real/a"),
        // As container runtimes do: what follows goes to where the link leads.
        file("absolute/b", "B"),
    ])])
    .unwrap();
    assert_eq!(
        read(&tree, &["absolute/a", "relative/a", "real/up", "hard", "real/b"]),
        ["absolute/a=A", "relative/a=A", "real/up=O", "hard=A", "real/b=B"]
    );
}

#[rstest]
#[case::traversal(&[file("../etc/passwd", "x")], "\"../etc/passwd\" leads out")]
#[case::hidden_traversal(&[file("a/b/../../../x", "x")], "leads out of the image")]
#[case::through_a_link(&[link("a", "../.."), file("a/x", "x")], "leads out of the image")]
#[case::hard_link_out(&[hard_link("a", "../etc/shadow")], "leads out of the image")]
#[case::hard_link_to_nothing(&[hard_link("a", "etc/shadow")], "a hard link to etc/shadow")]
#[case::hard_link_to_a_link(&[link("l", "/etc"), hard_link("a", "l")], "a hard link to l")]
#[case::circle(&[link("a", "b"), link("b", "a"), file("a/x", "")], "go round in circles")]
#[case::character_device(&[(EntryType::Char, "dev/null", "")], "dev/null is a device")]
#[case::block_device(&[(EntryType::Block, "sda", "")], "sda is a device")]
#[case::pipe(&[(EntryType::Fifo, "p", "")], "p is a pipe")]
#[case::sparse(&[(EntryType::GNUSparse, "s", "")], "s is a sparse file")]
#[case::unknown(&[(EntryType::new(b'Z'), "z", "")], "of an unknown kind")]
#[case::size_in_a_header(&[(EntryType::XHeader, "x", "12 size=999\n"), file("a", "")], "8 GiB")]
#[case::broken_header(&[(EntryType::XHeader, "x", "99 path=a\n"), file("a", "")], "malformed extended")]
fn hostile_entries(#[case] entries: &[Entry<'_>], #[case] expected: &str) {
    let error = tree(&[layer(entries)]).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn long_names_come_in_headers_of_their_own() {
    let long = "n".repeat(200);
    let record = |key: &str| {
        let body = format!(" {key}={long}\n");
        format!("{}{body}", body.len() + 3)
    };
    let tree = tree(&[layer(&[
        (EntryType::GNULongName, "././@LongLink", &format!("gnu/{long}\0")),
        file("cut", "G"),
        (EntryType::XHeader, "x", &record("path")),
        file("cut", "P"),
    ])])
    .unwrap();
    assert_eq!(tree.file(&format!("gnu/{long}")), Ok(&b"G"[..]));
    assert_eq!(tree.file(&long), Ok(&b"P"[..]));
}

#[test]
fn a_gzip_bomb_is_stopped_early() {
    let mut bomb = GzEncoder::new(Vec::new(), flate2::Compression::best());
    let mut header = Header::new_ustar();
    header.set_path("zeros").unwrap();
    header.set_size(1 << 30);
    header.set_cksum();
    bomb.write_all(header.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..64).for_each(|_| bomb.write_all(&zeros).unwrap());
    let bomb = bomb.finish().unwrap();
    let refused = apply([(bomb.as_slice(), Compression::Gzip)], &Limits::default()).unwrap_err();
    assert_eq!(refused, LayerError::Bomb(200));
}

/// Layer by layer within bounds, together not.
#[rstest]
#[case::bytes(Limits { unpacked: 4_000, ..Limits::default() }, "more than 4000 bytes,")]
#[case::kept(Limits { kept: 5, ..Limits::default() }, "more than 5 bytes in files")]
#[case::entries(Limits { entries: 2, ..Limits::default() }, "more than 2 entries")]
#[case::depth(Limits { depth: 2, ..Limits::default() }, "is too deep")]
#[case::path(Limits { path: 5, ..Limits::default() }, "is too long")]
fn bounds(#[case] limits: Limits, #[case] expected: &str) {
    let layers: Vec<_> =
        ["a/b/c1", "a/b/c2", "a/b/c3"].iter().map(|path| layer(&[file(path, "123")])).collect();
    let layers = layers.iter().map(|layer| (layer.as_slice(), Compression::None));
    let error = apply(layers, &limits).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_large_file_is_passed_over() {
    let limits = Limits { file: 2, ..Limits::default() };
    let layer = layer(&[file("large", "123"), file("small", "12")]);
    let tree = apply([(layer.as_slice(), Compression::None)], &limits).unwrap();
    assert_eq!(read(&tree, &["large", "small"]), ["large: Large(3)", "small=12"]);
}

#[rstest]
#[case::cut_off(&layer(&[file("a", "content")])[..515])]
#[case::noise(&[7; 2_000])]
fn what_is_no_archive(#[case] layer: &[u8]) {
    let error = apply([(layer, Compression::None)], &Limits::default()).unwrap_err();
    assert!(matches!(error, LayerError::Archive(_)), "{error}");
    assert!(apply([(layer, Compression::Gzip)], &Limits::default()).is_err());
}

proptest! {
    /// Whatever links and files a layer has, what is read comes from its files.
    #[test]
    fn nothing_leads_out(
        entries in prop::collection::vec(
            (0..3_u8, "[ab./]{1,6}", prop::sample::select(vec!["/", "..", "../..", "a", "b/a", "/a/../.."])),
            0..12,
        ),
        path in "[ab./]{1,8}",
    ) {
        let entries: Vec<Entry<'_>> = entries.iter().map(|(kind, path, target)| match kind {
            0 => file(path, "ours"),
            1 => link(path, target),
            _ => hard_link(path, target),
        }).collect();
        if let Ok(tree) = tree(&[layer(&entries)])
            && let Ok(content) = tree.file(&path)
        {
            prop_assert_eq!(content, &b"ours"[..]);
        }
    }
}
