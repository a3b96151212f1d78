//! A 4-ary heap that tells others where its keys stand.

/// Children of a node. Four entries of 16 bytes are looked through in one cache line's worth of reads, and the heap is
/// half as deep as a binary one. Slower (docs/PERFORMANCE.md): eight children, and four in one line chosen among without a
/// branch: a guess that is wrong now and then lets the processor go on, a number that is not yet there does not.
const ARITY: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub priority: f64,
    pub key: u32,
}

/// No entry has a higher priority than its parent, the entry at `(i - 1) / ARITY`. Every call tells `put` the new index of each
/// key that it moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Heap {
    entries: Vec<Entry>,
}

impl Heap {
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Takes over entries in the order of a heap, or returns `None` if they are not.
    pub fn from_entries(entries: Vec<Entry>) -> Option<Self> {
        let is_heap = (1..entries.len()).all(|i| entries[(i - 1) / ARITY].priority >= entries[i].priority);
        is_heap.then_some(Self { entries })
    }

    /// Makes room for so many entries in all.
    pub fn reserve(&mut self, n_entries: usize) {
        self.entries.reserve(n_entries.saturating_sub(self.entries.len()));
    }

    #[inline]
    fn sift_up(&mut self, mut i: usize, entry: Entry, put: &mut impl FnMut(u32, usize)) {
        while i > 0 {
            let parent = (i - 1) / ARITY;
            let above = self.entries[parent];
            if above.priority >= entry.priority {
                break;
            }
            self.entries[i] = above;
            put(above.key, i);
            i = parent;
        }
        self.entries[i] = entry;
        put(entry.key, i);
    }

    #[inline]
    fn sift_down(&mut self, mut i: usize, entry: Entry, put: &mut impl FnMut(u32, usize)) {
        let n = self.entries.len();
        loop {
            let first = i * ARITY + 1;
            if first >= n {
                break;
            }
            let children = &self.entries[first..n.min(first + ARITY)];
            let mut best = 0;
            let mut highest = children[0].priority;
            for (j, child) in children.iter().enumerate().skip(1) {
                if child.priority > highest {
                    (best, highest) = (j, child.priority);
                }
            }
            if highest <= entry.priority {
                break;
            }
            let child = children[best];
            self.entries[i] = child;
            put(child.key, i);
            i = first + best;
        }
        self.entries[i] = entry;
        put(entry.key, i);
    }

    pub fn push(&mut self, entry: Entry, put: &mut impl FnMut(u32, usize)) {
        self.entries.push(entry);
        self.sift_up(self.entries.len() - 1, entry, put);
    }

    /// Gives the entry at index `i` another priority.
    pub fn set(&mut self, i: usize, priority: f64, put: &mut impl FnMut(u32, usize)) {
        let Entry { priority: before, key } = self.entries[i];
        let entry = Entry { priority, key };
        if priority > before {
            self.sift_up(i, entry, put);
        } else if priority < before {
            self.sift_down(i, entry, put);
        }
    }

    /// Takes the entry at index `i` out.
    pub fn take(&mut self, i: usize, put: &mut impl FnMut(u32, usize)) {
        let last = self.entries.len() - 1;
        let entry = self.entries[last];
        self.entries.truncate(last);
        if i < last {
            if i > 0 && self.entries[(i - 1) / ARITY].priority < entry.priority {
                self.sift_up(i, entry, put);
            } else {
                self.sift_down(i, entry, put);
            }
        }
    }
}
