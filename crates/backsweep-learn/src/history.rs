//! A test for states that lack something that matters.
//!
//! If a state holds all that matters, what follows a state and an action does not depend on what came before. Within each pair,
//! the targets r + γ V(s') of held-out steps are therefore compared between previous actions, and between previous states and
//! actions: a state may show which treatment is running, and then only the previous state tells why it was chosen. A hidden
//! state that lasts shows up here: what was done before depended on it, and so does what follows. One that matters for a single
//! step does not.
//!
//! The same goes for the decision itself: if whether the usual action is taken in a state depends on the previous step, then
//! whoever decided knew more than the state says, and the weights π/b of importance sampling rest on a wrong b.

use serde::Serialize;
use std::collections::BTreeMap;

/// Groups with fewer steps than this are left out.
const MIN_GROUP: f64 = 5.0;

/// The correlation of the previous step with what is done, or with what follows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HistoryDependence {
    /// The square root of the share of the variance of decisions, or of what follows, that the previous step explains beyond
    /// chance; 0 to 1.
    pub correlation: f64,
    /// The distance of the explained share from what chance explains, in standard errors.
    #[serde(rename = "standard_errors")]
    pub errors: f64,
}

#[derive(Clone, Copy, Default)]
struct GroupSums {
    n: f64,
    sum: f64,
    squares: f64,
}

/// Targets of held-out steps by state, action and what came before.
#[derive(Default)]
struct Groups<K>(BTreeMap<(u32, u32), BTreeMap<K, GroupSums>>);

/// Targets of held-out steps.
#[derive(Default)]
pub(crate) struct Targets {
    by_action: Groups<u32>,
    by_step: Groups<(u32, u32)>,
    decisions: Groups<(u32, u32)>,
}

impl Targets {
    /// Adds what followed a step; steps are given by state and action.
    pub fn add(&mut self, step: (u32, u32), previous: (u32, u32), target: f64) {
        self.by_action.add(step, previous.1, target);
        self.by_step.add(step, previous, target);
    }

    /// Adds whether the usual action was taken in a state.
    pub fn add_decision(&mut self, state: u32, previous: (u32, u32), is_usual: bool) {
        self.decisions.add((state, 0), previous, f64::from(u8::from(is_usual)));
    }

    /// The comparison that is furthest beyond chance.
    pub fn dependence(&self) -> Option<HistoryDependence> {
        let found = [self.by_action.dependence(), self.by_step.dependence(), self.decisions.dependence()];
        found.into_iter().flatten().max_by(|a, b| a.errors.total_cmp(&b.errors))
    }
}

impl<K: Ord> Groups<K> {
    fn add(&mut self, step: (u32, u32), previous: K, target: f64) {
        let group = self.0.entry(step).or_default().entry(previous).or_default();
        group.n += 1.0;
        group.sum += target;
        group.squares += target * target;
    }

    fn dependence(&self) -> Option<HistoryDependence> {
        // Over all pairs: the squares between groups and in total, what chance expects between groups, the statistic and its
        // degrees.
        let (mut between, mut total, mut expected, mut statistic, mut degrees) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for groups in self.0.values() {
            let groups: Vec<&GroupSums> = groups.values().filter(|group| group.n >= MIN_GROUP).collect();
            if groups.len() < 2 {
                continue;
            }
            let n: f64 = groups.iter().map(|group| group.n).sum();
            let mean = groups.iter().map(|group| group.sum).sum::<f64>() / n;
            let squares: f64 = groups.iter().map(|group| group.squares).sum::<f64>() - n * mean * mean;
            let of_groups: f64 =
                groups.iter().map(|group| group.n * (group.sum / group.n - mean).powi(2)).sum();
            let variance = squares / (n - 1.0);
            if variance <= 1e-12 * mean * mean || variance <= 0.0 {
                continue;
            }
            let free = groups.len() as f64 - 1.0;
            between += of_groups;
            total += squares;
            expected += free * variance;
            statistic += of_groups / variance;
            degrees += free;
        }
        (degrees > 0.0).then(|| HistoryDependence {
            correlation: ((between - expected) / total).max(0.0).sqrt(),
            errors: (statistic - degrees) / (2.0 * degrees).sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use backsweep::Random;

    #[test]
    fn chance_is_not_taken_for_memory_and_memory_is_seen() {
        let mut random = Random::from_seed(3);
        let (mut chance, mut hidden) = (Targets::default(), Targets::default());
        for _ in 0..20_000 {
            let (state, action, previous) = (random.below(20), random.below(3), random.below(3));
            let (step, previous) = ((state, action), (random.below(2), previous));
            chance.add(step, previous, f64::from(random.chance(0.3)));
            hidden.add(step, previous, f64::from(random.chance(if previous.1 == 0 { 0.3 } else { 0.5 })));
        }
        let (chance, hidden) = (chance.dependence().unwrap(), hidden.dependence().unwrap());
        assert!(chance.correlation < 0.05 && chance.errors.abs() < 3.0, "{chance:?}");
        // A third at .3 and two thirds at .5: variance between .0089 of .2456, a correlation of .19.
        assert!((hidden.correlation - 0.19).abs() < 0.02 && hidden.errors > 20.0, "{hidden:?}");
        assert_eq!(Targets::default().dependence(), None);
    }

    #[test]
    fn the_state_before_tells_what_a_state_with_the_last_action_in_it_does_not() {
        let mut random = Random::from_seed(4);
        let mut targets = Targets::default();
        for _ in 0..20_000 {
            // The state names the previous action, which alone says nothing.
            let (before, previous) = (random.below(4), random.below(2));
            targets.add(
                (previous, 0),
                (before, previous),
                f64::from(random.chance(if before == 0 { 0.3 } else { 0.5 })),
            );
        }
        let found = targets.dependence().unwrap();
        assert!((found.correlation - 0.17).abs() < 0.03 && found.errors > 20.0, "{found:?}");
        assert_eq!(targets.by_action.dependence(), None);
    }
}
