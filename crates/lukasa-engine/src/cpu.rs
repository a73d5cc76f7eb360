//! CPU-heavy work, kept off the threads that serve requests.

use std::num::NonZero;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::error::{Error, Result};

/// Texts longer than this are processed on a blocking thread.
pub(crate) const LARGE_TEXT_CHARS: usize = 20_000;

/// Runs CPU-heavy work on blocking threads, at most one piece per core at a time.
#[derive(Debug, Clone)]
pub(crate) struct CpuPool(Arc<Semaphore>);

impl Default for CpuPool {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self(Arc::new(Semaphore::new(cores)))
    }
}

impl CpuPool {
    /// Runs `work` on a blocking thread as soon as a core is free. If the caller is cancelled while
    /// it waits, the work is dropped; work that has begun runs to its end.
    pub(crate) async fn run<T, W>(&self, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        let done = spawn_blocking(move || {
            let _permit = permit;
            work()
        });
        done.await.map_err(interrupted)
    }

    /// Runs `work` here if it is small, and on a blocking thread otherwise.
    pub(crate) async fn run_if<T, W>(&self, large: bool, work: W) -> Result<T>
    where
        T: Send + 'static,
        W: FnOnce() -> T + Send + 'static,
    {
        if large { self.run(work).await } else { Ok(work()) }
    }
}

/// Maps a cancelled task to an error, and resumes a panic in the task that waited.
pub(crate) fn interrupted(error: tokio::task::JoinError) -> Error {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => lukasa_store::Error::Unavailable("the server is stopping".into()).into(),
    }
}
