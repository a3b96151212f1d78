//! Intervals: a bootstrap over whole cases, and a jackknife over folds where only counts are known.

use crate::evaluation::Estimate;
use backsweep::Random;

/// The number of resamples.
const RESAMPLINGS: usize = 2000;
/// Beyond this many cases, neighbours are drawn together. Cases are in the order of a hash, so neighbours form a random group.
const MAX_UNITS: usize = 10_000;

/// 97.5 % quantiles of Student's t for 1 to 15 degrees of freedom.
const STUDENT: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
];

/// The numbers that are summed over cases: `N` numbers per case.
pub type CaseSums<const N: usize> = [f64; N];

/// 95 % intervals of statistics of the sums over cases, drawn with replacement. `statistics` turns sums into `M` numbers; a
/// resample for which one is undefined (NaN) is ignored for that one.
pub fn intervals<const N: usize, const M: usize>(
    cases: &[CaseSums<N>],
    statistics: impl Fn(&CaseSums<N>) -> [f64; M],
) -> [(f64, f64); M] {
    let size = cases.len().div_ceil(MAX_UNITS).max(1);
    let units: Vec<CaseSums<N>> = cases.chunks(size).map(total).collect();
    let mut random = Random::from_seed(0);
    let mut drawn: [Vec<f64>; M] = [const { Vec::new() }; M];
    for _ in 0..RESAMPLINGS {
        let mut sums = [0.0; N];
        for _ in 0..units.len() {
            add(&mut sums, &units[random.below(units.len() as u32) as usize]);
        }
        for (drawn, number) in drawn.iter_mut().zip(statistics(&sums)) {
            drawn.extend((!number.is_nan()).then_some(number));
        }
    }
    drawn.map(|mut numbers| {
        numbers.sort_by(f64::total_cmp);
        (quantile(&numbers, 0.025), quantile(&numbers, 0.975))
    })
}

/// Intervals of means are this much wider than their quantile says. Without it they contain the truth in 93 to 96 % of simulated
/// logs (`scripts/coverage`), since the weights of the numbers are estimates too.
const WIDER: f64 = 1.08;

/// The mean of independent numbers with its 95 % interval; infinitely wide for fewer than two. Student's interval, with ends that
/// Hall's transformation (1992) moves where the numbers are skewed: the mean of rare large rewards errs to one side.
pub(crate) fn mean_interval(numbers: &[f64]) -> Estimate {
    let n = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    if n < 2.0 {
        return Estimate::around(mean, f64::INFINITY);
    }
    let moment = |power: i32| numbers.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
    let variance = moment(2);
    let error = (variance / (n - 1.0)).sqrt();
    let skewness = if variance > 0.0 { moment(3) / variance.powf(1.5) / n.sqrt() } else { 0.0 };
    // The inverse of t + s (t² / 3 + 1 / 6) + s² t³ / 27, s the skewness of the mean.
    let moved = |t: f64| match skewness {
        s if s.abs() < 1e-6 => t,
        s => 3.0 / s * ((1.0 + s * (t - s / 6.0)).cbrt() - 1.0),
    };
    let t = WIDER * student(numbers.len() - 1);
    Estimate { value: mean, low: mean - error * moved(t), high: mean - error * moved(-t) }
}

/// The 97.5 % quantile of Student's t.
fn student(degrees: usize) -> f64 {
    match STUDENT.get(degrees - 1) {
        Some(&quantile) => quantile,
        None => {
            // The first terms of its expansion around the normal quantile; the rest is below 0.001.
            let (z, n) = (1.959_964_f64, degrees as f64);
            z + (z.powi(3) + z) / (4.0 * n) + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * n * n)
        }
    }
}

/// The sums over all cases.
pub fn total<const N: usize>(cases: &[CaseSums<N>]) -> CaseSums<N> {
    let mut sums = [0.0; N];
    cases.iter().for_each(|case| add(&mut sums, case));
    sums
}

fn add<const N: usize>(sums: &mut CaseSums<N>, case: &CaseSums<N>) {
    sums.iter_mut().zip(case).for_each(|(sum, number)| *sum += number);
}

/// The quantile of sorted numbers, interpolated between neighbours; NaN for none.
fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p * last as f64;
    let below = place as usize;
    sorted[below] + place.fract() * (sorted[(below + 1).min(last)] - sorted[below])
}

/// Half the width of the 95 % interval of a mean, from the contribution of each group of cases (these sum to 0); infinite for
/// fewer than two groups.
pub fn jackknife(influences: &[f64]) -> f64 {
    let n = influences.len();
    if n < 2 {
        return f64::INFINITY;
    }
    let squares: f64 = influences.iter().map(|x| x * x).sum();
    student(n - 1) * (n as f64 / (n - 1) as f64 * squares).sqrt()
}
