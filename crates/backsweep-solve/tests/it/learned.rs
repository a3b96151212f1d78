//! The model that an agent has learned, as an MDP.

use backsweep::planner::{Model, Outcome};
use backsweep::{Action, Next, State};
use backsweep_solve::learned_mdp;

#[test]
fn a_learned_model_is_a_model() {
    let mut model = Model::with_states([2, 1]).unwrap();
    let outcomes = [
        Outcome { probability: 0.75, reward: 4.0, next: Next::Continue(State(1)) },
        Outcome { probability: 0.25, reward: 0.0, next: Next::Terminated },
    ];
    model.set_outcomes(State(0), Action(1), &outcomes).unwrap();
    let mdp = learned_mdp(&model).unwrap();
    assert_eq!((mdp.choice_starts(), mdp.arc_starts()), (&[0, 1, 1][..], &[0, 1][..]));
    assert_eq!((mdp.targets(), mdp.probabilities()), (&[1][..], &[0.75][..]));
    assert_eq!(mdp.expected_rewards(None).unwrap(), [3.0]);
    // The first action of state 0 was never tried.
    assert_eq!(mdp.action_name(0), "1");
    assert!(mdp.can_end(0));
}
