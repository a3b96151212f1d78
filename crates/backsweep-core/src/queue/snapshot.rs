//! The queue as named arrays: its keys and their priorities, and nothing about how they are kept.

use super::{PriorityQueue, QueueKind};
use crate::{Result, Snapshot};

impl PriorityQueue {
    /// Stores the keys and what decides their order.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let n_keys = self.links.len() as u32 - self.n_heads;
        let keys: Vec<u32> = match self.kind {
            QueueKind::Exact => (0..n_keys).filter(|&key| self.priority(key).is_some()).collect(),
            // The order of entry decides there.
            QueueKind::Bucket => (0..self.n_buckets).flat_map(|bucket| self.ring(bucket)).collect(),
        };
        let priorities: Vec<f64> = keys.iter().filter_map(|&key| self.priority(key)).collect();
        snapshot.put("queue.priorities", priorities);
        snapshot.put("queue.keys", keys);
    }

    /// The keys of a bucket, the last to enter first.
    fn ring(&self, head: u32) -> impl Iterator<Item = u32> {
        let mut place = head;
        std::iter::from_fn(move || {
            place = self.links[place as usize].next;
            place.checked_sub(self.n_heads)
        })
    }

    /// The queue that was [stored](Self::store), with room for `n_keys`.
    ///
    /// # Errors
    /// If the snapshot does not hold such a queue.
    pub fn restore(kind: QueueKind, n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new(kind);
        queue.grow(n_keys);
        let keys = snapshot.u32s("queue.keys")?;
        let priorities = snapshot.f64s("queue.priorities")?;
        let priorities = Snapshot::sized("queue.priorities", priorities, keys.len())?;
        for (&key, &priority) in keys.iter().zip(priorities).rev() {
            if key as usize >= n_keys || queue.priority(key).is_some() {
                return Err(Snapshot::problem(
                    "queue.keys",
                    &format!("key {key} is out of range or queued twice"),
                ));
            }
            if priority.is_nan() || priority <= 0.0 {
                let problem = format!("the priority of key {key} is {priority}; expected one above 0");
                return Err(Snapshot::problem("queue.priorities", &problem));
            }
            queue.set(key, priority);
        }
        Ok(queue)
    }
}
