//! A column of items that are nearly all the default: 0.

/// Items by index, the default unless set. A range of indices takes memory once it has another item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sparse<T> {
    stretches: Vec<Option<Box<[T; ITEMS_PER_STRETCH]>>>,
}

const ITEMS_PER_STRETCH: usize = 512;

impl<T: Copy + Default + PartialEq> Sparse<T> {
    #[inline]
    pub fn get(&self, i: usize) -> T {
        match self.stretches.get(i / ITEMS_PER_STRETCH) {
            Some(Some(stretch)) => stretch[i % ITEMS_PER_STRETCH],
            _ => T::default(),
        }
    }

    #[inline]
    pub fn set(&mut self, i: usize, item: T) {
        if let Some(Some(stretch)) = self.stretches.get_mut(i / ITEMS_PER_STRETCH) {
            stretch[i % ITEMS_PER_STRETCH] = item;
        } else if item != T::default() {
            self.add(i, item);
        }
    }

    #[cold]
    fn add(&mut self, i: usize, item: T) {
        if self.stretches.len() <= i / ITEMS_PER_STRETCH {
            self.stretches.resize(i / ITEMS_PER_STRETCH + 1, None);
        }
        let stretch = &mut self.stretches[i / ITEMS_PER_STRETCH];
        stretch.get_or_insert_with(|| Box::new([T::default(); ITEMS_PER_STRETCH]))[i % ITEMS_PER_STRETCH] =
            item;
    }

    /// Sets `to` to the item at `from`, and that to the default.
    pub fn rename(&mut self, from: usize, to: usize) {
        self.set(to, self.get(from));
        self.set(from, T::default());
    }

    pub fn bytes(&self) -> usize {
        let n_filled = self.stretches.iter().flatten().count();
        size_of_val(&self.stretches[..]) + n_filled * ITEMS_PER_STRETCH * size_of::<T>()
    }
}
