//! Numbers for names while a log is read.

use crate::read::typed::Dictionary;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::Hasher;

/// In place of the number of a next state: the case ended.
pub(crate) const END: u32 = u32::MAX;

/// Names in order of first occurrence; all of them share one array of bytes.
#[derive(Default)]
pub(crate) struct NameTable {
    names: Dictionary,
    /// The numbers of names of up to seven bytes, found by the name itself.
    short: HashTable<(u64, u32)>,
    /// The numbers of longer names.
    ids: HashTable<u32>,
}

/// A name of one to seven bytes in one word, with its length; 0 for any other.
#[inline]
fn packed(name: &[u8]) -> u64 {
    let n = name.len();
    let word = match n {
        1..=3 => {
            let (first, middle, last) = (name[0], name[n / 2], name[n - 1]);
            u64::from(first) | u64::from(middle) << (8 * (n / 2)) | u64::from(last) << (8 * (n - 1))
        }
        4..=7 => {
            // The two halves overlap in identical bytes.
            let (low, high) = (name.first_chunk(), name.last_chunk());
            let half = |bytes: Option<&[u8; 4]>| u64::from(u32::from_le_bytes(*bytes.unwrap_or(&[0; 4])));
            half(low) | half(high) << (8 * (n - 4))
        }
        _ => return 0,
    };
    word | (n as u64) << 56
}

#[inline]
fn hash_word(word: u64) -> u64 {
    let mixed = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}

#[inline]
fn hash(name: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name);
    hasher.finish()
}

impl NameTable {
    /// The number of a name; `None` if it is not UTF-8, or there are 2³² names already.
    #[inline]
    pub fn id(&mut self, name: &[u8]) -> Option<u32> {
        let word = packed(name);
        let found = if word != 0 {
            self.short.find(hash_word(word), |(other, _)| *other == word).map(|&(_, id)| id)
        } else {
            self.ids.find(hash(name), |&id| self.names.text(id) == name).copied()
        };
        found.or_else(|| self.add(name, word))
    }

    #[cold]
    fn add(&mut self, name: &[u8], word: u64) -> Option<u32> {
        std::str::from_utf8(name).ok()?;
        let id = u32::try_from(self.names.len()).ok().filter(|&id| id != END)?;
        self.names.push(name);
        let Self { names, short, ids } = self;
        if word != 0 {
            short.insert_unique(hash_word(word), (word, id), |&(word, _)| hash_word(word));
        } else {
            ids.insert_unique(hash(name), id, |&id| hash(names.text(id)));
        }
        Some(id)
    }

    /// A name by its number.
    pub fn name(&self, id: u32) -> &[u8] {
        self.names.text(id)
    }

    /// The numbers of many names. Only more than 2³² names would not fit, and memory runs out before that.
    pub fn ids<'a>(&mut self, names: impl Iterator<Item = &'a [u8]>) -> Vec<u32> {
        names.map(|name| self.id(name).unwrap_or(0)).collect()
    }

    /// All names, in order of first occurrence.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.names.len() as u32).map(|id| self.name(id))
    }

    /// All names, sorted, and the new place of each number.
    pub fn sorted(&self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<u32> = (0..self.names.len() as u32).collect();
        order.sort_unstable_by_key(|&id| self.name(id));
        let mut places = vec![0; order.len()];
        for (place, &id) in order.iter().enumerate() {
            places[id as usize] = place as u32;
        }
        // Only UTF-8 is ever stored.
        let names = order.iter().map(|&id| String::from_utf8_lossy(self.name(id)).into_owned()).collect();
        (names, places)
    }
}

#[cfg(test)]
mod tests {
    use super::NameTable;

    #[test]
    fn every_name_has_one_number_and_is_spelled_back() {
        let mut names = NameTable::default();
        let base = "a\0b\0cdefghij";
        let mut all: Vec<&str> =
            (0..base.len()).flat_map(|i| (i..=base.len()).map(move |j| &base[i..j])).collect();
        all.extend(["", "aa", "aaa", "aaaa", "a\0", "a\0\0", "\0", "ä", "äöü"]);
        all.sort_unstable();
        all.dedup();
        let first: Vec<u32> = all.iter().filter_map(|name| names.id(name.as_bytes())).collect();
        assert_eq!(first, (0..all.len() as u32).collect::<Vec<_>>());
        for (name, id) in all.iter().zip(first) {
            assert_eq!(names.id(name.as_bytes()), Some(id));
            assert_eq!(names.name(id), name.as_bytes());
        }
        assert_eq!(names.id(&[0xff]), None);
        assert_eq!(names.id(&[0xff; 20]), None);
    }
}
