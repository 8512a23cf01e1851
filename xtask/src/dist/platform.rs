//! The kinds of machine that a release is made for, and what each is called by those who look for it.

use miette::miette;

/// A kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Platform {
    /// As Rust knows it: operating system and processor.
    rust: (&'static str, &'static str),
    /// What is built for it.
    pub(super) target: &'static str,
    /// As `uname -sm` says, with a hyphen: the plugin's launcher looks for the program in a folder of this name.
    pub(super) uname: &'static str,
    /// As npm knows it: operating system and processor.
    pub(super) npm: (&'static str, &'static str),
}

/// All of them.
pub(super) const PLATFORMS: [Platform; 3] = [
    Platform {
        rust: ("linux", "x86_64"),
        target: "x86_64-unknown-linux-gnu",
        uname: "Linux-x86_64",
        npm: ("linux", "x64"),
    },
    Platform {
        rust: ("linux", "aarch64"),
        target: "aarch64-unknown-linux-gnu",
        uname: "Linux-aarch64",
        npm: ("linux", "arm64"),
    },
    Platform {
        rust: ("macos", "aarch64"),
        target: "aarch64-apple-darwin",
        uname: "Darwin-arm64",
        npm: ("darwin", "arm64"),
    },
];

impl Platform {
    /// Returns the kind of machine that this runs on.
    ///
    /// # Errors
    /// No release is made for it.
    pub(super) fn here() -> miette::Result<Self> {
        let here = (std::env::consts::OS, std::env::consts::ARCH);
        let known = PLATFORMS.into_iter().find(|platform| platform.rust == here);
        known.ok_or_else(|| {
            miette!(
                help = "add it to xtask/src/dist/platform.rs",
                "no release is made for {} on {}",
                here.0,
                here.1
            )
        })
    }

    /// Tells whether a program can hold the system's C library, so that it runs on any machine of this kind.
    pub(super) fn is_static(&self) -> bool {
        self.rust.0 == "linux"
    }

    /// Returns what the npm package with the programs is called: `linux-x64`.
    pub(super) fn package(&self) -> String {
        format!("{}-{}", self.npm.0, self.npm.1)
    }
}
