//! Every way in which a file can be wrong is detected.

use crate::common::ring;
use backsweep::planner::{Array, QueueKind, Snapshot};
use backsweep::save::{Error, SavedAgent, VERSION, decode, encode};
use backsweep::{Next, PlannerKind, Random, State};
use backsweep_predict::{Predictor, PredictorSettings, Selection, SmallBackupPredictor, StepSize, Td0};

fn small_file() -> Vec<u8> {
    ring::learner(PlannerKind::REVERSED_FULL_BACKUPS, QueueKind::Exact, 3, 20).to_bytes().unwrap()
}

#[test]
fn every_truncation_is_detected() {
    let bytes = small_file();
    for length in 0..bytes.len() {
        assert!(decode(&bytes[..length]).is_err(), "cut at {length} of {}", bytes.len());
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(decode(&longer).is_err());
    assert!(decode(&bytes).is_ok());
}

#[test]
fn every_flip_of_a_bit_is_detected() {
    let mut bytes = small_file();
    for place in 0..bytes.len() {
        for bit in 0..8 {
            bytes[place] ^= 1 << bit;
            assert!(decode(&bytes).is_err(), "byte {place}, bit {bit}");
            bytes[place] ^= 1 << bit;
        }
    }
}

#[test]
fn all_types_and_odd_lengths_come_back() {
    let mut snapshot = Snapshot::new();
    for n in 0..20u32 {
        snapshot.put(&format!("f{n}"), (0..n).map(|i| f64::from(i) / -3.0).collect::<Vec<_>>());
        snapshot.put(&format!("u{n}"), (0..n).map(|i| u32::MAX - i).collect::<Vec<_>>());
        snapshot.put(&format!("w{n}"), (0..n).map(|i| u64::MAX - u64::from(i)).collect::<Vec<_>>());
        snapshot.put(&"ü".repeat(n as usize), (0..n).map(|i| i as u8 | 128).collect::<Vec<u8>>());
    }
    snapshot.put("odd", vec![f64::NAN, f64::INFINITY, -0.0, f64::MIN_POSITIVE / 2.0]);
    let back = decode(&encode(&snapshot)).unwrap();
    let bits = |array: &Array| match array {
        Array::F64(items) => Array::U64(items.iter().map(|x| x.to_bits()).collect()),
        other => other.clone(),
    };
    assert!(snapshot.iter().map(|(n, a)| (n, bits(a))).eq(back.iter().map(|(n, a)| (n, bits(a)))));
    assert_eq!(decode(&encode(&Snapshot::new())).unwrap(), Snapshot::new());
}

/// A header that makes any claims, with a correct checksum.
fn claim(version: u32, n_sections: u32, table_bytes: u64, entries: &[u8], file_bytes: u64) -> Vec<u8> {
    let mut bytes = backsweep::save::MAGIC.to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend(n_sections.to_le_bytes());
    bytes.extend(table_bytes.to_le_bytes());
    bytes.extend(file_bytes.to_le_bytes());
    bytes.extend(entries);
    bytes.extend(u64::from(crc32fast::hash(&bytes)).to_le_bytes());
    bytes
}

/// Allocating the claimed size before checking it would panic: no machine holds 2⁶³ items.
#[test]
fn false_lengths_are_refused() {
    let mut entry = 16u32.to_le_bytes().to_vec();
    entry.extend(b"model.first_pair");
    entry.extend(1u32.to_le_bytes());
    entry.extend((1u64 << 63).to_le_bytes());
    entry.extend(0u32.to_le_bytes());
    entry.resize(60, 0);
    let claims = [
        claim(VERSION, 1, 60, &entry, 100),
        claim(VERSION, u32::MAX, 60, &entry, 100),
        claim(VERSION, 1, u64::MAX, &entry, 100),
        claim(VERSION, 1, 60, &entry, u64::MAX),
        claim(VERSION, 1, 60, &[&u32::MAX.to_le_bytes(), &entry[4..]].concat(), 100),
    ];
    for bytes in &claims {
        assert_eq!(bytes.len(), 100);
        let error = decode(bytes).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error}");
    }
    let error = decode(&claims[0]).unwrap_err().to_string();
    assert!(error.contains("'model.first_pair' claims 9223372036854775808 items"), "{error}");
}

#[test]
fn another_version_is_refused_by_name() {
    for version in [0, VERSION - 1, VERSION + 1] {
        let error = decode(&claim(version, 0, 0, &[], 40)).unwrap_err();
        assert!(matches!(error, Error::Version { found, expected: VERSION } if found == version));
        assert!(error.to_string().contains(&format!("version {version}")), "{error}");
    }
    assert!(matches!(decode(b"hello, world"), Err(Error::NotBacksweep)));
    assert!(matches!(decode(b""), Err(Error::NotBacksweep)));
}

/// Files with valid checksums and wrong contents: each number of each section is replaced by others. The result is an error or a
/// learner that can be used, never a panic.
#[test]
fn wrong_contents_never_panic() {
    let mut accepted = 0;
    for (planner, queue) in ring::all_planners() {
        accepted += spoil_every_item(&ring::learner(planner, queue, 3, 20).store().unwrap());
    }
    assert!(accepted > 0);
}

fn spoil_every_item(whole: &Snapshot) -> usize {
    spoiled(whole)
        .filter_map(|changed| SavedAgent::from_bytes(&encode(&changed)).ok())
        .map(|mut learner| {
            learner.agent.plan(backsweep::Budget::Cycles(50));
            learner.agent.audit();
        })
        .count()
}

/// Predictors are stored too, when they are pickled.
#[test]
fn predictors_come_back_and_wrong_ones_never_panic() {
    let mut accepted = 0;
    let steps = |seed: u64| {
        let mut random = Random::from_seed(seed);
        std::iter::repeat_with(move || {
            let (state, next) = (State(random.below(4)), State(random.below(4)));
            let reward = f64::from(random.below(100)) / 7.0;
            (state, reward, if random.chance(0.2) { Next::Terminated } else { Next::Continue(next) })
        })
    };
    for selection in [Selection::MostRecent, Selection::RoundRobin, Selection::Random, Selection::Largest] {
        let settings =
            PredictorSettings { discount: 0.9, initial_value: 0.5, selection, iterations: 2, seed: 3 };
        let mut predictor = SmallBackupPredictor::new(settings).unwrap();
        for (state, reward, next) in steps(1).take(60) {
            predictor.observe(state, reward, next).unwrap();
        }
        let stored = decode(&encode(&predictor.store())).unwrap();
        let mut restored = SmallBackupPredictor::restore(&stored).unwrap();
        for (state, reward, next) in steps(2).take(200) {
            predictor.observe(state, reward, next).unwrap();
            restored.observe(state, reward, next).unwrap();
        }
        assert_eq!(predictor.store(), restored.store(), "{selection:?}");
        assert!(Td0::restore(&stored).is_err());
        for mut other in spoiled(&stored).filter_map(|changed| SmallBackupPredictor::restore(&changed).ok()) {
            steps(2).take(20).for_each(|(state, reward, next)| other.observe(state, reward, next).unwrap());
            accepted += 1;
        }
    }
    for step_size in [StepSize::Constant(0.3), StepSize::Decaying(0.1)] {
        let mut td = Td0::new(0.9, step_size, 0.5).unwrap();
        steps(1).take(60).for_each(|(state, reward, next)| td.observe(state, reward, next).unwrap());
        let stored = decode(&encode(&td.store())).unwrap();
        assert_eq!(Td0::restore(&stored).unwrap().store(), td.store());
        for mut other in spoiled(&stored).filter_map(|changed| Td0::restore(&changed).ok()) {
            steps(2).take(20).for_each(|(state, reward, next)| other.observe(state, reward, next).unwrap());
            accepted += 1;
        }
    }
    assert!(accepted > 100, "{accepted}");
}

/// The same arrays with one item replaced, for each item and each of four replacements.
fn spoiled(whole: &Snapshot) -> impl Iterator<Item = Snapshot> {
    let mut all = Vec::new();
    for (name, array) in whole.iter() {
        let n = match array {
            Array::F64(items) => items.len(),
            Array::U32(items) => items.len(),
            Array::U64(items) => items.len(),
            Array::Bytes(items) => items.len(),
        };
        for i in 0..n {
            for kind in 0..4 {
                let mut array = array.clone();
                match &mut array {
                    Array::F64(items) => items[i] = [f64::NAN, -1.0, 1e300, 0.0][kind],
                    Array::U32(items) => items[i] = [0, 1, 1000, u32::MAX][kind],
                    Array::U64(items) => items[i] = [0, 1, 1000, u64::MAX][kind],
                    Array::Bytes(items) => items[i] = [0, 1, 116, 255][kind],
                }
                let mut changed = whole.clone();
                changed.put(name, array);
                all.push(changed);
            }
        }
    }
    all.into_iter()
}
