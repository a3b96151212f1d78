//! Maximal end components: sets of states with choices that never leave them and connect them all.
//!
//! Once in such a set a policy can stay forever and visit every state of it again and again; that is why value iteration
//! has more than one fixed point there, and why every exit of the set can be reached from any of its states.

use super::view::View;
use crate::scc::{Components, NONE};

/// The maximal end components of a part of a model.
pub(crate) struct EndComponents {
    /// The component of each state, or [`NONE`].
    pub of: Vec<u32>,
    /// The states of each component, ascending.
    pub members: Vec<Vec<u32>>,
    /// True if a choice belongs to a component: it is allowed, and never leaves it.
    pub inside: Vec<bool>,
}

impl EndComponents {
    /// Finds the maximal end components that use only choices where `allowed` holds. `None` if `stop` says so on the way.
    ///
    /// Rounds of strongly connected components; a choice that leaves its component is dropped, then every choice into a
    /// state that has none left, until a round drops nothing. Each round is linear.
    pub fn find(view: &View, allowed: impl Fn(usize) -> bool, stop: &dyn Fn() -> bool) -> Option<Self> {
        let n = view.n();
        let mut inside: Vec<bool> =
            (0..view.owner.len()).map(|c| allowed(c) && view.ends[c] == 0.0).collect();
        let mut remaining: Vec<u32> =
            (0..n).map(|s| view.choices(s).filter(|&c| inside[c]).count() as u32).collect();
        let mut dead: Vec<u32> = (0..n as u32).filter(|&s| remaining[s as usize] == 0).collect();
        let mut choice_of = vec![0_u32; view.mdp.n_arcs()];
        for c in 0..inside.len() {
            choice_of[view.arcs(c)].fill(c as u32);
        }
        loop {
            while let Some(t) = dead.pop() {
                for &c in view.predecessors(t as usize) {
                    drop_choice(view, c as usize, &mut inside, &mut remaining, &mut dead);
                }
            }
            if stop() {
                return None;
            }
            let first = |s: usize| view.mdp.arc_starts()[view.mdp.choice_starts()[s] as usize] as usize;
            let found = Components::find_unless(
                n,
                |s| remaining[s] > 0,
                |s| first(s)..first(s + 1),
                |a| if inside[choice_of[a] as usize] { view.mdp.targets()[a] } else { NONE },
                stop,
            )?;
            let mut changed = false;
            for c in 0..inside.len() {
                let home = found.of[view.owner[c] as usize];
                if inside[c] && view.targets(c).iter().any(|&t| found.of[t as usize] != home) {
                    changed = true;
                    drop_choice(view, c, &mut inside, &mut remaining, &mut dead);
                }
            }
            if !changed {
                let mut of = vec![NONE; n];
                let mut members = Vec::new();
                for component in 0..found.len() {
                    let states = found.states_of(component).to_vec();
                    states.iter().for_each(|&s| of[s as usize] = members.len() as u32);
                    members.push(states);
                }
                return Some(Self { of, members, inside });
            }
        }
    }
}

/// Removes a choice and notes its state if that was the last.
fn drop_choice(view: &View, c: usize, inside: &mut [bool], remaining: &mut [u32], dead: &mut Vec<u32>) {
    if std::mem::replace(&mut inside[c], false) {
        let s = view.owner[c];
        remaining[s as usize] -= 1;
        if remaining[s as usize] == 0 {
            dead.push(s);
        }
    }
}
