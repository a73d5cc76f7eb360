//! The console and the panel are built apart from this and taken in as they lie there: build again when
//! they have changed. The facts about the build that `lukasa --version` prints are set here.

use std::env;
use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
    println!("cargo::rerun-if-changed=../../clients/elements/dist");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LUKASA_COMMIT");
    let commit = env::var("LUKASA_COMMIT").unwrap_or_else(|_| "unknown".to_owned());
    let target = env::var("TARGET").unwrap_or_default();
    let console =
        if Path::new("../../web/dist/index.html").exists() { "built in" } else { "absent" };
    println!("cargo::rustc-env=LUKASA_BUILD_COMMIT={commit}");
    println!("cargo::rustc-env=LUKASA_BUILD_TARGET={target}");
    println!("cargo::rustc-env=LUKASA_BUILD_CONSOLE={console}");
}
