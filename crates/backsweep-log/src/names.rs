//! Names as numbers, while a log is read.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// Names in order of first sight; all of them share one array of bytes.
#[derive(Default)]
pub(crate) struct Names {
    bytes: Vec<u8>,
    /// Where each name ends in `bytes`; it begins where the one before ends.
    ends: Vec<usize>,
    ids: HashTable<u32>,
}

#[inline]
fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

impl Names {
    /// The number of a name; `None` if it is not UTF-8, or there are 2³² names already.
    #[inline]
    pub fn id(&mut self, name: &[u8]) -> Option<u32> {
        let hash = hash(name);
        let Self { bytes, ends, ids } = self;
        match ids.find(hash, |&id| spelled(bytes, ends, id) == name) {
            Some(&id) => Some(id),
            None => self.add(name, hash),
        }
    }

    #[cold]
    fn add(&mut self, name: &[u8], hashed: u64) -> Option<u32> {
        std::str::from_utf8(name).ok()?;
        // The largest number stands for an end.
        let id = u32::try_from(self.ends.len()).ok().filter(|&id| id < u32::MAX)?;
        self.bytes.extend_from_slice(name);
        self.ends.push(self.bytes.len());
        let Self { bytes, ends, ids } = self;
        ids.insert_unique(hashed, id, |&id| hash(spelled(bytes, ends, id)));
        Some(id)
    }

    /// A name by its number.
    pub fn name(&self, id: u32) -> &[u8] {
        spelled(&self.bytes, &self.ends, id)
    }

    /// The numbers of many names. A name that has no room is beyond 2³² of them; there is no memory for so many.
    pub fn ids<'a>(&mut self, names: impl Iterator<Item = &'a [u8]>) -> Vec<u32> {
        names.map(|name| self.id(name).unwrap_or(0)).collect()
    }

    /// All names, in order of first sight.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.ends.len() as u32).map(|id| self.name(id))
    }

    /// All names, sorted, and where each number went.
    pub fn sorted(&self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.ends.len() as u32).collect();
        order.sort_unstable_by_key(|&id| self.name(id));
        let mut places = vec![0; order.len()];
        for (place, &id) in order.iter().enumerate() {
            places[id as usize] = place as u32;
        }
        // Only UTF-8 was let in.
        let names = order.iter().map(|&id| String::from_utf8_lossy(self.name(id)).into_owned()).collect();
        (names, places)
    }
}

#[inline]
fn spelled<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
}
