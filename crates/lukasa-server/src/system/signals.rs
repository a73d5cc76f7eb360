//! The requests of a terminal or a service manager to stop.

/// Waits for Ctrl-C or SIGTERM.
#[cfg(unix)]
pub async fn stop_requested() {
    use tokio::signal::unix::{SignalKind, signal};
    let interrupt = tokio::signal::ctrl_c();
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        let _ = interrupt.await;
        return;
    };
    tokio::select! {
        _ = interrupt => {}
        _ = terminate.recv() => {}
    }
}

/// Waits for Ctrl-C, Ctrl-Break, the end of the console window or of the session. Windows ends a process
/// a few seconds after the last two; the next start recovers what was not finished. There is no SIGTERM.
#[cfg(windows)]
pub async fn stop_requested() {
    use tokio::signal::windows;
    let (Ok(mut pause), Ok(mut close), Ok(mut shutdown)) =
        (windows::ctrl_break(), windows::ctrl_close(), windows::ctrl_shutdown())
    else {
        let _ = tokio::signal::ctrl_c().await;
        return;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = pause.recv() => {}
        _ = close.recv() => {}
        _ = shutdown.recv() => {}
    }
}
