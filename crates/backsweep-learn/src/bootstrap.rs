//! Intervals: a bootstrap over whole cases, and a jackknife over folds where only counts are known.

use backsweep::Random;

/// The number of resamples.
const RESAMPLINGS: usize = 2000;
/// Beyond this many cases, neighbours are drawn together. Cases are in the order of a hash, so neighbours form a random group.
const MAX_UNITS: usize = 10_000;

/// 97.5 % quantiles of Student's t for 1 to 15 degrees of freedom.
const STUDENT: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
];

/// What is summed over cases: `N` numbers per case.
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
    STUDENT[(n - 2).min(STUDENT.len() - 1)] * (n as f64 / (n - 1) as f64 * squares).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
