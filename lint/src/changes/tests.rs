//! Whole patches and what is found in them.

use super::review;
use crate::Severity;

/// What is found in one new file with these lines.
fn found(path: &str, text: &str) -> Vec<(String, Severity, Option<u32>)> {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    let diff = format!(
        "# x\n\ndiff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}"
    );
    review(&diff)
        .into_iter()
        .map(|finding| {
            assert_eq!(finding.file.as_deref(), Some(path));
            (finding.check.to_owned(), finding.severity, finding.line)
        })
        .collect()
}

fn ids(path: &str, text: &str) -> Vec<String> {
    found(path, text).into_iter().map(|(id, ..)| id).collect()
}

#[test]
fn only_added_lines_count() {
    let diff = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,2 @@\n // TODO old\n-<<<<<<< x\n dbg!(x);\n";
    assert!(review(diff).is_empty());
    assert!(review("").is_empty() && review("no diff at all\n").is_empty());
}

#[test]
fn an_unfinished_merge() {
    let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n";
    assert_eq!(
        found("a.py", text),
        [("DIFF-CONFLICT".to_owned(), Severity::High, Some(2))]
    );
    assert_eq!(ids("a.md", text), ["DIFF-CONFLICT"]);
    assert!(ids("a.md", "Title\n=======\n").is_empty());
    assert!(ids("a.md", "`<<<<<<<` begins ours:\n<<<<<<< HEAD\n").is_empty());
    assert!(ids("a.rs", "let x = a <<<<<<<< b;\n// =======\n").is_empty());
}

#[test]
fn secrets_are_found_and_not_repeated() {
    let secret = "ghp_9aB8cD7eF6gH5iJ4kL3mN2oP1qR0sT9uV8wX";
    let diff = format!(
        "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1,2 @@\n a\n+let t = \"{secret}\";\n"
    );
    let findings = review(&diff);
    let shown = format!("{findings:?}");
    assert!(
        shown.contains("DIFF-TOKEN")
            && shown.contains("ghp_9a...")
            && !shown.contains(&secret[..12]),
        "{shown}"
    );

    let diff = format!(
        "diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1,4 @@\n a\n+debugger; const t = \"{secret}\";\n\
         +console.log(\"{secret}\");\n+// TODO take {secret} out\n"
    );
    let shown = format!("{:?}", review(&diff));
    for check in ["DIFF-TOKEN", "DIFF-BREAKPOINT", "DIFF-DEBUG", "DIFF-TODO"] {
        assert!(shown.contains(check), "{check}: {shown}");
    }
    assert!(
        !shown.contains(&secret[..12]),
        "what another check quotes: {shown}"
    );

    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAA\n";
    assert_eq!(
        found("id", key),
        [("DIFF-PRIVATE-KEY".to_owned(), Severity::High, Some(1))]
    );
    assert_eq!(
        found("tests/fixtures/id", key),
        [("DIFF-PRIVATE-KEY".to_owned(), Severity::Low, Some(1))]
    );
    for (path, line) in [
        ("a.py", "password = 'hunter2-Tr0ub4dor'"),
        ("a.js", "const apiKey = \"9f8e7d6c5b4a39281706\";"),
        (".env", "DB_PASSWORD=s3cr3tP4ssw0rdX9"),
        ("c.yml", "  client_secret: 8kQz71LmPw02xVt5"),
        ("a.rs", "    client_secret: \"8kQz71LmPw02xVt5\","),
    ] {
        assert_eq!(ids(path, line), ["DIFF-PASSWORD"], "{line}");
        assert_eq!(found(path, line)[0].1, Severity::High, "{line}");
    }
    for (path, line) in [
        ("a.rs", "let password = \"hunter2\";"),
        ("a.py", "DB_PASSWORD = 'hunter2hunter2'"),
    ] {
        let short = [("DIFF-PASSWORD".to_owned(), Severity::Medium, Some(1))];
        assert_eq!(found(path, line), short, "{line}");
    }
}

#[test]
fn what_only_speaks_of_secrets_is_none() {
    for (path, line) in [
        (
            "a.rs",
            "if line.contains(\"-----BEGIN RSA PRIVATE KEY-----\") {",
        ),
        ("a.py", "password = os.environ[\"DB_PASSWORD_2024\"]"),
        ("a.py", "password = getpass('Password for user 2: ')"),
        (
            "a.js",
            "password: \"Your password must have 8 characters\",",
        ),
        ("a.js", "const password = `x${a}1234567890`;"),
        ("a.ts", "password: string;"),
        ("a.yml", "password: ${DB_PASSWORD_2}"),
        ("a.yml", "secret: my-secret-name-2"),
        ("a.yml", "password: rotation2"),
        ("a.js", "password: \"password\","),
        ("a.rs", "let secret = \"v2\";"),
        ("a.py", "SECRET_KEY = 'changeme-1234-abcd'"),
        ("a.py", "aws = 'AKIAIOSFODNN7EXAMPLE'"),
        ("tests/a.py", "password = 'hunter2-Tr0ub4dor'"),
        ("README.md", "password = 'hunter2-Tr0ub4dor'"),
        ("a.rs", "let password_field = \"input-password-2-x9\";"),
        (
            "Cargo.lock",
            "checksum = \"9f8e7d6c5b4a392817069f8e7d6c5b4a39281706\"",
        ),
        ("a.go", "token := \"ghp_\" + strings.Repeat(\"x\", 36)"),
    ] {
        assert!(
            ids(path, line).is_empty(),
            "{path}: {line}: {:?}",
            ids(path, line)
        );
    }
}

#[test]
fn leftover_files_notes_and_commented_out_code() {
    for path in ["src/a.rs.orig", "a.rej", "a.py~", ".a.swp", ".#a.el"] {
        assert_eq!(
            found(path, "x"),
            [("DIFF-LEFTOVER".to_owned(), Severity::Medium, None)],
            "{path}"
        );
    }
    for (line, is_note) in [
        ("// TODO: later", true),
        ("    x = 1  # FIXME", true),
        (" * XXX this is odd", true),
        ("<!-- HACK -->", true),
        ("// TODO(#123): later", false),
        ("// see the TODOs", false),
        ("let TODO = 1;", false),
        ("print(\"# TODO\")", false),
        ("// finds \"TODO\" in lines", false),
        ("// a TODO-list application", false),
    ] {
        assert_eq!(
            ids("a.js", line).contains(&"DIFF-TODO".to_owned()),
            is_note,
            "{line}"
        );
    }
    assert!(ids("a.md", "# TODO\n").is_empty());
    let code = "// let a = 1;\n// if (a) {\n//   b(a);\n// }\n";
    assert_eq!(ids("a.ts", code), ["DIFF-COMMENTED-OUT"]);
    assert!(
        ids(
            "a.ts",
            "// This is prose;\n// it goes on,\n// and on;\n// and ends.\n"
        )
        .is_empty()
    );
    assert!(
        ids("a.rs", &code.replace("//", "///")).is_empty(),
        "an example in documentation"
    );
}

#[test]
fn debugging_by_language() {
    for (path, line, expected) in [
        (
            "a.rs",
            "    dbg!(&x);",
            Some(("DIFF-DEBUG", Severity::Medium)),
        ),
        ("a.rs", "    let y = my_dbg!(x);", None),
        ("a.rs", "    // dbg!(x);", None),
        ("a.rs", "    println!(\"x\");", None),
        (
            "src/a.ts",
            "  console.log(x);",
            Some(("DIFF-DEBUG", Severity::Low)),
        ),
        ("scripts/a.ts", "  console.log(x);", None),
        ("a.test.ts", "  console.log(x);", None),
        (
            "a.js",
            "debugger;",
            Some(("DIFF-BREAKPOINT", Severity::High)),
        ),
        ("a.js", "debuggerTools();", None),
        (
            "a.test.js",
            "  debugger;",
            Some(("DIFF-BREAKPOINT", Severity::Medium)),
        ),
        (
            "a.test.js",
            "  it.only('x', () => {",
            Some(("DIFF-ONLY", Severity::Medium)),
        ),
        (
            "a.py",
            "    import pdb; pdb.set_trace()",
            Some(("DIFF-BREAKPOINT", Severity::High)),
        ),
        (
            "a.py",
            "    breakpoint()",
            Some(("DIFF-BREAKPOINT", Severity::High)),
        ),
        (
            "a.py",
            "    print(f\"{x=}\")",
            Some(("DIFF-DEBUG", Severity::Low)),
        ),
        ("a.py", "    print(\"Usage: a FILE\")", None),
        (
            "a.rb",
            "  binding.pry",
            Some(("DIFF-BREAKPOINT", Severity::High)),
        ),
        (
            "a.php",
            "  var_dump($x);",
            Some(("DIFF-DEBUG", Severity::Medium)),
        ),
        ("a.md", "debugger;", None),
    ] {
        let found = found(path, line);
        let seen = found
            .first()
            .map(|(id, severity, _)| (id.as_str(), *severity));
        assert_eq!(seen, expected, "{path}: {line}");
    }
}

#[test]
fn hidden_characters_and_sheer_size() {
    assert_eq!(
        found("a.c", "if (x<U+202E>) {"),
        [("DIFF-HIDDEN".to_owned(), Severity::High, Some(1))]
    );
    assert_eq!(ids("a.c", &"x;\n".repeat(2000)), ["DIFF-HUGE"]);
    assert!(ids("tests/a.c", &"x;\n".repeat(2000)).is_empty());
    assert_eq!(ids("a.c", &"x".repeat(1001)), ["DIFF-LONG-LINE"]);
    assert!(ids("a.json", &"x".repeat(1001)).is_empty());
    let head = "# binary: big.bin (5242880 bytes)\n# binary: small.png (99 bytes)\n# left out: a.rs (+9 -0 lines)\n\n";
    let findings = review(head);
    let seen: Vec<_> = findings
        .iter()
        .map(|finding| (finding.check, finding.file.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [("DIFF-HUGE", Some("big.bin")), ("DIFF-UNREAD", None)]
    );
}

#[test]
fn many_places_are_one_finding_and_many_findings_are_capped() {
    let findings = review(
        "diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1,10 @@\n a\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n+// TODO\n",
    );
    assert_eq!(findings.len(), 1);
    assert_eq!(
        findings[0].what,
        "9 new notes to oneself (TODO, FIXME, XXX or HACK) are added"
    );
    assert_eq!(findings[0].evidence.last().unwrap(), "and 3 more");
    let many: String = (0..100)
        .map(|at| format!("diff --git a/{at}.js b/{at}.js\n--- a/{at}.js\n+++ b/{at}.js\n@@ -1 +1,2 @@\n a\n+debugger;\n"))
        .collect();
    assert_eq!(review(&many).len(), super::MAX_FINDINGS);
}

#[test]
fn what_cannot_go_without_a_thought_gets_no_patch() {
    for (path, text) in [
        ("a.js", "if (x)\n  debugger;\nnext();\n"),
        ("a.js", "a();\nconsole.log(next());\nb();\n"),
        ("a.js", "a();\nconsole.log(`x`);\nb();\n"),
        ("a.js", "const f = () =>\n  console.log(x);\n"),
        ("a.py", "if x:\n    breakpoint()\ny = 1\n"),
        ("a.rs", "let a = 1;\ndbg!(queue);\n"),
        ("a.rs", "let a = 1;\ndbg!(&a)\n}\n"),
        ("a.rb", "binding.pry if x\n"),
        ("a.js", "a();\n<<<<<<< HEAD\n"),
        ("a.js", "a();\nconsole.log('a message');\nb();\n"),
        // A report is no place for what stands around it.
        (
            "tests/a.js",
            "a();\ndebugger;\nlet password = 'hunter2-Tr0ub4dor';\n",
        ),
    ] {
        let count = text.lines().count();
        let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
        let diff = format!(
            "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -0,0 +1,{count} @@\n{lines}"
        );
        let findings = review(&diff);
        assert_eq!(findings.len(), 1, "{text}");
        assert_eq!(findings[0].patch, None, "{text}");
    }
}

#[test]
fn hostile_lines_take_no_time_to_speak_of() {
    let size = 256 * 1024;
    let lines = |line: &str| line.repeat(size / line.len());
    for text in [
        lines("sk-ant-"),
        lines("debugger;\n"),
        lines("TODO#"),
        lines("// \""),
        lines("password=\""),
        lines("<U+202E>"),
        lines("-----BEGIN "),
        lines("\n"),
    ] {
        let begun = std::time::Instant::now();
        found("a.js", &text);
        assert!(
            begun.elapsed() < std::time::Duration::from_secs(20),
            "{}",
            &text[..20]
        );
    }
}
