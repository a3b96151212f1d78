//! The evaluator: a second thread that knows the true probabilities. It computes the optimum of a world, evaluates the greedy
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
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// How far below the optimum the lines lie, as a share of it: the near one, and the finish.
const MARGINS: [f64; 2] = [0.05, 0.01];
/// A policy's value is exact to this share of the last margin.
const PRECISION: f64 = 0.05;

/// A world to evaluate policies in. Each has its own number; policies submitted for an earlier one no longer count.
pub(super) struct EvaluationProblem {
    pub number: u64,
    pub world: Arc<GridWorld>,
    pub settings: Settings,
    /// The random exploration assumed for the optimum in the chart.
    pub epsilon: f64,
}

/// A policy of one agent: the actions of each cell that it recommends, as bits; 0 for all.
pub(super) struct SubmittedPolicy {
    pub problem: u64,
    /// Counts restarts from scratch: each is judged separately.
    pub life: u64,
    pub agent: usize,
    pub stamp: WorkDone,
    pub policy: Vec<u8>,
}

/// A finding of the evaluator.
pub(super) enum EvaluatorReport {
    /// The value of the best policy; `None` if it could not be computed.
    Optimum { problem: u64, optimum: Option<Optimum> },
    /// The first policy of an agent within 5 % of the optimum, or within 1 % if it is the finish.
    Reached { problem: u64, life: u64, agent: usize, stamp: WorkDone, is_finish: bool },
}

enum EvaluatorTask {
    Problem(EvaluationProblem),
    Policy(SubmittedPolicy),
}

/// A handle to the evaluator, which ends when it is dropped.
pub(super) struct PolicyEvaluator {
    tasks: Sender<EvaluatorTask>,
    gaps: Gaps,
}

/// The problem, the life and the gap of the last policy of each agent that did not reach the line. Only the latest matters, so
/// it is not sent: messages would pile up in front of the engine and delay commands.
type Gaps = Arc<Mutex<[Option<(u64, u64, f64)>; 2]>>;

impl PolicyEvaluator {
    /// Starts the thread, which ends when `report` says that nobody listens. If it cannot be started, the optimum and the finish line are missing, but everything else works.
    pub fn start(report: impl Fn(EvaluatorReport) -> bool + Send + 'static) -> Self {
        let (tasks, received) = channel();
        let gaps = Gaps::default();
        let noted = gaps.clone();
        let work = move || evaluate(&received, &report, &noted);
        let _ = std::thread::Builder::new().name("evaluator".into()).spawn(work);
        Self { tasks, gaps }
    }

    /// How far below the optimum the newest policy of an agent was, if it was judged in this problem and life.
    pub fn gap(&self, problem: u64, life: u64, agent: usize) -> Option<f64> {
        let gaps = self.gaps.lock().unwrap_or_else(PoisonError::into_inner);
        let (judged, of, gap) = (*gaps.get(agent)?)?;
        ((judged, of) == (problem, life)).then_some(gap)
    }

    pub fn set_problem(&self, problem: EvaluationProblem) {
        let _ = self.tasks.send(EvaluatorTask::Problem(problem));
    }

    pub fn submit(&self, entry: SubmittedPolicy) {
        let _ = self.tasks.send(EvaluatorTask::Policy(entry));
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

fn evaluate(tasks: &Receiver<EvaluatorTask>, report: &impl Fn(EvaluatorReport) -> bool, gaps: &Gaps) {
    let mut case: Option<OpenProblem> = None;
    let mut waiting = VecDeque::new();
    loop {
        if waiting.is_empty() {
            let Ok(task) = tasks.recv() else { return };
            waiting.push_back(task);
        }
        waiting.extend(tasks.try_iter());
        // A later problem supersedes all earlier ones: drawing a wall changes the world many times per second.
        let last = waiting.iter().rposition(|task| matches!(task, EvaluatorTask::Problem(_)));
        waiting.drain(..last.unwrap_or(0));
        // The newest policy first, so that the gap is that of now; then in the order of submission, so that the first policy
        // within a line is found whatever the speed.
        if let (Some(case), true) = (&mut case, waiting.len() > 2)
            && let Some(EvaluatorTask::Policy(newest)) = waiting.back()
            && newest.problem == case.problem.number
            && case.noted != Some((newest.life, newest.agent, newest.stamp))
        {
            case.note_gap(newest, gaps);
        }
        let evaluation = match waiting.pop_front() {
            Some(EvaluatorTask::Problem(problem)) => {
                let number = problem.number;
                let opened = open(problem).ok();
                let optimum = opened.as_ref().map(|(optimum, _)| *optimum);
                case = opened.map(|(_, case)| case);
                Some(EvaluatorReport::Optimum { problem: number, optimum })
            }
            Some(EvaluatorTask::Policy(entry)) => {
                case.as_mut().and_then(|case| case.evaluate(&entry, gaps, waiting.is_empty()))
            }
            None => None,
        };
        // The engine may have ended.
        if evaluation.is_some_and(|evaluation| !report(evaluation)) {
            return;
        }
    }
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
        let lost = self.best - self.worth(&entry.policy);
        self.noted = Some((entry.life, entry.agent, entry.stamp));
        let mut gaps = gaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = gaps.get_mut(entry.agent) {
            *last = Some((entry.problem, entry.life, lost));
        }
        lost
    }

    /// The line that a policy is the first of its agent to reach; the finish if it reaches both.
    fn evaluate(&mut self, entry: &SubmittedPolicy, gaps: &Gaps, is_newest: bool) -> Option<EvaluatorReport> {
        let &SubmittedPolicy { problem, life, agent, stamp, .. } = entry;
        if problem != self.problem.number || self.has_reached.contains(&(life, agent, 1)) {
            return None;
        }
        let lost = if is_newest { self.note_gap(entry, gaps) } else { self.best - self.worth(&entry.policy) };
        let line = self.margins.iter().rposition(|&margin| lost <= margin)?;
        if self.has_reached.contains(&(life, agent, line)) {
            return None;
        }
        self.has_reached.push((life, agent, line));
        Some(EvaluatorReport::Reached { problem, life, agent, stamp, is_finish: line == 1 })
    }

    /// The value of a policy from the start, in the true world.
    fn worth(&mut self, policy: &[u8]) -> f64 {
        let (model, discount) = (&self.truth.model, self.problem.settings.discount);
        let values = &mut self.values;
        loop {
            let mut largest = 0.0f64;
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
                largest = largest.max((value - values[state.index()]).abs());
                values[state.index()] = value;
            }
            if largest <= self.tolerance {
                return self.truth.mean_over_starts(values);
            }
        }
    }
}
