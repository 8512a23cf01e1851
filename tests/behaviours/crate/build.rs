fn main() {
    for machine in ["turns", "ask", "run", "wait", "own"] {
        claudex_build::Config::new().compile(format!("machines/{machine}.toml"));
    }
}
