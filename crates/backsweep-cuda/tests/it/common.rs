//! Random models, and sweeps as the definition has them.

use backsweep::Random;
use backsweep_mdp::{Mdp, MdpBuilder, NO_CHOICE};

/// What a random model looks like.
#[derive(Clone, Copy)]
pub struct Shape {
    pub n_states: u32,
    pub most_choices: u32,
    /// The longest row; some rows are empty if `ends`.
    pub most_arcs: u32,
    /// Whether some states have no choices, and some rows lose mass.
    pub ends: bool,
    /// Probabilities are multiples of 1 over the row's sum of weights below this.
    pub weights: u32,
}

pub struct Model {
    pub mdp: Mdp,
    pub rewards: Vec<f64>,
}

pub fn random_model(seed: u64, shape: Shape) -> Model {
    let mut random = Random::from_seed(seed);
    let mut builder = MdpBuilder::default();
    let mut rewards = Vec::new();
    for _ in 0..shape.n_states {
        let n_choices =
            if shape.ends && random.chance(0.1) { 0 } else { 1 + random.below(shape.most_choices) };
        for _ in 0..n_choices {
            let n_arcs =
                if shape.ends && random.chance(0.05) { 0 } else { 1 + random.below(shape.most_arcs) };
            let weights: Vec<f64> = (0..n_arcs).map(|_| f64::from(1 + random.below(shape.weights))).collect();
            let sum = weights.iter().sum::<f64>() + if shape.ends { f64::from(random.below(2)) } else { 0.0 };
            weights.iter().for_each(|weight| builder.add_arc(random.below(shape.n_states), weight / sum));
            builder.end_choice();
            rewards.push(2.0 * random.unit() - 1.0);
        }
        builder.end_state();
    }
    Model { mdp: builder.finish().unwrap(), rewards }
}

/// The value of a choice, summed in the order of its arcs; 0 for none.
pub fn plain_value(model: &Model, discount: f64, values: &[f64], choice: u32) -> f64 {
    if choice == NO_CHOICE {
        return 0.0;
    }
    let (targets, probabilities) = model.mdp.row(choice as usize);
    let products = targets.iter().zip(probabilities).map(|(&t, &p)| p * values[t as usize]);
    model.rewards[choice as usize] + discount * products.fold(0.0, |sum, x| sum + x)
}

/// The best value and choice of every state.
pub fn plain_sweep(model: &Model, discount: f64, values: &[f64]) -> (Vec<f64>, Vec<u32>) {
    let best = |state: usize| {
        let mut best = (0.0, NO_CHOICE);
        for choice in model.mdp.choices_of(state) {
            let value = plain_value(model, discount, values, choice as u32);
            if best.1 == NO_CHOICE || value > best.0 {
                best = (value, choice as u32);
            }
        }
        best
    };
    (0..model.mdp.n_states()).map(best).unzip()
}
