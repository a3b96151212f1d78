//! Ctrl-C as a flag: work that checks it ends early and still reports. A second Ctrl-C ends the process, as does the first where
//! nothing checks the flag.

use crate::output;
use backsweep_mdp::printable;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The state that Ctrl-C finds.
#[derive(Default)]
struct Watch {
    flag: Arc<AtomicBool>,
    /// True if somebody checks the flag.
    checked: AtomicBool,
}

/// The work under way, for the note that is printed where nobody checks the flag.
static DOING: Mutex<String> = Mutex::new(String::new());

/// From here on, the first Ctrl-C sets the flag. If no handler can be installed, Ctrl-C ends the process as usual.
pub fn on_ctrl_c() -> Arc<AtomicBool> {
    let watch = watch();
    watch.checked.store(true, Ordering::Relaxed);
    Arc::clone(&watch.flag)
}

/// When to stop: at Ctrl-C, or after a time.
pub struct Deadline {
    interrupted: Arc<AtomicBool>,
    began: Mutex<Instant>,
    limit: Option<Duration>,
}

impl Deadline {
    /// Begins now.
    pub fn new(limit: Option<Duration>) -> Self {
        Self { interrupted: on_ctrl_c(), began: Mutex::new(Instant::now()), limit }
    }

    /// Lets the time begin again.
    pub fn restart(&self) {
        if let Ok(mut began) = self.began.lock() {
            *began = Instant::now();
        }
    }

    /// The time since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.began.lock().map_or(Duration::ZERO, |began| began.elapsed())
    }

    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    fn is_in_time(&self) -> bool {
        self.limit.is_none_or(|limit| self.elapsed() < limit)
    }

    pub fn stop(&self) -> bool {
        self.is_interrupted() || !self.is_in_time()
    }

    /// The reason why the work ended early, if it did.
    pub fn reason(&self) -> Option<&'static str> {
        match (self.is_interrupted(), self.is_in_time()) {
            (true, _) => Some("stopped by Ctrl-C"),
            (_, false) => Some("the time limit was reached"),
            _ => None,
        }
    }
}

/// From here on, until [`on_ctrl_c`], Ctrl-C ends the process with a note about what was going on.
pub fn note_on_ctrl_c(doing: String) {
    if let Ok(mut now) = DOING.lock() {
        *now = doing;
    }
    watch();
}

fn watch() -> &'static Watch {
    static WATCH: OnceLock<&'static Watch> = OnceLock::new();
    WATCH.get_or_init(|| {
        let watch: &'static Watch = Box::leak(Box::default());
        std::thread::spawn(|| {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    let is_first = !watch.flag.swap(true, Ordering::Relaxed);
                    if is_first && watch.checked.load(Ordering::Relaxed) {
                        continue;
                    }
                    if let Ok(doing) = DOING.lock()
                        && is_first
                    {
                        output::note(format_args!(
                            "backsweep: stopped by Ctrl-C while {}",
                            printable(&doing)
                        ));
                    }
                    std::process::exit(130);
                }
            });
        });
        watch
    })
}
