//! What this build is: its version, its commit, and what is built in.

use std::sync::OnceLock;

/// The commit, once `main` has named it. It is not a constant of this crate, so that a commit does not
/// make Cargo compile this crate again.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// Sets the commit of the build. Works once per process.
pub fn set_commit(commit: &'static str) {
    // The first one stays.
    let _ = COMMIT.set(commit);
}

/// The commit of the build; `unknown` without git, and outside of the program.
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}

/// What `lukasa --version` prints.
pub fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        format!(
            "{}\ncommit:   {}\ntarget:   {}\nprofile:  {}\nfeatures: {}",
            env!("CARGO_PKG_VERSION"),
            commit(),
            env!("LUKASA_BUILD_TARGET"),
            env!("LUKASA_BUILD_PROFILE"),
            env!("LUKASA_BUILD_FEATURES")
        )
    })
}
