//! The command of a `command_execution` as its model wrote it: without the shell that the client puts around it, and without that
//! shell's quotes. It knows nothing of events.

use std::borrow::Cow;

/// The ways in which the client calls the user's shell.
const SHELLS: [&str; 4] = [
    "/bin/bash -lc ",
    "/bin/sh -lc ",
    "/bin/zsh -lc ",
    "bash -lc ",
];

/// Returns a command without the shell around it.
pub(super) fn bare(command: &str) -> Cow<'_, str> {
    let inside = SHELLS.iter().find_map(|shell| command.strip_prefix(shell));
    inside.map_or(Cow::Borrowed(command), |inside| {
        match shlex::split(inside).as_deref() {
            Some([word]) => Cow::Owned(word.clone()),
            _ => Cow::Borrowed(inside),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_its_model_wrote_it() {
        for (command, shown) in [
            ("/bin/bash -lc 'cat PLAN.md'", "cat PLAN.md"),
            ("/bin/bash -lc ls", "ls"),
            (
                r#"/bin/bash -lc "sed -i 's/a/b/' x; echo \"mended: "'$?"'"#,
                r#"sed -i 's/a/b/' x; echo "mended: $?""#,
            ),
            (r#"/bin/sh -lc "a \\ b \n \`c\`""#, r"a \ b \n `c`"),
            (r"/bin/sh -lc a\ b", "a b"),
            ("cargo test", "cargo test"),
        ] {
            assert_eq!(bare(command), shown, "{command}");
        }
    }

    #[test]
    fn what_is_no_word_of_a_shell_stays_as_it_is() {
        for rest in ["ls -l", "'open", "\"open", "end\\", ""] {
            assert_eq!(bare(&format!("/bin/bash -lc {rest}")), rest);
        }
    }
}
