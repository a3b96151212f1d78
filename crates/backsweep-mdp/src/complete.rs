//! A model as other tools expect it: every state has a choice, and the probabilities of every choice sum to 1.

use crate::{Label, Mdp, MdpBuilder, Result, Rewards, SUM_SLACK};
use std::borrow::Cow;

impl Mdp {
    /// The same model with a self-loop without reward at every state that has no choice, and with one extra state, labeled
    /// `end`, that takes the probability of ending; and a description of what was added.
    pub(super) fn completed(&self) -> (Cow<'_, Mdp>, Vec<String>) {
        let n_terminal = self.choices.windows(2).filter(|pair| pair[0] == pair[1]).count();
        let ends = (0..self.n_choices()).any(|choice| self.can_end(choice));
        if n_terminal == 0 && !ends {
            return (Cow::Borrowed(self), Vec::new());
        }
        let mut warnings = Vec::new();
        if n_terminal > 0 {
            warnings
                .push(format!("{n_terminal} states without choices were given a self-loop without reward"));
        }
        let end = self.n_states() as u32;
        if ends {
            warnings.push(format!(
                "state {end}, labeled 'end', was added: it takes the probability with which episodes end"
            ));
        }
        (Cow::Owned(self.with_loops(ends)), warnings)
    }

    fn with_loops(&self, ends: bool) -> Mdp {
        let n_states = self.n_states() + usize::from(ends);
        let end = self.n_states() as u32;
        let mut whole = Mdp { initial: self.initial.clone(), ..Mdp::default() };
        whole.chain = self.chain;
        whole.labels.clone_from(&self.labels);
        whole.rewards = self.rewards.clone();
        for rewards in &mut whole.rewards {
            rewards.choices.clear();
            rewards.arcs.clear();
            if ends && !rewards.states.is_empty() {
                rewards.states.push(0.0);
            }
        }
        for state in 0..n_states {
            let choices = if state < self.n_states() { self.choices_of(state) } else { 0..0 };
            let loops = choices.is_empty();
            for choice in choices {
                let arcs = self.arcs_of(choice);
                whole.targets.extend_from_slice(&self.targets[arcs.clone()]);
                whole.probabilities.extend_from_slice(&self.probabilities[arcs.clone()]);
                let missing = 1.0 - self.probabilities[arcs.clone()].iter().sum::<f64>();
                let added = missing > SUM_SLACK;
                if added {
                    whole.targets.push(end);
                    whole.probabilities.push(missing);
                }
                for (new, old) in whole.rewards.iter_mut().zip(&self.rewards) {
                    new.choices.extend(old.choices.get(choice));
                    if !old.arcs.is_empty() {
                        new.arcs.extend_from_slice(&old.arcs[arcs.clone()]);
                        new.arcs.extend(added.then_some(0.0));
                    }
                }
                whole.action_names.extend(self.action_names.get(choice).cloned());
                whole.arcs.push(whole.targets.len() as u32);
            }
            if loops {
                whole.targets.push(state as u32);
                whole.probabilities.push(1.0);
                whole.arcs.push(whole.targets.len() as u32);
                for (new, old) in whole.rewards.iter_mut().zip(&self.rewards) {
                    // A state's reward is received with its choice, but this choice is not part of the original model.
                    let of_state = old.states.get(state).copied().unwrap_or(0.0);
                    if !old.choices.is_empty() || of_state != 0.0 {
                        new.choices.resize(whole.arcs.len() - 2, 0.0);
                        new.choices.push(0.0);
                    }
                    if of_state != 0.0 {
                        new.states[state] = 0.0;
                    }
                    new.arcs.extend((!old.arcs.is_empty()).then_some(0.0));
                }
                if !self.action_names.is_empty() {
                    whole.action_names.push("end".to_owned());
                }
            }
            whole.choices.push(whole.arcs.len() as u32 - 1);
        }
        for rewards in &mut whole.rewards {
            if !rewards.choices.is_empty() {
                rewards.choices.resize(whole.arcs.len() - 1, 0.0);
            }
        }
        if !self.state_names.is_empty() {
            whole.state_names.clone_from(&self.state_names);
            whole.state_names.extend(ends.then(|| "end".to_owned()));
        }
        if ends {
            match whole.labels.iter_mut().find(|label| label.name == "end") {
                Some(label) => label.states.push(end),
                None => whole.labels.push(Label { name: "end".to_owned(), states: vec![end] }),
            }
        }
        whole
    }
}

impl Mdp {
    /// The part of the model that has only these states and choices, whose arcs lead to these states; and the numbers that its
    /// states and choices have here.
    ///
    /// # Errors
    /// If an arc leads elsewhere.
    pub fn restricted(
        &self,
        kept: &[bool],
        keeps: impl Fn(usize) -> bool,
    ) -> Result<(Mdp, Vec<u32>, Vec<u32>)> {
        let states: Vec<u32> =
            (0..self.n_states() as u32).filter(|&s| kept.get(s as usize) == Some(&true)).collect();
        let mut place = vec![u32::MAX; self.n_states()];
        states.iter().enumerate().for_each(|(i, &state)| place[state as usize] = i as u32);
        let mut builder = MdpBuilder::default();
        let mut choices = Vec::new();
        let named = |old: &Rewards| Rewards { name: old.name.clone(), ..Rewards::default() };
        let mut rewards: Vec<Rewards> = self.rewards.iter().map(named).collect();
        for &state in &states {
            for choice in self.choices_of(state as usize).filter(|&choice| keeps(choice)) {
                let (targets, probabilities) = self.row(choice);
                builder.add_choice(
                    targets.iter().map(|&target| place[target as usize]).zip(probabilities.iter().copied()),
                );
                choices.push(choice as u32);
                for (new, old) in rewards.iter_mut().zip(&self.rewards) {
                    new.choices.extend(old.choices.get(choice));
                    new.arcs.extend(old.arcs.get(self.arcs_of(choice)).into_iter().flatten());
                }
            }
            builder.end_state();
            for (new, old) in rewards.iter_mut().zip(&self.rewards) {
                new.states.extend(old.states.get(state as usize));
            }
        }
        let mut part = builder.finish()?;
        let within = |set: &[u32]| {
            set.iter().map(|&state| place[state as usize]).filter(|&state| state != u32::MAX).collect()
        };
        part.labels = self
            .labels
            .iter()
            .map(|label| Label { name: label.name.clone(), states: within(&label.states) })
            .collect();
        part.initial = within(&self.initial);
        part.rewards = rewards;
        part.chain = self.chain;
        if !self.state_names.is_empty() {
            part.state_names = states.iter().map(|&state| self.state_names[state as usize].clone()).collect();
        }
        if !self.action_names.is_empty() {
            part.action_names =
                choices.iter().map(|&choice| self.action_names[choice as usize].clone()).collect();
        }
        Ok((part, states, choices))
    }

    /// Removes arcs of probability 0, and returns how many there were.
    pub(super) fn drop_zero_arcs(&mut self) -> usize {
        let n_zero = self.probabilities.iter().filter(|p| **p == 0.0).count();
        if n_zero > 0 {
            let kept: Vec<bool> = self.probabilities.iter().map(|p| *p != 0.0).collect();
            let mut before = Vec::with_capacity(kept.len() + 1);
            before.push(0);
            before.extend(kept.iter().scan(0u32, |n, kept| {
                *n += u32::from(*kept);
                Some(*n)
            }));
            self.arcs.iter_mut().for_each(|first| *first = before[*first as usize]);
            fn keep<T: Copy>(values: &mut Vec<T>, kept: &[bool]) {
                let mut at = kept.iter();
                values.retain(|_| at.next().copied().unwrap_or(true));
            }
            keep(&mut self.targets, &kept);
            keep(&mut self.probabilities, &kept);
            self.rewards.iter_mut().for_each(|rewards| keep(&mut rewards.arcs, &kept));
        }
        n_zero
    }

    /// The same model with the arcs of every choice in ascending order of targets, each target once, as text formats need.
    pub(super) fn merged(&self) -> Cow<'_, Mdp> {
        let ascends = |choice| self.targets[self.arcs_of(choice)].windows(2).all(|pair| pair[0] < pair[1]);
        if (0..self.n_choices()).all(ascends) {
            return Cow::Borrowed(self);
        }
        let mut new = self.clone();
        new.targets.clear();
        new.probabilities.clear();
        new.rewards.iter_mut().for_each(|rewards| rewards.arcs.clear());
        for choice in 0..self.n_choices() {
            let mut row: Vec<usize> = self.arcs_of(choice).collect();
            row.sort_by_key(|&arc| self.targets[arc]);
            for same in row.chunk_by(|&a, &b| self.targets[a] == self.targets[b]) {
                let p: f64 = same.iter().map(|&arc| self.probabilities[arc]).sum();
                new.targets.push(self.targets[same[0]]);
                new.probabilities.push(p);
                for (new, old) in new.rewards.iter_mut().zip(&self.rewards) {
                    if let Some(&first) = old.arcs.get(same[0]) {
                        let equal = same.iter().all(|&arc| old.arcs[arc] == first);
                        let mean =
                            || same.iter().map(|&arc| self.probabilities[arc] / p * old.arcs[arc]).sum();
                        new.arcs.push(if equal { first } else { mean() });
                    }
                }
            }
            new.arcs[choice + 1] = new.targets.len() as u32;
        }
        Cow::Owned(new)
    }
}
