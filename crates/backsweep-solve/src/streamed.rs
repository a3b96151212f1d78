//! Discounted values of a model that does not fit into memory: values are in memory, rows are read from disk.
//!
//! A pass reads all blocks of states in order, and the next pass reads them backward. While one block is being backed up, the
//! next is read into a second buffer. A block is swept in place several times before it is left, since that costs no reading.
//! Sweeps run forward and backward in turn, so that news crosses a block in one of them.
//!
//! **The start.** The first pass starts at 0. Where rewards are costs and some states end them, 0 promises too much: two
//! blocks far from the end support each other's promise, and give up no more per pass than it costs to cross a block. So every
//! state below 0 then starts over from a lower bound, what choosing the best immediate reward forever is worth at least, and
//! values rise from the end outward. A grid of 60 million arcs in 15 blocks takes 3 passes; from 0 it had not ended after 104.
//!
//! **The bound.** Consider the last sweep over a block: the value of a state was computed from values some of which have changed
//! since, namely those of the same block that came later in that sweep, and those of blocks that came later in the pass. With
//! the range of all such changes, the values are those of one sweep in place, and `discounted/proof.rs` bounds their
//! distance from the truth. No further pass is needed for the proof.

use crate::discounted::model::{Facts, FlatModel};
use crate::discounted::proof::{self, Shift, ValueChange};
use crate::discounted::sweeps::{Goal, PolicyRows, SweepEnd, SweepProgress};
use crate::{Error, Limits, Result};
use backsweep_mdp::{BlockRows, Direction, DiskMdp, NO_CHOICE};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// The work per visit of a block, in sweeps over all of its choices: about as long as reading a block takes.
const SWEEPS_PER_VISIT: f64 = 12.0;

/// Sweeps over the policy's rows between two sweeps over all choices.
const PARTIAL_SWEEPS: usize = 5;

/// A block without rows.
static NO_ROWS: BlockRows = BlockRows::EMPTY;

/// No value was moved.
const UNMOVED: ValueChange = ValueChange { least: 0.0, most: 0.0 };

/// Two buffers: one is read into while the other is swept.
const BUFFERS: usize = 2;

/// The values of a model on disk. The value of state `s` lies from `lower(s)` to `upper(s)`, however the solver was stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedSolution {
    /// The values that the interval is around.
    values: Vec<f64>,
    /// The interval of every state relative to its value.
    down: f64,
    up: f64,
    /// No value is further than this from 0.
    farthest: f64,
    /// The choice that the policy takes in each state, by its number within the state, or [`NO_CHOICE`].
    pub policy: Vec<u32>,
    /// True if every interval is narrow enough.
    pub converged: bool,
    /// The number of passes over the file.
    pub passes: u64,
    /// The decisions, one line each. If the answer has not converged, the last line says why.
    pub explanation: Vec<String>,
}

impl StreamedSolution {
    /// The number of states.
    pub fn n_states(&self) -> usize {
        self.values.len()
    }

    /// The value of a state is at least this.
    pub fn lower(&self, state: usize) -> f64 {
        self.end(state, self.down)
    }

    /// The value of a state is at most this.
    pub fn upper(&self, state: usize) -> f64 {
        self.end(state, self.up)
    }

    /// The middle of a state's interval.
    pub fn value(&self, state: usize) -> f64 {
        let (lower, upper) = (self.lower(state), self.upper(state));
        if lower == upper { lower } else { lower + (upper - lower) / 2.0 }
    }

    fn end(&self, state: usize, shift: f64) -> f64 {
        if self.policy[state] == NO_CHOICE && shift.is_finite() {
            return 0.0;
        }
        (self.values[state] + shift).clamp(-self.farthest, self.farthest)
    }
}

/// The progress of a pass: blocks done of all blocks, and the width of intervals after the pass before (infinite at first).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamProgress {
    /// The number of the pass, from 1.
    pub pass: u64,
    /// Blocks done in this pass.
    pub done: usize,
    /// Blocks of a pass.
    pub of: usize,
    /// The width of intervals after the last pass.
    pub width: f64,
}

/// Solves a discounted model on disk. Memory holds 12 bytes per state and two blocks.
///
/// # Errors
/// As [`solve`](crate::solve), and if the file cannot be read or a row is malformed.
pub fn solve_streamed(
    disk: &DiskMdp,
    reward: Option<&str>,
    discount: f64,
    direction: Direction,
    limits: &Limits,
    progress: &dyn Fn(StreamProgress),
) -> Result<StreamedSolution> {
    limits.check()?;
    if !(0.0..1.0).contains(&discount) {
        let expected = "a number from 0 to below 1; models on disk are solved with a discount";
        return Err(Error::Discount { found: discount, expected });
    }
    let rewards = disk.rewards(reward)?;
    let stream = Stream { disk, limits, progress, discount, sign: direction.sign() };
    let (filled, ready) = sync_channel(BUFFERS);
    let (empty, free) = channel();
    for _ in 0..BUFFERS {
        // The receiver lives below.
        let _ = empty.send(BlockRows::default());
    }
    std::thread::scope(|scope| {
        scope.spawn(move || read_on(disk, rewards, &free, &filled));
        stream.solve(Buffers { ready, empty, held: None })
    })
}

/// Reads blocks in the order of passes until nobody wants more.
fn read_on(
    disk: &DiskMdp,
    rewards: usize,
    free: &Receiver<BlockRows>,
    filled: &SyncSender<Result<BlockRows>>,
) {
    let mut file = match disk.file() {
        Ok(file) => file,
        Err(error) => return drop(filled.send(Err(error.into()))),
    };
    let mut before = None;
    // A model of a single block is read once.
    let passes = if disk.n_blocks() == 1 { 1..2 } else { 1..u64::MAX };
    for block in passes.flat_map(|pass| order(pass, disk.n_blocks())) {
        // The last block of a pass is the first of the next.
        if before.replace(block) == Some(block) {
            continue;
        }
        let Ok(mut rows) = free.recv() else { return };
        let read = disk.read_block(&mut file, block, rewards, &mut rows);
        if filled.send(read.map(|()| rows).map_err(Error::from)).is_err() {
            return;
        }
    }
}

/// The blocks of a pass, which are numbered from 1: forward, then backward.
fn order(pass: u64, n_blocks: usize) -> impl Iterator<Item = usize> {
    in_turn(n_blocks, pass % 2 == 1)
}

/// The numbers below `n`, upward or downward.
fn in_turn(n: usize, is_forward: bool) -> impl Iterator<Item = usize> {
    (0..n).map(move |i| if is_forward { i } else { n - 1 - i })
}

/// The blocks as they arrive.
struct Buffers {
    ready: Receiver<Result<BlockRows>>,
    empty: Sender<BlockRows>,
    /// The block that was used last.
    held: Option<(usize, BlockRows)>,
}

impl Buffers {
    /// The rows of a block: those held, or the next that arrive.
    fn rows(&mut self, block: usize) -> Result<&BlockRows> {
        let held = match self.held.take() {
            Some((held, rows)) if held == block => rows,
            used => {
                if let Some((_, rows)) = used {
                    // A reader that is gone has sent an error, which comes next.
                    let _ = self.empty.send(rows);
                }
                self.ready.recv().map_err(|_| Error::Unanswered)??
            }
        };
        Ok(&self.held.insert((block, held)).1)
    }
}

struct Stream<'a> {
    disk: &'a DiskMdp,
    limits: &'a Limits<'a>,
    progress: &'a dyn Fn(StreamProgress),
    discount: f64,
    sign: f64,
}

/// The values while they are computed, and room for one block.
struct Work {
    values: Vec<f64>,
    policy: Vec<u32>,
    facts: Facts,
    reward_error: f64,
    /// Every state has a choice with at least this reward.
    least_best: f64,
    /// True once values rise from a lower bound.
    rises: bool,
    before: Vec<f64>,
    /// The choices of the block's states, by their number within the block.
    chosen: Vec<u32>,
    rows: PolicyRows,
    /// A visit of a block ends when a sweep changes no value by more than this.
    settled: f64,
    /// The changes of all values in this pass.
    gain: ValueChange,
}

impl Stream<'_> {
    fn solve(&self, mut buffers: Buffers) -> Result<StreamedSolution> {
        let n_blocks = self.disk.n_blocks();
        let mut work = Work {
            values: vec![0.0; self.disk.n_states()],
            policy: vec![NO_CHOICE; self.disk.n_states()],
            facts: Facts::NONE,
            reward_error: 0.0,
            least_best: 0.0,
            rises: false,
            before: Vec::new(),
            chosen: Vec::new(),
            rows: PolicyRows::default(),
            settled: 0.0,
            gain: ValueChange::NONE,
        };
        let width = 1.99 * self.limits.tolerance;
        let goal = Goal { width, stop: self.limits.stop, threads: 1, patience: f64::INFINITY };
        let mut detector = SweepProgress::default();
        let (mut width, mut moved) = (f64::INFINITY, UNMOVED);
        let mut earlier = ValueChange { least: 0.0, most: 0.0 };
        let mut trend = Trend::default();
        let (mut pass, mut last_pass) = (0, 0);
        loop {
            pass += 1;
            let mut change = ValueChange { least: 0.0, most: 0.0 };
            work.gain = ValueChange::NONE;
            for (done, block) in order(pass, n_blocks).enumerate() {
                (self.progress)(StreamProgress { pass, done, of: n_blocks, width });
                if (self.limits.stop)() {
                    if pass == 1 {
                        return Ok(self.unknown(work));
                    }
                    let shift = self.shift_within_pass(&work, earlier, change, moved);
                    return Ok(self.solution(work, shift, SweepEnd::Stopped, pass));
                }
                change = change.join(self.visit(&mut work, buffers.rows(block)?, pass));
            }
            let factor = work.facts.most_factor(self.discount);
            if factor >= 1.0 {
                return Err(Error::NoContraction {
                    discount: self.discount,
                    most_mass: work.facts.most_mass,
                });
            }
            let model = self.model(&NO_ROWS, work.facts);
            let (down, up) = self.residual(&work, change, UNMOVED);
            let shift = Shift::from_residual(&model, down, up);
            width = shift.width();
            let met = self.limits.relative > 0.0 && self.is_met(&work, shift);
            let end = if met {
                Some(SweepEnd::Converged)
            } else {
                detector.end(&model, &work.values, change, shift, &goal, 0.0)
            };
            // The width of single passes goes up and down, but errors shrink by the factor in each.
            if pass == 1 {
                last_pass = passes_to(width, goal.width, factor);
            }
            let end = end.filter(|end| *end != SweepEnd::Slow || pass > last_pass);
            if let Some(end) = end {
                return Ok(self.solution(work, shift, end, pass));
            }
            let some_end = work.gain.most >= 0.0;
            work.rises |= pass == 1 && some_end;
            // What remains to do within a block follows from what the whole pass still changed.
            let enough = 0.2 * goal.width * (1.0 - factor) / factor.max(0.1);
            work.settled = if work.rises { enough } else { enough.max(0.05 * change.largest()) };
            moved = if pass == 1 && some_end {
                work.lower_to(work.least_best / (1.0 - factor))
            } else if work.facts.has_terminal {
                UNMOVED
            } else {
                work.move_by(trend.extrapolate(work.gain, factor, width))
            };
            if moved != UNMOVED {
                // Intervals may be wider for some passes now.
                last_pass += passes_to(width.max(moved.largest()), goal.width, factor);
            }
            earlier = change;
        }
    }

    /// Sweeps a block until it settles. Returns the changes of its values in the whole visit and in the last sweep.
    fn visit(&self, work: &mut Work, block: &BlockRows, pass: u64) -> ValueChange {
        if pass == 1 {
            for (row, &reward) in block.arcs.windows(2).zip(&block.rewards) {
                let row = &block.probabilities[row[0] as usize..row[1] as usize];
                work.facts.add(row.iter().sum(), row.len(), reward);
            }
            work.facts.has_terminal |= block.choices.windows(2).any(|pair| pair[0] == pair[1]);
            work.reward_error = work.reward_error.max(block.reward_error);
            for choices in block.choices.windows(2).filter(|pair| pair[0] < pair[1]) {
                let rewards = &block.rewards[choices[0] as usize..choices[1] as usize];
                let best =
                    rewards.iter().fold(f64::NEG_INFINITY, |best, reward| best.max(self.sign * reward));
                work.least_best = work.least_best.min(best);
            }
        }
        let model = self.model(block, work.facts);
        let states = block.first_state..block.first_state + model.n_states();
        work.before.clear();
        work.before.extend_from_slice(&work.values[states.clone()]);
        let mut is_forward = pass % 2 == 1;
        let mut last = work.sweep(&model, block.first_state, is_forward);
        // A block that values rise through from the end is passed once: what it lacks, all blocks after it lack.
        let settled = if work.rises { work.settled } else { work.settled.max(0.01 * last.largest()) };
        let mut spent = 1.0;
        while last.largest() > settled && spent < SWEEPS_PER_VISIT {
            work.rows.gather(&model, &work.chosen);
            let share = work.rows.n_arcs() as f64 / model.targets.len().max(1) as f64;
            let enough = (0.1 * last.largest()).max(0.5 * settled);
            for _ in 0..PARTIAL_SWEEPS {
                spent += share;
                let mut most = 0.0_f64;
                is_forward = !is_forward;
                for i in in_turn(states.len(), is_forward) {
                    let value = work.rows.value(i, self.discount, &work.values);
                    let before = std::mem::replace(&mut work.values[states.start + i], value);
                    most = most.max((value - before).abs());
                }
                if most <= enough {
                    break;
                }
            }
            is_forward = !is_forward;
            last = work.sweep(&model, block.first_state, is_forward);
            spent += 1.0;
        }
        for (i, &choice) in work.chosen.iter().enumerate() {
            let within = if choice == NO_CHOICE { NO_CHOICE } else { choice - block.choices[i] };
            work.policy[states.start + i] = within;
        }
        let mut change = ValueChange::NONE;
        work.values[states].iter().zip(&work.before).for_each(|(now, before)| change.add(now - before));
        work.gain = work.gain.join(change);
        change.join(last)
    }

    fn model<'b>(&self, block: &'b BlockRows, facts: Facts) -> FlatModel<'b> {
        FlatModel {
            choices: &block.choices,
            arcs: &block.arcs,
            targets: &block.targets,
            probabilities: &block.probabilities,
            rewards: &block.rewards,
            sign: self.sign,
            discount: self.discount,
            facts,
            filled: false,
        }
    }

    /// The largest change that one more backup could make to any value: since a value was computed, others changed by `change`,
    /// which includes by how much values were `moved`.
    fn residual(&self, work: &Work, change: ValueChange, moved: ValueChange) -> (f64, f64) {
        let (least, most) = (change.least.min(0.0), change.most.max(0.0));
        let largest = proof::largest(&work.values) + least.abs().max(most) + moved.largest();
        let rounding = work.facts.rounding(largest, 2.0);
        let factor = work.facts.most_factor(self.discount);
        (
            (least - rounding) * factor - rounding - moved.most,
            (most + rounding) * factor + rounding - moved.least,
        )
    }

    /// The bound in the middle of a pass: blocks that it has not reached have values of the pass before.
    fn shift_within_pass(
        &self,
        work: &Work,
        earlier: ValueChange,
        now: ValueChange,
        moved: ValueChange,
    ) -> Shift {
        let reached = self.residual(work, now, UNMOVED);
        let both = ValueChange {
            least: earlier.least.min(0.0) + now.least.min(0.0) + moved.least.min(0.0),
            most: earlier.most.max(0.0) + now.most.max(0.0) + moved.most.max(0.0),
        };
        let others = self.residual(work, both, moved);
        let model = self.model(&NO_ROWS, work.facts);
        Shift::from_residual(&model, reached.0.min(others.0), reached.1.max(others.1))
    }

    /// True if every interval is narrow enough for the size of its value.
    fn is_met(&self, work: &Work, shift: Shift) -> bool {
        let error = 2.0 * self.reward_widening(work);
        work.values.iter().all(|value| {
            let allowed = self.limits.allowed(value + shift.down, value + shift.up);
            shift.width() + error <= 1.99 * allowed
        })
    }

    /// The largest effect of rounded sums of rewards on a value.
    fn reward_widening(&self, work: &Work) -> f64 {
        work.reward_error / (1.0 - work.facts.most_factor(self.discount)).next_down()
            * (1.0 + 4.0 * f64::EPSILON)
    }

    /// The answer of a solver that was stopped before every row was read.
    fn unknown(&self, work: Work) -> StreamedSolution {
        StreamedSolution {
            values: work.values,
            down: f64::NEG_INFINITY,
            up: f64::INFINITY,
            farthest: f64::INFINITY,
            policy: work.policy,
            converged: false,
            passes: 0,
            explanation: vec!["stopped before every row was read once: nothing is known".to_owned()],
        }
    }

    fn solution(&self, work: Work, shift: Shift, end: SweepEnd, passes: u64) -> StreamedSolution {
        let widening = self.reward_widening(&work);
        let farthest = self.model(&NO_ROWS, work.facts).largest_value() + widening;
        let Work { mut values, policy, .. } = work;
        // Adding the shift rounds once, by at most half a unit in the last place of the sum.
        let rounding = f64::EPSILON * (proof::largest(&values) + proof::largest(&[shift.down, shift.up]));
        let (down, up) = (shift.down - rounding - widening, shift.up + rounding + widening);
        let (down, up) = if self.sign > 0.0 { (down, up) } else { (-up, -down) };
        if self.sign < 0.0 {
            values.iter_mut().for_each(|value| *value = -*value);
        }
        let n = self.disk.n_blocks();
        let mut explanation =
            vec![format!("streamed: {passes} passes over {n} blocks on disk, forward and backward in turn")];
        let mut solution = StreamedSolution {
            values,
            down,
            up,
            farthest,
            policy,
            converged: false,
            passes,
            explanation: Vec::new(),
        };
        solution.converged = (0..solution.n_states()).all(|state| {
            let (lower, upper) = (solution.lower(state), solution.upper(state));
            upper - lower <= 2.0 * self.limits.allowed(lower, upper)
        });
        if !solution.converged {
            let width = up - down;
            explanation.push(match end {
                SweepEnd::Stopped => format!("stopped before the goal: intervals are {width:e} wide"),
                SweepEnd::Slow => format!("no further progress: intervals are {width:e} wide"),
                _ => format!("rounding keeps intervals from getting narrower than {width:e}"),
            });
        }
        solution.explanation = explanation;
        solution
    }
}

/// A number of passes after which only rounding can keep an interval of this width from the goal.
fn passes_to(width: f64, goal: f64, factor: f64) -> u64 {
    // The width is up to 1 / (1 - factor) times the error.
    let ratio = width.max(1.0) / goal.max(f64::MIN_POSITIVE) / (1.0 - factor);
    (ratio.ln().max(1.0) / -factor.max(0.01).ln()).min(1e15) as u64 + 100
}

/// Sees where values are heading: without it, a model that never ends would take as many passes as its discount asks for.
#[derive(Default)]
struct Trend {
    /// The least that every value gained in the two passes before, if none was moved since. Passes run forward and backward
    /// in turn, so the one before the last compares with the next.
    before: [Option<f64>; 2],
    /// The width before values were moved.
    width_before_move: Option<f64>,
    /// True once moving them made the interval wider.
    has_failed: bool,
}

impl Trend {
    /// The distance by which to move all values: what every one of them would still gain if gains kept falling as they did.
    fn extrapolate(&mut self, gain: ValueChange, factor: f64, width: f64) -> f64 {
        self.has_failed |= self.width_before_move.take().is_some_and(|before| width > before);
        let gain = if gain.least > 0.0 { gain.least } else { gain.most.min(0.0) };
        let before = self.before[0];
        self.before = [self.before[1], (gain != 0.0).then_some(gain)];
        let rate = before.map_or(0.0, |before| gain / before).max(0.0).sqrt().min(factor);
        if self.has_failed || rate == 0.0 {
            return 0.0;
        }
        self.before = [None; 2];
        self.width_before_move = Some(width);
        gain * rate / (1.0 - rate)
    }
}

impl Work {
    /// One sweep in place over all choices of a block.
    fn sweep(&mut self, model: &FlatModel, first: usize, is_forward: bool) -> ValueChange {
        let mut change = ValueChange::NONE;
        self.chosen.resize(model.n_states(), NO_CHOICE);
        for i in in_turn(model.n_states(), is_forward) {
            let (value, choice) = model.backup(i, &self.values);
            change.add(value - self.values[first + i]);
            self.values[first + i] = value;
            self.chosen[i] = choice;
        }
        change
    }

    /// Moves all values by as much; returns that.
    fn move_by(&mut self, distance: f64) -> ValueChange {
        if distance != 0.0 {
            self.values.iter_mut().for_each(|value| *value += distance);
        }
        ValueChange { least: distance, most: distance }
    }

    /// Lowers all values below 0 to `start`; returns by how much values moved.
    fn lower_to(&mut self, start: f64) -> ValueChange {
        let mut moved = UNMOVED;
        for value in self.values.iter_mut().filter(|value| **value < 0.0) {
            moved.add(start - *value);
            *value = start;
        }
        moved
    }
}
