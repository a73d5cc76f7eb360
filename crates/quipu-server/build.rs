//! The console is built apart from this and taken in as it lies there: build again when it has changed.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
    println!("cargo::rerun-if-changed=build.rs");
}
