//! From rows to summaries.

use crate::hash::fnv1a;
use crate::result::{Row, SettingKey, Summary};
use backsweep::Random;

/// The number of bootstrap resamples.
const RESAMPLINGS: usize = 2000;

/// The statistics of one setting. All rows belong to this setting, and there is at least one.
///
/// The bootstrap draws from a stream that depends only on the setting's name, so the interval depends only on the rows.
pub fn summarize(key: &SettingKey, rows: &[Row]) -> Summary {
    let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
    let mut sorted = scores.clone();
    sorted.sort_by(f64::total_cmp);
    let deviation = deviation(&scores);
    let n = scores.len() as f64;
    let (low, high) = bootstrap(&scores, &mut Random::stream(0, &[fnv1a(&key.name())]));
    Summary {
        key: key.clone(),
        runs: scores.len() as u32,
        mean: mean(&scores),
        standard_error: deviation / n.sqrt(),
        low,
        high,
        iqm: interquartile_mean(&sorted),
        deviation,
        quantile_10: quantile(&sorted, 0.1),
        quantile_90: quantile(&sorted, 0.9),
        steps: rows.iter().map(|row| row.steps).sum::<u64>() as f64 / n,
        capped: rows.iter().map(|row| row.capped).sum(),
    }
}

/// The mean; NaN for none.
pub fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// The sample standard deviation (n − 1); 0 for fewer than two numbers.
pub fn deviation(numbers: &[f64]) -> f64 {
    if numbers.len() < 2 {
        return 0.0;
    }
    let mean = mean(numbers);
    (numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (numbers.len() - 1) as f64).sqrt()
}

/// The quantile of sorted numbers, interpolated between neighbors; NaN for none.
pub fn quantile(sorted: &[f64], p: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = p * last as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    sorted[below] + part * (sorted[(below + 1).min(last)] - sorted[below])
}

/// The mean of the middle half of sorted numbers: the lowest and the highest quarter of the weight are omitted; numbers at
/// the borders count partially.
pub fn interquartile_mean(sorted: &[f64]) -> f64 {
    let quarter = sorted.len() as f64 / 4.0;
    let mut sum = 0.0;
    for (i, x) in sorted.iter().enumerate() {
        let (from, to) = (i as f64, (i + 1) as f64);
        let inside = to.min(3.0 * quarter) - from.max(quarter);
        sum += x * inside.max(0.0);
    }
    sum / (2.0 * quarter)
}

/// The 95 % percentile bootstrap interval of the mean.
pub fn bootstrap(scores: &[f64], random: &mut Random) -> (f64, f64) {
    let n = scores.len() as u32;
    let mut means: Vec<f64> = (0..RESAMPLINGS)
        .map(|_| (0..n).map(|_| scores[random.below(n) as usize]).sum::<f64>() / f64::from(n))
        .collect();
    means.sort_by(f64::total_cmp);
    (quantile(&means, 0.025), quantile(&means, 0.975))
}
