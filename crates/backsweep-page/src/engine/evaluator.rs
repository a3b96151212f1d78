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
use backsweep::planner::Pair;
use backsweep_worlds::grid_world::{GridWorld, OptimumSearch, Truth};
use backsweep_worlds::sweep_policy;
use std::sync::{Arc, Mutex, PoisonError};

/// The distance of the lines from the optimum, as a share of it: the near one, and the finish.
const MARGINS: [f64; 2] = [0.05, 0.01];
/// A policy's value is exact to this share of the last margin.
const PRECISION: f64 = 0.05;
/// A gap is shown to two digits.
const DIGITS: f64 = 0.01;
/// Consecutive checks that are judged by the last of them, unless that is within a line.
const BLOCK: usize = 4;

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
#[derive(Clone, Debug)]
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
        /// The finding.
        optimum: Option<Optimum>,
    },
    /// The first policy of an agent within 5 % of the optimum, or within 1 % if it is the finish. The 5 % come first.
    Reached {
        /// The problem's number.
        problem: u64,
        /// The life in which it was submitted.
        life: u64,
        /// Whose policy it is.
        agent: usize,
        /// The work done for it.
        stamp: WorkDone,
        /// True if it is within 1 %.
        is_finish: bool,
    },
}

/// A task for the evaluator.
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
    /// Returns how far below the optimum the newest policy of an agent was, if it was judged in this problem and life.
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

/// Judges policies, one at a time: the newest of each agent first, so that the gap is the current one. Then it looks for the
/// first policy within each line, by bisection in blocks of consecutive checks.
///
/// A block is judged by its last policy, whatever the speed, so a policy that was within a line for fewer checks than a block
/// has may be missed.
pub struct Evaluator {
    case: Option<OpenProblem>,
    next: Option<EvaluationProblem>,
    /// The newest policy of each agent whose gap is not yet known.
    newest: [Option<SubmittedPolicy>; 2],
    courses: [Course; 2],
    /// The policy that is being judged, and its place in its agent's block, unless it is judged because it is new.
    judged: Option<(SubmittedPolicy, Option<usize>)>,
    gaps: Gaps,
}

/// The checks of one agent among which a crossing may be.
#[derive(Default)]
struct Course {
    life: u64,
    /// Policies in the order of submission, each with what it loses once that is known.
    block: Vec<(SubmittedPolicy, Option<f64>)>,
    /// The number of lines that have been reached.
    n_reached: usize,
}

/// The next step of a search in a block.
enum LineSearch {
    /// Judge this policy.
    Judge(usize),
    /// This policy is the first within the line.
    Crossed(usize),
    /// None is within the line.
    Outside,
}

impl Course {
    /// Adds a policy. A restart begins a new course.
    fn add(&mut self, entry: SubmittedPolicy) {
        if entry.life != self.life {
            *self = Self { life: entry.life, ..Self::default() };
        }
        if self.n_reached < MARGINS.len() {
            self.block.push((entry, None));
        }
    }

    fn is_ready(&self) -> bool {
        self.block.len() >= BLOCK
    }

    /// The next step of the bisection of the first block at a line.
    fn search(&self, margin: f64) -> LineSearch {
        let (mut low, mut high) = (0, BLOCK - 1);
        match self.block[high].1 {
            None => return LineSearch::Judge(high),
            Some(lost) if lost > margin => return LineSearch::Outside,
            Some(_) => {}
        }
        while low < high {
            let middle = (low + high) / 2;
            match self.block[middle].1 {
                None => return LineSearch::Judge(middle),
                Some(lost) if lost <= margin => high = middle,
                Some(_) => low = middle + 1,
            }
        }
        LineSearch::Crossed(high)
    }
}

impl Evaluator {
    pub(super) fn new(gaps: Gaps) -> Self {
        Self { case: None, next: None, newest: [None, None], courses: Default::default(), judged: None, gaps }
    }

    /// Adds a task. A later problem supersedes all earlier tasks: drawing a wall changes the world many times per second.
    pub fn add(&mut self, task: EvaluatorTask) {
        match task {
            EvaluatorTask::Problem(problem) => {
                self.next = Some(problem);
                self.newest = [None, None];
                self.courses = Default::default();
                self.judged = None;
            }
            EvaluatorTask::Policy(entry) => {
                let latest = self.next.as_ref().or(self.case.as_ref().map(|case| &case.problem));
                let is_current = latest.is_some_and(|problem| problem.number == entry.problem);
                if let (true, Some(course)) = (is_current, self.courses.get_mut(entry.agent)) {
                    self.newest[entry.agent] = Some(entry.clone());
                    course.add(entry);
                }
            }
        }
    }

    /// Returns whether nothing is to be done.
    pub fn is_idle(&self) -> bool {
        let is_searching = self.case.as_ref().is_some_and(|case| case.search.is_some());
        let is_waiting = self.newest.iter().any(Option::is_some) || self.courses.iter().any(Course::is_ready);
        let has_policy = self.judged.is_some() || is_waiting;
        self.next.is_none() && !is_searching && !(has_policy && self.case.is_some())
    }

    /// Does a piece of work: at most a sweep over the world.
    pub fn work(&mut self) -> Option<EvaluatorReport> {
        if let Some(problem) = self.next.take() {
            let number = problem.number;
            self.case = open(problem).ok();
            let is_open = self.case.is_some();
            return (!is_open).then_some(EvaluatorReport::Optimum { problem: number, optimum: None });
        }
        let case = self.case.as_mut()?;
        if let Some(search) = &mut case.search {
            let (exploring, best) = search.work(&case.truth)?;
            case.find(best);
            let optimum = Some(Optimum { best, exploring });
            return Some(EvaluatorReport::Optimum { problem: case.problem.number, optimum });
        }
        if self.judged.is_some() {
            self.judge();
            return None;
        }
        if let Some(entry) = self.newest.iter_mut().find_map(Option::take) {
            self.judged = Some((entry, None));
            return None;
        }
        let (agent, course) = self.courses.iter_mut().enumerate().find(|(_, course)| course.is_ready())?;
        let line = course.n_reached;
        match course.search(case.margins[line]) {
            LineSearch::Judge(at) => {
                self.judged = Some((course.block[at].0.clone(), Some(at)));
                None
            }
            LineSearch::Outside => {
                course.block.drain(..BLOCK);
                None
            }
            LineSearch::Crossed(at) => {
                course.n_reached += 1;
                let is_finish = course.n_reached == MARGINS.len();
                let (problem, life, stamp) = (case.problem.number, course.life, course.block[at].0.stamp);
                if is_finish {
                    course.block.clear();
                }
                Some(EvaluatorReport::Reached { problem, life, agent, stamp, is_finish })
            }
        }
    }

    /// Goes on with the policy that is being judged.
    fn judge(&mut self) {
        let (Some(case), Some((entry, place))) = (&mut self.case, &self.judged) else { return };
        let share = place.is_none().then_some(DIGITS);
        let Some(lost) = case.lost(&entry.policy, share) else { return };
        match place {
            None => self.gaps.note(entry, lost),
            // A restart has emptied the block.
            Some(at) if self.courses[entry.agent].life == entry.life => {
                self.courses[entry.agent].block[*at].1 = Some(lost);
            }
            Some(_) => {}
        }
        self.judged = None;
    }
}

/// The problem that is being judged.
struct OpenProblem {
    problem: EvaluationProblem,
    truth: Truth,
    /// The search for the optimum, until it is found.
    search: Option<OptimumSearch>,
    best: f64,
    margins: [f64; 2],
    tolerance: f64,
    /// The values of the last policy, a good starting point for the next.
    values: Vec<f64>,
}

fn open(problem: EvaluationProblem) -> Result<OpenProblem> {
    let truth = problem.world.rules().truth()?;
    let policy = EpsilonGreedy::new(problem.epsilon)?;
    let search = Some(OptimumSearch::new(&truth, problem.settings.discount, policy)?);
    let values = vec![0.0; truth.model.n_states()];
    Ok(OpenProblem { problem, truth, search, best: 0.0, margins: [0.0; 2], tolerance: 0.0, values })
}

impl OpenProblem {
    /// The optimum is found.
    fn find(&mut self, best: f64) {
        self.search = None;
        self.best = best;
        self.margins = MARGINS.map(|share| share * best.abs());
        self.tolerance = (PRECISION * self.margins[1] * (1.0 - self.problem.settings.discount)).max(1e-9);
    }

    /// Sweeps once over the values of a policy in the true world. Returns how far the policy is below the optimum once that is
    /// known exactly enough to say on which side of each line it is and, if wanted, to this share of itself. After a sweep
    /// that changed values by d at most, the rest cannot change any by more than d·γ/(1 − γ).
    fn lost(&mut self, policy: &[u8], share: Option<f64>) -> Option<f64> {
        let Self { problem, truth, best, margins, tolerance, values, .. } = self;
        let (model, discount) = (&truth.model, problem.settings.discount);
        let chance = |pair: Pair| {
            let state = model.state_of(pair);
            let n_actions = model.n_actions(state) as u32;
            let all = (1u16 << n_actions) as u8 - 1;
            // Where all actions seem equally good, the agent takes any.
            let chosen = match policy[truth.cells[state.index()] as usize] & all {
                0 => all,
                chosen => chosen,
            };
            let is_chosen = chosen & 1 << model.action_of(pair).0 > 0;
            if is_chosen { 1.0 / f64::from(chosen.count_ones()) } else { 0.0 }
        };
        let (lowest, highest) = sweep_policy(model, chance, discount, values);
        let mean = truth.mean_over_starts(values);
        let rest = discount / (1.0 - discount);
        let (most, least) = (*best - mean - rest * lowest, *best - mean - rest * highest);
        let is_enough = margins.iter().all(|&margin| most <= margin || least > margin)
            && share.is_none_or(|share| most - least <= share * least.abs());
        let is_exact = highest.max(-lowest) <= *tolerance;
        (is_exact || is_enough).then_some(*best - mean)
    }
}
