//! What holds for any machine holds for the plan loop.

use claudex_testkit::{Kit, Project};

/// A work tree with a change in it, which the mode `review` reviews.
fn changed(project: &Project) -> std::io::Result<()> {
    project.write("greeting.txt", "hello\n")?;
    for arguments in [
        &["add", "greeting.txt"][..],
        &["commit", "--quiet", "-m", "a greeting"],
    ] {
        project.tool("git").args(arguments).status()?;
    }
    project.write("greeting.txt", "good morning\n")
}

#[test]
#[expect(clippy::print_stdout, reason = "what was tried is what the test has to say")]
fn the_plan_loop_passes_the_kit() {
    let kit = Kit::new("machine.toml", env!("CARGO_BIN_EXE_claudex-loop")).plugin("plugin");
    let report = kit.flag("max_rounds", "rounds").project(changed).quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}
