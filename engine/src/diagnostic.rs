//! miette diagnostics by hand: its derive macro would add three crates to each build.

/// Implements `miette::Diagnostic` for an error, with a function that returns its help.
#[doc(hidden)]
#[macro_export]
macro_rules! impl_diagnostic {
    ($error:ty, $help:expr) => {
        impl miette::Diagnostic for $error {
            fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
                let help: fn(&Self) -> Option<String> = $help;
                help(self).map(|help| Box::new(help) as _)
            }
        }
    };
}
