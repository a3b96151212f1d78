//! The evaluator knows the true probabilities. It computes the optimum of a world, evaluates the greedy
//! policies submitted to it, and reports which come within 1 % of the optimum. How much an agent explores while it learns is
//! not part of its policy, so agents that explore differently are measured alike.
//!
//! Policies are submitted after fixed numbers of steps, so its findings do not depend on the speed of the machine.

use super::frame::Optimum;
use super::time_to_optimum::WorkDone;
use crate::error::Result;
use backsweep::Settings;
use backsweep::explore::EpsilonGreedy;
use backsweep_worlds::grid_world::{GridWorld, Truth};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How far below the optimum the lines lie, as a share of it: the near one, and the finish.
const MARGINS: [f64; 2] = [0.05, 0.01];
/// A policy's value is exact to this share of the last margin.
const PRECISION: f64 = 0.05;
/// A gap is shown to two digits.
const DIGITS: f64 = 0.01;

/// A world to evaluate policies in. Each has its own number; policies submitted for an earlier one no longer count.
#[derive(Debug)]
pub struct EvaluationProblem {
    /// Its number.
    pub number: u64,
    /// The world.
    pub world: Arc<GridWorld>,
    /// The settings of the planners.
    pub settings: Settings,
    /// The random exploration assumed for the optimum in the chart.
    pub epsilon: f64,
}

/// A policy of one agent: the actions of each cell that it recommends, as bits; 0 for all.
#[derive(Debug)]
pub struct SubmittedPolicy {
    /// The problem it is for.
    pub problem: u64,
    /// Counts restarts from scratch: each is judged separately.
    pub life: u64,
    /// Whose policy it is.
    pub agent: usize,
    /// The work done for it.
    pub stamp: WorkDone,
    /// The actions.
    pub policy: Vec<u8>,
}

/// A finding of the evaluator.
#[derive(Debug)]
pub enum EvaluatorReport {
    /// The value of the best policy; `None` if it could not be computed.
    Optimum {
        /// The problem's number.
        problem: u64,
        /// What was found.
        optimum: Option<Optimum>,
    },
    /// The first policy of an agent within 5 % of the optimum, or within 1 % if it is the finish.
    Reached {
        /// The problem's number.
        problem: u64,
        /// The life in which it was submitted.
        life: u64,
        /// Whose policy it is.
        agent: usize,
        /// The work done for it.
        stamp: WorkDone,
        /// Whether it is within 1 %.
        is_finish: bool,
    },
}

/// What the evaluator is to do.
#[derive(Debug)]
pub enum EvaluatorTask {
    /// Judge in another world from now on.
    Problem(EvaluationProblem),
    /// Judge a policy.
    Policy(SubmittedPolicy),
}

/// The problem and the life of a policy, and its gap.
type LatestGap = (u64, u64, f64);

/// The problem, the life and the gap of the last policy of each agent that did not reach the line. Only the latest matters, so
/// it is not sent: messages would pile up in front of the engine and delay commands.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps(Arc<Mutex<[Option<LatestGap>; 2]>>);

impl Gaps {
    /// How far below the optimum the newest policy of an agent was, if it was judged in this problem and life.
    pub fn of(&self, problem: u64, life: u64, agent: usize) -> Option<f64> {
        let gaps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (judged, of, gap) = (*gaps.get(agent)?)?;
        ((judged, of) == (problem, life)).then_some(gap)
    }

    fn note(&self, entry: &SubmittedPolicy, gap: f64) {
        let mut gaps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = gaps.get_mut(entry.agent) {
            *last = Some((entry.problem, entry.life, gap));
        }
    }
}

/// Judges, one task at a time.
pub struct Evaluator {
    case: Option<OpenProblem>,
    waiting: VecDeque<EvaluatorTask>,
    gaps: Gaps,
}

impl Evaluator {
    pub(super) fn new(gaps: Gaps) -> Self {
        Self { case: None, waiting: VecDeque::new(), gaps }
    }

    /// Adds a task. A later problem supersedes all earlier tasks: drawing a wall changes the world many times per second.
    pub fn add(&mut self, task: EvaluatorTask) {
        if matches!(task, EvaluatorTask::Problem(_)) {
            self.waiting.clear();
        }
        self.waiting.push_back(task);
    }

    /// Whether nothing is to be done.
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Does the next task. The newest policy comes first, so that the gap is that of now; then the others in the order of
    /// submission, so that the first policy within a line is found whatever the speed.
    pub fn work(&mut self) -> Option<EvaluatorReport> {
        if let (Some(case), true) = (&mut self.case, self.waiting.len() > 2)
            && let Some(EvaluatorTask::Policy(newest)) = self.waiting.back()
            && newest.problem == case.problem.number
            && case.noted != Some((newest.life, newest.agent, newest.stamp))
        {
            case.note_gap(newest, &self.gaps);
        }
        match self.waiting.pop_front()? {
            EvaluatorTask::Problem(problem) => {
                let number = problem.number;
                let opened = open(problem).ok();
                let optimum = opened.as_ref().map(|(optimum, _)| *optimum);
                self.case = opened.map(|(_, case)| case);
                Some(EvaluatorReport::Optimum { problem: number, optimum })
            }
            EvaluatorTask::Policy(entry) => {
                let is_newest = self.waiting.is_empty();
                self.case.as_mut()?.evaluate(&entry, &self.gaps, is_newest)
            }
        }
    }
}

/// The problem that is being judged.
struct OpenProblem {
    problem: EvaluationProblem,
    truth: Truth,
    best: f64,
    margins: [f64; 2],
    tolerance: f64,
    /// The values of the last policy, a good starting point for the next.
    values: Vec<f64>,
    /// The policy whose gap was noted last.
    noted: Option<(u64, usize, WorkDone)>,
    /// The life, the agent and the number of a line, for every agent that has reached it.
    has_reached: Vec<(u64, usize, usize)>,
}

fn open(problem: EvaluationProblem) -> Result<(Optimum, OpenProblem)> {
    let policy = EpsilonGreedy::new(problem.epsilon)?;
    let truth = problem.world.rules().truth()?;
    let (exploring, best) = problem.world.optimum(&truth, &problem.settings, policy)?;
    let margins = MARGINS.map(|share| share * best.abs());
    let tolerance = (PRECISION * margins[1] * (1.0 - problem.settings.discount)).max(1e-9);
    let values = vec![0.0; truth.model.n_states()];
    let open = OpenProblem {
        best,
        margins,
        truth,
        tolerance,
        values,
        noted: None,
        has_reached: Vec::new(),
        problem,
    };
    Ok((Optimum { best, exploring }, open))
}

impl OpenProblem {
    /// Notes how far a policy is below the optimum.
    fn note_gap(&mut self, entry: &SubmittedPolicy, gaps: &Gaps) -> f64 {
        let lost = self.lost(&entry.policy, Some(DIGITS));
        self.noted = Some((entry.life, entry.agent, entry.stamp));
        gaps.note(entry, lost);
        lost
    }

    /// The line that a policy is the first of its agent to reach; the finish if it reaches both.
    fn evaluate(&mut self, entry: &SubmittedPolicy, gaps: &Gaps, is_newest: bool) -> Option<EvaluatorReport> {
        let &SubmittedPolicy { problem, life, agent, stamp, .. } = entry;
        if problem != self.problem.number || self.has_reached.contains(&(life, agent, 1)) {
            return None;
        }
        let lost = if is_newest { self.note_gap(entry, gaps) } else { self.lost(&entry.policy, None) };
        let line = self.margins.iter().rposition(|&margin| lost <= margin)?;
        if self.has_reached.contains(&(life, agent, line)) {
            return None;
        }
        self.has_reached.push((life, agent, line));
        Some(EvaluatorReport::Reached { problem, life, agent, stamp, is_finish: line == 1 })
    }

    /// How far a policy is below the optimum: exactly enough to say on which side of each line it is and, if wanted, to
    /// this share of itself.
    fn lost(&mut self, policy: &[u8], share: Option<f64>) -> f64 {
        let best = self.best;
        let margins = self.margins;
        let is_enough = |low: f64, high: f64| {
            let (most, least) = (best - low, best - high);
            margins.iter().all(|&margin| most <= margin || least > margin)
                && share.is_none_or(|share| most - least <= share * least.abs())
        };
        best - self.worth(policy, is_enough)
    }

    /// The value of a policy from the start, in the true world, once the bounds between which it must lie are enough. After a
    /// sweep that changed values by d at most, the rest cannot change any by more than d·γ/(1 − γ).
    fn worth(&mut self, policy: &[u8], is_enough: impl Fn(f64, f64) -> bool) -> f64 {
        let (model, discount) = (&self.truth.model, self.problem.settings.discount);
        let rest = discount / (1.0 - discount);
        let values = &mut self.values;
        loop {
            let (mut lowest, mut highest) = (0.0f64, 0.0f64);
            for state in model.states() {
                // Where all actions seem equally good, the agent takes any.
                let best = match policy[self.truth.cells[state.index()] as usize] {
                    0 => u8::MAX,
                    best => best,
                };
                let (mut sum, mut n) = (0.0, 0u32);
                for (action, pair) in model.pairs(state).enumerate() {
                    if best & 1 << action > 0 {
                        let next: f64 =
                            model.successors(pair).map(|s| s.weight * values[s.state.index()]).sum();
                        sum += model.mean_reward(pair) + discount * next / model.weight(pair);
                        n += 1;
                    }
                }
                let value = sum / f64::from(n.max(1));
                let change = value - values[state.index()];
                (lowest, highest) = (lowest.min(change), highest.max(change));
                values[state.index()] = value;
            }
            let mean = self.truth.mean_over_starts(values);
            let is_exact = highest.max(-lowest) <= self.tolerance;
            if is_exact || is_enough(mean + rest * lowest, mean + rest * highest) {
                return mean;
            }
        }
    }
}
