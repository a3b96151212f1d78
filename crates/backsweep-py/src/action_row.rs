//! The actions of a state in the order of the core's action ids, found in constant time.

use backsweep::Action;
use rustc_hash::FxHashMap;

/// Up to this many actions a scan is faster than a hash.
const MAX_SCANNED_ACTIONS: usize = 16;

#[derive(Clone)]
pub struct ActionRow {
    /// `actions[i]` is the name id of the state's action `i`; each once.
    actions: Vec<u32>,
    /// True if `actions[i]` is `i` throughout, as it is for declared actions unless others were met before.
    is_range: bool,
    /// The inverse of `actions` if they are not a range and more than [`MAX_SCANNED_ACTIONS`], otherwise empty.
    places: FxHashMap<u32, u32>,
}

impl Default for ActionRow {
    fn default() -> Self {
        Self { actions: Vec::new(), is_range: true, places: FxHashMap::default() }
    }
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
        if self.is_range {
            return ((action as usize) < self.actions.len()).then_some(Action(action));
        }
        let place = if self.actions.len() <= MAX_SCANNED_ACTIONS {
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
        let place = self.actions.len() as u32;
        self.actions.push(action);
        self.is_range &= action == place;
        if self.is_range || self.actions.len() <= MAX_SCANNED_ACTIONS {
            return true;
        }
        if self.places.is_empty() {
            self.places = (0..).zip(&self.actions).map(|(i, &id)| (id, i)).collect();
        } else {
            self.places.insert(action, place);
        }
        true
    }
}
