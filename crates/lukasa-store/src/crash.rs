//! Places where a test can have the process end as if the power had gone: before and after every
//! statement, every commit, every question to a model. Without the feature `testing` they are nothing.

#[cfg(feature = "testing")]
mod armed {
    use std::sync::atomic::{AtomicU64, Ordering};

    static PASSED: AtomicU64 = AtomicU64::new(0);
    static FATAL: AtomicU64 = AtomicU64::new(u64::MAX);

    /// Has the process abort at the place with this number, counted from one.
    pub fn abort_at(number: u64) {
        FATAL.store(number, Ordering::SeqCst);
    }

    /// How many places were passed so far.
    pub fn passed() -> u64 {
        PASSED.load(Ordering::SeqCst)
    }

    pub(super) fn pass() {
        let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
        if number == FATAL.load(Ordering::SeqCst) {
            // No unwinding, no destructors, no goodbye to the database.
            std::process::abort();
        }
    }
}

#[cfg(feature = "testing")]
pub use armed::{abort_at, passed};

/// One such place.
#[inline]
pub fn point() {
    #[cfg(feature = "testing")]
    armed::pass();
}
