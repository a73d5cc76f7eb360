//! The `lukasa` binary: names the commit of the build, and starts the command line.
//!
//! The commit is read here from a file that changes with it, so that a new commit compiles only this
//! file. Of the file nothing but the commit is in the binary.

use std::process::ExitCode;

/// Bytes of the longest commit.
const MAX_COMMIT_BYTES: usize = 64;

/// The commit, and how many bytes it has.
static COMMIT: ([u8; MAX_COMMIT_BYTES], usize) =
    last_commit(include_bytes!(env!("LUKASA_COMMIT_LOG")));

fn main() -> ExitCode {
    let (bytes, length) = &COMMIT;
    let commit = str::from_utf8(&bytes[..*length]).unwrap_or_default();
    lukasa_server::cli::main(if commit.is_empty() { env!("LUKASA_BUILD_COMMIT") } else { commit })
}

/// The second field of the last line of a log of git, which is the commit after an event.
const fn last_commit(log: &[u8]) -> ([u8; MAX_COMMIT_BYTES], usize) {
    let mut end = log.len();
    while end > 0 && log[end - 1] == b'\n' {
        end -= 1;
    }
    let mut at = end;
    while at > 0 && log[at - 1] != b'\n' {
        at -= 1;
    }
    while at < end && log[at] != b' ' {
        at += 1;
    }
    let (mut commit, mut length) = ([0; MAX_COMMIT_BYTES], 0);
    at += 1;
    while at < end && log[at] != b' ' && length < MAX_COMMIT_BYTES {
        commit[length] = log[at];
        length += 1;
        at += 1;
    }
    (commit, length)
}

#[cfg(test)]
mod tests {
    use super::last_commit;

    #[test]
    fn commit_of_the_build_is_that_of_the_last_line() {
        let commit = |log: &str| {
            let (bytes, length) = last_commit(log.as_bytes());
            String::from_utf8(bytes[..length].to_vec()).unwrap()
        };
        assert_eq!(
            commit("0000 1a2b N <n@x> 1 +0000\tclone: x\n1a2b 3c4d N <n@x> 2 +0000\tc\n"),
            "3c4d"
        );
        assert_eq!(commit("- 3c4d"), "3c4d");
        for none in ["", "\n", "x", "x "] {
            assert_eq!(commit(none), "", "{none:?}");
        }
    }
}
