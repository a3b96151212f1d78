//! The number of steps that are due: a count against a clock that is passed in.

use std::time::Duration;

/// An engine that has fallen behind by more than this does not try to catch up.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// Since when steps are counted, and how many were taken since.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// By the clock that is passed in.
    began: Duration,
    taken: u64,
}

impl Pace {
    /// Starts counting.
    pub fn from(now: Duration) -> Self {
        Self { began: now, taken: 0 }
    }

    /// The time until the next step is due, at this speed in steps per second.
    pub fn time_to_next(&self, speed: f64, now: Duration) -> Duration {
        let due = self.began + Duration::from_secs_f64((self.taken + 1) as f64 / speed);
        due.saturating_sub(now)
    }

    /// The steps that are due.
    pub fn due(&mut self, speed: f64, now: Duration) -> u64 {
        let elapsed = now.saturating_sub(self.began).as_secs_f64();
        let target = (elapsed * speed) as u64;
        let behind = elapsed - (self.taken + 1) as f64 / speed;
        if behind > PATIENCE.as_secs_f64() {
            // The steps that were missed count as taken, all but the one that is due now.
            self.taken = target.saturating_sub(1);
        }
        target.saturating_sub(self.taken)
    }

    /// Counts steps as taken.
    pub fn take(&mut self, steps: u64) {
        self.taken += steps;
    }
}
