//! The portfolio on a model with names, and small backups once rows have changed.

use crate::errors;
use crate::known::model::NamedModel;
use crate::known::stopping::Stopping;
use backsweep_mdp::{Mdp, Rewards};
use backsweep_solve::{Change, Direction, Limits, NO_CHOICE, Query, Repair, Repaired, Solution, Start};
use pyo3::prelude::*;

/// What is asked.
#[derive(Clone, PartialEq)]
pub struct Question {
    pub query: Query,
    pub direction: Direction,
}

/// How to answer.
pub struct Effort {
    pub tolerance: f64,
    pub method: Option<String>,
    pub threads: usize,
}

/// An answer: everything by state.
#[derive(Clone)]
pub struct Answer {
    pub question: Question,
    pub tolerance: f64,
    pub values: Vec<f64>,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The action that the policy takes, as an id; [`NO_CHOICE`] where a state has none.
    pub policy: Vec<u32>,
    pub converged: bool,
    /// Sweeps, or states backed up in a repair; 0 if nothing had to be done.
    pub iterations: u64,
    pub explanation: Vec<String>,
    /// Whether small backups repaired an earlier answer.
    pub repaired: bool,
    /// Whether the model is still the one that was solved.
    pub current: bool,
    start: Option<Start>,
}

impl Answer {
    /// An answer that is not proven for the current model.
    pub fn new(
        question: Question,
        tolerance: f64,
        lower: Vec<f64>,
        upper: Vec<f64>,
        policy: Vec<u32>,
        start: Vec<f64>,
    ) -> Self {
        let values = lower.iter().zip(&upper).map(|(&lower, &upper)| middle(lower, upper)).collect();
        Self {
            question,
            tolerance,
            values,
            lower,
            upper,
            policy,
            converged: false,
            iterations: 0,
            explanation: Vec::new(),
            repaired: false,
            current: false,
            start: Some(Start { values: start }),
        }
    }

    /// Values for a repair to start from; those of a repair itself are the middles of its intervals.
    /// Without discount there is nothing to start from.
    pub fn start(&self) -> Vec<f64> {
        if !matches!(self.question.query, Query::Discounted { .. }) {
            return vec![0.0; self.values.len()];
        }
        self.start.as_ref().map_or(&self.values, |start| &start.values).clone()
    }

    /// No value is further from the truth than this; `None` if some interval is infinite.
    pub fn error_bound(&self) -> Option<f64> {
        let off = |((&value, &lower), &upper): ((&f64, &f64), &f64)| {
            if lower == upper { 0.0 } else { (upper - value).max(value - lower).next_up() }
        };
        let most = self.values.iter().zip(&self.lower).zip(&self.upper).map(off).fold(0.0, f64::max);
        Some(most).filter(|most| most.is_finite())
    }
}

/// A model that repairs are made on, and what has changed since the last one.
pub struct Tracked {
    pub repair: Repair,
    pub question: Question,
    pending: Vec<Change>,
}

impl Tracked {
    /// Whether this matches the current model and question.
    pub fn is_ready_for(&self, question: &Question) -> bool {
        self.question == *question && self.pending.is_empty()
    }

    fn is_discounted(&self) -> bool {
        matches!(self.question.query, Query::Discounted { .. })
    }
}

/// A model and what is known about it.
#[derive(Default)]
pub struct Solved {
    pub model: NamedModel,
    pub discount: f64,
    pub answer: Option<Answer>,
    /// Sweeps and backups of all solves.
    pub iterations: u64,
    pub tracked: Option<Tracked>,
    /// Rounding kept repairs of a question from reaching this tolerance; it is solved from scratch.
    too_tight: Option<(Question, f64)>,
}

impl Solved {
    pub fn new(model: NamedModel, discount: f64) -> Self {
        Self { model, discount, ..Self::default() }
    }

    /// The default question of `solve`: discounted values or, without discount, the total until episodes end.
    pub fn usual_query(&self) -> Query {
        match self.discount {
            1.0 => Query::Total { reward: None, until: None },
            discount => Query::Discounted { reward: None, discount },
        }
    }

    /// The flat arrays, once choices are in the order of states.
    pub fn flatten(&mut self) -> PyResult<&Mdp> {
        if !self.model.is_flat() {
            self.untrack();
        }
        self.model.flatten()
    }

    /// Drops a repair whose numbering of choices is outdated; the next one can start from its values.
    fn untrack(&mut self) {
        let Some(Tracked { repair, question, .. }) = self.tracked.take() else { return };
        if let Some(answer) = self.answer.as_mut().filter(|answer| answer.question == question) {
            let sign = if question.direction == Direction::Maximize { 1.0 } else { -1.0 };
            let values = (0..answer.values.len()).map(|state| sign * repair.value(state)).collect();
            answer.start = Some(Start { values });
        }
    }

    /// Records changes made to the model.
    pub fn note(&mut self, changes: Vec<Change>) {
        if let Some(answer) = &mut self.answer {
            answer.current = false;
        }
        if let Some(tracked) = &mut self.tracked {
            tracked.pending.extend(changes);
        }
    }

    /// Answers a question, starting from an earlier answer to it if there is one.
    pub fn solve(
        &mut self,
        py: Python<'_>,
        question: &Question,
        effort: &Effort,
        stopping: &Stopping,
    ) -> PyResult<&Answer> {
        let n_states = self.model.states.len();
        if let Some(answer) = &mut self.answer {
            // States that were added need values, if only 0.
            answer.current &= answer.values.len() == n_states;
            let same = answer.current && answer.question == *question && effort.method.is_none();
            if same && answer.converged && answer.tolerance <= effort.tolerance {
                (answer.iterations, answer.repaired) = (0, false);
                return self.answered();
            }
        }
        let stop = || stopping.stop();
        let limits = Limits { tolerance: effort.tolerance, stop: &stop, threads: effort.threads };
        if effort.method.is_none() && self.repair(py, question, &limits)? {
            return self.answered();
        }
        self.flatten()?;
        let added_steps = self.add_steps(&question.query);
        let mdp = &self.model.mdp;
        let method = effort.method.as_deref();
        let solved = py.detach(|| question.query.solve_for_repair(mdp, question.direction, method, &limits));
        if added_steps {
            self.model.mdp.rewards.pop();
        }
        let (solution, start) = solved.map_err(wrong)?;
        self.accept(question, effort.tolerance, solution, start, false)
    }

    fn answered(&self) -> PyResult<&Answer> {
        self.answer.as_ref().ok_or_else(|| errors::value("nothing was solved"))
    }

    /// Adds rewards of 1 per step if a question is about `steps` and the model has no such rewards.
    fn add_steps(&mut self, query: &Query) -> bool {
        let (Query::Discounted { reward, .. }
        | Query::Total { reward, .. }
        | Query::Horizon { reward, .. }
        | Query::Average { reward }) = query
        else {
            return false;
        };
        let mdp = &mut self.model.mdp;
        let add =
            reward.as_deref() == Some("steps") && mdp.rewards.iter().all(|rewards| rewards.name != "steps");
        if add {
            let choices = vec![1.0; mdp.n_choices()];
            mdp.rewards.push(Rewards { name: "steps".to_owned(), choices, ..Rewards::default() });
        }
        add
    }

    /// Repairs the answer to the same question, if rows have changed since; returns whether that was possible.
    fn repair(&mut self, py: Python<'_>, question: &Question, limits: &Limits) -> PyResult<bool> {
        let n_states = self.model.states.len();
        let same = self.answer.as_ref().is_some_and(|answer| {
            answer.question == *question && answer.values.len() == n_states && !answer.current
        });
        let hopeless =
            |(asked, tolerance): &(Question, f64)| asked == question && limits.tolerance <= *tolerance;
        if !same || self.too_tight.as_ref().is_some_and(hopeless) {
            return Ok(false);
        }
        if self.tracked.as_ref().is_some_and(|tracked| tracked.question != *question) {
            self.untrack();
        }
        let error = self.model.reward_error;
        let repaired = match self.tracked.as_mut() {
            Some(tracked) => {
                let changes = std::mem::take(&mut tracked.pending);
                if !tracked.is_discounted() {
                    tracked.repair.count_reward_error(error);
                }
                let repair = &mut tracked.repair;
                match py.detach(|| repair.apply(&changes, limits)) {
                    Ok(repaired) => repaired,
                    Err(_) => {
                        // The solver says what is wrong with the model, in its own words.
                        self.tracked = None;
                        return Ok(false);
                    }
                }
            }
            None => match self.track(py, question, limits)? {
                Some(repaired) => repaired,
                None => return Ok(false),
            },
        };
        let Some(tracked) = &self.tracked else { return Ok(false) };
        let mut solution = tracked.repair.solution();
        // A solve from scratch reports everything that a fresh solve would.
        let final_word = repaired.solved_afresh && !tracked.is_discounted() && error == 0.0;
        if !solution.converged && !(limits.stop)() && !final_word {
            self.too_tight = Some((question.clone(), limits.tolerance));
            self.untrack();
            return Ok(false);
        }
        // Where too much changed for small backups, a repair of discounted values still started with them.
        let by_backups = tracked.is_discounted() || !repaired.solved_afresh;
        if by_backups {
            solution.iterations = repaired.backups;
        }
        self.accept(question, limits.tolerance, solution, None, by_backups)?;
        Ok(true)
    }

    /// Prepares a question for repairs: a discounted answer is reused, any other question is answered by the repair. `None`
    /// if neither is possible.
    pub fn track(
        &mut self,
        py: Python<'_>,
        question: &Question,
        limits: &Limits,
    ) -> PyResult<Option<Repaired>> {
        let direction = question.direction;
        let (repair, repaired) = if let Query::Discounted { reward, discount } = &question.query {
            let Some(start) = self.answer.as_mut().and_then(|answer| answer.start.take()) else {
                return Ok(None);
            };
            let mdp = self.model.flatten()?;
            let rewards =
                mdp.expected_rewards(reward.as_deref()).map_err(|error| wrong(error.to_string()))?;
            let discount = *discount;
            py.detach(|| Repair::resume(mdp, &rewards, discount, direction, start, limits)).map_err(wrong)?
        } else {
            // Rewards of 1 per step are not part of the model, so no change may set them.
            if self.add_steps(&question.query) {
                self.model.mdp.rewards.pop();
                return Ok(None);
            }
            let mdp = self.model.flatten()?;
            let repair = py.detach(|| Repair::ask(&question.query, mdp, direction, limits)).map_err(wrong)?;
            let converged = repair.solution().converged;
            (repair, Repaired { converged, backups: 0, solved_afresh: true })
        };
        self.tracked = Some(Tracked { repair, question: question.clone(), pending: Vec::new() });
        Ok(Some(repaired))
    }

    /// Drops what depends on labels, which have changed.
    pub fn forget_labels(&mut self) {
        let usual = self.usual_query();
        self.answer = self.answer.take().filter(|answer| answer.question.query == usual);
        let kept = |tracked: &Tracked| matches!(tracked.question.query, Query::Discounted { .. });
        self.tracked = self.tracked.take().filter(kept);
    }

    /// Stores what a solver returned.
    fn accept(
        &mut self,
        question: &Question,
        tolerance: f64,
        solution: Solution,
        start: Option<Start>,
        repaired: bool,
    ) -> PyResult<&Answer> {
        let Solution { mut lower, mut upper, policy, mut converged, iterations, mut explanation } = solution;
        if let Query::Discounted { discount, .. } = question.query
            && self.model.reward_error > 0.0
        {
            let off = self.model.reward_error / (1.0 - discount) * (1.0 + 4.0 * f64::EPSILON);
            let choosing = |state: &usize| policy[*state] != NO_CHOICE;
            for state in (0..lower.len()).filter(choosing) {
                lower[state] = (lower[state] - off).next_down();
                upper[state] = (upper[state] + off).next_up();
            }
            let narrow = lower.iter().zip(&upper).all(|(l, u)| u - l <= 2.0 * tolerance);
            if converged && !narrow {
                explanation.push("means of rewards are rounded by more than the tolerance allows".to_owned());
            }
            converged &= narrow;
        }
        self.iterations += iterations;
        let mut answer = Answer::new(question.clone(), tolerance, lower, upper, Vec::new(), Vec::new());
        answer = Answer { converged, iterations, explanation, repaired, current: true, start, ..answer };
        answer.policy =
            (0..).zip(&policy).map(|(state, &choice)| self.action(&answer, state, choice)).collect();
        self.answer = Some(answer);
        self.answered()
    }

    /// The action that a choice stands for. Where the choice does not matter, an action that may end is preferred among
    /// the best.
    fn action(&self, answer: &Answer, state: u32, choice: u32) -> u32 {
        if choice != NO_CHOICE {
            return self.model.action_of[choice as usize];
        }
        let sign = if answer.question.direction == Direction::Maximize { 1.0 } else { -1.0 };
        let value = |choice: u32| sign * self.lookahead(answer, state, choice).unwrap_or(0.0);
        let ends = |choice: u32| self.model.outcomes(choice).map(|(_, p)| p).sum::<f64>() < 1.0 - 1e-9;
        let better = |a: u32, b: u32| {
            let (value_a, value_b) = (value(a), value(b));
            value_b > value_a || (value_b == value_a && ends(b) && !ends(a))
        };
        let best = self.model.choices_of(state).reduce(|a, b| if better(a, b) { b } else { a });
        best.map_or(NO_CHOICE, |choice| self.model.action_of[choice as usize])
    }

    /// What a choice is worth by the values of an answer; `None` for questions about a number of steps or the long run, whose
    /// values are not those of the remaining run.
    pub fn lookahead(&self, answer: &Answer, state: u32, choice: u32) -> Option<f64> {
        let value = |state: u32| answer.values.get(state as usize).copied().unwrap_or(0.0);
        let next = || self.model.outcomes(choice).map(|(next, p)| p * value(next)).sum::<f64>();
        match &answer.question.query {
            Query::Discounted { reward, discount } => {
                Some(self.model.reward(choice, state, reward.as_deref()) + discount * next())
            }
            Query::Total { reward, .. } => Some(self.model.reward(choice, state, reward.as_deref()) + next()),
            Query::Reach { steps: None, .. } => Some(next()),
            Query::Reach { .. } | Query::Horizon { .. } | Query::Average { .. } => None,
        }
    }
}

/// The middle of an interval; its finite end if the other is infinite.
fn middle(lower: f64, upper: f64) -> f64 {
    match (lower.is_finite(), upper.is_finite()) {
        _ if lower == upper => lower,
        (true, true) => lower + (upper - lower) / 2.0,
        (true, false) => lower,
        (false, true) => upper,
        (false, false) => f64::NAN,
    }
}

pub fn wrong(problem: String) -> PyErr {
    errors::value(problem.strip_prefix("model: ").unwrap_or(&problem).to_owned())
}
