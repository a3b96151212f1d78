//! The work that an agent needs to reach the finish line: a policy within 1 % of the optimum, from scratch or after the world changed.

use serde::Serialize;
use serde_json::{Value, json};

/// Steps between two checks of the policy: at least this many, later a fraction of the steps so far.
const LOOK_EVERY: u64 = 8;
const LOOK_SHARE: u64 = 32;

/// The work done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkDone {
    /// Steps of the agent.
    pub steps: u64,
    /// Terms that its planner added up.
    pub additions: u64,
}

impl WorkDone {
    fn since(self, earlier: Self) -> Self {
        Self {
            steps: self.steps - earlier.steps,
            additions: self.additions.saturating_sub(earlier.additions),
        }
    }
}

/// The reason why an agent has to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// It knows nothing yet.
    Start,
    /// A wall was built on its path.
    Wall,
    /// A shortcut was opened.
    Shortcut,
    /// The world was painted, or a change was undone.
    Paint,
    /// The world changed by itself, as its rules say.
    Change,
}

/// The work of one agent on its way to the finish line.
#[derive(Clone, Copy, Debug)]
pub struct TimeToOptimum {
    /// The reason why it began.
    pub cause: Cause,
    from: WorkDone,
    look_at: u64,
    /// The work it took to come within 5 % of the optimum.
    pub near: Option<WorkDone>,
    /// The work it took to reach the finish line.
    pub reached: Option<WorkDone>,
}

impl TimeToOptimum {
    /// Starts measuring.
    pub fn begin(cause: Cause, from: WorkDone) -> Self {
        Self { cause, from, look_at: from.steps, near: None, reached: None }
    }

    /// Returns whether the agent's policy is due for a check before its next step.
    #[inline]
    pub fn is_due(&self, steps: u64) -> bool {
        steps >= self.look_at && self.reached.is_none()
    }

    /// Notes that the policy was submitted.
    pub fn look(&mut self, steps: u64) {
        self.look_at = steps + LOOK_EVERY.max((steps - self.from.steps) / LOOK_SHARE);
    }

    /// Checks the policy again from the next step on, because the line has moved.
    pub fn check_again(&mut self) {
        self.look_at = 0;
        (self.near, self.reached) = (None, None);
    }

    /// Notes that the policy submitted at that point was the first within 5 % of the optimum, or within the finish line.
    pub fn reach(&mut self, stamp: WorkDone, is_finish: bool) {
        let done = stamp.since(self.from);
        self.near.get_or_insert(done);
        if is_finish {
            self.reached = Some(done);
        }
    }

    /// The work done: until the finish line, or until now.
    pub fn done(&self, now: WorkDone) -> WorkDone {
        self.reached.unwrap_or_else(|| now.since(self.from))
    }

    /// As it is sent, with how far below the optimum the newest policy was.
    pub fn json(&self, now: WorkDone, gap: Option<f64>) -> Value {
        let done = self.done(now);
        json!({ "cause": self.cause, "steps": done.steps, "additions": done.additions, "reached": self.reached.is_some(), "near": self.near.map(|near| near.steps), "near_additions": self.near.map(|near| near.additions), "gap": gap.filter(|_| self.reached.is_none()) })
    }
}

/// A finished measurement, for the table of recoveries from a broken world.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// The reason why it began.
    pub cause: Cause,
    /// The planner's name.
    pub planner: &'static str,
    /// The way the agent explores, for a reader.
    pub exploration: String,
    /// Update cycles per step.
    pub cycles: u64,
    /// The work it took.
    #[serde(flatten)]
    pub done: WorkDone,
    /// True if it ended at the finish line.
    #[serde(rename = "reached")]
    pub has_reached: bool,
}

/// A run of as many episodes as one of the paper's Figure 3: one point of it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figure3Run {
    /// The planner's name.
    pub planner: &'static str,
    /// Update cycles per step.
    pub cycles: u64,
    /// The mean discounted return of its episodes.
    pub score: f64,
    /// Additions per step.
    pub additions: f64,
}

impl Figure3Run {
    /// The episodes of a run of Figure 3.
    pub const EPISODES: u64 = 200;
}
