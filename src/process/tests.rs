use std::fs;

use camino::Utf8PathBuf;

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

#[track_caller]
fn check_end(ended: &ProcessOutput, expected: &str) {
    assert_eq!(format!("{:?}", ended.how), expected);
}

fn limits(timeout: Duration, idle: Duration) -> Limits {
    Limits { timeout, idle }
}

#[test]
fn child_reads_the_prompt_and_its_output_is_kept() {
    let bench = Bench::new();
    let ended = bench.run(
        "printf 'got: '; cat; echo note >&2",
        "a\nprompt ü".as_bytes(),
        limits(LONG, LONG),
    );
    check_end(&ended, "Exited(0)");
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "got: a\nprompt ü");
    assert_eq!(ended.stderr_tail, "note\n");
    assert!(!ended.truncated());
    assert!(ended.elapsed < LONG / 2);
}

#[test]
fn output_before_the_end_is_read_however_slowly() {
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
    check_end(&ended, "Exited(0)");
    assert_eq!(ended.stdout, b"answer\n");
    assert!(
        ended.stderr_tail.ends_with("end\n"),
        "{}",
        ended.stderr_tail
    );
}

#[test]
fn error_status_and_signal_differ() {
    let bench = Bench::new();
    let ended = bench.run("echo no >&2; exit 7", b"", limits(LONG, LONG));
    check_end(&ended, "Exited(7)");
    let ended = bench.run("kill -SEGV $$", b"", limits(LONG, LONG));
    check_end(&ended, "Signalled(11)");
}

#[test]
fn hanging_child_is_ended_with_its_children() {
    let bench = Bench::new();
    let script = "sleep 600 & echo $! >>pids; echo $$ >>pids; wait";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    check_end(&ended, "TimedOut { after: 800ms }");
    assert!(
        ended.elapsed < SHORT + GRACE,
        "TERM was enough, yet it took {:?}",
        ended.elapsed
    );
    bench.all_dead("pids", 2);
}

#[test]
fn child_that_ignores_term_is_killed() {
    let bench = Bench::new();
    let script = "trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! >>pids; echo $$ >>pids; \
                  while :; do sleep 1; done";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    check_end(&ended, "TimedOut { after: 800ms }");
    assert!(
        ended.elapsed >= SHORT + GRACE && ended.elapsed < LONG / 2,
        "{:?}",
        ended.elapsed
    );
    bench.all_dead("pids", 2);
}

#[test]
fn child_may_write_after_term() {
    let bench = Bench::new();
    let script = "trap 'echo goodbye; exit 0' TERM; while :; do sleep 0.1; done";
    let ended = bench.run(script, b"", limits(SHORT, LONG));
    check_end(&ended, "TimedOut { after: 800ms }");
    assert_eq!(ended.stdout, b"goodbye\n");
}

#[test]
fn grandchildren_with_and_without_pipes_are_ended() {
    let bench = Bench::new();
    let script = "trap '' HUP TERM; sleep 600 >/dev/null 2>&1 </dev/null & echo $! >>pids; \
                  sleep 600 & echo $! >>pids; echo verdict; exit 3";
    let ended = bench.run(script, b"", limits(LONG, LONG));
    check_end(&ended, "Exited(3)");
    assert_eq!(ended.stdout, b"verdict\n");
    assert!(ended.elapsed < LONG / 2, "{:?}", ended.elapsed);
    bench.all_dead("pids", 2);
}

#[test]
fn child_without_streams_is_still_limited() {
    let bench = Bench::new();
    let ended = bench.run(
        "echo $$ >>pids; exec sleep 600 >&- 2>&-",
        b"",
        limits(SHORT, LONG),
    );
    check_end(&ended, "TimedOut { after: 800ms }");
    bench.all_dead("pids", 1);
}

#[test]
fn child_that_never_reads_does_not_block() {
    let bench = Bench::new();
    let ended = bench.run(
        "echo fine",
        &vec![b'x'; 10 * 1024 * 1024],
        limits(LONG, LONG),
    );
    check_end(&ended, "Exited(0)");
    assert_eq!(ended.stdout, b"fine\n");

    let ended = bench.run(
        "sleep 600",
        &vec![b'x'; 10 * 1024 * 1024],
        limits(SHORT, LONG),
    );
    check_end(&ended, "TimedOut { after: 800ms }");
}

#[test]
fn silence_is_idle_and_output_on_stderr_is_not() {
    let bench = Bench::new();
    let ended = bench.run("echo begin; exec sleep 600", b"", limits(LONG, SHORT));
    check_end(&ended, "Idle { after: 800ms }");
    assert_eq!(ended.stdout, b"begin\n");

    let two = 2 * SHORT;
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i >&2; sleep 0.2; done; echo done";
    let ended = bench.run(script, b"", limits(LONG, two));
    check_end(&ended, "Exited(0)");
    assert!(
        ended.elapsed > two,
        "it ran for less than the idle limit and proves nothing"
    );
}

#[test]
fn missing_program_or_directory_is_named() {
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
fn watcher_sees_each_line_and_ticks() {
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
fn watcher_stops_the_child_at_tick_and_line() {
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
    check_end(&ended, "Stopped");
    let ended = bench.watched(script, b"", limits(LONG, LONG), &mut |event| match event {
        Event::Line { .. } => ControlFlow::Break(()),
        Event::Tick => ControlFlow::Continue(()),
    });
    check_end(&ended, "Stopped");
    bench.all_dead("pids", 2);
}

#[test]
fn panicking_watcher_leaves_no_process() {
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
