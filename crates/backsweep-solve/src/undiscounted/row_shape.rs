//! Which choices a state has, and which arcs a choice has, in compressed rows.

use std::ops::Range;

/// Where the choices of each state and the arcs of each choice begin.
pub(crate) struct RowShape {
    choices: Vec<u32>,
    arcs: Vec<u32>,
}

impl Default for RowShape {
    /// No states.
    fn default() -> Self {
        Self { choices: vec![0], arcs: vec![0] }
    }
}

impl RowShape {
    /// Clears all states and keeps the memory.
    pub fn clear(&mut self) {
        self.choices.truncate(1);
        self.arcs.truncate(1);
    }

    /// Ends the choice that is being built, which has all arcs since the one before.
    pub fn end_choice(&mut self, n_arcs: usize) {
        self.arcs.push(n_arcs as u32);
    }

    /// Ends the state that is being built, which has all choices since the one before.
    pub fn end_state(&mut self) {
        self.choices.push(self.arcs.len() as u32 - 1);
    }

    /// Changes the number of arcs of a choice, which moves those of all later choices.
    pub fn resize_choice(&mut self, choice: usize, n_arcs: usize) {
        let before = self.arcs_of(choice).len();
        if before != n_arcs {
            let ends = &mut self.arcs[choice + 1..];
            ends.iter_mut().for_each(|end| *end = *end - before as u32 + n_arcs as u32);
        }
    }

    /// The number of states.
    pub fn n(&self) -> usize {
        self.choices.len() - 1
    }

    /// The choices of a state.
    pub fn choices_of(&self, state: usize) -> Range<usize> {
        self.choices[state] as usize..self.choices[state + 1] as usize
    }

    /// The arcs of a choice.
    pub fn arcs_of(&self, choice: usize) -> Range<usize> {
        self.arcs[choice] as usize..self.arcs[choice + 1] as usize
    }

    /// The arcs of all choices of a state.
    pub fn arcs_of_state(&self, state: usize) -> Range<usize> {
        let choices = self.choices_of(state);
        self.arcs[choices.start] as usize..self.arcs[choices.end] as usize
    }
}
