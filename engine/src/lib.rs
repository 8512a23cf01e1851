//! The engine of claudex-loop: machines, loops as sealed journals, and safe file access.
//!
//! [`mod@machine`] moves a loop along the edges of a generated machine. [`store`] keeps loops, each
//! as a journal with a document. [`files`] opens files safely. [`text`] cleans text from outside.

#[doc(hidden)]
pub mod __private;
mod diagnostic;
#[doc(hidden)]
pub mod digest;
pub mod files;
pub mod machine;
pub mod store;
pub mod text;
mod words;

pub use camino::{Utf8Path, Utf8PathBuf};
pub use jiff::Timestamp;
pub use machine::{
    Actor, Beginning, EvidenceRecord, LoopHandle, Machine, Refusal, Refused, Requirement, Table,
};
pub use store::{LoopId, StateHome, Store};

/// Includes the types that `claudex-build` generated for a machine.
///
/// `machine!(plan)` declares `pub mod plan`; `machine!(plan as typestate)` gives the module another
/// name. The machine's name is the `name` of its `machine.toml`.
#[macro_export]
macro_rules! machine {
    ($name:ident) => {
        $crate::machine!($name as $name);
    };
    ($name:ident as $module:ident) => {
        $crate::__include!([$crate::__private] $name as $module: ".rs");
    };
}

/// Includes generated code in its own module, which keeps the private parts of the types private.
#[doc(hidden)]
#[macro_export]
macro_rules! __include {
    ([$($runtime:tt)+] $name:ident as $module:ident: $($file:literal),+) => {
        #[doc = concat!("The types that `claudex-build` generated for the `", stringify!($name), "` machine.")]
        // These lints depend on the machine file: its names, docs, guards and sizes.
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
            clippy::map_unwrap_or,
            clippy::match_same_arms,
            clippy::missing_errors_doc,
            clippy::nonminimal_bool,
            clippy::overly_complex_bool_expr,
            clippy::should_implement_trait,
            clippy::struct_excessive_bools,
            clippy::struct_field_names,
            clippy::tabs_in_doc_comments,
            clippy::too_many_arguments,
            clippy::too_many_lines,
            clippy::unnecessary_lazy_evaluations,
            clippy::unreadable_literal,
            clippy::wrong_self_convention,
            rustdoc::bare_urls,
            rustdoc::broken_intra_doc_links,
            rustdoc::invalid_html_tags,
            rustdoc::invalid_rust_codeblocks
        )]
        pub mod $module {
            use $($runtime)+ as rt;

            $(include!(concat!(
                env!(
                    "OUT_DIR",
                    "the build script is missing: write build.rs beside Cargo.toml, with `fn main() { claudex_build::Config::new().compile(\"machine.toml\"); }`"
                ),
                "/",
                stringify!($name),
                $file
            ));)+
        }
    };
}

/// Replaces a declaration of the second generated file, which only a program includes, by `&()`.
#[doc(hidden)]
#[macro_export]
macro_rules! __extra {
    ($name:ident) => {
        &()
    };
}
