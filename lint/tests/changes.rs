//! Findings about whole diffs.

use claudex_lint::{Severity, review_changes};

/// Returns the findings about a new file with these lines.
fn findings(path: &str, text: &str) -> Vec<(&'static str, Severity, Option<u32>)> {
    let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
    let count = text.lines().count();
    let diff = format!(
        "# x\n\ndiff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n\
         @@ -0,0 +1,{count} @@\n{lines}"
    );
    let findings = review_changes(&diff).into_iter();
    findings
        .map(|finding| {
            assert_eq!(finding.file.as_deref(), Some(path));
            (finding.check, finding.severity, finding.line)
        })
        .collect()
}

#[test]
fn only_added_lines_count() {
    let diff = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n@@ -1,3 +1,2 @@\n // TODO old\n\
        -<<<<<<< x\n dbg!(x);\n";
    assert_eq!(review_changes(diff), []);
    assert_eq!(review_changes(""), []);
    assert_eq!(review_changes("no diff at all\n"), []);
}

#[test]
fn conflict_markers_are_found() {
    let merge = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n";
    let conflict = [("DIFF-CONFLICT", Severity::High, Some(2))];
    assert_eq!(findings("a.py", merge), conflict);
    let in_document = [("DIFF-CONFLICT", Severity::Medium, Some(2))];
    assert_eq!(findings("a.md", merge), in_document);
    assert_eq!(findings("a.md", "Title\n=======\n"), []);
    assert_eq!(findings("a.rs", "let x = a <<<<<<<< b;\n"), []);
}

#[test]
fn leftovers_are_found_by_language() {
    for (path, line, expected) in [
        ("a.rs", "    dbg!(&x);", "DIFF-DEBUG Low"),
        ("a.rs", "    // dbg!(x);", ""),
        ("a.rs", "    println!(\"x\");", ""),
        ("src/a.ts", "  console.log(x);", "DIFF-DEBUG Low"),
        ("a.test.ts", "  console.log(x);", ""),
        ("a.js", "debugger;", "DIFF-DEBUG High"),
        ("a.js", "debuggerTools();", ""),
        ("a.test.js", "  debugger;", "DIFF-DEBUG Medium"),
        ("a.py", "    import pdb; pdb.set_trace()", "DIFF-DEBUG High"),
        ("a.py", "    print(\"Usage: a FILE\")", ""),
        ("a.rb", "  binding.pry", "DIFF-DEBUG High"),
        ("a.md", "debugger;", ""),
        ("a.test.js", "  it.only('x', () => {", "DIFF-TESTS Medium"),
        ("a.test.js", "  it.skip('x', () => {", "DIFF-TESTS Low"),
        ("tests/a.rs", "#[ignore]", "DIFF-TESTS Low"),
        ("a.js", "// TODO: later", "DIFF-TODO Low"),
        ("a.py", "    x = 1  # FIXME", "DIFF-TODO Low"),
        ("a.js", " * XXX this is odd", "DIFF-TODO Low"),
        ("a.js", "// TODO(#123): later", ""),
        ("a.js", "// see the TODOs", ""),
        ("a.js", "let TODO = 1;", ""),
        ("a.md", "# TODO", ""),
    ] {
        let findings = findings(path, line);
        let first = findings
            .first()
            .map(|(check, severity, _)| format!("{check} {severity:?}"));
        assert_eq!(first.unwrap_or_default(), expected, "{path}: {line}");
    }
}

#[test]
fn findings_are_bounded() {
    let diff = format!(
        "diff --git a/x.js b/x.js\n--- a/x.js\n+++ b/x.js\n@@ -1 +1,10 @@\n a\n{}",
        "+// TODO\n".repeat(9)
    );
    let findings = review_changes(&diff);
    assert_eq!(findings.len(), 1);
    let further: Vec<String> = (3..8)
        .map(|line| format!("also line {line}"))
        .chain(["and 3 more lines".to_owned()])
        .collect();
    assert_eq!(findings[0].evidence, further);
    let file = |at| {
        format!(
            "diff --git a/{at}.js b/{at}.js\n--- a/{at}.js\n+++ b/{at}.js\n@@ -1 +1,2 @@\n a\n+debugger;\n"
        )
    };
    let many: String = (0..60).map(file).collect();
    let findings = review_changes(&format!("# left out: a.rs\n\n{many}"));
    assert_eq!(findings.len(), 42);
    assert_eq!(findings[40].what, "20 more findings are not listed");
    assert_eq!(findings[41].check, "DIFF-UNREAD");
}

#[test]
fn unread_changes_are_named() {
    let findings = review_changes("# left out: a.rs (+9 -0 lines)\n\n");
    assert_eq!(findings[0].check, "DIFF-UNREAD");
    assert_eq!(findings[0].evidence, ["a.rs (+9 -0 lines)"]);
}
