//! The terminal's alternate screen: the previous contents return whenever the program ends, is killed or is suspended.

use super::print;

/// The alternate screen, without a cursor. Dropping it restores the main one.
pub(super) struct Screen {
    #[cfg(unix)]
    suspend: Option<tokio::signal::unix::Signal>,
}

impl Screen {
    /// Opens it. Must be called inside the runtime.
    pub fn open() -> Self {
        enter();
        #[cfg(unix)]
        {
            let signal = rustix::process::Signal::TSTP.as_raw();
            let suspend = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(signal)).ok();
            Self { suspend }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Ready after the user has suspended the program (Ctrl-Z) and resumed it.
    #[cfg(unix)]
    pub async fn suspended(&mut self) {
        match &mut self.suspend {
            Some(suspend) => suspend.recv().await,
            None => std::future::pending().await,
        };
        leave();
        // The signal that cannot be caught stops the process here; it continues when the shell resumes it.
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP);
        enter();
    }

    /// Never ready: there is no such signal.
    #[cfg(not(unix))]
    pub async fn suspended(&mut self) {
        std::future::pending().await
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

fn enter() {
    print("\x1b[?1049h\x1b[?25l\x1b[2J");
}

fn leave() {
    print("\x1b[?25h\x1b[?1049l");
}
