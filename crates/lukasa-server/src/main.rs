//! `lukasa`: serve, migrate, make keys, look after the house.

use std::process::ExitCode;

fn main() -> ExitCode {
    lukasa_server::cli::main()
}
