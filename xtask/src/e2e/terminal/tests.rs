//! The terminal with `sh` and `cat` in the client's place.

use std::path::Path;

use super::*;
use crate::e2e::home::SOON;

fn shell(script: &str) -> Launch {
    Launch {
        program: "/bin/sh".into(),
        arguments: vec!["-c".into(), script.into()],
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("LANG".into(), "C.UTF-8".into()),
        ],
        folder: "/".into(),
    }
}

fn open(script: &str) -> Terminal {
    Terminal::open(&shell(script), (60, 20)).unwrap()
}

fn patterns(texts: &[&str]) -> Vec<Pattern> {
    let json = serde_json::to_string(texts).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn keys(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn what_is_typed_arrives_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("typed");
    let text = r#"-x 'a' "b" $(touch /tmp/no) `id`; # \ é 漢字 🙂 Enter C-c ;"#;
    let script = format!(
        "printf 'ready '; IFS= read -r line; printf %s \"$line\" > {}",
        file.display()
    );
    let terminal = open(&script);
    terminal.wait_for(&patterns(&["ready"]), &[], SOON).unwrap();
    terminal.type_text(text).unwrap();
    terminal.keys(&keys(&["Enter"])).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    assert_eq!(screen.ended, Some(0));
    assert_eq!(fs_err::read_to_string(file).unwrap(), text);
}

#[test]
fn a_long_text_is_typed_in_pieces_and_all_of_it() {
    let text: String = (0..200).map(|number| format!("{number:03} ")).collect();
    let terminal = open("printf 'ready '; IFS= read -r line; clear; printf %s \"$line\" | wc -c");
    terminal.wait_for(&patterns(&["ready"]), &[], SOON).unwrap();
    terminal.type_text(&text).unwrap();
    terminal.keys(&keys(&["Enter"])).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    assert_eq!(screen.text, "800");
}

#[test]
fn a_text_of_several_lines_is_pasted_in_brackets_where_a_program_asks_for_them() {
    // Raw, as programs with a screen have it; the echo of the brackets themselves would be drawn otherwise.
    let script = r"stty raw -echo; printf '\033[?2004hready '; dd bs=1 count=25 2>/dev/null >typed; printf 'one; $(x)two'; sleep 60";
    let folder = tempfile::tempdir().unwrap();
    let mut launch = shell(script);
    launch.folder = folder.path().to_owned();
    let terminal = Terminal::open(&launch, (60, 20)).unwrap();
    terminal.wait_for(&patterns(&["ready"]), &[], SOON).unwrap();
    terminal.type_text("one; $(x)\ntwo").unwrap();
    let typed = fs_err::read_to_string(folder.path().join("typed")).unwrap();
    assert_eq!(typed, "\u{1b}[200~one; $(x)\rtwo\u{1b}[201~");
}

#[test]
fn a_paste_that_is_folded_is_known_by_its_sign() {
    assert!(is_folded_paste("❯one[Pastedtext#1+4lines]"));
    assert!(is_folded_paste("[Pastedtext#12]"));
    assert!(!is_folded_paste("[Pastedtext#1+4lines]x"));
    assert!(!is_folded_paste("[Pastedtext#1orother]"));
}

#[test]
fn what_a_program_does_not_show_was_not_typed() {
    let terminal = open("stty -echo; printf 'ready '; sleep 60");
    terminal.wait_for(&patterns(&["ready"]), &[], SOON).unwrap();
    let error = terminal
        .type_within("secret", Duration::from_millis(500))
        .unwrap_err();
    assert!(matches!(error, TerminalError::Echo { .. }), "{error}");
    assert!(error.to_string().contains("ready"), "{error}");
}

#[test]
fn a_screen_is_waited_for_until_all_is_there_at_once() {
    let terminal = open("printf 'one\n'; sleep 0.3; printf 'two words'; sleep 60");
    let screen = terminal
        .wait_for(&patterns(&["one two", "wor"]), &patterns(&["three"]), SOON)
        .unwrap();
    assert_eq!(screen.text, "one\ntwo words");
}

#[test]
fn what_is_missing_is_named_and_the_screen_shown() {
    let terminal = open("printf 'one'; sleep 60");
    let soon = Duration::from_millis(300);
    let error = terminal
        .wait_for(&patterns(&["one", "two"]), &patterns(&["o[…]e"]), soon)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the screen has no \"two\" and has \"o[…]e\"\n"),
        "{text}"
    );
    assert!(text.contains("\none\n"), "{text}");
}

#[test]
fn a_program_that_ends_is_not_waited_for_and_its_last_screen_stays() {
    let terminal = open("printf 'a\nb\nlast words'; exit 3");
    let error = terminal
        .wait_for(&patterns(&["never"]), &[], Duration::from_secs(600))
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(
            "the program ended with exit status 3, and its last screen has no \"never\"\n"
        ),
        "{text}"
    );
    assert!(text.contains("\na\nb\nlast words\n"), "{text}");
}

#[test]
fn the_program_has_the_launch_s_environment_and_nothing_else() {
    let mut launch = shell("");
    launch.program = "/usr/bin/env".into();
    launch.arguments = Vec::new();
    launch.env.push(("EMPTY".into(), "".into()));
    launch
        .env
        .push(("HOSTILE".into(), "a 'b' \"c\" #{pane_id} $HOME;".into()));
    let terminal = Terminal::open(&launch, (100, 20)).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    let mut lines: Vec<_> = screen
        .text
        .lines()
        .filter(|line| !line.starts_with(leftovers::MARK))
        .collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        [
            "EMPTY=",
            "HOSTILE=a 'b' \"c\" #{pane_id} $HOME;",
            "LANG=C.UTF-8",
            "PATH=/usr/bin:/bin",
            "TERM=tmux-256color"
        ]
    );
}

#[test]
fn size_folder_and_arguments_are_the_launch_s() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("a 'b' \"c\" ü #{pane_id};");
    fs_err::create_dir(&place).unwrap();
    let mut launch = shell(r#"stty size; printf '<%s>\n' "$@"; basename "$(pwd)""#);
    launch.folder = place;
    launch
        .arguments
        .extend(["sh", ";", "a;", r"b\;", "", "-x"].map(OsString::from));
    let terminal = Terminal::open(&launch, (71, 23)).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    let lines: Vec<_> = screen.text.lines().collect();
    let place = "a 'b' \"c\" ü #{pane_id};";
    assert_eq!(
        lines,
        ["23 71", "<;>", "<a;>", r"<b\;>", "<>", "<-x>", place]
    );
}

#[test]
fn nothing_that_the_program_started_outlives_the_terminal() {
    let terminal = open(
        "trap '' HUP; setsid sh -c 'trap \"\" HUP; printf started; sleep 600' & wait; sleep 600",
    );
    terminal
        .wait_for(&patterns(&["started"]), &[], SOON)
        .unwrap();
    let mark = terminal.mark.clone();
    let folder = terminal.folder.path().to_owned();
    assert!(leftovers::marked(&mark).len() >= 2);
    drop(terminal);
    assert_eq!(leftovers::marked(&mark), []);
    assert!(!folder.exists());
}

#[test]
fn the_server_ends_when_the_holder_loses_its_pipe() {
    let mut terminal = open("printf started; sleep 600");
    terminal
        .wait_for(&patterns(&["started"]), &[], SOON)
        .unwrap();
    // What the system does for a process that is killed.
    drop(terminal.holder.as_mut().unwrap().stdin.take());
    let until = Instant::now() + SOON;
    while terminal.look().is_ok() {
        assert!(Instant::now() < until, "the server goes on");
        std::thread::sleep(LOOK);
    }
}

#[test]
fn a_program_that_is_not_there_is_seen_on_the_screen() {
    let mut launch = shell("");
    launch.program = Path::new("/nowhere/at all").into();
    let terminal = Terminal::open(&launch, (60, 20)).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    assert!(screen.text.contains("/nowhere/at all"), "{screen}");
    assert_eq!(screen.ended, Some(127));
}

#[test]
fn keys_go_by_name() {
    let terminal = open(
        "printf 'ready '; IFS= read -r line; trap 'printf interrupted; exit 7' INT; printf on; sleep 60",
    );
    terminal.wait_for(&patterns(&["ready"]), &[], SOON).unwrap();
    terminal.keys(&keys(&["a", "-", "Enter"])).unwrap();
    terminal
        .wait_for(&patterns(&["ready a- on"]), &[], SOON)
        .unwrap();
    terminal.keys(&keys(&["C-c"])).unwrap();
    let screen = terminal.wait_for_end(SOON).unwrap();
    assert_eq!(screen.ended, Some(7));
}

#[test]
fn a_program_may_end_by_a_signal() {
    let terminal = open("kill -9 $$");
    let screen = terminal.wait_for_end(SOON).unwrap();
    assert_eq!(screen.ended, Some(128 + 9));
}

#[test]
fn a_screen_is_at_rest_when_nothing_changes_any_more() {
    let terminal = open("for n in 1 2 3 4; do printf $n; sleep 0.4; done; sleep 60");
    assert_eq!(terminal.at_rest().unwrap().text, "1234");
}
