//! What held-out cases say: formulas by hand, intervals against the truth, and a hidden state that must not look like a
//! success.

use crate::common::{World, case, count, draw, full_policy, learned};
use backsweep::Random;
use backsweep_learn::off_policy::HeldOut;
use backsweep_learn::{Cases, Estimate, LearnSettings, PolicyFinding, learn};
use backsweep_log::{Case, CaseEnd};

/// Two steps, two actions each: 0 or 1 decides where the case goes and what it pays.
fn world() -> World {
    let p = vec![
        vec![vec![0.0, 0.8, 0.2], vec![0.0, 0.3, 0.7]],
        vec![vec![0.0, 0.0, 0.0], vec![0.1, 0.0, 0.0]],
        vec![vec![0.0, 0.0, 0.3], vec![0.0, 0.2, 0.0]],
    ];
    fn reward(state: usize, action: usize, next: Option<usize>) -> i64 {
        [[100, 0], [300, 500], [800, 400]][state][action] + if next.is_none() { 200 } else { 0 }
    }
    World { p, reward, start: 0 }
}

fn simulate(world: &World, logged: &[Vec<f64>], n: usize, seed: u64) -> Vec<Case> {
    let mut random = Random::from_seed(seed);
    (0..n).map(|_| world.run(logged, 1000, random.below(16) as u8, &mut random)).collect()
}

fn settings(discount: f64) -> LearnSettings {
    LearnSettings { discount, min_count: 5, ..LearnSettings::default() }
}

#[test]
fn weights_and_doubly_robust_values_are_the_formulas() {
    // Training: state 0 with action 0 (12 times, pays .2) and action 1 (4 times, pays 1); b = ¾, ¼. The policy takes action 1.
    let mut cases: Vec<Case> = (0..12).map(|_| case(0, &[(0, 0, 200)], CaseEnd::Terminated)).collect();
    cases.extend((0..4).map(|_| case(1, &[(0, 1, 1000)], CaseEnd::Terminated)));
    // Held out: two cases that follow the policy and one that does not.
    cases.push(case(15, &[(0, 1, 900)], CaseEnd::Terminated));
    cases.push(case(15, &[(0, 1, 500)], CaseEnd::Terminated));
    cases.push(case(14, &[(0, 0, 300)], CaseEnd::Terminated));
    let found = learned(
        &count(1, 2, &cases),
        &cases,
        &LearnSettings { min_count: 4, discount: 1.0, ..LearnSettings::default() },
    );
    assert_eq!(found.fit.supported.probabilities, [0.0, 1.0]);
    let e = &found.evaluation;
    assert_eq!((e.n_cases, e.n_steps), ([16, 3], [16, 3]));
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    // ρ is 4 for action 1 and 0 for action 0: the mean of .9 and .5.
    close(e.importance.unwrap().policy.value, 0.7);
    close(e.effective_cases, 2.0);
    // V = Q = 1: (1 + 4(.9 − 1) + 1 + 4(.5 − 1) + 1) / 3 = (.6 − 1 + 1) / 3.
    close(e.doubly_robust.unwrap().policy.value, 0.2);
    close(e.marginal.unwrap().policy.value, 0.2);
    close(e.logged.unwrap().value, 1.7 / 3.0);
    close(e.importance.unwrap().gain.value, 0.7 - 1.7 / 3.0);
    // In the model of held-out cases action 1 pays .7.
    close(e.held_out.unwrap().policy.value, 0.7);
    close(e.covered, 1.0);
    close(e.changed, 0.75);
    assert_eq!(found.conclusion.finding, PolicyFinding::TooLittleData);
}

#[test]
fn the_weight_of_a_case_is_the_product_over_its_steps() {
    // In both states action 1 pays more and was taken in 4 of 16 steps: the policy takes it, and ρ is 4.
    let mut cases: Vec<Case> =
        (0..12).map(|_| case(0, &[(0, 0, 200), (1, 0, 0)], CaseEnd::Terminated)).collect();
    cases.extend((0..4).map(|_| case(1, &[(0, 1, 1000), (1, 1, 1000)], CaseEnd::Terminated)));
    // Held out: one case of two steps, which weighs 16, one of a single step, which weighs 4, and one that does not follow.
    cases.push(case(15, &[(0, 1, 900), (1, 1, 500)], CaseEnd::Terminated));
    cases.push(case(15, &[(0, 1, 700)], CaseEnd::Terminated));
    cases.push(case(14, &[(0, 1, 300), (1, 0, 300)], CaseEnd::Terminated));
    let found = learned(
        &count(2, 2, &cases),
        &cases,
        &LearnSettings { min_count: 4, discount: 1.0, ..LearnSettings::default() },
    );
    assert_eq!(found.fit.supported.probabilities, [0.0, 1.0, 0.0, 1.0]);
    let e = &found.evaluation;
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    close(e.importance.unwrap().policy.value, (16.0 * 1.4 + 4.0 * 0.7) / 20.0);
    close(e.effective_cases, 20.0 * 20.0 / (16.0 * 16.0 + 4.0 * 4.0));
}

/// Weights that do not add up to the number of cases show that the policy goes where no held-out case went.
#[test]
fn visits_that_no_held_out_case_made_are_missed() {
    let mut cases: Vec<Case> = (0..12).map(|_| case(0, &[(0, 0, 200)], CaseEnd::Terminated)).collect();
    cases.extend((0..4).map(|_| case(1, &[(0, 1, 1000)], CaseEnd::Terminated)));
    // ρ = 4 for 30 of 400 held-out cases: a mean weight of .3, where 1 is expected.
    let held_out = (0..400).map(|i| if i < 30 { (1, 900) } else { (0, 300) });
    cases.extend(held_out.map(|(action, reward)| case(15, &[(0, action, reward)], CaseEnd::Terminated)));
    let settings = LearnSettings { min_count: 4, discount: 1.0, ..LearnSettings::default() };
    let found = learned(&count(1, 2, &cases), &cases, &settings);
    let e = &found.evaluation;
    assert!((e.effective_cases - 30.0).abs() < 1e-9 && (0.38..0.43).contains(&e.reached), "{}", e.reached);
    let Estimate { value, low, high } = e.importance.unwrap().policy;
    assert!((value - 0.9).abs() < 1e-9 && low == f64::NEG_INFINITY && high == f64::INFINITY, "{low}");
    assert_eq!(found.conclusion.finding, PolicyFinding::TooLittleData);
    assert!(
        found.conclusion.reasons[0].contains("% of the policy's visits"),
        "{:?}",
        found.conclusion.reasons
    );
}

#[test]
fn a_cut_case_continues_with_the_fitted_value() {
    let mut cases: Vec<Case> =
        (0..20).map(|i| case(i % 13, &[(0, 0, 1000), (1, 0, 500)], CaseEnd::Terminated)).collect();
    cases.push(case(15, &[(0, 0, 1000)], CaseEnd::Truncated(1)));
    let found = learned(&count(2, 1, &cases), &cases, &LearnSettings { discount: 0.5, ..settings(0.5) });
    let e = &found.evaluation;
    // 1 + ½ · V(1), V(1) = .5.
    for value in
        [e.logged.unwrap().value, e.importance.unwrap().policy.value, e.doubly_robust.unwrap().policy.value]
    {
        assert!((value - 1.25).abs() < 1e-6, "{value}");
    }
}

/// The share of runs whose intervals contain the truth, for each of the four kinds.
#[test]
fn intervals_contain_the_truth_about_as_often_as_they_claim() {
    let world = world();
    let logged = vec![vec![0.6, 0.4], vec![0.5, 0.5], vec![0.7, 0.3]];
    let logged_value = world.values(&logged, 0.9)[0];
    let mut hits = [0; 6];
    const RUNS: usize = 100;
    for run in 0..RUNS {
        let cases = simulate(&world, &logged, 2000, run as u64);
        let found = learned(&count(3, 2, &cases), &cases, &settings(0.9));
        let truth = world.values(&full_policy(&found, &logged), 0.9)[0];
        let e = &found.evaluation;
        let estimates = [
            (e.logged.unwrap(), logged_value),
            (e.importance.unwrap().policy, truth),
            (e.doubly_robust.unwrap().policy, truth),
            (e.held_out.unwrap().policy, truth),
            (e.logged_training, logged_value),
            (e.marginal.unwrap().gain, truth - logged_value),
        ];
        for (hits, (estimate, truth)) in hits.iter_mut().zip(estimates) {
            assert!(estimate.low <= estimate.value && estimate.value <= estimate.high, "{estimate:?}");
            *hits += usize::from(estimate.low <= truth && truth <= estimate.high);
        }
    }
    // 95 of 100 expected; a binomial is below 87 with a probability of less than 1 %. Intervals by weighted importance sampling are
    // known to be narrow: few cases carry the weight, and the logged probabilities they divide by are estimates too.
    assert!(hits.iter().enumerate().all(|(i, &hits)| hits >= if i == 1 { 80 } else { 87 }), "{hits:?}");
}

#[test]
fn the_gain_is_resampled_with_the_log() {
    let world = world();
    let logged = vec![vec![0.6, 0.4], vec![0.5, 0.5], vec![0.7, 0.3]];
    let cases = simulate(&world, &logged, 20_000, 7);
    let found = learned(&count(3, 2, &cases), &cases, &settings(0.9));
    let e = &found.evaluation;
    let truth = world.values(&full_policy(&found, &logged), 0.9)[0] - world.values(&logged, 0.9)[0];
    assert!(truth > 0.02, "{truth}");
    for gain in [e.importance.unwrap().gain, e.doubly_robust.unwrap().gain, e.held_out.unwrap().gain] {
        assert!(gain.low <= truth && truth <= gain.high, "{gain:?} {truth}");
    }
    assert_eq!(found.conclusion.finding, PolicyFinding::Better, "{:?}", found.conclusion);
    let memory = e.history.unwrap();
    assert!(memory.correlation < 0.05 && memory.errors < 4.0, "{memory:?}");
    // Predictions match what followed.
    let off = e
        .calibration
        .iter()
        .filter(|bin| !(bin.observed.low..=bin.observed.high).contains(&bin.predicted))
        .count();
    assert!(e.calibration.len() > 2 && off <= 1, "{:?}", e.calibration);
}

#[test]
fn counts_alone_give_hold_out_and_jackknife_and_say_what_is_missing() {
    let world = world();
    let logged = vec![vec![0.6, 0.4], vec![0.5, 0.5], vec![0.7, 0.3]];
    let cases = simulate(&world, &logged, 5000, 3);
    let found = learned(&count(3, 2, &cases), &[], &settings(0.9));
    let e = &found.evaluation;
    assert!(
        e.importance.is_none()
            && e.doubly_robust.is_none()
            && e.history.is_none()
            && e.calibration.is_empty()
    );
    assert_eq!(found.conclusion.finding, PolicyFinding::NotTested);
    assert!(found.conclusion.reasons[0].contains("need whole cases"), "{:?}", found.conclusion.reasons);
    let truth = world.values(&full_policy(&found, &logged), 0.9)[0];
    let held_out = e.held_out.unwrap();
    assert!(held_out.policy.low <= truth && truth <= held_out.policy.high, "{held_out:?} {truth}");
    assert!(held_out.gain.low <= held_out.gain.value && held_out.gain.high.is_finite());
    // With the cases the same model gives the same value, with a bootstrap interval.
    let with_cases = learned(&count(3, 2, &cases), &cases, &settings(0.9)).evaluation.held_out.unwrap();
    assert!((with_cases.policy.value - held_out.policy.value).abs() < 1e-9);
    let ratio =
        (held_out.policy.high - held_out.policy.low) / (with_cases.policy.high - with_cases.policy.low);
    assert!((0.3..6.0).contains(&ratio), "{ratio}");
}

/// Patients who are sicker than the state shows are treated more often, and on the whole treatment harms a little more than
/// it helps: whoever is not treated was healthy to begin with. The state shows only a symptom that comes and goes.
fn hidden(n: usize, seed: u64) -> (Vec<Case>, f64, f64) {
    let mut random = Random::from_seed(seed);
    let mut total = 0.0;
    let mut cases = Vec::new();
    for _ in 0..n {
        let (sick, fold) = (random.chance(0.5), random.below(16) as u8);
        let mut steps = Vec::new();
        for t in 0..3 {
            let symptom = u32::from(random.chance(if sick { 0.6 } else { 0.4 }));
            let treated = random.chance(if sick { 0.9 } else { 0.1 });
            let paid = if t == 2 { i64::from(random.chance(chance(sick, treated))) * 1000 } else { 0 };
            total += paid as f64 / 1000.0;
            steps.push((symptom + 2 * t, u32::from(treated), paid));
        }
        cases.push(case(fold, &steps, CaseEnd::Terminated));
    }
    // Never treating: the sick die.
    let never = 0.5 * chance(true, false) + 0.5 * chance(false, false);
    (cases, total / n as f64, never)
}

fn chance(sick: bool, treated: bool) -> f64 {
    match (sick, treated) {
        (true, true) => 0.6,
        (true, false) => 0.1,
        (false, _) => 0.9,
    }
}

#[test]
fn a_hidden_state_does_not_read_as_a_success() {
    let (cases, logged, never) = hidden(20_000, 5);
    let found =
        learned(&count(6, 2, &cases), &cases, &LearnSettings { discount: 1.0, ..LearnSettings::default() });
    // The fitted model is sure of an improvement, and wrong about its sign.
    let e = &found.evaluation;
    assert!(logged - never > 0.1, "{logged} {never}");
    assert!(e.training.value > logged + 0.05 && e.held_out.unwrap().gain.low > 0.0, "{:?}", e.training);
    assert_eq!(
        found.conclusion.finding,
        PolicyFinding::Contradicted,
        "{:?} {:?}",
        found.conclusion,
        e.history
    );
    assert!(
        found.conclusion.reasons[0].contains("the states lack something"),
        "{:?}",
        found.conclusion.reasons
    );
}

#[test]
fn no_finding_promises_anything() {
    use PolicyFinding::*;
    for finding in [NotTested, TooLittleData, Contradicted, NoDifference, Worse, Better] {
        let words = finding.words();
        assert!(
            !["guarantee", "safe", "proven", "success", "optimal"].iter().any(|word| words.contains(word)),
            "{words}"
        );
    }
}

#[test]
fn the_same_log_gives_the_same_bytes_with_any_number_of_threads() {
    let world = world();
    let logged = vec![vec![0.6, 0.4], vec![0.5, 0.5], vec![0.7, 0.3]];
    let cases = simulate(&world, &logged, 2000, 11);
    let counts = count(3, 2, &cases);
    let page = |threads: usize| {
        let found = learned(&counts, &cases, &LearnSettings { threads, ..settings(0.9) });
        (
            backsweep_learn::output::summary(&found).to_string(),
            backsweep_learn::report::html(&counts, &found, &[]),
        )
    };
    assert_eq!(page(1), page(4));
}

#[test]
fn without_weights_there_are_no_effective_cases() {
    let nothing = HeldOut::default();
    assert_eq!((nothing.effective_sample_size(), nothing.history), (0.0, None));
    let mut random = Random::from_seed(1);
    assert_eq!(draw(&[0.0, 1.0], &mut random), 1);
}

#[test]
fn a_case_of_unknown_states_is_refused() {
    let cases = [case(15, &[(9, 0, 0)], CaseEnd::Terminated)];
    let counts = count(1, 1, &[case(0, &[(0, 0, 0)], CaseEnd::Terminated)]);
    let found = learn(
        &counts,
        Cases { cases: &cases, decimals: 3, ..Cases::default() },
        &settings(0.9),
        crate::common::GO_ON,
    );
    assert_eq!(found.err(), Some(backsweep_learn::Error::ForeignCase));
}

/// Training: 10 cases from state 0 by action 0 to state 1, 10 by action 1 to state 2; both pay there, 1 and 0.5.
#[test]
fn marginal_weights_are_visits_over_logged_steps() {
    let way = |action: u32, paid: i64| [(0, action, 0), (1 + action, 0, paid)];
    let mut cases: Vec<Case> = (0..10).map(|_| case(0, &way(0, 1000), CaseEnd::Terminated)).collect();
    cases.extend((0..10).map(|_| case(1, &way(1, 500), CaseEnd::Terminated)));
    cases.push(case(15, &way(0, 400), CaseEnd::Terminated));
    cases.push(case(15, &way(1, 900), CaseEnd::Terminated));
    let found = learned(&count(3, 2, &cases), &cases, &settings(0.5));
    // The policy goes to state 1: V(0) = .5. It visits state 1 with discount .5, which half of the logged cases visit: w = 1, and
    // w = 2 for action 0 in state 0. Scores .5 + 2 (.5 · 1 − .5) + 1 (.4 − 1) and .5.
    let marginal = found.evaluation.marginal.unwrap();
    assert!((marginal.policy.value - (-0.1 + 0.5) / 2.0).abs() < 1e-6, "{marginal:?}");
    assert!((marginal.gain.value - (0.2 - (0.2 + 0.45) / 2.0)).abs() < 1e-6, "{marginal:?}");
}

/// Action 1 pays in 8 of 10 cases and action 0 in 4 of 10; each was taken by half.
fn one_step(n: u8) -> Vec<Case> {
    let each = (0..n).flat_map(|i| {
        let fold = if i % 2 == 0 { 15 } else { 0 };
        let paid = |of_ten: u8| i64::from(i / 2 % 10 < of_ten) * 1000;
        [
            case(fold, &[(0, 0, paid(4))], CaseEnd::Terminated),
            case(fold, &[(0, 1, paid(8))], CaseEnd::Terminated),
        ]
    });
    each.collect()
}

#[test]
fn what_one_step_cannot_show_is_said_with_how_strong_it_would_have_to_be() {
    let cases = one_step(200);
    let found = learned(&count(1, 2, &cases), &cases, &settings(1.0));
    let (e, conclusion) = (&found.evaluation, &found.conclusion);
    assert_eq!((conclusion.finding, conclusion.is_checked), (PolicyFinding::Better, false));
    assert_eq!(conclusion.words(), "supported by held-out cases (hidden factors not checked)");
    // A factor Λ takes .5 (1 − 1/Λ) · .2 Λ from the gain of .2: half of the decisions are moved, and of the lowest 1 / (1 + Λ)
    // returns the mean is .2 Λ lower.
    let sensitivity = e.sensitivity.unwrap();
    assert!((e.marginal.unwrap().gain.value - 0.2).abs() < 1e-6);
    assert!((sensitivity.gain.unwrap() - 3.0).abs() < 0.01, "{sensitivity:?}");
    let undone = sensitivity.finding.unwrap();
    assert!(undone > 1.2 && undone < 3.0, "{sensitivity:?}");
    let said = format!("by a factor of {undone:.2} could undo this finding; by 3.00");
    assert!(conclusion.reasons.iter().any(|reason| reason.contains(&said)), "{:?}", conclusion.reasons);
}

#[test]
fn a_gain_that_turns_round_is_named_and_one_that_lasts_is_not() {
    let mut random = Random::from_seed(9);
    let mut cases: Vec<Case> = Vec::new();
    for i in 0..3_000 {
        let (action, turned) = (random.below(2), i >= 2_000);
        let paid = if (action == 1) != turned { 0.7 } else { 0.5 };
        let paid = i64::from(random.chance(paid)) * 1000;
        cases.push(case(random.below(16) as u8, &[(0, action, paid)], CaseEnd::Terminated));
    }
    let finding = |order: Vec<u32>| {
        let cases = Cases { cases: &cases, decimals: 3, order: &order, ..Cases::default() };
        learn(&count(1, 2, cases.cases), cases, &settings(1.0), crate::common::GO_ON).unwrap()
    };
    let found = finding((0..3_000).collect());
    let drift = found.evaluation.drift.as_ref().unwrap();
    assert!(drift.errors > 5.0 && drift.periods[2].high < 0.0, "{drift:?}");
    assert_eq!(found.conclusion.finding, PolicyFinding::Unstable);
    assert!(found.conclusion.reasons.iter().any(|reason| reason.contains("The gain drifts")));
    // In any other order the same cases show nothing.
    let mixed = finding((0..3_000_u32).map(|i| i.wrapping_mul(2_654_435_761) >> 8).collect());
    assert!(mixed.evaluation.drift.unwrap().errors < 3.5);
    let unknown = finding(Vec::new());
    assert_eq!(unknown.evaluation.drift, None);
    let said = "Not checked: whether the gain changes with time";
    assert!(unknown.conclusion.reasons.iter().any(|reason| reason.contains(said)));
}

/// Rare large rewards: Student's interval alone misses a mean that is larger than it seems.
#[test]
fn a_mean_of_rare_rewards_has_more_room_above() {
    let mut cases: Vec<Case> = (0..60).map(|_| case(0, &[(0, 0, 0)], CaseEnd::Terminated)).collect();
    cases.extend((0..60).map(|i| case(15, &[(0, 0, if i < 3 { 20_000 } else { 0 })], CaseEnd::Terminated)));
    let value = learned(&count(1, 1, &cases), &cases, &settings(1.0)).evaluation.marginal.unwrap().policy;
    assert!(value.high - value.value > 1.3 * (value.value - value.low), "{value:?}");
}

/// Everyone was given the treatment by a coin whose weight is known and differs from the shares in the training cases.
#[test]
fn known_probabilities_replace_the_logged_shares() {
    let mut cases: Vec<Case> = (0..12).map(|_| case(0, &[(0, 0, 200)], CaseEnd::Terminated)).collect();
    cases.extend((0..4).map(|_| case(1, &[(0, 1, 1000)], CaseEnd::Terminated)));
    cases.push(case(15, &[(0, 1, 900)], CaseEnd::Terminated));
    cases.push(case(14, &[(0, 0, 300)], CaseEnd::Terminated));
    for case in &mut cases {
        case.steps[0].propensity = 500_000_000;
    }
    let found = learned(
        &count(1, 2, &cases),
        &cases,
        &LearnSettings { min_count: 4, discount: 1.0, ..LearnSettings::default() },
    );
    // ρ = 2, not 4: V = Q = 1, so (1 + 2 (.9 − 1) + 1) / 2.
    for found in [found.evaluation.marginal, found.evaluation.doubly_robust] {
        assert!((found.unwrap().policy.value - 0.9).abs() < 1e-6, "{found:?}");
    }
}

/// Where transitions are certain, both doubly robust values are nearly the same function of the shares in the training cases. Their
/// difference has hardly any spread and no meaning; no finding rests on it.
#[test]
fn a_certain_course_of_events_is_no_contradiction() {
    for seed in 0..40 {
        let mut random = Random::from_seed(seed);
        let cases: Vec<_> = (0..1_000)
            .map(|i| {
                let skips = random.below(2);
                let hours = if skips == 1 { 1 + random.below(5) } else { 6 + random.below(7) };
                let steps = [(0, 2, 0), (1, skips, -1000 * i64::from(hours)), (2, 2, 0)];
                case((i % 16) as u8, &steps, CaseEnd::Terminated)
            })
            .collect();
        let found = learned(&count(3, 3, &cases), &cases, &settings(1.0));
        assert_ne!(found.conclusion.finding, PolicyFinding::Contradicted, "seed {seed}");
    }
}
