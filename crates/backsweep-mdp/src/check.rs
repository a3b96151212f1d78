//! Checks that the arrays of a model are consistent. Nothing from a file is used before it has passed.

use super::{Error, Mdp, Result};

/// How far the probabilities of a choice may sum to more than 1. Sums within this of 1 are taken as 1; what is missing beyond
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
        self.check_offsets()?;
        for state in 0..self.n_states() {
            let choices = self.choices_of(state);
            if self.chain && choices.len() > 1 {
                let problem = format!("has {} choices; expected at most 1 in a Markov chain", choices.len());
                return Err(Error::new(format!("state {state}"), problem));
            }
            for choice in choices {
                self.check_row(choice).map_err(|problem| self.at_choice(state, choice, problem))?;
            }
        }
        self.check_rewards()?;
        for label in &self.labels {
            self.check_states(&format!("label '{}'", label.name), &label.states)?;
        }
        unique("label", self.labels.iter().map(|label| &label.name))?;
        unique("reward structure", self.rewards.iter().map(|rewards| &rewards.name))?;
        self.check_states("initial states", &self.initial)?;
        length("state names", self.state_names.len(), self.n_states())?;
        length("action names", self.action_names.len(), self.n_choices())
    }

    fn check_offsets(&self) -> Result<()> {
        if self.choices.is_empty() {
            return Err(Error::new("model", "it has no states; expected at least one"));
        }
        offsets("choices of states", &self.choices, self.n_choices())?;
        if self.arcs.is_empty() {
            return Err(Error::new(
                "arcs of choices",
                "there are no offsets; expected at least one, which is 0",
            ));
        }
        offsets("arcs of choices", &self.arcs, self.targets.len())?;
        if self.probabilities.len() != self.targets.len() {
            let (found, expected) = (self.probabilities.len(), self.targets.len());
            return Err(Error::new(
                "probabilities",
                format!("found {found}; expected one per arc, {expected}"),
            ));
        }
        Ok(())
    }

    fn check_row(&self, choice: usize) -> std::result::Result<(), String> {
        let n_states = self.n_states();
        let mut sum = 0.0;
        for arc in self.arcs_of(choice) {
            let (target, p) = (self.targets[arc], self.probabilities[arc]);
            if target as usize >= n_states {
                return Err(format!("leads to state {target}; the model has states 0 to {}", n_states - 1));
            }
            if !(p > 0.0 && p <= 1.0 + SUM_SLACK) {
                return Err(format!(
                    "the probability of state {target} is {p}; expected one above 0 and at most 1"
                ));
            }
            sum += p;
        }
        if sum > 1.0 + SUM_SLACK {
            return Err(format!("the probabilities sum to {sum}; expected at most 1"));
        }
        Ok(())
    }

    fn check_rewards(&self) -> Result<()> {
        for rewards in &self.rewards {
            let parts = [
                ("state", &rewards.states, self.n_states()),
                ("choice", &rewards.choices, self.n_choices()),
                ("arc", &rewards.arcs, self.n_arcs()),
            ];
            for (part, values, n) in parts {
                length(&format!("rewards '{}' per {part}", rewards.name), values.len(), n)?;
                if let Some(bad) = values.iter().position(|r| r.is_nan() || r.abs() > MAX_REWARD) {
                    let place = match part {
                        "state" => format!("state {bad}"),
                        "choice" => self.place(bad),
                        _ => self.place(self.arcs.partition_point(|&first| first as usize <= bad) - 1),
                    };
                    let problem = format!("the reward '{}' is {:?}", rewards.name, values[bad]);
                    let expected = format!("expected a number between -{MAX_REWARD:e} and {MAX_REWARD:e}");
                    return Err(Error::new(place, format!("{problem}; {expected}")));
                }
            }
        }
        Ok(())
    }

    fn check_states(&self, what: &str, states: &[u32]) -> Result<()> {
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

    fn at_choice(&self, state: usize, choice: usize, problem: String) -> Error {
        let within = choice - self.choices[state] as usize;
        Error::new(format!("state {}, choice {within}", self.state_name(state)), problem)
    }

    /// The state and the choice within it, for messages.
    fn place(&self, choice: usize) -> String {
        let state = self.choices.partition_point(|&first| first as usize <= choice) - 1;
        format!("state {}, choice {}", self.state_name(state), choice - self.choices[state] as usize)
    }

    /// Whether a choice can end the episode: its probabilities sum to less than 1, beyond rounding.
    pub fn can_end(&self, choice: usize) -> bool {
        self.arcs_of(choice).map(|arc| self.probabilities[arc]).sum::<f64>() < 1.0 - SUM_SLACK
    }
}

fn offsets(what: &str, offsets: &[u32], n: usize) -> Result<()> {
    if offsets[0] != 0 {
        return Err(Error::new(format!("{what}[0]"), format!("found {}; expected 0", offsets[0])));
    }
    if let Some(at) = offsets.windows(2).position(|pair| pair[0] > pair[1]) {
        let problem =
            format!("found {} after {}; expected offsets that never decrease", offsets[at + 1], offsets[at]);
        return Err(Error::new(format!("{what}[{}]", at + 1), problem));
    }
    let last = offsets.len() - 1;
    if offsets[last] as usize != n {
        return Err(Error::new(format!("{what}[{last}]"), format!("found {}; expected {n}", offsets[last])));
    }
    Ok(())
}

fn length(what: &str, found: usize, expected: usize) -> Result<()> {
    if found != 0 && found != expected {
        return Err(Error::new(what, format!("found {found}; expected {expected} or none")));
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
