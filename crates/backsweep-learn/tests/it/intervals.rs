//! Intervals of sums over cases: those of the central limit, and of the jackknife.

use backsweep::Random;
use backsweep_learn::bootstrap::{CaseSums, intervals, jackknife};

#[test]
fn the_interval_of_a_mean_is_that_of_the_central_limit() {
    // 400 tosses of a fair coin: the mean is .5 ± 1.96 · .5 / 20 = ± .049.
    let cases: Vec<CaseSums<2>> = (0..400).map(|i| [1.0, f64::from(i % 2)]).collect();
    let [(low, high)] = intervals(&cases, |[n, sum]| [sum / n]);
    assert!((low - 0.451).abs() < 0.005 && (high - 0.549).abs() < 0.005, "{low} {high}");
}

#[test]
fn neighbours_drawn_together_give_the_same_interval() {
    let toss = |i: u64| f64::from(Random::from_seed(i).chance(0.5));
    let many: Vec<CaseSums<2>> = (0..40_000).map(|i| [1.0, toss(i)]).collect();
    let [(low, high)] = intervals(&many, |[n, sum]| [sum / n]);
    assert!(((high - low) / 2.0 - 0.0049).abs() < 0.0003, "{low} {high}");
}

#[test]
fn the_jackknife_is_that_of_the_mean() {
    // Groups 1, 2, 3 of one case each: mean 2, standard error √(1/3), t with 2 degrees of freedom.
    let influences = [-1.0 / 3.0, 0.0, 1.0 / 3.0];
    assert!((jackknife(&influences) - 4.303 * (1.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    assert_eq!(jackknife(&[0.0]), f64::INFINITY);
}
