//! The queues against others: the exact queue against `orx-priority-queue` and a sorted list, the bucket queue against a sorted list
//! within its stated factor; what is stored and restored.

use backsweep::Random;
use backsweep::planner::{PriorityQueue, QueueKind, Snapshot};
use orx_priority_queue::{BinaryHeapWithMap, PriorityQueue as _, PriorityQueueDecKey};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Priorities of many sizes, often equal.
fn any_priority(random: &mut Random) -> f64 {
    match random.below(10) {
        0 => f64::INFINITY,
        1..=4 => f64::from(1 + random.below(8)),
        5 => f64::MIN_POSITIVE * f64::from(1 + random.below(3)),
        6 => 1e300 * random.unit() + 1.0,
        _ => 2f64.powi(random.below(160) as i32 - 80) * (1.0 + random.unit()),
    }
}

/// The queue as a plain list, and how far below the highest a popped priority may be.
struct Plain {
    entries: BTreeMap<u32, f64>,
    factor: f64,
}

impl Plain {
    fn highest(&self) -> Option<f64> {
        self.entries.values().copied().reduce(f64::max)
    }

    /// Returns whether `found` is `exact`, as far as the queue distinguishes priorities.
    fn agrees(&self, found: f64, exact: f64) -> bool {
        let (tiny, huge) = (2f64.powi(-64), 2f64.powi(63));
        found == exact
            || self.factor > 1.0
                && found >= exact
                && (found <= exact * self.factor || exact < tiny && found <= 2.0 * tiny || exact >= huge)
    }

    /// A popped key is the lowest of those with the highest priority, or its priority is within the factor of it; each end of the
    /// scale shares one bucket.
    fn may_pop(&self, key: u32) -> bool {
        let (highest, priority) = (self.highest().unwrap(), self.entries[&key]);
        priority == highest && self.entries.iter().all(|(&other, &p)| p < highest || other >= key)
            || self.factor > 1.0
                && (priority * self.factor >= highest
                    || highest < 2f64.powi(-63)
                    || priority >= 2f64.powi(63))
    }
}

fn compare(queue: PriorityQueue, factor: f64, seed: u64, n_keys: u32, n_operations: u32) {
    compare_with(queue, factor, any_priority, seed, 1, n_keys, n_operations);
}

/// Random operations on a queue that has `grown` keys to begin with and `n_keys` at the end.
fn compare_with(
    mut queue: PriorityQueue,
    factor: f64,
    any_priority: fn(&mut Random) -> f64,
    seed: u64,
    mut grown: u32,
    n_keys: u32,
    n_operations: u32,
) {
    let mut random = Random::from_seed(seed);
    let mut plain = Plain { entries: BTreeMap::new(), factor };
    queue.grow(grown as usize);
    for i in 0..n_operations {
        if i % 16 == 0 && grown < n_keys {
            grown += 1 + random.below(3);
            queue.grow(grown as usize);
        }
        let key = random.below(grown);
        let place = format!("seed {seed}, operation {i}");
        // Now and then part of the work before a pop, as for a caller who may have to stop.
        if random.chance(0.3) {
            queue.prepare(3);
        }
        let first = queue.first();
        match random.below(20) {
            0..=5 => {
                let priority = any_priority(&mut random);
                queue.set(key, priority);
                plain.entries.insert(key, priority);
            }
            6..=11 => {
                let priority = any_priority(&mut random);
                queue.promote(key, priority);
                let entry = plain.entries.entry(key).or_insert(priority);
                *entry = entry.max(priority);
            }
            12..=13 => {
                queue.remove(key);
                plain.entries.remove(&key);
            }
            14..=18 => match queue.pop() {
                None => assert!(plain.entries.is_empty(), "{place}"),
                Some(key) => {
                    let priority = plain.entries[&key];
                    assert_eq!(first, Some(key), "{place}");
                    assert!(plain.may_pop(key), "{place}: {key}, {priority} before {:?}", plain.highest());
                    plain.entries.remove(&key);
                }
            },
            _ if random.chance(0.01) => {
                queue.clear();
                plain.entries.clear();
            }
            _ => {}
        }
        assert_eq!(queue.len(), plain.entries.len(), "{place}");
        assert_eq!(queue.is_empty(), plain.entries.is_empty(), "{place}");
        match (queue.top(), plain.highest()) {
            (None, None) => {}
            (Some(top), Some(highest)) => assert!(plain.agrees(top, highest), "{place}: {top} {highest}"),
            other => panic!("{place}: {other:?}"),
        }
        match (queue.priority(key), plain.entries.get(&key)) {
            (None, None) => {}
            (Some(found), Some(&exact)) => assert!(plain.agrees(found, exact), "{place}: {found} {exact}"),
            other => panic!("{place}: {other:?}"),
        }
    }
    assert_eq!(queue.priority(n_keys + 10), None, "a key out of range is not queued");
    while let Some(key) = queue.pop() {
        assert!(plain.may_pop(key), "seed {seed}, at the end");
        plain.entries.remove(&key);
    }
    assert!(plain.entries.is_empty());
}

#[test]
fn the_exact_queue_is_a_sorted_list() {
    for seed in 0..200 {
        compare(PriorityQueue::new(QueueKind::Exact), 1.0, seed, 3 + seed as u32 % 60, 2000);
    }
}

/// Priorities so close to each other that whole crowds of keys share a bucket.
fn crowded_priority(random: &mut Random) -> f64 {
    let level = [1.0, 1.01, 1.5, 3.0][random.below(4) as usize];
    // Equal for half of them, and different in the last bits for the others.
    level + f64::from(random.below(2)) * random.unit() * 1e-3
}

#[test]
fn the_exact_queue_is_a_sorted_list_where_priorities_crowd() {
    // Crowds that are split once, and crowds that are split again and again.
    for (seed, n_keys, n_operations) in [(1, 300, 6000), (2, 600, 8000), (3, 20_000, 20_000)] {
        compare_with(
            PriorityQueue::new(QueueKind::Exact),
            1.0,
            crowded_priority,
            seed,
            n_keys,
            n_keys,
            n_operations,
        );
    }
}

/// A crowd is split by the bits in which its keys differ at that time; keys that come later differ in others.
#[test]
fn keys_that_join_a_split_crowd_keep_the_order() {
    const CROWD: u32 = 3000;
    for seed in 0..100 {
        let mut random = Random::from_seed(seed);
        let mut queue = PriorityQueue::new(QueueKind::Exact);
        queue.grow(CROWD as usize + 100);
        let common = 1.0 + 2f64.powi(-(10 + random.below(40) as i32));
        let mut expected = BTreeSet::new();
        for key in 0..CROWD {
            queue.set(key, common);
            expected.insert((Reverse(common.to_bits()), key));
        }
        for key in CROWD..CROWD + 100 {
            let popped = queue.pop().unwrap();
            assert_eq!(expected.pop_first().map(|(_, first)| first), Some(popped), "seed {seed}");
            let distance = 2f64.powi(-(8 + random.below(44) as i32));
            let priority = if random.chance(0.5) { common + distance } else { common - distance };
            queue.set(key, priority);
            expected.insert((Reverse(priority.to_bits()), key));
        }
        while let Some(popped) = queue.pop() {
            assert_eq!(expected.pop_first().map(|(_, first)| first), Some(popped), "seed {seed}");
        }
        assert!(expected.is_empty(), "seed {seed}");
    }
}

#[test]
fn the_bucket_queue_is_a_sorted_list_within_its_factor() {
    for seed in 0..200 {
        compare(PriorityQueue::new(QueueKind::Bucket), 1.125, seed, 3 + seed as u32 % 60, 2000);
    }
}

#[test]
fn the_exact_queue_pops_what_orx_priority_queue_pops() {
    for seed in 0..50 {
        let mut random = Random::from_seed(seed);
        let mut exact = PriorityQueue::new(QueueKind::Exact);
        // That queue pops the smallest: the order is reversed.
        let mut orx: BinaryHeapWithMap<u32, Reverse<u64>> = BinaryHeapWithMap::default();
        exact.grow(500);
        for _ in 0..5000 {
            let key = random.below(500);
            // Positive numbers are ordered like their bits; all are different, so that there is one right answer.
            let priority = f64::from_bits((random.next_u64() >> 12) | 0x3FF0_0000_0000_0000);
            match random.below(3) {
                0 => {
                    exact.set(key, priority);
                    orx.update_key_or_push(&key, Reverse(priority.to_bits()));
                }
                1 => {
                    exact.promote(key, priority);
                    orx.try_decrease_key_or_push(&key, Reverse(priority.to_bits()));
                }
                _ => assert_eq!(exact.pop(), orx.pop_node(), "seed {seed}"),
            }
            assert_eq!(exact.top().map(f64::to_bits), orx.peek().map(|(_, key)| key.0), "seed {seed}");
            assert_eq!(exact.len(), orx.len(), "seed {seed}");
        }
    }
}

/// A queue with lazy deletion had 1.9 million entries for 100 states after a million steps.
#[test]
fn never_more_entries_than_keys() {
    fn million_steps(mut queue: PriorityQueue) {
        let mut random = Random::from_seed(3);
        queue.grow(100);
        for i in 0..1_000_000 {
            let key = random.below(100);
            let priority = 1e-3 + random.unit();
            if i % 2 == 0 {
                queue.set(key, priority)
            } else {
                queue.promote(key, priority)
            }
            if i % 5 == 0 {
                queue.pop();
            }
            assert!(queue.len() <= 100);
        }
        let left = std::iter::from_fn(|| queue.pop()).count();
        assert!(left <= 100 && queue.is_empty());
    }
    million_steps(PriorityQueue::new(QueueKind::Exact));
    million_steps(PriorityQueue::new(QueueKind::Bucket));
}

#[test]
fn the_smallest_and_largest_priorities_are_told_apart() {
    let priorities = [5e-324, 1e-323, 1e-310, 1e-300, 1e-13, 1.0, 2e7, 1e300, f64::MAX, f64::INFINITY];
    for kind in [QueueKind::Exact, QueueKind::Bucket] {
        let mut queue = PriorityQueue::new(kind);
        queue.grow(priorities.len());
        for (key, &priority) in (0..).zip(&priorities) {
            queue.set(key, priority);
            assert_eq!((queue.len(), queue.priority(key)), (key as usize + 1, Some(priority)), "{kind:?}");
        }
        let mut popped: Vec<u32> = std::iter::from_fn(|| queue.pop()).collect();
        if kind == QueueKind::Bucket {
            popped.sort_unstable_by(|a, b| b.cmp(a)); // the outermost buckets take in many
        }
        assert!(popped.into_iter().eq((0..priorities.len() as u32).rev()), "{kind:?}");
    }
}

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
                        let popped = [&mut queue, &mut restored].map(|queue| (queue.first(), queue.pop()));
                        assert_eq!(popped[0], popped[1], "{kind:?}, round {round}, step {step}");
                        assert_eq!(popped[0].0, popped[0].1, "{kind:?}, round {round}, step {step}");
                        2
                    }
                };
            }
        }
    }
}

#[test]
fn a_part_that_is_missing_is_refused() {
    let mut snapshot = Snapshot::new();
    snapshot.put("queue.keys", vec![0u32]);
    let error = PriorityQueue::restore(QueueKind::Exact, 3, &snapshot).unwrap_err();
    assert!(error.to_string().contains("queue.priorities"), "{error}");
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
