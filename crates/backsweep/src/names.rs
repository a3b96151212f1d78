//! Names outside, ids inside.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Maps any hashable name to a dense id, in the order of first appearance, and back.
///
/// ```
/// let mut names = backsweep::Names::new();
/// assert_eq!(names.id_or_insert("hall"), 0);
/// assert_eq!(names.id_or_insert("yard"), 1);
/// assert_eq!(names.id_or_insert("hall"), 0);
/// assert_eq!(names.name(1), Some(&"yard"));
/// ```
#[derive(Clone, Debug)]
pub struct Names<K> {
    ids: FxHashMap<K, u32>,
    /// `names[i]` is the name whose id is `i`.
    names: Vec<K>,
}

impl<K: Eq + Hash + Clone> Names<K> {
    /// No names.
    pub fn new() -> Self {
        Self { ids: FxHashMap::default(), names: Vec::new() }
    }

    /// The id of a name that is known.
    pub fn id(&self, name: &K) -> Option<u32> {
        self.ids.get(name).copied()
    }

    /// The id of a name, a new one if the name is new.
    pub fn id_or_insert(&mut self, name: K) -> u32 {
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.ids.insert(name.clone(), id);
        self.names.push(name);
        id
    }

    /// The name of an id.
    pub fn name(&self, id: u32) -> Option<&K> {
        self.names.get(id as usize)
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All names, by id.
    pub fn iter(&self) -> impl Iterator<Item = &K> {
        self.names.iter()
    }
}

impl<K: Eq + Hash + Clone> Default for Names<K> {
    fn default() -> Self {
        Self::new()
    }
}
