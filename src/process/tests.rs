use std::fs;

use camino::Utf8PathBuf;

use super::output::KEPT;
use super::*;

const LONG: Duration = Duration::from_secs(60);
/// Long enough for a shell to start on a busy machine.
const SHORT: Duration = Duration::from_millis(800);

/// A folder for a script to leave its process ids in.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.folder.path().to_owned()).unwrap()
    }

    fn run(&self, script: &str, stdin: &[u8], limits: Limits) -> ProcessOutput {
        self.watched(script, stdin, limits, &mut |_| ControlFlow::Continue(()))
    }

    fn watched(
        &self,
        script: &str,
        stdin: &[u8],
        limits: Limits,
        watch: &mut Watch<'_>,
    ) -> ProcessOutput {
        let arguments = ["-c", script].map(str::to_owned);
        let environment = Environment::default();
        let directory = self.path();
        let call = Call {
            program: "/bin/sh",
            arguments: &arguments,
            directory: &directory,
            stdin,
            environment: &environment,
            limits,
        };
        supervise(&call, watch)
    }

    /// The ids that the script wrote to `file`, of which none may be alive. KILL takes effect soon, not at once.
    fn all_dead(&self, file: &str, expected: usize) {
        let ids: Vec<i32> = fs::read_to_string(self.path().join(file))
            .unwrap()
            .lines()
            .map(|id| id.parse().unwrap())
            .collect();
        assert_eq!(
            ids.len(),
            expected,
            "the script did not get far enough to prove anything"
        );
        let since = Instant::now();
        while let Some(id) = ids.iter().find(|id| is_alive(**id)) {
            assert!(
                since.elapsed() < Duration::from_secs(5),
                "process {id} is still alive"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Whether a process runs. One that only waits to be reaped by a lazy first process does not.
fn is_alive(id: i32) -> bool {
    let pid = rustix::process::Pid::from_raw(id).unwrap();
    if rustix::process::test_kill_process(pid).is_err() {
        return false;
    }
    match fs::read_to_string(format!("/proc/{id}/stat")) {
        Ok(stat) => !stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .trim_start()
            .starts_with(['Z', 'X']),
        Err(_) => fs::metadata("/proc/self/stat").is_err(),
    }
}

fn limits(timeout: Duration, idle: Duration) -> Limits {
    Limits { timeout, idle }
}

#[test]
fn exit_zero_with_output_and_the_prompt_on_stdin() {
    let bench = Bench::new();
    let ended = bench.run(
        "printf 'got: '; cat; echo note >&2",
        "a\nprompt ü".as_bytes(),
        limits(LONG, LONG),
    );
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "got: a\nprompt ü");
    assert_eq!(ended.stderr_tail, "note\n");
    assert!(!ended.truncated());
    assert!(ended.elapsed < LONG / 2);
}

#[test]
fn what_a_child_wrote_before_its_end_is_read_however_long_that_takes() {
    let bench = Bench::new();
    let script = "i=0; while [ $i -lt 16000 ]; do echo \"line $i of a reviewer that says much of what it does, and why\"; \
                  i=$((i + 1)); done >&2; echo answer; echo end >&2";
    let mut lines = 0;
    let ended = bench.watched(script, b"", limits(LONG, LONG), &mut |event| {
        if let Event::Line { .. } = event {
            lines += 1;
            thread::sleep(Duration::from_micros(500));
        }
        ControlFlow::Continue(())
    });
    assert_eq!(lines, 16_002);
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert_eq!(ended.stdout, b"answer\n");
    assert!(
        ended.stderr_tail.ends_with("end\n"),
        "{}",
        ended.stderr_tail
    );
}

#[test]
fn an_error_status_and_a_signal_are_told_apart() {
    let bench = Bench::new();
    let ended = bench.run("echo no >&2; exit 7", b"", limits(LONG, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::Exited(7)),
        "{:?}",
        ended.how
    );
    let ended = bench.run("kill -SEGV $$", b"", limits(LONG, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::Signalled(11)),
        "{:?}",
        ended.how
    );
}

#[test]
fn a_hang_is_ended_with_its_children() {
    let bench = Bench::new();
    let script = "sleep 600 & echo $! >>pids; echo $$ >>pids; wait";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::TimedOut { after: SHORT }),
        "{:?}",
        ended.how
    );
    assert!(
        ended.elapsed < SHORT + GRACE,
        "TERM was enough, yet it took {:?}",
        ended.elapsed
    );
    bench.all_dead("pids", 2);
}

#[test]
fn a_hang_that_ignores_term_is_killed() {
    let bench = Bench::new();
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! >>pids; echo $$ >>pids; \
                  while :; do sleep 1; done";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::TimedOut { .. }),
        "{:?}",
        ended.how
    );
    assert!(
        ended.elapsed >= SHORT + GRACE && ended.elapsed < LONG / 2,
        "{:?}",
        ended.elapsed
    );
    bench.all_dead("pids", 2);
}

#[test]
fn term_leaves_time_to_say_goodbye() {
    let bench = Bench::new();
    let script = "trap 'echo goodbye; exit 0' TERM; while :; do sleep 0.1; done";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::TimedOut { .. }),
        "a late exit 0 is still a time-out: {:?}",
        ended.how
    );
    assert_eq!(ended.stdout, b"goodbye\n");
}

#[test]
fn a_grandchild_that_holds_the_pipes_is_not_waited_for() {
    let bench = Bench::new();
    let script = "sleep 600 & echo $! >>pids; echo verdict; exit 0";
    let ended = bench.run(script, b"", limits(LONG, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert_eq!(ended.stdout, b"verdict\n");
    assert!(ended.elapsed < LONG / 2, "{:?}", ended.elapsed);
    bench.all_dead("pids", 1);
}

#[test]
fn a_silent_grandchild_without_the_pipes_does_not_outlive_the_run() {
    let bench = Bench::new();
    let script = "trap '' HUP TERM; sleep 600 >/dev/null 2>&1 </dev/null & echo $! >>pids; exit 3";
    let ended = bench.run(script, b"", limits(LONG, LONG));
    assert!(
        matches!(ended.how, ProcessEnd::Exited(3)),
        "{:?}",
        ended.how
    );
    bench.all_dead("pids", 1);
}

#[test]
fn a_child_that_closes_its_streams_is_still_limited() {
    let bench = Bench::new();
    let ended = bench.run(
        "echo $$ >>pids; exec sleep 600 >&- 2>&-",
        b"",
        limits(SHORT, LONG),
    );
    assert!(
        matches!(ended.how, ProcessEnd::TimedOut { .. }),
        "{:?}",
        ended.how
    );
    bench.all_dead("pids", 1);
}

#[test]
fn a_child_that_never_reads_does_not_block_us() {
    let bench = Bench::new();
    let ended = bench.run(
        "echo fine",
        &vec![b'x'; 10 * 1024 * 1024],
        limits(LONG, LONG),
    );
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert_eq!(ended.stdout, b"fine\n");

    let ended = bench.run(
        "sleep 600",
        &vec![b'x'; 10 * 1024 * 1024],
        limits(SHORT, LONG),
    );
    assert!(
        matches!(ended.how, ProcessEnd::TimedOut { .. }),
        "{:?}",
        ended.how
    );
}

#[test]
fn ten_megabytes_of_prompt_reach_a_child_that_reads() {
    let bench = Bench::new();
    let ended = bench.run("wc -c", &vec![b'x'; 10 * 1024 * 1024], limits(LONG, LONG));
    assert_eq!(String::from_utf8_lossy(&ended.stdout).trim(), "10485760");
}

#[test]
fn a_hundred_megabytes_of_output_are_bounded_and_counted() {
    let bench = Bench::new();
    let ended = bench.run(
        "head -c 104857600 /dev/zero; echo end >&2",
        b"",
        limits(LONG, LONG),
    );
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert!(ended.truncated());
    assert_eq!(ended.stdout.len(), KEPT);
    assert_eq!(ended.dropped, 104_857_600 - KEPT as u64);
    assert_eq!(ended.stderr_tail, "end\n");
}

#[test]
fn silence_is_idle_and_a_ticking_stderr_is_not() {
    let bench = Bench::new();
    let ended = bench.run("echo begin; exec sleep 600", b"", limits(LONG, SHORT));
    assert!(
        matches!(ended.how, ProcessEnd::Idle { after: SHORT }),
        "{:?}",
        ended.how
    );
    assert_eq!(ended.stdout, b"begin\n");

    let two = 2 * SHORT;
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i >&2; sleep 0.2; done; echo done";
    let ended = bench.run(script, b"", limits(LONG, two));
    assert!(
        matches!(ended.how, ProcessEnd::Exited(0)),
        "{:?}",
        ended.how
    );
    assert!(
        ended.elapsed > two,
        "it ran for less than the idle limit and proves nothing"
    );
}

#[test]
fn what_is_missing_is_named() {
    let bench = Bench::new();
    let environment = Environment::default();
    let (here, gone) = (bench.path(), bench.path().join("gone"));
    let call = |program, directory| Call {
        program,
        arguments: &[],
        directory,
        stdin: b"",
        environment: &environment,
        limits: limits(LONG, LONG),
    };
    let start = |call: &Call<'_>| match supervise(call, &mut |_| ControlFlow::Continue(())).how {
        ProcessEnd::CouldNotStart(error) => error,
        other => panic!("{other:?}"),
    };
    let error = start(&call("no-such-reviewer", &here));
    assert!(
        matches!(error, StartError::NotInstalled { .. }),
        "{error:?}"
    );
    let error = start(&call("/bin/sh", &gone));
    assert!(matches!(error, StartError::NoDirectory { .. }), "{error:?}");
    // A file that the system will not take as a program.
    let odd = here.join("odd");
    fs::write(&odd, [0u8, 1, 2, 3]).unwrap();
    fs::set_permissions(&odd, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let error = start(&call(odd.as_str(), &here));
    assert!(matches!(error, StartError::Io { .. }), "{error:?}");
}

#[test]
fn the_child_sees_the_short_environment_only() {
    let bench = Bench::new();
    let ended = bench.run("env | cut -d= -f1", b"", limits(LONG, LONG));
    let seen = String::from_utf8(ended.stdout).unwrap();
    assert!(
        seen.lines().any(|name| name == "CLAUDEX_REVIEWER_CHILD"),
        "{seen}"
    );
    let of_the_shell = ["PWD", "OLDPWD", "SHLVL", "_"];
    let fixed = [
        "PATH",
        "HOME",
        "LANG",
        "TZ",
        "TMPDIR",
        "USER",
        "CLAUDEX_REVIEWER_CHILD",
    ];
    for name in seen.lines() {
        assert!(
            fixed.contains(&name) || of_the_shell.contains(&name) || name.starts_with("LC_"),
            "{name} got through"
        );
    }
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some(),
        "cargo's variables are what must not get through"
    );
}

#[test]
fn the_watcher_sees_each_line_and_ticks_in_silence() {
    let bench = Bench::new();
    let (mut lines, mut ticks) = (Vec::new(), 0);
    let script = r"printf 'out\033[2J\n'; sleep 0.6; printf 'err\r\n\nlast' >&2";
    bench.watched(script, b"", limits(LONG, LONG), &mut |event| {
        match event {
            Event::Line { stream, text } => lines.push((stream, text.to_owned())),
            Event::Tick => ticks += 1,
        }
        ControlFlow::Continue(())
    });
    let line = |stream, text: &str| (stream, text.to_owned());
    assert_eq!(
        lines,
        [
            line(Stream::Stdout, "out[2J"),
            line(Stream::Stderr, "err"),
            line(Stream::Stderr, "last")
        ]
    );
    assert!(ticks >= 2, "{ticks}");
}

#[test]
fn the_watcher_can_stop_it_at_a_tick_and_at_a_line() {
    let bench = Bench::new();
    let script = "echo $$ >>pids; echo ready; exec sleep 600";
    let mut ready = false;
    let ended = bench.watched(script, b"", limits(LONG, LONG), &mut |event| {
        ready |= matches!(event, Event::Line { .. });
        if ready && event == Event::Tick {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(ended.how, ProcessEnd::Stopped), "{:?}", ended.how);
    let ended = bench.watched(script, b"", limits(LONG, LONG), &mut |event| match event {
        Event::Line { .. } => ControlFlow::Break(()),
        Event::Tick => ControlFlow::Continue(()),
    });
    assert!(matches!(ended.how, ProcessEnd::Stopped), "{:?}", ended.how);
    bench.all_dead("pids", 2);
}

#[test]
fn a_watcher_that_panics_leaves_nothing_behind() {
    let bench = Bench::new();
    let script = "echo $$ >>pids; echo ready; exec sleep 600";
    let run = std::panic::AssertUnwindSafe(|| {
        bench.watched(script, b"", limits(LONG, LONG), &mut |event| {
            assert!(event == Event::Tick, "the watcher's own bug");
            ControlFlow::Continue(())
        })
    });
    assert!(std::panic::catch_unwind(run).is_err());
    bench.all_dead("pids", 1);
}
