//! The queue as named arrays: its keys and their priorities, and nothing about how they are kept.

use super::{NOT_QUEUED, PriorityQueue, QueueKind};
use crate::{Result, Snapshot};

impl PriorityQueue {
    /// Stores the keys and what decides their order.
    pub fn store(&self, snapshot: &mut Snapshot) {
        let n_keys = self.links.len() as u32 - self.n_heads;
        let keys: Vec<u32> = match self.kind {
            QueueKind::Exact => (0..n_keys).filter(|&key| self.priority(key).is_some()).collect(),
            // The order of entry decides there.
            QueueKind::Bucket => {
                (NOT_QUEUED + 1..self.n_buckets).flat_map(|bucket| self.ring(bucket)).collect()
            }
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
        if kind == QueueKind::Bucket && snapshot.get("queue.buckets").is_some() {
            // Older files hold the numbers of buckets, counted from 0.
            let buckets = snapshot.u32s("queue.buckets")?;
            if buckets.iter().any(|&bucket| bucket >= queue.n_buckets - 1) {
                return Err(Snapshot::problem("queue.buckets", "a bucket is out of range"));
            }
            let priorities: Vec<f64> = buckets.iter().map(|&bucket| queue.lowest_of(bucket + 1)).collect();
            queue.queue_all(n_keys, snapshot, "queue.keys", "queue.buckets", &priorities)?;
            return Ok(queue);
        }
        queue.queue_all(
            n_keys,
            snapshot,
            "queue.keys",
            "queue.priorities",
            snapshot.f64s("queue.priorities")?,
        )?;
        if kind == QueueKind::Exact {
            // Version 0.1 stored crowds in two parts of their own.
            for [keys, priorities] in
                [["queue.crowd.keys", "queue.crowd.priorities"], ["queue.line.keys", "queue.line.priorities"]]
            {
                if snapshot.get(keys).is_some() || snapshot.get(priorities).is_some() {
                    queue.queue_all(n_keys, snapshot, keys, priorities, snapshot.f64s(priorities)?)?;
                }
            }
        }
        Ok(queue)
    }

    /// Queues the keys of a part. The priorities come from another part.
    fn queue_all(
        &mut self,
        n_keys: usize,
        snapshot: &Snapshot,
        part: &str,
        priority_part: &str,
        priorities: &[f64],
    ) -> Result<()> {
        let keys = snapshot.u32s(part)?;
        let priorities = Snapshot::sized(priority_part, priorities, keys.len())?;
        for (&key, &priority) in keys.iter().zip(priorities).rev() {
            if key as usize >= n_keys || self.priority(key).is_some() {
                return Err(Snapshot::problem(part, &format!("key {key} is out of range or queued twice")));
            }
            if priority.is_nan() || priority <= 0.0 {
                let problem = format!("the priority of key {key} is {priority}; expected one above 0");
                return Err(Snapshot::problem(part, &problem));
            }
            self.set(key, priority);
        }
        Ok(())
    }
}
