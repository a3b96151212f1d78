//! Statistics, names of methods, published points and the hash, against values worked out by hand.

use backsweep::Random;
use backsweep_lab::fnv1a;
use backsweep_lab::method::Method;
use backsweep_lab::published::{figure_1, figure_3};
use backsweep_lab::statistics::{bootstrap, deviation, interquartile_mean, mean, quantile};

#[test]
fn statistics_of_numbers_worked_by_hand() {
    let sorted = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 100.0];
    assert_eq!(interquartile_mean(&sorted), 4.5); // 3, 4, 5, 6
    assert_eq!(interquartile_mean(&[1.0, 2.0, 6.0]), (0.25 * 1.0 + 2.0 + 0.25 * 6.0) / 1.5);
    assert_eq!(interquartile_mean(&[7.0]), 7.0);
    assert_eq!(quantile(&sorted, 0.5), 4.5);
    assert_eq!(quantile(&[3.0], 0.9), 3.0);
    assert_eq!(deviation(&[1.0, 3.0]), 2f64.sqrt());
    assert_eq!(deviation(&[1.0]), 0.0);
}

#[test]
fn the_bootstrap_interval_is_that_of_the_normal_law_for_many_runs() {
    let mut random = Random::from_seed(5);
    let scores: Vec<f64> = (0..400).map(|_| (0..12).map(|_| random.unit()).sum::<f64>()).collect();
    let (low, high) = bootstrap(&scores, &mut random);
    let half = 1.96 * deviation(&scores) / 20.0;
    assert!((low - (mean(&scores) - half)).abs() < 0.2 * half, "{low}");
    assert!((high - (mean(&scores) + half)).abs() < 0.2 * half, "{high}");
}

#[test]
fn planners_have_the_same_titles_everywhere_with_a_capital() {
    for planner in backsweep_baselines::PLANNERS {
        let method = Method::from(planner.name());
        assert!(method.rank() < 6 && method.title().eq_ignore_ascii_case(planner.title()), "{method}");
        assert!(method.title().starts_with(char::is_uppercase), "{method}");
    }
    assert_eq!(Method::from("value_iteration"), Method::VALUE_ITERATION);
    assert_eq!(Method::from("my_planner").rank(), 10);
}

#[test]
fn every_published_point_is_read() {
    assert_eq!(figure_1().len(), 102);
    assert_eq!(figure_3().len(), 34);
    assert_eq!(figure_3().iter().filter(|point| point.cycles.is_none()).count(), 4);
    assert_eq!(figure_3().iter().filter(|point| point.microseconds.is_none()).count(), 4);
}

/// The test vectors of the FNV reference code.
#[test]
fn reference_values() {
    assert_eq!(fnv1a(""), 0xCBF2_9CE4_8422_2325);
    assert_eq!(fnv1a("a"), 0xAF63_DC4C_8601_EC8C);
    assert_eq!(fnv1a("foobar"), 0x8594_4171_F739_67E8);
}
