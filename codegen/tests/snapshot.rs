//! The generated code of a small machine: a change of the generator shows in the snapshot what it changes for users.

use claudex_build::{Options, generate_with};

#[test]
fn small_machine_generates_expected_code() {
    let options = Options {
        commands: true,
        file: "machine.toml".to_owned(),
    };
    let generated = generate_with(include_str!("snapshot/machine.toml"), &options)
        .unwrap_or_else(|found| panic!("{found}"));
    for text in [&generated.types, &generated.program] {
        syn::parse_file(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }

    insta::assert_snapshot!(generated.types + &generated.program);
}
