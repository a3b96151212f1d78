//! Dense ids. The core never sees a name: callers map names to ids and back.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $word:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a table with an entry for each id.
            #[inline(always)]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<u32> for $name {
            fn from(id: u32) -> Self {
                Self(id)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($word, " {}"), self.0)
            }
        }
    };
}

id!(
    /// A state of the model: `0 .. model.n_states()`, in the order in which states were added.
    State,
    "state"
);
id!(
    /// An action of one state: `0 .. model.n_actions(state)`. The same number may mean different
    /// things in different states.
    Action,
    "action"
);
id!(
    /// A state together with one of its actions. The pairs of a state have consecutive ids.
    Pair,
    "pair"
);
id!(
    /// A successor of a pair that has been seen (or is known): the triple (state, action, next
    /// state).
    ArcId,
    "arc"
);

impl Pair {
    /// The pair's index into a table by slot: see [`crate::store`].
    #[inline(always)]
    pub(crate) fn slot(self) -> usize {
        self.index() + 1
    }
}
