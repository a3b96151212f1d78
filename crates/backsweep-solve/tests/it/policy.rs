//! A given policy is judged by its own values, the gap to the best, and where it loses.

use backsweep::Random;
use backsweep_mdp::{Direction, Label, Mdp, MdpBuilder, Objective, Question, Rewards};
use backsweep_solve::{Limits, MixedPolicy, evaluate, simulate, solve};

fn limits() -> Limits<'static> {
    Limits { tolerance: 1e-9, ..Limits::default() }
}

/// A random model: rows lead to random states, some end; rewards of both signs.
fn random_mdp(random: &mut Random) -> Mdp {
    let n = 2 + random.below(8);
    let mut builder = MdpBuilder::default();
    let mut rewards = Vec::new();
    for _ in 0..n {
        for _ in 0..1 + random.below(3) {
            let weights = [random.unit(), random.unit(), random.unit()];
            let sum: f64 = weights.iter().sum::<f64>() + 0.2 * random.unit();
            builder.add_choice(weights.map(|w| (random.below(n), w / sum)));
            rewards.push(2.0 * random.unit() - 1.0);
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().unwrap();
    mdp.rewards = vec![Rewards { choices: rewards, ..Rewards::default() }];
    mdp.labels = vec![Label { name: "goal".to_owned(), states: vec![n - 1] }];
    mdp
}

fn random_policy(mdp: &Mdp, random: &mut Random) -> MixedPolicy {
    let row = |state: usize, random: &mut Random| {
        let weights: Vec<f64> = mdp.choices_of(state).map(|_| random.unit()).collect();
        let sum: f64 = weights.iter().sum();
        mdp.choices_of(state).zip(weights).map(|(c, w)| (c as u32, w / sum)).collect()
    };
    MixedPolicy { choices: (0..mdp.n_states()).map(|state| row(state, random)).collect() }
}

/// The values of a policy by many plain sweeps.
fn by_sweeps(mdp: &Mdp, policy: &MixedPolicy, discount: f64, goal: Option<u32>) -> Vec<f64> {
    let mut values = vec![0.0; mdp.n_states()];
    for _ in 0..20_000 {
        let backup = |state: usize| {
            if goal == Some(state as u32) {
                return 1.0;
            }
            let of = |&(choice, share): &(u32, f64)| {
                let (targets, probabilities) = mdp.row(choice as usize);
                let next: f64 = targets.iter().zip(probabilities).map(|(&t, p)| p * values[t as usize]).sum();
                let reward = if goal.is_some() { 0.0 } else { mdp.rewards[0].choices[choice as usize] };
                share * (reward + discount * next)
            };
            policy.choices[state].iter().map(of).sum()
        };
        values = (0..mdp.n_states()).map(backup).collect();
    }
    values
}

#[test]
fn mixed_policies_have_their_own_values() {
    let mut random = Random::from_seed(1);
    for i in 0..60 {
        let mdp = random_mdp(&mut random);
        let policy = random_policy(&mdp, &mut random);
        let goal = mdp.labels[0].states[0];
        let reach = Objective::Reach { goal: "goal".to_owned(), avoid: None, steps: None };
        let discounted = Objective::Discounted { reward: None, discount: 0.95 };
        for (objective, discount, goal) in [(discounted, 0.95, None), (reach, 1.0, Some(goal))] {
            for direction in [Direction::Maximize, Direction::Minimize] {
                let question = Question { objective: objective.clone(), direction };
                let found = evaluate(&mdp, &question, &policy, &limits()).unwrap();
                assert!(found.own.converged && found.best.converged, "{i}: {question}");
                let expected = by_sweeps(&mdp, &policy, discount, goal);
                for (state, &value) in expected.iter().enumerate() {
                    let (lower, upper) = (found.own.lower[state], found.own.upper[state]);
                    assert!(
                        lower - 1e-11 <= value && value <= upper + 1e-11,
                        "{i}: {question}: {value} {lower} {upper}"
                    );
                    let (least, most) = found.gap(state, direction);
                    let gap = direction.sign() * (found.best.value(state) - value);
                    assert!(
                        least - 1e-8 <= gap && gap <= most + 1e-8 && gap > -1e-8,
                        "{gap}: {least} {most}"
                    );
                }
            }
        }
    }
}

#[test]
fn losses_add_up_to_the_gap_and_the_best_policy_has_none() {
    let mut random = Random::from_seed(2);
    for _ in 0..40 {
        let mut mdp = random_mdp(&mut random);
        mdp.initial = vec![0];
        let question = Objective::Discounted { reward: None, discount: 0.9 }.maximize();
        let policy = random_policy(&mdp, &mut random);
        let found = evaluate(&mdp, &question, &policy, &limits()).unwrap();
        let total: f64 = found.losses.iter().map(|loss| loss.visits * loss.per_visit).sum();
        let gap = found.best.value(0) - found.own.value(0);
        assert!((total - gap).abs() < 1e-6, "{total} {gap}");
        let best = solve(&mdp, &question, None, &limits()).unwrap();
        let best = MixedPolicy { choices: best.policy.iter().map(|&choice| vec![(choice, 1.0)]).collect() };
        let found = evaluate(&mdp, &question, &best, &limits()).unwrap();
        assert!(found.losses.is_empty(), "{:?}", found.losses);
        assert!((0..mdp.n_states()).all(|state| found.gap(state, Direction::Maximize).1 < 1e-8));
    }
}

#[test]
fn policies_that_do_not_fit_are_refused() {
    let mut random = Random::from_seed(3);
    let mdp = random_mdp(&mut random);
    let question = Objective::Discounted { reward: None, discount: 0.9 }.maximize();
    let good = random_policy(&mdp, &mut random);
    let refused = |change: &dyn Fn(&mut MixedPolicy)| {
        let mut policy = good.clone();
        change(&mut policy);
        evaluate(&mdp, &question, &policy, &limits()).unwrap_err().to_string()
    };
    assert!(refused(&|p| p.choices[0] = vec![(99, 1.0)]).starts_with("state 0: the policy takes choice 99"));
    assert!(refused(&|p| p.choices[0][0].1 = 0.0).contains("sum to"));
    assert!(refused(&|p| p.choices[0] = vec![(0, f64::NAN)]).contains("NaN"));
    assert!(refused(&|p| p.choices.clear()).contains("expected values of"));
}

#[test]
fn simulated_runs_have_the_value_on_average() {
    let mut random = Random::from_seed(4);
    let mdp = random_mdp(&mut random);
    let policy = random_policy(&mdp, &mut random);
    let expected = by_sweeps(&mdp, &policy, 0.9, None)[0];
    let run = |random: &mut Random| {
        let steps = simulate(&mdp, None, &policy, 0, 200, random).unwrap();
        for pair in steps.windows(2) {
            assert_eq!(pair[0].next, Some(pair[1].state));
        }
        steps.iter().rev().fold(0.0, |later, step| step.reward + 0.9 * later)
    };
    let n = 20_000;
    let mean = (0..n).map(|_| run(&mut random)).sum::<f64>() / f64::from(n);
    assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
    let again = |seed| simulate(&mdp, None, &policy, 0, 50, &mut Random::from_seed(seed)).unwrap();
    assert_eq!(again(7), again(7));
    assert!(simulate(&mdp, None, &policy, 99, 50, &mut random).is_err());
}
