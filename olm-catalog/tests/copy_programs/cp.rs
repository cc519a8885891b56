//! `cp`: the command lines of Jobs and Pods, and the messages of coreutils.

use std::fs;

use rstest::rstest;

use super::Root;
use crate::support::built;

/// What the Job does: our image holds one program under several names.
#[test]
fn a_program_copied_into_a_volume_runs_there() {
    let root = Root::new();
    fs::create_dir_all(root.path("util")).unwrap();
    root.link("bin/olm-copy", built("olm-copy").to_str().unwrap());
    for name in ["cp", "cpb", "copy-content"] {
        root.link(&format!("bin/{name}"), "olm-copy");
    }
    let said = root.run_own("bin/cp -Rv bin/cpb util/cpb").ok().out;
    assert_eq!(said, "'bin/cpb' -> 'util/cpb'\n");
    root.run_own("bin/cp bin/copy-content util/copy-content").ok();
    assert_eq!(root.list("util"), ["copy-content", "cpb"]);
    assert!(root.path("util/cpb").symlink_metadata().unwrap().is_file());
    assert_eq!(root.mode("util/cpb") & 0o111, 0o111);
    assert!(root.run_own("util/cpb --help").ok().out.starts_with("Copy bundle metadata"));
    assert!(root.run_own("util/copy-content -h").ok().out.starts_with("Copy catalog and cache"));
}

fn sample() -> Root {
    let root = Root::new();
    root.file("a", "hi").file("d/f", "x").link("l", "a").link("lost", "nowhere");
    root
}

#[test]
fn files_and_links_to_files() {
    let root = sample();
    assert_eq!(root.run("cp -Rv l copy").ok().out, "'l' -> 'copy'\n");
    assert!(root.path("copy").symlink_metadata().unwrap().is_file());
    root.run("cp a d").ok();
    assert_eq!((root.read("copy"), root.read("d/a")), ("hi".into(), "hi".into()));
    root.file("new", "longer than hi").run("cp a new").ok();
    assert_eq!(root.read("new"), "hi");
}

#[test]
fn rights_are_kept() {
    let root = sample();
    root.set_mode("a", 0o751);
    root.run("cp a plain").ok();
    assert_eq!(root.mode("plain") & 0o700, 0o700);
}

#[rstest]
#[case("cp", "missing file operand\nTry 'cp --help' for more information.")]
#[case("cp a", "missing destination file operand after 'a'\nTry 'cp --help' for more information.")]
#[case("cp -z a b", "unrecognized option '-z'\nTry 'cp --help' for more information.")]
#[case("cp a l d", "extra operand 'd'\nTry 'cp --help' for more information.")]
#[case("cp nope b", "cannot stat 'nope': No such file or directory")]
#[case("cp d b", "cannot copy 'd': it is not a regular file")]
#[case("cp -Rv d b", "cannot copy 'd': it is not a regular file")]
#[case("cp pipe b", "cannot copy 'pipe': it is not a regular file")]
#[case("cp a a", "'a' and 'a' are the same file")]
#[case("cp a l", "'a' and 'l' are the same file")]
#[case("cp a lost", "not writing through dangling symlink 'lost'")]
#[case("cp a nodir/x", "cannot create regular file 'nodir/x': No such file or directory")]
fn messages_are_those_of_coreutils(#[case] line: &str, #[case] message: &str) {
    let root = sample();
    root.pipe("pipe");
    assert_eq!(root.run(line).failed(), format!("cp: {message}\n"));
}
