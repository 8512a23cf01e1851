//! Folders that nobody would make by mistake: everything that a stop reads, with something else in its place. The kit holds a
//! stop to its answer in each of them, a benchmark may hold it to its time.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::project::{keep, restore};

/// A project with a loop under way, below one folder with the person's home.
#[derive(Debug, Clone)]
pub struct Healthy {
    /// The project.
    pub root: PathBuf,
    /// The person's home: `state` and `config` in it are what XDG calls so.
    pub home: PathBuf,
    /// The loop's id.
    pub id: String,
    /// The state folder, from the root.
    pub folder: String,
    /// The state document, from the root.
    pub document: String,
    /// The program's name, and that of the project's configuration.
    pub names: (String, String),
}

/// One thing in the place of another.
pub struct Case {
    /// What stands where.
    pub name: String,
    /// What a shell does before it calls the program, with the root as `$root`; nothing where no shell is needed.
    pub before: &'static str,
    make: Box<Make>,
}

impl Case {
    /// Makes the folder, and returns what the place holds that must stay; `None` where this user may not make it.
    ///
    /// # Panics
    /// The system refuses what a test relies on.
    pub fn make(&self, healthy: &Healthy) -> Option<PathBuf> {
        (self.make)(healthy)
    }
}

impl std::fmt::Debug for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Healthy {
    /// Keeps the project as it is now.
    ///
    /// # Panics
    /// The system refuses.
    pub fn keep(&self) {
        keep(&[&self.home, &self.root]).expect("a folder beside the home");
    }

    /// Makes it as it was when it was kept.
    ///
    /// # Panics
    /// The system refuses.
    pub fn restore(&self) {
        restore(&[&self.home, &self.root]).expect("a folder beside the home");
    }

    /// Returns where a link leads that leads out.
    pub fn outside(&self) -> PathBuf {
        self.home.join("outside")
    }

    fn state(&self, name: &str) -> PathBuf {
        let name = name.replace("ID", &self.id);
        self.root
            .join(format!("{}/{name}", self.folder).trim_end_matches('/'))
    }

    fn document(&self) -> PathBuf {
        self.root.join(&self.document)
    }

    fn user(&self, name: &str) -> PathBuf {
        self.home.join("state").join(&self.names.0).join(name)
    }

    fn record(&self) -> PathBuf {
        let records = fs::read_dir(self.user("loops")).expect("records");
        records
            .map(|entry| entry.expect("a record").path())
            .next()
            .expect("a record")
    }

    /// Has the loop be one of another version, whose shape is read.
    fn shape(&self) -> PathBuf {
        let machines = fs::read_dir(self.state("machines")).expect("shapes");
        let shape = machines
            .map(|entry| entry.expect("a shape").path())
            .next()
            .expect("a shape");
        let hash = shape
            .file_stem()
            .expect("a hash")
            .to_string_lossy()
            .into_owned();
        for file in [
            self.document(),
            self.state("ID/journal.jsonl"),
            self.record(),
        ] {
            replace(&file, &hash, "00ff00ff00ff00ff");
        }
        let other = shape.with_file_name("00ff00ff00ff00ff.json");
        fs::rename(&shape, &other).expect("a new name");
        other
    }
}

type Make = dyn Fn(&Healthy) -> Option<PathBuf> + Sync;
type Place = (&'static str, fn(&Healthy) -> PathBuf);
/// Puts something in a place; false where this user may not.
type Kind = (&'static str, fn(&Path, &Healthy) -> bool);

const FILES: [Place; 11] = [
    ("the state document", |of| of.document()),
    ("the journal", |of| of.state("ID/journal.jsonl")),
    ("the lock", |of| of.state(".lock")),
    ("the review's lock", |of| of.state("ID/run.lock")),
    ("the log", |of| of.state("log")),
    ("the findings", |of| of.state("ID/findings-round-1.md")),
    ("the findings JSON", |of| {
        of.state("ID/findings-round-1.json")
    }),
    ("a shape", Healthy::shape),
    ("the record", Healthy::record),
    ("the configuration", |of| {
        of.home.join("config/claudex-loop/config.toml")
    }),
    ("the project's configuration", |of| {
        of.root.join(format!(".claude/{}.toml", of.names.1))
    }),
];

const FOLDERS: [Place; 5] = [
    ("the state folder", |of| of.state("")),
    ("the loop's folder", |of| of.state("ID")),
    ("the shapes", |of| {
        of.shape();
        of.state("machines")
    }),
    ("the records", |of| of.user("loops")),
    ("the swept loops", |of| of.state("swept")),
];

/// What stands in the place of a file or a folder.
const ANY: [Kind; 7] = [
    ("a pipe", |place, _| {
        remove(place);
        run("mkfifo", &[place]);
        true
    }),
    ("a socket", |place, of| {
        remove(place);
        // Its own path has to be short.
        let short = of.home.join("s");
        drop(std::os::unix::net::UnixListener::bind(&short).expect("a socket"));
        fs::rename(short, place).is_ok()
    }),
    ("a device", |place, _| {
        remove(place);
        let zero = ["c", "1", "5"].map(Path::new);
        let made = Command::new("mknod")
            .arg(place)
            .args(zero)
            .stderr(std::process::Stdio::null())
            .status();
        made.is_ok_and(|status| status.success())
    }),
    ("a link to itself", |place, _| {
        remove(place);
        symlink(place.file_name().expect("a name"), place).is_ok()
    }),
    ("a link out", |place, of| {
        let outside = of.outside();
        if fs::rename(place, &outside).is_err() {
            fs::write(&outside, "mine\n").expect("a file outside");
        }
        symlink(outside, place).is_ok()
    }),
    ("no permission", |place, _| {
        ensure(place);
        fs::set_permissions(place, Permissions::from_mode(0o0)).is_ok()
    }),
    ("another owner", |place, _| {
        ensure(place);
        chown(place, Some(12_345), None).is_ok()
    }),
];

const IN_FILES: [Kind; 5] = [
    ("a folder", |place, _| {
        remove(place);
        fs::create_dir(place).is_ok()
    }),
    ("a gigabyte of nothing", |place, _| {
        let file = fs::File::create(place).expect("a file");
        file.set_len(1 << 30).is_ok()
    }),
    ("a mebibyte of brackets", |place, _| {
        let begin = fs::read_to_string(place).unwrap_or_default();
        let open = if place.extension().is_some_and(|is| is == "toml") {
            "x = "
        } else {
            "x: "
        };
        let open = if begin.starts_with('{') {
            "{\"x\":"
        } else {
            open
        };
        fs::write(place, begin + open + &"[".repeat(1 << 20)).is_ok()
    }),
    ("20,000 names", |place, _| {
        let begin = fs::read_to_string(place).unwrap_or_default();
        let name = |n: usize| format!("k{n}: {n}\n");
        let key = |n: usize| format!("\"k{n}\": [{n}],");
        let names: String = if begin.starts_with('{') {
            format!(
                "{{{}\"end\": 0}}\n",
                (0..20_000).map(key).collect::<String>()
            )
        } else if place.extension().is_some_and(|is| is == "toml") {
            (0..20_000).map(name).collect::<String>().replace(':', " =")
        } else {
            (0..20_000).map(name).collect()
        };
        fs::write(
            place,
            if names.starts_with('{') {
                names
            } else {
                begin + &names
            },
        )
        .is_ok()
    }),
    ("20,000 of what it holds", |place, _| {
        let whole = fs::read_to_string(place).unwrap_or_default();
        let lines = whole.repeat((1 << 20) / whole.len().max(64) + 1);
        fs::write(place, lines).is_ok()
    }),
];

const IN_FOLDERS: [Kind; 3] = [
    ("a file", |place, _| {
        remove(place);
        fs::write(place, "").is_ok()
    }),
    ("20,000 files", |place, _| {
        fs::create_dir_all(place).expect("a folder");
        let name = |n: usize| place.join(format!("20250101-000000-{n:06x}.state"));
        // Names of one file are made in a twentieth of the time, and tell nobody that they are.
        fs::write(name(0), "phase: done\n").is_ok()
            && (1..20_000).all(|n| fs::hard_link(name(0), name(n)).is_ok())
    }),
    ("names of 255 bytes", |place, _| {
        fs::create_dir_all(place).expect("a folder");
        (0..100).all(|n| fs::write(place.join(format!("{n:x>249}.state")), "").is_ok())
    }),
];

type Edit = fn(&mut Value);

/// Lines behind the journal's last that hold far more than any of ours, each made of that one.
const LINES: [(&str, Edit); 3] = [
    ("a note of 90,000 keys behind the last change", |line| {
        *line = json!({"at": line["at"], "note": "x", "data": keys(90_000)});
    }),
    ("a change with evidence of 90,000 keys", |line| {
        line["evidence"] = keys(90_000)
    }),
    (
        "a change of 2,000 fields, and 90,000 others quoted",
        |line| {
            let quoted: Vec<String> = (0..90_000).map(|n| format!("q{n}")).collect();
            line["quoted"] = quoted.into();
            for n in 0..2_000 {
                line["fields"][format!("k{n}")] = "x".into();
            }
        },
    ),
];

fn keys(count: usize) -> Value {
    (0..count)
        .map(|n| (format!("k{n}"), "x".into()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Lists every case.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (places, more) in [(&FILES[..], &IN_FILES[..]), (&FOLDERS, &IN_FOLDERS)] {
        for (what, place) in places.iter().copied() {
            for (kind, put) in ANY.iter().chain(more).copied() {
                let make = move |of: &Healthy| {
                    let place = place(of);
                    fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
                    put(&place, of).then_some(place)
                };
                let name = format!("{kind} in the place of {what}");
                cases.push(Case {
                    name,
                    before: "",
                    make: Box::new(make),
                });
            }
        }
    }
    for (name, edit) in LINES {
        let make = move |of: &Healthy| {
            let path = of.state("ID/journal.jsonl");
            let journal = fs::read_to_string(&path).expect("a journal");
            let change = journal
                .lines()
                .rfind(|line| line.contains("\"revision\""))
                .expect("a change");
            let mut line: Value = serde_json::from_str(change).expect("JSON");
            line["revision"] = (line["revision"].as_u64().expect("a number") + 1).into();
            edit(&mut line);
            fs::write(&path, format!("{journal}{line}\n")).expect("the same file");
            Some(path)
        };
        cases.push(Case {
            name: name.to_owned(),
            before: "",
            make: Box::new(make),
        });
    }
    for (name, by) in [
        ("a clock that is a year behind", 1),
        ("a clock that is a year ahead", -1),
    ] {
        let make = move |of: &Healthy| {
            let year = i32::from(
                jiff::Timestamp::now()
                    .to_zoned(jiff::tz::TimeZone::UTC)
                    .year(),
            );
            for file in [of.document(), of.state("ID/journal.jsonl"), of.record()] {
                replace(&file, &format!("{year}-"), &format!("{}-", year + by));
                let moved = std::time::Duration::from_secs(366 * 24 * 60 * 60);
                let now = std::time::SystemTime::now();
                let at = if by > 0 { now + moved } else { now - moved };
                fs::File::options()
                    .append(true)
                    .open(file)
                    .expect("a file")
                    .set_modified(at)
                    .expect("a time");
            }
            Some(of.document())
        };
        cases.push(Case {
            name: name.to_owned(),
            before: "",
            make: Box::new(make),
        });
    }
    for (name, before) in [
        (
            "a disk that cannot be written",
            r#"mount --bind "$root" "$root" && mount -o remount,ro,bind "$root""#,
        ),
        (
            "a full disk",
            r#"mv "$root" "$root.was" && mkdir "$root" && mount -t tmpfs -o size=1m tmpfs "$root" && cp -a "$root.was/." "$root" &&
            { dd if=/dev/zero of="$root/full" bs=4096 2>/dev/null || :; }"#,
        ),
    ] {
        let make = |of: &Healthy| {
            let may = Command::new("unshare")
                .args(["-Urm", "true"])
                .stderr(std::process::Stdio::null())
                .status();
            may.is_ok_and(|status| status.success())
                .then(|| of.document())
        };
        cases.push(Case {
            name: name.to_owned(),
            before,
            make: Box::new(make),
        });
    }
    cases
}

/// Makes an empty file where nothing stands.
fn ensure(place: &Path) {
    if !place.exists() {
        fs::write(place, "").expect("a file");
    }
}

fn remove(place: &Path) {
    if place.is_dir() {
        fs::remove_dir_all(place).expect("it was a folder");
    } else {
        let _ = fs::remove_file(place);
    }
}

fn replace(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).expect("a file");
    fs::write(file, text.replace(from, to)).expect("the same file");
}

fn run(program: &str, arguments: &[&Path]) {
    let status = Command::new(program).args(arguments).status();
    assert!(
        status.expect("it is installed").success(),
        "{program} {arguments:?}"
    );
}
