//! The platforms that releases are made for, with their names elsewhere.

use miette::miette;

/// A platform.
#[derive(Debug, Clone, Copy)]
pub(super) struct Platform {
    /// Rust's names of the operating system and the processor.
    rust: (&'static str, &'static str),
    /// The compiler's target.
    pub(super) target: &'static str,
    /// The output of `uname -sm`, with a hyphen. The plugin's launcher looks for the program in a
    /// folder with this name.
    pub(super) uname: &'static str,
}

pub(super) const PLATFORMS: [Platform; 3] = [
    Platform {
        rust: ("linux", "x86_64"),
        target: "x86_64-unknown-linux-gnu",
        uname: "Linux-x86_64",
    },
    Platform {
        rust: ("linux", "aarch64"),
        target: "aarch64-unknown-linux-gnu",
        uname: "Linux-aarch64",
    },
    Platform {
        rust: ("macos", "aarch64"),
        target: "aarch64-apple-darwin",
        uname: "Darwin-arm64",
    },
];

impl Platform {
    /// Returns the platform of this machine.
    pub(super) fn current() -> miette::Result<Self> {
        let here = (std::env::consts::OS, std::env::consts::ARCH);
        let known = PLATFORMS.into_iter().find(|platform| platform.rust == here);
        known.ok_or_else(|| miette!("no release is made for {} on {}", here.0, here.1))
    }

    /// Returns whether programs can be linked statically with the system's C library.
    pub(super) fn is_static(&self) -> bool {
        self.rust.0 == "linux"
    }
}
