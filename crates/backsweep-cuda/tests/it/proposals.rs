//! Proposals, by the plain engine, need no more than one sweep of the processor; bad ones cost time only.

use crate::common::{Shape, random_model};
use crate::host::HostEngine;
use backsweep_cuda::{Error, LayoutOptions, Prepared, Task};
use backsweep_mdp::{Direction, Mdp, Objective, Question, Rewards};
use backsweep_solve::{Limits, Start, solve, solve_from};

const SHAPE: Shape = Shape { n_states: 500, most_choices: 4, most_arcs: 6, ends: true, weights: 9 };

fn proposed(
    mdp: &Mdp,
    rewards: &[f64],
    discount: f64,
    direction: Direction,
    tolerance: f64,
    passes: usize,
) -> Start {
    let task = Task { mdp, rewards, discount, direction, tolerance, stop: &|| false, threads: 2 };
    let options = LayoutOptions { passes: Some(passes), ..LayoutOptions::default() };
    let prepared = Prepared::new(&task, &options).unwrap();
    let mut engine = HostEngine::new(&prepared.layout, &prepared.rewards, discount);
    Start { values: prepared.run(&mut engine).unwrap().values }
}

#[test]
fn one_sweep_of_the_processor_proves_a_proposal() {
    for seed in 0..40 {
        let model = random_model(seed, Shape { ends: seed % 2 == 0, ..SHAPE });
        let direction = if seed % 3 == 0 { Direction::Minimize } else { Direction::Maximize };
        let discount = [0.5, 0.9, 0.99, 0.999][seed as usize % 4];
        let mut mdp = model.mdp;
        let start = proposed(&mdp, &model.rewards, discount, direction, 1e-6, 1 + seed as usize % 3);
        mdp.rewards.push(Rewards { choices: model.rewards, ..Rewards::default() });
        let question = Question { objective: Objective::Discounted { reward: None, discount }, direction };
        let limits = Limits { tolerance: 1e-6, ..Limits::default() };
        let (proven, _) = solve_from(&mdp, &question, &start, &limits).unwrap();
        assert!(proven.converged && proven.iterations == 1, "seed {seed}: {} sweeps", proven.iterations);
        let other = solve(&mdp, &question, None, &limits).unwrap();
        for state in 0..mdp.n_states() {
            let (lower, upper) = (proven.lower[state], proven.upper[state]);
            assert!(lower <= other.upper[state] && upper >= other.lower[state], "seed {seed}, state {state}");
        }
    }
}

#[test]
fn a_wrong_proposal_changes_no_answer() {
    let model = random_model(3, SHAPE);
    let mut mdp = model.mdp;
    mdp.rewards.push(Rewards { choices: model.rewards, ..Rewards::default() });
    let question = Objective::Discounted { reward: None, discount: 0.95 }.maximize();
    let limits = Limits { tolerance: 1e-8, ..Limits::default() };
    let right = solve(&mdp, &question, None, &limits).unwrap();
    for wrong in [0.0, 1e3, -1e12, 1e149] {
        let values = (0..mdp.n_states()).map(|state| if state % 2 == 0 { wrong } else { -wrong }).collect();
        let (solution, _) = solve_from(&mdp, &question, &Start { values }, &limits).unwrap();
        assert!(solution.converged, "{wrong}");
        for state in 0..mdp.n_states() {
            assert!((solution.value(state) - right.value(state)).abs() <= 2e-8, "{wrong}, state {state}");
        }
    }
}

#[test]
fn what_does_not_fit_the_model_is_refused() {
    let model = random_model(3, SHAPE);
    let task = |rewards, discount| Task {
        mdp: &model.mdp,
        rewards,
        discount,
        direction: Direction::Maximize,
        tolerance: 1e-6,
        stop: &|| false,
        threads: 1,
    };
    let refused =
        |task: &Task| matches!(Prepared::new(task, &LayoutOptions::default()), Err(Error::Model(_)));
    assert!(!refused(&task(&model.rewards, 0.9)));
    assert!(refused(&task(&model.rewards[1..], 0.9)));
    assert!(refused(&task(&model.rewards, 1.0)));
    assert!(refused(&task(&model.rewards, f64::NAN)));
}
