//! The generated code of a small machine: the snapshot shows the effect of generator changes.

use claudex_build::generate;

#[test]
fn small_machine_generates_expected_code() {
    let generated = generate("machine.toml", include_str!("snapshot/machine.toml"))
        .unwrap_or_else(|found| panic!("{found}"));
    for text in [&generated.types, &generated.program] {
        syn::parse_file(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }

    insta::assert_snapshot!(generated.types + &generated.program);
}
