//! `cp`: the command lines of Jobs and Pods, and the messages of coreutils.

use std::fs;

use rstest::rstest;

use super::Root;

/// What the Job does: our image holds one program under several names.
#[test]
fn a_program_copied_into_a_volume_runs_there() {
    let root = Root::new();
    fs::create_dir_all(root.path("util")).unwrap();
    root.link("bin/olm-copy", env!("CARGO_BIN_EXE_olm-copy"));
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
    root.file("a", "hi").file("d/f", "x").file("d/deep/g", "y").link("d/l", "f").link("l", "a");
    root
}

#[test]
fn folders_files_and_links() {
    let root = sample();
    let said = root.run("cp -Rv d e").ok().out;
    let expected = "'d' -> 'e'\n'd/deep' -> 'e/deep'\n'd/deep/g' -> 'e/deep/g'\n'd/f' -> 'e/f'\n'd/l' -> 'e/l'\n";
    assert_eq!(said, expected);
    assert_eq!(root.list("e"), root.list("d"));
    assert!(root.path("e/l").is_symlink());
    assert_eq!(root.run("cp -r -v a d l e").ok().out.lines().count(), 7);
    assert_eq!(
        (root.read("e/a"), root.read("e/d/f"), root.read("e/l")),
        ("hi".into(), "x".into(), "hi".into())
    );
    root.run("cp -a l kept").ok();
    assert!(root.path("kept").is_symlink());
    root.file("new", "longer than hi").run("cp a new").ok();
    assert_eq!(root.read("new"), "hi");
}

#[test]
fn rights_and_times_are_kept_on_request() {
    let root = sample();
    root.set_mode("a", 0o751);
    root.run("cp a plain").ok();
    assert_eq!(root.mode("plain") & 0o700, 0o700);
    root.run("cp -p a kept").ok();
    assert_eq!(root.mode("kept"), 0o751);
    let time = |name: &str| fs::metadata(root.path(name)).unwrap().modified().unwrap();
    assert_eq!(time("kept"), time("a"));
}

#[rstest]
#[case("cp", "missing file operand\nTry 'cp --help' for more information.")]
#[case("cp a", "missing destination file operand after 'a'\nTry 'cp --help' for more information.")]
#[case("cp -z a b", "invalid option -- 'z'\nTry 'cp --help' for more information.")]
#[case("cp nope b", "cannot stat 'nope': No such file or directory")]
#[case("cp d b", "-r not specified; omitting directory 'd'")]
#[case("cp a l nodir", "target 'nodir': No such file or directory")]
#[case("cp a l d/f", "target 'd/f': Not a directory")]
#[case("cp a a", "'a' and 'a' are the same file")]
#[case("cp -r d d/x", "cannot copy a directory, 'd', into itself, 'd/x'")]
#[case("cp -r d a", "cannot overwrite non-directory 'a' with directory 'd'")]
#[case("cp -T a d", "cannot overwrite directory 'd' with non-directory")]
#[case("cp a nodir/x", "cannot create regular file 'nodir/x': No such file or directory")]
fn messages_are_those_of_coreutils(#[case] line: &str, #[case] message: &str) {
    assert_eq!(sample().run(line).failed(), format!("cp: {message}\n"));
}

#[test]
fn what_fails_does_not_stop_the_rest() {
    let root = sample();
    root.pipe("d/pipe");
    let message = root.run("cp -R nope d a e/").failed();
    assert!(message.starts_with("cp: target 'e/': No such file or directory"), "{message}");
    fs::create_dir(root.path("e")).unwrap();
    let message = root.run("cp -R nope d a e").failed();
    assert_eq!(
        message,
        "cp: cannot stat 'nope': No such file or directory\ncp: cannot copy special file 'd/pipe'\n"
    );
    assert_eq!(root.read("e/a"), "hi");
    assert_eq!(root.read("e/d/f"), "x");
}
