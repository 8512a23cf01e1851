use claudex_build::{Options, check_source, diagram, generate, generate_with, spec};
use std::{fs, path::Path};
fn main() {
    let out = std::env::args().nth(1).unwrap();
    let out = Path::new(&out);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = vec![
        "machine.toml".to_owned(),
        "taskie/machine.toml".into(),
        "stages/machine.toml".into(),
        "examples/release-train/machine.toml".into(),
        "codegen/tests/snapshot/machine.toml".into(),
    ];
    for d in fs::read_dir(root.join("tests/machines"))
        .into_iter()
        .flatten()
    {
        let p = format!(
            "tests/machines/{}/machine.toml",
            d.unwrap().file_name().to_str().unwrap()
        );
        if root.join(&p).is_file() {
            files.push(p);
        }
    }
    for d in fs::read_dir(root.join("tests/behaviours/crate/machines"))
        .into_iter()
        .flatten()
    {
        files.push(format!(
            "tests/behaviours/crate/machines/{}",
            d.unwrap().file_name().to_str().unwrap()
        ));
    }
    for d in ["examples", "fuzz"] {
        for d in fs::read_dir(root.join(d)).into_iter().flatten() {
            let p = d.unwrap().path().join("machine.toml");
            if p.is_file() {
                files.push(p.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files.dedup();
    for file in files {
        let source = fs::read_to_string(root.join(&file)).unwrap();
        let name = file.replace('/', "__");
        match generate(&file, &source) {
            Ok(g) => {
                fs::write(out.join(format!("{name}.rs")), &g.rust).unwrap();
                fs::write(out.join(format!("{name}.messages")), g.messages.join("\n")).unwrap();
                let o = Options {
                    commands: false,
                    file: file.clone(),
                };
                fs::write(
                    out.join(format!("{name}.types.rs")),
                    generate_with(&source, &o).unwrap().rust,
                )
                .unwrap();
                let m = check_source(&file, &source).unwrap();
                fs::write(out.join(format!("{name}.mmd")), diagram(&m)).unwrap();
                fs::write(out.join(format!("{name}.md")), spec(&m, &source, &file)).unwrap();
            }
            Err(e) => fs::write(out.join(format!("{name}.err")), e.to_string()).unwrap(),
        }
    }
}
