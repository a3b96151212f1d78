//! The queue as named arrays: its keys and their priorities, and nothing about how they are kept.

use super::{NOT_QUEUED, PriorityQueue, QueueKind};
use crate::{Result, Snapshot};

impl PriorityQueue {
    /// Stores the keys and what decides their order.
    pub(crate) fn store(&self, snapshot: &mut Snapshot) {
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

    pub(crate) fn restore(kind: QueueKind, n_keys: usize, snapshot: &Snapshot) -> Result<Self> {
        let mut queue = Self::new(kind);
        queue.grow(n_keys);
        if kind == QueueKind::Bucket && snapshot.get("queue.buckets").is_some() {
            // Older files hold the numbers of buckets, counted from 0.
            let buckets = snapshot.u32s("queue.buckets")?;
            if buckets.iter().any(|&bucket| bucket >= queue.n_buckets - 1) {
                return Err(Snapshot::problem("queue.buckets", "a bucket is out of range"));
            }
            let priorities: Vec<f64> = buckets.iter().map(|&bucket| queue.lowest_of(bucket + 1)).collect();
            queue.take_in(n_keys, snapshot, "queue.keys", "queue.buckets", &priorities)?;
            return Ok(queue);
        }
        queue.take_in(
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
                    queue.take_in(n_keys, snapshot, keys, priorities, snapshot.f64s(priorities)?)?;
                }
            }
        }
        Ok(queue)
    }

    /// Queues the keys of a part. The priorities come from another part.
    fn take_in(
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    /// A queue restored from what was stored at any moment pops what the one that was stored pops, crowds included.
    #[test]
    fn a_restored_queue_pops_the_same_keys() {
        const N: u32 = 5000;
        for kind in [QueueKind::Exact, QueueKind::Bucket] {
            let mut random = Random::from_seed(3);
            let mut queue = PriorityQueue::new(kind);
            queue.grow(N as usize);
            for round in 0..40 {
                for _ in 0..2000 {
                    queue.set(random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
                }
                let mut snapshot = Snapshot::new();
                queue.store(&mut snapshot);
                let mut restored = PriorityQueue::restore(kind, N as usize, &snapshot).unwrap();
                assert_eq!((restored.len(), restored.top()), (queue.len(), queue.top()));
                for step in 0..1500 {
                    let (key, priority) = (random.below(N), 1.0 + 1e-4 * f64::from(random.below(50)));
                    match random.below(12) {
                        0 => [&mut queue, &mut restored].map(|queue| queue.set(key, priority)).len(),
                        1 => [&mut queue, &mut restored].map(|queue| queue.remove(key)).len(),
                        2 => [&mut queue, &mut restored].map(|queue| queue.prepare(8)).len(),
                        _ => {
                            let popped =
                                [&mut queue, &mut restored].map(|queue| (queue.first(), queue.pop()));
                            assert_eq!(popped[0], popped[1], "{kind:?}, round {round}, step {step}");
                            assert_eq!(popped[0].0, popped[0].1, "{kind:?}, round {round}, step {step}");
                            2
                        }
                    };
                }
            }
        }
    }

    /// Older files hold the buckets of a bucket queue, counted from 0, the lowest first, and in each the last key to enter
    /// first.
    #[test]
    fn buckets_of_older_files_are_read() {
        let restored = |buckets: [u32; 3]| {
            let mut snapshot = Snapshot::new();
            snapshot.put("queue.keys", vec![7u32, 4, 2]);
            snapshot.put("queue.buckets", buckets.to_vec());
            PriorityQueue::restore(QueueKind::Bucket, 8, &snapshot)
        };
        let mut queue = restored([0, 1022, 1022]).unwrap();
        assert_eq!([7, 4, 2].map(|key| queue.bucket(queue.priority(key).unwrap())), [1, 1023, 1023]);
        assert_eq!(std::iter::from_fn(|| queue.pop()).collect::<Vec<_>>(), [4, 2, 7]);
        assert!(restored([0, 1, 1023]).is_err());
    }

    #[test]
    fn a_part_that_is_missing_is_refused() {
        let parts = ["queue.keys", "queue.priorities", "queue.crowd.keys", "queue.crowd.priorities"];
        for missing in parts {
            let mut snapshot = Snapshot::new();
            for part in parts.into_iter().filter(|&part| part != missing) {
                match part.ends_with("keys") {
                    true => snapshot.put(part, vec![u32::from(part != "queue.keys")]),
                    false => snapshot.put(part, vec![1.0]),
                }
            }
            let error = PriorityQueue::restore(QueueKind::Exact, 3, &snapshot).unwrap_err();
            assert!(error.to_string().contains(missing), "{error}");
        }
    }

    #[test]
    fn a_priority_that_is_none_is_refused() {
        for (priority, key) in [(0.0, 1), (-1.0, 1), (f64::NAN, 1), (1.0, 0), (1.0, 7)] {
            let mut snapshot = Snapshot::new();
            snapshot.put("queue.keys", vec![0u32, key]);
            snapshot.put("queue.priorities", vec![1.0, priority]);
            assert!(PriorityQueue::restore(QueueKind::Exact, 3, &snapshot).is_err(), "{priority} {key}");
        }
    }
}
