//! A loop engine for coding agents: state machines whose illegal steps do not compile.
//!
//! A machine is declared in `machine.toml`: phases, transitions with guards, the evidence they need, who may take them,
//! what a stop of the agent does in each phase. `claudex-build` generates types from it; their methods are the only legal
//! transitions. A loop in phase `P` is a `Loop<P>`: a transition takes it by value, commits under a lock by
//! compare-and-swap, and hands out the next type, or hands the loop back with the reason.
//!
//! The crate's own machine is the claudex plan loop (`plan`, with the feature `plan`). Here it goes one step, in a folder
//! of its own:
//!
//! ```
//! # #[cfg(feature = "plan")] {
//! use claudex_loop::plan::{AnyLoop, Mode, Start, typestate};
//! use claudex_loop::{Actor, Beginning, StateHome, Store};
//!
//! let folder = tempfile::tempdir()?;
//! let root = camino::Utf8Path::from_path(folder.path()).ok_or("not UTF-8")?;
//! // Where this user's own record of loops is; a program takes `StateHome::of_user(program)`.
//! let home = StateHome::at(root.join("state"));
//! let store = Store::at(root.join(".claude/claudex"), root.to_owned(), &typestate::STATE, home);
//! let start = Start {
//!     mode: Mode::Plan,
//!     topic: "move the queue to Postgres".into(),
//!     max_rounds: Some(2),
//!     from_draft: None, interview_used: None, max_failures: None, subject: None, subject_before: None, base: None, continues: None,
//! };
//!
//! // What comes off the disk is an `AnyLoop`; matching it gives the type of its phase.
//! let AnyLoop::Drafting(draft) = start.begin(&store, Beginning::now("a-session"), Actor::Hook)? else {
//!     unreachable!("plan mode starts in drafting")
//! };
//! let review = draft.begin()?; // commits, and is a `Loop<Reviewing>`
//! assert_eq!(review.fields().round, 1);
//!
//! // `draft.begin()` again would not compile: the loop was moved. Nor would `review.finish()`:
//! // error[E0277]: `finish` is not legal in phase `claudex_loop::plan::typestate::Reviewing`
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//!
//! Each uses only those below it: `plan` (our own machine, written as a stranger's would be), `program` (a whole program of
//! any machine: commands, hooks, configuration), [`behaviours`] (what a stop does), [`review`] (a round: reviewer, findings,
//! evidence), [`hooks`] (Claude Code's hook protocol), [`mod@machine`] (what every generated machine is), [`process`] (child
//! processes) and [`store`] (documents, locks, journal). Everything below `plan` knows no phase by name.

// The plan loop names this crate as a stranger's machine does.
extern crate self as claudex_loop;

pub mod behaviours;
mod digest;
pub mod files;
#[cfg(all(any(test, fuzzing), feature = "plan"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod hooks;
pub mod machine;
#[cfg(feature = "plan")]
pub mod plan;
pub mod process;
#[cfg(feature = "program")]
pub mod program;
pub mod review;
pub mod store;
pub mod text;

#[doc(hidden)]
pub mod __private;

pub use behaviours::Step;
pub use behaviours::verify::Verified;
pub use jiff::Timestamp;
pub use machine::begin::Beginning;
pub use machine::raw::OpenError;
pub use machine::{Actor, EvidenceRecord, Machine, Refusal, Refused, Requirement, Table};
pub use review::evidence::{Reviewed, Settled};
pub use store::{LoopId, StateHome, Store};

/// A whole program: a machine's types and its `main`, with start, verbs, status, journal, and the hooks of a client.
///
/// `claudex_loop::main!(release_train);` is all that `src/main.rs` has to say where the machine file says what a stop does in
/// every phase. Where it leaves phases to Rust, `main!(release_train, Train)` takes a value whose type implements the
/// generated `release_train::OnStop`. Needs the feature `program`.
#[cfg(feature = "program")]
#[macro_export]
macro_rules! main {
    ($name:ident) => {
        $crate::machine!($name);

        fn main() -> ::std::process::ExitCode {
            $name::declared::program($name::declared::AsDeclared).main()
        }
    };
    ($name:ident, $on_stop:expr $(,)?) => {
        $crate::machine!($name);

        fn main() -> ::std::process::ExitCode {
            $name::program($on_stop).main()
        }
    };
}

/// Without the feature `program` there is no program to make, and this says what is missing.
#[cfg(not(feature = "program"))]
#[doc(hidden)]
#[macro_export]
macro_rules! main {
    ($($any:tt)*) => {
        compile_error!(
            "`claudex_loop::main!` needs the feature `program`: in Cargo.toml, write `features = [\"program\"]` at claudex-loop under [dependencies]"
        );

        fn main() {}
    };
}

/// Includes the module that `claudex-build` generated for a machine.
///
/// `machine!(plan)` declares `pub mod plan`; `machine!(plan as typestate)` gives the module another name. The machine's
/// name is the `name` of its `machine.toml`. A module of its own keeps the generated types' private parts private: a
/// bare `include!` at a crate's root would open them to the whole crate.
#[macro_export]
macro_rules! machine {
    ($name:ident) => {
        $crate::machine!($name as $name);
    };
    ($name:ident as $module:ident) => {
        #[doc = concat!("The types that `claudex-build` generated for the `", stringify!($name), "` machine.")]
        // What these look at is the machine file's: its names, its docs, its guards, how much of everything it declares.
        #[allow(
            unused_comparisons,
            clippy::absurd_extreme_comparisons,
            clippy::comparison_to_empty,
            clippy::doc_lazy_continuation,
            clippy::doc_link_with_quotes,
            clippy::doc_markdown,
            clippy::enum_variant_names,
            clippy::eq_op,
            clippy::fn_params_excessive_bools,
            clippy::int_plus_one,
            clippy::large_enum_variant,
            clippy::missing_errors_doc,
            clippy::nonminimal_bool,
            clippy::overly_complex_bool_expr,
            clippy::should_implement_trait,
            clippy::struct_excessive_bools,
            clippy::struct_field_names,
            clippy::tabs_in_doc_comments,
            clippy::too_many_arguments,
            clippy::too_many_lines,
            clippy::wrong_self_convention,
            rustdoc::bare_urls,
            rustdoc::broken_intra_doc_links,
            rustdoc::invalid_html_tags,
            rustdoc::invalid_rust_codeblocks
        )]
        pub mod $module {
            use $crate::__private as rt;

            include!(concat!(
                env!(
                    "OUT_DIR",
                    "there is no build script: write build.rs beside Cargo.toml, with `fn main() { claudex_build::Config::new().compile(\"machine.toml\"); }`"
                ),
                "/",
                stringify!($name),
                ".format.rs"
            ));
        }
    };
}

/// Includes generated code of the format that this version was written for, and in place of any other says why not: then
/// this is the first error, and none of those that the code would make come after it. The generated `NAME.format.rs` calls
/// it, so what it is called with may never change.
#[doc(hidden)]
#[macro_export]
macro_rules! generated {
    (2, $version:literal, $($file:literal),+) => {
        $(include!(concat!(env!("OUT_DIR"), "/", $file));)+
    };
    ($format:literal, $version:literal, $($file:literal),+) => {
        compile_error!(concat!(
            "claudex-build ",
            $version,
            " generates code that claudex-loop ",
            $crate::__version!(),
            " does not know: the two crates belong together\nin Cargo.toml, write either `claudex-build = \"",
            $crate::__version!(),
            "\"` under [build-dependencies], or `claudex-loop = \"",
            $version,
            "\"` under [dependencies]; a path or git source has to name one checkout for both",
        ));
    };
}

/// This crate's version, for messages of macros: `env!` in a macro speaks of the crate that uses it.
#[doc(hidden)]
#[macro_export]
macro_rules! __version {
    () => {
        "0.1.0"
    };
}
