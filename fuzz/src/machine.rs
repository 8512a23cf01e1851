//! The promise about any machine file: code that is Rust, or errors whose places are in the file.

use claudex_build::generate;

/// Checks the promise for one input.
pub(crate) fn check(source: &str) {
    match generate("m.toml", source) {
        Ok(generated) => {
            if let Err(error) = syn::parse_file(&generated.rust) {
                panic!("{error} in the code of\n{source}");
            }
        }
        Err(found) => {
            assert!(!found.list.is_empty());
            for one in &found.list {
                let is_inside = source.get(one.span.clone()).is_some();
                assert!(is_inside, "{one:?} is not in the file\n{source}");
            }
        }
    }
}
