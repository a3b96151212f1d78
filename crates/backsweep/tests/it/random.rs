//! The generator against the crate `rand_xoshiro`, and the uniformity of its draws.

use backsweep::Random;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

#[test]
fn the_stream_is_that_of_xoshiro256_plus_plus() {
    for seed in [0, 1, 2, 42, u64::MAX, 0x0123_4567_89AB_CDEF] {
        let (mut ours, mut theirs) = (Random::from_seed(seed), Xoshiro256PlusPlus::seed_from_u64(seed));
        for i in 0..10_000 {
            assert_eq!(ours.next_u64(), theirs.next_u64(), "seed {seed}, number {i}");
        }
    }
}

#[test]
fn a_stream_resumes_from_its_state() {
    let mut random = Random::from_seed(9);
    for _ in 0..100 {
        random.next_u64();
    }
    let mut again = Random::from_state(random.state()).unwrap();
    for _ in 0..100 {
        assert_eq!(random.next_u64(), again.next_u64());
    }
    assert_eq!(Random::from_state([0; 4]), None);
}

#[test]
fn streams_of_different_paths_differ() {
    let mut first_numbers = std::collections::HashSet::new();
    for seed in 0..10 {
        for setting in 0..10 {
            for run in 0..10 {
                first_numbers.insert(Random::stream(seed, &[setting, run]).next_u64());
            }
            first_numbers.insert(Random::stream(seed, &[setting]).next_u64());
        }
        first_numbers.insert(Random::stream(seed, &[]).next_u64());
    }
    assert_eq!(first_numbers.len(), 1000 + 100 + 10);
    assert_eq!(Random::stream(1, &[2, 3]), Random::stream(1, &[2, 3]));
}

/// χ² of `below(n)`: within 6 standard deviations of its mean n − 1.
#[test]
fn below_is_even() {
    for n in [2u32, 3, 5, 6, 7, 10, 100] {
        let mut random = Random::from_seed(u64::from(n));
        let n_draws = 200_000;
        let mut counts = vec![0.0f64; n as usize];
        for _ in 0..n_draws {
            counts[random.below(n) as usize] += 1.0;
        }
        let expected = f64::from(n_draws) / f64::from(n);
        let chi_square: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        let freedom = f64::from(n - 1);
        assert!(chi_square < freedom + 6.0 * (2.0 * freedom).sqrt(), "below({n}): χ² = {chi_square}");
    }
    let mut random = Random::from_seed(0);
    assert_eq!((random.below(0), random.below(1)), (0, 0));
    // Where 32 bits are almost used up, a method without rejection gives every third number twice as often.
    let n = 3 << 30;
    let n_thirds = (0..90_000).map(|_| random.below(n)).filter(|x| x % 3 == 0).count();
    assert!((29_000..31_000).contains(&n_thirds), "{n_thirds}");
    assert!((0..1000).all(|_| random.below(n) < n));
}

#[test]
fn unit_and_chance_are_even() {
    let mut random = Random::from_seed(1);
    let n = 200_000;
    let mut sum = 0.0;
    for _ in 0..n {
        let unit = random.unit();
        assert!((0.0..1.0).contains(&unit));
        sum += unit;
    }
    assert!((sum / f64::from(n) - 0.5).abs() < 0.004, "mean {}", sum / f64::from(n));
    let hits = (0..n).filter(|_| random.chance(0.05)).count();
    assert!((9_500..10_500).contains(&hits), "{hits}");
    assert!((0..1000).all(|_| !random.chance(0.0) && random.chance(1.0)));
}
