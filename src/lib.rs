//! A loop engine for coding agents: state machines whose illegal steps do not compile.
//!
//! A machine is declared in `machine.toml`: phases, transitions with guards, evidence and actors,
//! and the behaviour of a stop in each phase. `claudex-build` generates types whose methods are the
//! only legal transitions. A loop in phase `P` is a `Loop<P>`: a transition takes it by value,
//! commits it by compare-and-swap, and returns the next type, or the loop with the reason.
//!
//! # Modules
//!
//! Each uses only those below it: `plan` (our own machine, on the public API), `program` (the
//! program of any machine: commands, hooks, configuration), [`behaviours`] (stops), [`review`] (a
//! round: reviewer, findings, evidence), [`hooks`] (Claude Code's hook protocol), [`mod@machine`]
//! (loops and transitions), [`process`] (child processes) and [`store`] (documents, journals).

#![doc = include_str!("../docs/library.md")]

// The plan loop names this crate as any other machine does.
extern crate self as claudex_loop;

pub mod behaviours;
pub mod git;
pub mod hooks;
pub mod machine;
pub mod message;
#[cfg(feature = "plan")]
pub mod plan;
pub mod process;
#[cfg(feature = "program")]
pub mod program;
pub mod review;
pub mod text;

#[doc(hidden)]
pub mod __private;

pub use claudex_loop_engine::{digest, files, store};

pub use behaviours::Step;
pub use jiff::Timestamp;
pub use machine::{
    Actor, Beginning, EvidenceRecord, Machine, Refusal, Refused, Requirement, Table,
};
pub use review::evidence::{Reviewed, Settled};
pub use store::{LoopId, StateHome, Store};

/// A whole program: a machine's types and its `main`, with commands and the hooks of a client.
///
/// `claudex_loop::main!(release_train);` is the whole `src/main.rs` if each phase of the machine
/// file has an `on_stop`. If not, `main!(release_train, Train)` takes a value whose type implements
/// the generated `release_train::OnStop`. Needs the feature `program`.
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

/// Without the feature `program` there is no program to make, and this names the missing feature.
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

/// Includes the module of a machine from `claudex-build`: its types and its behaviour of stops.
///
/// `machine!(plan)` declares `pub mod plan`; `machine!(plan as typestate)` gives the module another
/// name. The machine's name is the `name` of its `machine.toml`.
#[macro_export]
macro_rules! machine {
    ($name:ident) => {
        $crate::machine!($name as $name);
    };
    ($name:ident as $module:ident) => {
        $crate::__private::__include!([$crate::__private] $name as $module: ".rs", ".program.rs");
    };
}

/// Returns a declaration of the second generated file.
#[doc(hidden)]
#[macro_export]
macro_rules! __extra {
    ($name:ident) => {
        &$name
    };
}
