//! What the tests without discount share: exact arithmetic, and random models that are hard on purpose.

#![allow(dead_code)]

use crate::exact::{Choice, Model, Number};
use backsweep_mdp::{Mdp, MdpBuilder, Rewards};
use num_traits::ToPrimitive;

/// A small generator, the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

/// How the rewards of a random model are signed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Signs {
    NotNegative,
    NotPositive,
    Both,
}

/// A random model: few states, many loops, end components, rewards of 0, parts that nothing reaches, terminal states, choices
/// that end the episode. Probabilities are k/m for random m, so that most are not doubles.
pub fn random_model(random: &mut Random, signs: Signs) -> Model {
    random_model_with(random, signs, 6)
}

/// The same with ends and terminal states one time in `rarity`, loops by themselves half as often.
pub fn random_model_with(random: &mut Random, signs: Signs, rarity: usize) -> Model {
    let n = if random.below(20) == 0 { 1 } else { 3 + random.below(5) };
    let mut policies = 1;
    let ratio = |a: usize, b: usize| Number::new((a as i64).into(), (b as i64).into());
    let mut states = Vec::new();
    for s in 0..n {
        let mut n_choices = if random.below(rarity) == 0 { 0 } else { [1, 1, 2, 2, 3][random.below(5)] };
        if policies * n_choices > 72 {
            n_choices = 1;
        }
        policies *= n_choices.max(1);
        let mut choices = Vec::new();
        for _ in 0..n_choices {
            let n_arcs = [1, 1, 2, 2, 3, 4][random.below(6)];
            // Some parts see only themselves.
            let part = if random.below(rarity / 2) == 0 { s..s + 1 } else { 0..n };
            let weights: Vec<usize> = (0..n_arcs).map(|_| 1 + random.below(9)).collect();
            let ends = if random.below(rarity) == 0 { 1 + random.below(4) } else { 0 };
            let sum = weights.iter().sum::<usize>() + ends;
            let mut arcs: Vec<(usize, Number)> = Vec::new();
            for w in weights {
                let target = part.start + random.below(part.len());
                arcs.push((target, ratio(w, sum)));
            }
            let size = if random.below(2) == 0 { 0 } else { 1 + random.below(20) };
            let mut reward = ratio(size, [1, 2, 3, 10][random.below(4)]);
            let negative = match signs {
                Signs::NotNegative => false,
                Signs::NotPositive => true,
                Signs::Both => random.below(2) == 0,
            };
            if negative {
                reward = -reward;
            }
            choices.push(Choice { arcs, reward });
        }
        states.push(choices);
    }
    Model { states }
}

/// A random set of states, empty now and then.
pub fn random_set(random: &mut Random, n: usize) -> Vec<u32> {
    let size = [0, 1, 1, 2, 2, 3][random.below(6)];
    (0..n as u32).filter(|_| random.below(n) < size).collect()
}

/// The model as the solver takes it, every number rounded to a double.
pub fn rounded(model: &Model) -> (Mdp, Rewards) {
    let mut builder = MdpBuilder::default();
    let mut reward = Rewards::default();
    for choices in &model.states {
        for choice in choices {
            for (t, p) in &choice.arcs {
                builder.add_arc(*t as u32, p.to_f64().expect("in range"));
            }
            builder.end_choice();
            reward.choices.push(choice.reward.to_f64().expect("in range"));
        }
        builder.end_state();
    }
    (builder.finish().unwrap(), reward)
}
