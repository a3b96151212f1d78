//! The actions of a state in the order of the core's action ids, found by hash once there are more than a few.

use backsweep::Action;
use rustc_hash::FxHashMap;

/// Up to this many actions a scan is faster than a hash.
const FEW: usize = 16;

#[derive(Clone, Default)]
pub struct ActionRow {
    /// `actions[i]` is the name id of the state's action `i`; each once.
    actions: Vec<u32>,
    /// The inverse of `actions` if there are more than [`FEW`], otherwise empty.
    places: FxHashMap<u32, u32>,
}

impl ActionRow {
    /// Ignores repeated actions.
    pub fn new(actions: impl IntoIterator<Item = u32>) -> Self {
        let mut row = Self::default();
        for action in actions {
            row.insert(action);
        }
        row
    }

    pub fn as_slice(&self) -> &[u32] {
        &self.actions
    }

    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// # Complexity
    /// O(1).
    #[inline]
    pub fn find(&self, action: u32) -> Option<Action> {
        let place = if self.actions.len() <= FEW {
            self.actions.iter().position(|&id| id == action).map(|i| i as u32)
        } else {
            self.places.get(&action).copied()
        };
        place.map(Action)
    }

    /// Appends an action; returns whether it was new.
    pub fn insert(&mut self, action: u32) -> bool {
        if self.find(action).is_some() {
            return false;
        }
        self.actions.push(action);
        match self.actions.len() {
            n if n <= FEW => {}
            n if n == FEW + 1 => self.places = (0..).zip(&self.actions).map(|(i, &id)| (id, i)).collect(),
            n => {
                self.places.insert(action, n as u32 - 1);
            }
        }
        true
    }
}
