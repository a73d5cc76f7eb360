//! `quipu`: serve, migrate, make keys, look after the house.

use std::process::ExitCode;

fn main() -> ExitCode {
    quipu_server::cli::main()
}
