//! Checks that the arrays of a model are consistent. Nothing from a file is used before it has passed.

use crate::{Error, Mdp, Result, Rewards, RowProblem};

/// The largest amount by which the probabilities of a choice may exceed 1. Sums within this of 1 are taken as 1; what is missing beyond
/// it ends the episode.
pub const SUM_SLACK: f64 = 1e-9;

/// The largest reward, in absolute value, so that sums of very many rewards stay finite.
pub const MAX_REWARD: f64 = 1e150;

impl Mdp {
    /// Checks everything that the solver and the writers rely on:
    ///
    /// - offsets begin at 0, never decrease, and end at the number of choices and arcs; every target is a state;
    /// - probabilities are above 0 and at most 1 + [`SUM_SLACK`], those of a choice sum to at most that;
    /// - rewards are finite and at most [`MAX_REWARD`] in absolute value; names are unique; arrays have their lengths;
    /// - the states of a label, and the initial ones, ascend and exist; a chain has at most one choice per state.
    ///
    /// # Errors
    /// The first problem, with its state and choice.
    pub fn check(&self) -> Result<()> {
        if self.n_states() == 0 {
            return Err(Error::new("model", "it has no states; expected at least one"));
        }
        self.check_rows()?;
        self.rewards.iter().try_for_each(|rewards| self.check_rewards(rewards))?;
        for label in &self.labels {
            self.check_states(&format!("label '{}'", label.name), &label.states)?;
        }
        unique("label", self.labels.iter().map(|label| &label.name))?;
        unique("reward structure", self.rewards.iter().map(|rewards| &rewards.name))?;
        self.check_states("initial states", &self.initial)?;
        length(|| "state names", self.state_names.len(), self.n_states())?;
        length(|| "action names", self.action_names.len(), self.n_choices())
    }

    /// Checks the arrays of a file before they are used as offsets.
    pub(crate) fn check_offsets(&self) -> Result<()> {
        offsets("arcs of choices", &self.arcs, self.targets.len())?;
        offsets("choices of states", &self.choices, self.n_choices())?;
        match (self.probabilities.len(), self.targets.len()) {
            (found, expected) if found == expected => Ok(()),
            (found, expected) => {
                Err(Error::new("probabilities", format!("found {found}; expected one per arc, {expected}")))
            }
        }
    }

    /// Checks targets and probabilities; offsets must be right.
    pub(crate) fn check_rows(&self) -> Result<()> {
        for choice in 0..self.n_choices() {
            let (targets, probabilities) = self.row(choice);
            self.check_row(choice, targets, probabilities)?;
        }
        if self.chain
            && let Some(state) = (0..self.n_states()).find(|&state| self.choices_of(state).len() > 1)
        {
            let problem =
                format!("has {} choices; expected at most 1 in a Markov chain", self.choices_of(state).len());
            return Err(Error::new(format!("state {state}"), problem));
        }
        Ok(())
    }

    /// Checks a row that a choice has or is to have.
    pub(crate) fn check_row(&self, choice: usize, targets: &[u32], probabilities: &[f64]) -> Result<()> {
        let arcs = targets.iter().copied().zip(probabilities.iter().copied());
        let checked = check_row(arcs, self.n_states());
        checked.map(|_| ()).map_err(|problem| Error::Row { place: self.place(choice), problem })
    }

    /// Checks the lengths and numbers of rewards.
    ///
    /// # Errors
    /// As [`Mdp::check`].
    pub fn check_rewards(&self, rewards: &Rewards) -> Result<()> {
        let parts = [
            ("state", &rewards.states, self.n_states()),
            ("choice", &rewards.choices, self.n_choices()),
            ("arc", &rewards.arcs, self.n_arcs()),
        ];
        for (part, values, n) in parts {
            length(|| format!("rewards '{}' per {part}", rewards.name), values.len(), n)?;
            if let Some(bad) = values.iter().position(|r| r.is_nan() || r.abs() > MAX_REWARD) {
                let place = match part {
                    "state" => format!("state {bad}"),
                    "choice" => self.place(bad).to_string(),
                    _ => {
                        let after = self.arcs.partition_point(|&first| first as usize <= bad);
                        self.place(after - 1).to_string()
                    }
                };
                return Err(Error::Reward { place, rewards: rewards.name.clone(), found: values[bad] });
            }
        }
        Ok(())
    }

    pub(crate) fn check_states(&self, what: &str, states: &[u32]) -> Result<()> {
        if let Some(pair) = states.windows(2).find(|pair| pair[0] >= pair[1]) {
            let problem = format!("state {} follows state {}; expected ascending states", pair[1], pair[0]);
            return Err(Error::new(what, problem));
        }
        match states.last() {
            Some(&last) if last as usize >= self.n_states() => {
                let problem =
                    format!("state {last} does not exist; the model has {} states", self.n_states());
                Err(Error::new(what, problem))
            }
            _ => Ok(()),
        }
    }

    /// Returns whether a choice can end the episode: its probabilities sum to less than 1, beyond rounding.
    pub fn can_end(&self, choice: usize) -> bool {
        self.arcs_of(choice).map(|arc| self.probabilities[arc]).sum::<f64>() < 1.0 - SUM_SLACK
    }
}

/// Checks the arcs of a row, targets with their probabilities, and returns the sum of the probabilities.
///
/// # Errors
/// The first problem.
pub fn check_row(
    arcs: impl IntoIterator<Item = (u32, f64)>,
    n_states: usize,
) -> std::result::Result<f64, RowProblem> {
    let mut sum = 0.0;
    for (target, found) in arcs {
        if target as usize >= n_states {
            return Err(RowProblem::Target { found: target, n_states });
        }
        if !(found > 0.0 && found <= 1.0 + SUM_SLACK) {
            return Err(RowProblem::Probability { target, found });
        }
        sum += found;
    }
    if sum > 1.0 + SUM_SLACK { Err(RowProblem::Sum { found: sum }) } else { Ok(sum) }
}

/// The largest distance of an expected reward from its exact sum, given the sizes of its parts: the reward of the state, that
/// of the choice, and the mean of the rewards on `n_arcs` arcs. 0 if a single part makes up the sum.
pub fn reward_sum_error(of_state: f64, of_choice: f64, on_arcs: f64, n_arcs: usize) -> f64 {
    if u32::from(of_state > 0.0) + u32::from(of_choice > 0.0) + 2 * u32::from(on_arcs > 0.0) <= 1 {
        return 0.0;
    }
    // Each term is rounded at most once per addition and once for its product, and each probability may itself be a rounded
    // fraction.
    (n_arcs as f64 + 4.0) * f64::EPSILON * (of_state + of_choice + on_arcs) + f64::MIN_POSITIVE
}

/// Checks offsets: they begin at 0, never decrease, and end at `n`.
pub(crate) fn offsets(what: &str, offsets: &[u32], n: usize) -> Result<()> {
    let Some(last) = offsets.len().checked_sub(1) else {
        return Err(Error::new(what, "there are no offsets; expected at least one, which is 0"));
    };
    let mut before = 0;
    for (i, &offset) in offsets.iter().enumerate() {
        offset_fits(what, (i as u64, last as u64), before, offset.into(), n as u64)?;
        before = offset.into();
    }
    Ok(())
}

/// Checks one of a list of offsets, by its place and the last one's, given the offset before it; the last one must be `n`.
pub(crate) fn offset_fits(what: &str, (i, last): (u64, u64), before: u64, found: u64, n: u64) -> Result<()> {
    let (least, most) = (if i == last { n } else { before }, if i == 0 { 0 } else { n });
    if found >= least && found <= most {
        return Ok(());
    }
    let expected = if least >= most { most.to_string() } else { format!("{least} to {most}") };
    Err(Error::new(format!("{what}[{i}]"), format!("found {found}; expected {expected}")))
}

/// Checks that 32 bits can count the states, choices or arcs of a model.
pub(crate) fn check_size(what: &str, found: usize) -> Result<()> {
    if found < u32::MAX as usize {
        return Ok(());
    }
    let most = u32::MAX - 1;
    Err(Error::new("model", format!("found {found} {what} or more; expected at most {most}")))
}

fn length<T: std::fmt::Display>(what: impl Fn() -> T, found: usize, expected: usize) -> Result<()> {
    if found != 0 && found != expected {
        return Err(Error::new(what(), format!("found {found}; expected {expected} or none")));
    }
    Ok(())
}

fn unique<'a>(what: &str, names: impl Iterator<Item = &'a String>) -> Result<()> {
    let mut sorted: Vec<&String> = names.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            Err(Error::new(format!("{what} '{}'", pair[0]), "it occurs twice; expected unique names"))
        }
        None => Ok(()),
    }
}
