//! A model with questions, answers and edits, all at once: what Python's `MDP` and the command's changes are made of.
//!
//! States and actions are numbers here; those who have names translate them. An answer is solved by the portfolio; once rows
//! have changed, small backups repair it where they can.

mod answer;
mod comparison;
mod model;

pub use answer::Answer;
pub use comparison::EditComparison;
pub use model::{Edit, EditableMdp};

use crate::{Error, Limits, Repair, Repaired, Result, Solution, Start, discounted_error, solve_for_repair};
use backsweep_mdp::{Change, Label, Mdp, NO_CHOICE, Objective, Question};

/// A model that repairs are made on, and what has changed since the last one.
struct Tracked {
    repair: Repair,
    question: Question,
    pending: Vec<Change>,
}

impl Tracked {
    fn new(repair: Repair, question: &Question) -> Self {
        Self { repair, question: question.clone(), pending: Vec::new() }
    }

    /// Returns whether this matches the current model and question.
    fn is_ready_for(&self, question: &Question) -> bool {
        self.question == *question && self.pending.is_empty()
    }

    fn is_discounted(&self) -> bool {
        self.question.objective.discount().is_some()
    }
}

/// A model and what is known about it.
#[derive(Default)]
pub struct Session {
    model: EditableMdp,
    answer: Option<Answer>,
    /// Sweeps and backups of all solves.
    iterations: u64,
    tracked: Option<Tracked>,
    /// Rounding kept repairs of a question from reaching this tolerance; it is solved from scratch.
    too_tight: Option<(Question, f64)>,
}

impl Session {
    /// Takes over a model with the action of each of its choices. No expected reward is further than `reward_error` from the
    /// one that it stands for.
    pub fn new(mdp: Mdp, action_of: Vec<u32>, reward_error: f64) -> Self {
        Self { model: EditableMdp::new(mdp, action_of, reward_error), ..Self::default() }
    }

    /// The same model and latest answer, without what only makes repairs faster.
    pub fn copied(&self) -> Self {
        let (model, answer) = (self.model.clone(), self.answer.clone());
        Self { model, answer, iterations: self.iterations, ..Self::default() }
    }

    /// The model.
    pub fn model(&self) -> &EditableMdp {
        &self.model
    }

    /// The latest answer.
    pub fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    /// Takes over an answer from elsewhere, such as a file.
    pub fn set_answer(&mut self, answer: Answer) {
        self.answer = Some(answer);
    }

    /// Sweeps and backups of all solves.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Adds states without actions, up to this many in all.
    pub fn grow(&mut self, n_states: usize) {
        self.model.grow(n_states);
    }

    /// Labels states, in ascending order; `init` are the initial ones unless a label has that name.
    pub fn set_label(&mut self, label: String, states: Vec<u32>) {
        let mdp = &mut self.model.mdp;
        match mdp.labels.iter_mut().find(|known| known.name == label) {
            Some(known) => known.states = states,
            None if label == "init" => mdp.initial = states,
            None => mdp.labels.push(Label { name: label, states }),
        }
        // Other answers may depend on labels.
        let reads_none = |objective: &Objective| {
            matches!(objective, Objective::Discounted { .. } | Objective::Total { until: None, .. })
        };
        self.answer = self.answer.take().filter(|answer| reads_none(&answer.question.objective));
        self.tracked = self.tracked.take().filter(Tracked::is_discounted);
    }

    /// Calls back with the flat arrays under these names of states and choices, for writing them.
    pub fn with_names<T>(
        &mut self,
        states: Vec<String>,
        choices: Vec<String>,
        call: impl FnOnce(&Mdp) -> T,
    ) -> T {
        let mdp = &mut self.model.mdp;
        (mdp.state_names, mdp.action_names) = (states, choices);
        let done = call(mdp);
        (mdp.state_names, mdp.action_names) = Default::default();
        done
    }

    /// Returns whether the model can be edited.
    ///
    /// # Errors
    /// If it has several reward structures: an edit would have to give a reward for each.
    pub fn check_editable(&mut self) -> Result<()> {
        self.model.prepare()
    }

    /// Makes an edit.
    ///
    /// # Errors
    /// As [`check_editable`](Self::check_editable), and if the state does not have the action, unless the edit sets its row.
    /// Nothing is changed then.
    pub fn edit(&mut self, state: u32, action: u32, edit: Edit) -> Result<()> {
        let changes = self.model.edit(state, action, edit)?;
        if let Some(answer) = &mut self.answer {
            answer.current = false;
        }
        if let Some(tracked) = &mut self.tracked {
            tracked.pending.extend(changes);
        }
        Ok(())
    }

    /// The flat arrays, once choices are in the order of states.
    pub fn flatten(&mut self) -> Result<&Mdp> {
        if !self.model.is_flat() {
            self.untrack();
        }
        self.model.flatten()
    }

    /// Drops a repair whose numbering of choices is outdated; the next one can start from its values.
    fn untrack(&mut self) {
        let Some(Tracked { repair, question, .. }) = self.tracked.take() else { return };
        if let Some(answer) = self.answer.as_mut().filter(|answer| answer.question == question) {
            let sign = question.direction.sign();
            let values = (0..answer.values.len()).map(|state| sign * repair.value(state)).collect();
            answer.start = Some(Start { values });
        }
    }

    /// Answers a question, starting from an earlier answer to it if there is one.
    pub fn solve(&mut self, question: &Question, method: Option<&str>, limits: &Limits) -> Result<&Answer> {
        let n_states = self.model.n_states();
        if let Some(answer) = &mut self.answer {
            // States that were added need values, if only 0.
            answer.current &= answer.values.len() == n_states;
            let same = answer.current && answer.question == *question && method.is_none();
            let enough = answer.tolerance <= limits.tolerance && answer.relative <= limits.relative;
            if same && answer.solution.converged && enough {
                (answer.solution.iterations, answer.repaired) = (0, false);
                return self.answered();
            }
        }
        if method.is_none() && self.repair(question, limits)? {
            return self.answered();
        }
        self.solve_by(question, limits, |mdp| solve_for_repair(mdp, question, method, limits))
    }

    /// Keeps what `solver` answers to a question about the model. It must be proven, as that of
    /// [`solve_for_repair`](crate::solve_for_repair).
    ///
    /// # Errors
    /// As `solver`. The earlier answer is kept then.
    pub fn solve_by<E: From<Error>>(
        &mut self,
        question: &Question,
        limits: &Limits,
        solver: impl FnOnce(&Mdp) -> std::result::Result<(Solution, Option<Start>), E>,
    ) -> std::result::Result<&Answer, E> {
        self.flatten()?;
        let added_steps = self.model.mdp.add_steps(question.objective.reward());
        let solved = solver(&self.model.mdp);
        if added_steps {
            self.model.mdp.rewards.pop();
        }
        let (solution, start) = solved?;
        Ok(self.accept(question, limits, solution, start, false)?)
    }

    /// Limits for a repair, which knows no relative tolerance: those of the most demanding state by the values before the
    /// change.
    fn for_repair<'a>(&self, limits: &Limits<'a>) -> Limits<'a> {
        let Some(answer) = self.answer.as_ref().filter(|_| limits.relative > 0.0) else { return *limits };
        let bounds =
            answer.solution.lower.iter().zip(&answer.solution.upper).filter(|(lower, upper)| lower != upper);
        let needed =
            bounds.map(|(&lower, &upper)| limits.allowed(lower, upper)).fold(f64::INFINITY, f64::min);
        let tolerance = if needed.is_finite() { needed } else { limits.tolerance };
        Limits { tolerance, ..*limits }
    }

    /// As [`solve`](Self::solve), and prepares for edits, so that the first one is as cheap as later ones.
    ///
    /// # Errors
    /// As [`solve`](Self::solve) and [`check_editable`](Self::check_editable).
    pub fn solve_for_edits(&mut self, question: &Question, limits: &Limits) -> Result<&Answer> {
        self.model.prepare()?;
        if question.objective.discount().is_some() {
            self.solve(question, None, limits)?;
            self.track(question, limits)?;
            return self.answered();
        }
        self.track(question, limits)?;
        match &self.tracked {
            Some(tracked) => self.accept(question, limits, tracked.repair.solution(), None, false),
            None => self.solve(question, None, limits),
        }
    }

    fn answered(&self) -> Result<&Answer> {
        self.answer.as_ref().ok_or(Error::Unanswered)
    }

    /// Repairs the answer to the same question, if rows have changed since; returns whether that was possible.
    fn repair(&mut self, question: &Question, limits: &Limits) -> Result<bool> {
        let n_states = self.model.n_states();
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
        let within = self.for_repair(limits);
        let repaired = match self.tracked.as_mut() {
            Some(tracked) => {
                let changes = std::mem::take(&mut tracked.pending);
                if !tracked.is_discounted() {
                    tracked.repair.count_reward_error(error);
                }
                let repair = &mut tracked.repair;
                match repair.apply(&changes, &within) {
                    Ok(repaired) => repaired,
                    Err(_) => {
                        // The solver says what is wrong with the model, in its own words.
                        self.tracked = None;
                        return Ok(false);
                    }
                }
            }
            None => match self.track(question, &within)? {
                Some(repaired) => repaired,
                None => return Ok(false),
            },
        };
        let Some(tracked) = &self.tracked else { return Ok(false) };
        let mut solution = tracked.repair.solution();
        solution.converged &= limits.relative == 0.0 || limits.are_met(&solution.lower, &solution.upper);
        // A solve from scratch reports everything that a fresh solve would.
        let final_word = repaired.solved_afresh && !tracked.is_discounted() && error == 0.0;
        if !solution.converged && !(limits.stop)() && !final_word {
            self.too_tight = Some((question.clone(), limits.tolerance));
            self.untrack();
            return Ok(false);
        }
        if !repaired.solved_afresh {
            solution.iterations = repaired.backups;
        }
        self.accept(question, limits, solution, None, !repaired.solved_afresh)?;
        Ok(true)
    }

    /// Prepares a question for repairs: a discounted answer is reused, any other question is answered by the repair. `None`
    /// if neither is possible.
    fn track(&mut self, question: &Question, limits: &Limits) -> Result<Option<Repaired>> {
        let start = if question.objective.discount().is_some() {
            let Some(start) = self.answer.as_mut().and_then(|answer| answer.start.take()) else {
                return Ok(None);
            };
            start
        } else {
            // Rewards of 1 per step are not part of the model, so no edit may set them.
            if self.model.mdp.add_steps(question.objective.reward()) {
                self.model.mdp.rewards.pop();
                return Ok(None);
            }
            Start { values: Vec::new() }
        };
        let (repair, repaired) = Repair::resume(self.model.flatten()?, question, start, limits)?;
        self.tracked = Some(Tracked::new(repair, question));
        Ok(Some(repaired))
    }

    /// Stores what a solver returned.
    fn accept(
        &mut self,
        question: &Question,
        limits: &Limits,
        mut solution: Solution,
        start: Option<Start>,
        repaired: bool,
    ) -> Result<&Answer> {
        let policy = std::mem::take(&mut solution.policy);
        if let Some(discount) = question.objective.discount() {
            let chooses = |state: usize| policy[state] != NO_CHOICE;
            let off = discounted_error(self.model.reward_error, discount);
            solution.widen(off, limits, chooses, "means of rewards");
        }
        self.iterations += solution.iterations;
        let mut answer = Answer::new(question.clone(), limits.tolerance, solution, Vec::new(), Vec::new());
        answer = Answer { relative: limits.relative, repaired, current: true, start, ..answer };
        answer.policy =
            (0..).zip(&policy).map(|(state, &choice)| self.action(&answer, state, choice)).collect();
        self.answer = Some(answer);
        self.answered()
    }

    /// The action that a choice stands for. Where the choice does not matter, an action that may end is preferred among
    /// the best.
    fn action(&self, answer: &Answer, state: u32, choice: u32) -> u32 {
        if choice != NO_CHOICE {
            return self.model.action_of()[choice as usize];
        }
        let sign = answer.question.direction.sign();
        let value = |choice: u32| sign * self.lookahead(answer, state, choice).unwrap_or(0.0);
        let ends = |choice: u32| self.model.outcomes(choice).map(|(_, p)| p).sum::<f64>() < 1.0 - 1e-9;
        let better = |a: u32, b: u32| {
            let (value_a, value_b) = (value(a), value(b));
            value_b > value_a || (value_b == value_a && ends(b) && !ends(a))
        };
        let best = self.model.choices_of(state).reduce(|a, b| if better(a, b) { b } else { a });
        best.map_or(NO_CHOICE, |choice| self.model.action_of()[choice as usize])
    }

    /// The worth of a choice by the values of an answer; `None` for questions about a number of steps or the long run, whose
    /// values are not those of the remaining run.
    pub fn lookahead(&self, answer: &Answer, state: u32, choice: u32) -> Option<f64> {
        let value = |state: u32| answer.values.get(state as usize).copied().unwrap_or(0.0);
        let next = || self.model.outcomes(choice).map(|(next, p)| p * value(next)).sum::<f64>();
        match &answer.question.objective {
            Objective::Discounted { reward, discount } => {
                Some(self.model.reward(choice, state, reward.as_deref()) + discount * next())
            }
            Objective::Total { reward, .. } => {
                Some(self.model.reward(choice, state, reward.as_deref()) + next())
            }
            Objective::Reach { steps: None, .. } => Some(next()),
            Objective::Reach { .. } | Objective::Horizon { .. } | Objective::Average { .. } => None,
        }
    }

    /// The value of a state by the latest answer; 0 before there is one.
    pub fn value(&self, state: u32) -> f64 {
        self.answer.as_ref().and_then(|answer| answer.values.get(state as usize)).copied().unwrap_or(0.0)
    }

    /// The action that the policy takes in a state: that of the latest answer, or the best by `answer` if the state has lost
    /// that action or is new.
    pub fn best_action(&self, answer: &Answer, state: u32) -> Option<u32> {
        let action = answer.policy.get(state as usize).copied();
        if let Some(action) =
            action.filter(|&action| action != NO_CHOICE && self.model.find(state, action).is_some())
        {
            return Some(action);
        }
        let sign = answer.question.direction.sign();
        let value = |choice| sign * self.lookahead(answer, state, choice).unwrap_or(0.0);
        let best = self.model.choices_of(state).reduce(|a, b| if value(b) > value(a) { b } else { a });
        best.map(|choice| self.model.action_of()[choice as usize])
    }
}
