//! Builds a model row by row.

use crate::check::check_size;
use crate::{Error, Mdp, Result};

/// Builds the rows of a model in order: the arcs of a choice, then its end; the choices of a state, then its end.
///
/// ```
/// use backsweep_mdp::MdpBuilder;
/// let mut builder = MdpBuilder::default();
/// builder.add_arc(1, 0.5);
/// builder.add_arc(0, 0.25); // The rest ends the episode.
/// builder.end_choice();
/// builder.end_state();
/// builder.end_state(); // State 1 is terminal.
/// let mdp = builder.finish()?;
/// assert_eq!((mdp.n_states(), mdp.n_choices(), mdp.n_arcs()), (2, 1, 2));
/// # Ok::<(), backsweep_mdp::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MdpBuilder {
    mdp: Mdp,
}

impl MdpBuilder {
    /// A builder with room for this many states, choices and arcs.
    pub fn with_capacity(n_states: usize, n_choices: usize, n_arcs: usize) -> Self {
        let mut builder = Self::default();
        builder.mdp.choices.reserve(n_states);
        builder.mdp.arcs.reserve(n_choices);
        builder.mdp.targets.reserve(n_arcs);
        builder.mdp.probabilities.reserve(n_arcs);
        builder
    }

    /// Adds an arc to the choice that is being built.
    #[inline]
    pub fn add_arc(&mut self, target: u32, probability: f64) {
        self.mdp.targets.push(target);
        self.mdp.probabilities.push(probability);
    }

    /// Ends the choice that is being built: it has all arcs since the one before.
    #[inline]
    pub fn end_choice(&mut self) {
        // More than 32 bits can count are refused by `finish`.
        self.mdp.arcs.push(self.mdp.targets.len() as u32);
    }

    /// Adds a choice with these arcs.
    pub fn add_choice(&mut self, arcs: impl IntoIterator<Item = (u32, f64)>) {
        arcs.into_iter().for_each(|(target, probability)| self.add_arc(target, probability));
        self.end_choice();
    }

    /// Ends the state that is being built: it has all choices since the one before.
    #[inline]
    pub fn end_state(&mut self) {
        self.mdp.choices.push(self.mdp.n_choices() as u32);
    }

    /// The number of states that were ended.
    pub fn n_states(&self) -> usize {
        self.mdp.n_states()
    }

    /// The model.
    ///
    /// # Errors
    /// If a choice or state was not ended, a row is not as [`Mdp::check`] requires, or there is more than 32 bits can count.
    pub fn finish(self) -> Result<Mdp> {
        let mdp = self.mdp;
        for (what, found) in
            [("states", mdp.n_states()), ("choices", mdp.n_choices()), ("arcs", mdp.n_arcs())]
        {
            check_size(what, found)?;
        }
        let open = [
            ("choice", mdp.arcs[mdp.n_choices()] as usize != mdp.n_arcs()),
            ("state", mdp.choices[mdp.n_states()] as usize != mdp.n_choices()),
        ];
        if let Some((what, _)) = open.into_iter().find(|(_, open)| *open) {
            let problem = format!("was not ended; expected every {what} to be ended");
            return Err(Error::new(format!("the last {what}"), problem));
        }
        mdp.check_rows()?;
        Ok(mdp)
    }
}
