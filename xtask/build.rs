//! Finds out whether tmux is there: without it the tests of the terminal cannot be run, and are left out with a warning that
//! everyone sees, rather than pass without having tested anything.

use std::env;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(tmux)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut found = false;
    for tmux in env::split_paths(&folders).map(|folder| folder.join("tmux")) {
        println!("cargo::rerun-if-changed={}", tmux.display());
        found |= tmux.is_file();
    }
    if found {
        println!("cargo::rustc-cfg=tmux");
    } else {
        println!("cargo::warning=tmux is not on PATH: the tests of xtask's terminal are left out");
    }
}
