//! What was counted in a log.

/// The number of folds into which cases fall: the first hexadecimal digit of the md5 of a case's name.
pub const FOLDS: usize = 16;

/// The counts of a log: how often each state and action led where, and the sum of its rewards.
///
/// All numbers are integers, so two summaries add up, and subtract, to the same bits in any order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// The names of the states; a state is named by its position here.
    pub states: Vec<String>,
    /// The names of the actions; an action is named by its position here.
    pub actions: Vec<String>,
    /// One row per distinct (state, action, next, fold), sorted by that key.
    pub rows: Vec<CountRow>,
    /// How many cases started in each state, sorted by (state, fold).
    pub starts: Vec<Start>,
    /// The reward that a `reward_sum` of 1 stands for.
    pub reward_unit: f64,
}

/// How often one state and action led to one next state, within one fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountRow {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// Position in [`Counts::states`], or `None` where the case ended.
    pub next: Option<u32>,
    /// The fold of the cases counted here, below [`FOLDS`].
    pub fold: u8,
    /// How many steps.
    pub n: i64,
    /// The sum of their rewards, in units of [`Counts::reward_unit`].
    pub reward_sum: i64,
}

/// How many cases of one fold started in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Start {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// The fold of the cases counted here.
    pub fold: u8,
    /// How many cases.
    pub n: i64,
}

/// One case in full, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The fold of this case.
    pub fold: u8,
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// How the case ended.
    pub end: End,
}

/// One decision of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Position in [`Counts::states`].
    pub state: u32,
    /// Position in [`Counts::actions`].
    pub action: u32,
    /// The reward, in units of [`Counts::reward_unit`].
    pub reward: i64,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It terminated: nothing follows.
    Terminated,
    /// It was cut after its last step, which led to this state.
    Truncated(u32),
}
