//! The `lukasa` binary: starts the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    lukasa_server::cli::main()
}
