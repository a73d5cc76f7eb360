//! Crash points for tests: places before and after every statement, every commit and every request
//! to a model where a test can abort the process as if the power had failed. Without the feature
//! `testing` they do nothing.

#[cfg(feature = "testing")]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering};

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static FATAL: AtomicU64 = AtomicU64::new(u64::MAX);

    /// Makes the process abort at the crash point with this number, counted from one.
    pub fn abort_at(number: u64) {
        FATAL.store(number, Ordering::SeqCst);
    }

    /// How many crash points were passed so far.
    pub fn passed() -> u64 {
        PASSED.load(Ordering::SeqCst)
    }

    pub(super) fn pass() {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        if number == FATAL.load(Ordering::SeqCst) {
            // No unwinding, no destructors, no closing of the database connection.
            std::process::abort();
        }
    }
}

#[cfg(feature = "testing")]
pub use armed::{abort_at, passed};

/// A crash point.
#[inline]
pub fn point() {
    #[cfg(feature = "testing")]
    armed::pass();
}
