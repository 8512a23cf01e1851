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
    let file = syn::parse_file(&generated.rust).expect("the code is Rust");

    insta::assert_snapshot!(prettyplease::unparse(&file));
}
