//! Ctrl-C as a flag: work that checks it ends early and still reports. A second Ctrl-C ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// From here on, the first Ctrl-C sets the flag. If no handler can be installed, Ctrl-C ends the process as usual.
pub fn on_ctrl_c() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let to_set = Arc::clone(&flag);
    std::thread::spawn(move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                to_set.store(true, Ordering::Relaxed);
                if tokio::signal::ctrl_c().await.is_ok() {
                    std::process::exit(130);
                }
            }
        });
    });
    flag
}
