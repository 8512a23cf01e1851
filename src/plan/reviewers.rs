//! Which reviewer a name means: `lint`, `fake:…` for tests and demonstrations, and `auto`.
//!
//! The name comes from `--reviewer`, else from the settings.

use derive_more::{Display, Error};

use crate::plan::near;
use crate::plan::settings::Settings;
use crate::review::builtin::Lint;
use crate::review::fake::{self, BadScript, Fake};
use crate::review::reviewer::Reviewer;
use crate::text;

/// A name that means no reviewer.
#[derive(Debug, Display, Error, miette::Diagnostic)]
pub enum UnknownReviewer {
    /// No such name.
    #[display("`{name}` is no reviewer")]
    #[diagnostic(
        code(claudex::reviewer::unknown),
        help(
            "{}",
            near::help(near.as_deref(), "the reviewers of this version are `lint` (built in, no model) and `auto`")
        )
    )]
    Name {
        /// The name, on one line.
        name: String,
        /// The reviewer that was probably meant.
        near: Option<String>,
    },
    /// The script of a fake one is wrong.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Fake(BadScript),
}

/// A reviewer and how it was chosen.
pub struct Chosen {
    /// The reviewer.
    pub reviewer: Box<dyn Reviewer>,
    /// `lint (auto)`, `lint`.
    pub shown: String,
}

impl std::fmt::Debug for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chosen")
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}

/// The reviewer of this name; None: the one of the settings.
///
/// # Errors
/// The name means no reviewer.
pub fn choose(name: Option<&str>, settings: &Settings) -> Result<Chosen, UnknownReviewer> {
    let name = name.unwrap_or(&settings.reviewer).trim();
    match name {
        "lint" => Ok(Chosen {
            reviewer: Box::new(Lint),
            shown: "lint".to_owned(),
        }),
        "auto" => Ok(Chosen {
            reviewer: Box::new(Lint),
            shown: "lint (auto)".to_owned(),
        }),
        name if name.starts_with(fake::PREFIX) => {
            let fake = Fake::parse(name).map_err(UnknownReviewer::Fake)?;
            Ok(Chosen {
                shown: name.to_owned(),
                reviewer: Box::new(fake),
            })
        }
        name => Err(UnknownReviewer::Name {
            name: text::one_line(name, 60),
            near: near::word(name, ["lint", "auto"]).map(str::to_owned),
        }),
    }
}
