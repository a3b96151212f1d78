//! The exact answer to any question without discount, by trying every policy in rational numbers.

use crate::ask::About;
use crate::exact::{Chain, Model, Number, Value};
use backsweep_mdp::Direction;
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;

/// What a chain is worth; `None` where its total is not defined (rewards that go up and down forever).
pub fn worth(chain: &Chain, about: About) -> Vec<Option<Value>> {
    let finite = |values: Vec<Number>| values.into_iter().map(|v| Some(Value::Finite(v))).collect();
    match about {
        About::Reach { goal, avoid } => {
            finite(chain.reach(&member(goal, chain.n()), &member(avoid, chain.n())))
        }
        About::RewardUntil { goal, .. } => {
            chain.until(&member(goal, chain.n())).into_iter().map(Some).collect()
        }
        About::TotalReward { .. } => chain.total(),
        About::Average { .. } => finite(chain.average()),
        About::ReachWithin { .. } | About::Horizon { .. } => {
            panic!("a policy of a number of steps is no chain")
        }
    }
}

/// The best value of each state; `None` where it is not defined for every policy.
pub fn answer(model: &Model, about: About, direction: Direction) -> Vec<Option<Value>> {
    let n = model.n();
    let steps = |steps, start, fixed: &dyn Fn(usize) -> bool, discount: Option<&Number>| {
        let values = induct(model, direction, steps, start, fixed, discount);
        values.into_iter().map(|value| Some(Value::Finite(value))).collect()
    };
    match about {
        About::Horizon { steps: n_steps, discount, .. } => {
            let discount = Number::from_float(discount).expect("finite");
            steps(n_steps, vec![Number::zero(); n], &|_| false, Some(&discount))
        }
        About::ReachWithin { goal, avoid, steps: n_steps } => {
            let (goal, avoid) = (member(goal, n), member(avoid, n));
            let start = goal.iter().map(|&goal| if goal { Number::one() } else { Number::zero() }).collect();
            steps(n_steps, start, &|s| goal[s] || avoid[s], None)
        }
        _ => {
            let better = if direction == Direction::Maximize { Ordering::Greater } else { Ordering::Less };
            let pick = |(b, v): (Option<Value>, Option<Value>)| {
                let (b, v) = (b?, v?);
                Some(if v.cmp(&b) == better { v } else { b })
            };
            let all = model.policies().into_iter().map(|policy| worth(&model.chain(&policy), about));
            let best = all.reduce(|best, next| best.into_iter().zip(next).map(pick).collect());
            let mut best = best.expect("there is a policy");
            if let (About::RewardUntil { goal, .. }, Direction::Minimize) = (about, direction) {
                earn_before(model, &member(goal, n), &mut best);
            }
            best
        }
    }
}

/// Minus infinity where a loop that earns can be used before the goal is reached for certain.
fn earn_before(model: &Model, goal: &[bool], values: &mut [Option<Value>]) {
    let n = model.n();
    let chains = || model.policies().into_iter().map(|policy| model.chain(&policy));
    let sure: Vec<bool> = chains().fold(vec![false; n], |sure, chain| {
        let reached = chain.reach(goal, &[]);
        sure.iter().zip(reached).map(|(sure, p)| *sure || p.is_one()).collect()
    });
    // The model with only the choices that stay where the goal is certain.
    let mut safe = model.clone();
    for (s, choices) in safe.states.iter_mut().enumerate() {
        let full = |arcs: &[(usize, Number)]| arcs.iter().map(|arc| arc.1.clone()).sum::<Number>().is_one();
        choices.retain(|c| sure[s] && !goal[s] && full(&c.arcs) && c.arcs.iter().all(|arc| sure[arc.0]));
    }
    for policy in safe.policies() {
        let chain = safe.chain(&policy);
        for s in (0..n).filter(|&s| sure[s] && !goal[s]) {
            if chain.classes(s).iter().any(|(mean, _)| mean.is_negative()) {
                values[s] = Some(Value::Minus);
            }
        }
    }
}

/// Backward induction; `fixed` states keep their value. Rewards count if there is a discount.
fn induct(
    model: &Model,
    direction: Direction,
    steps: u64,
    start: Vec<Number>,
    fixed: &dyn Fn(usize) -> bool,
    discount: Option<&Number>,
) -> Vec<Number> {
    (0..steps).fold(start, |v, _| {
        let worth = |s: usize| {
            let values = model.states[s].iter().map(|choice| {
                let next: Number = choice.arcs.iter().map(|(t, p)| p * &v[*t]).sum();
                discount.map_or_else(|| next.clone(), |discount| &choice.reward + discount * &next)
            });
            let best = if direction == Direction::Maximize { values.max() } else { values.min() };
            best.unwrap_or_else(Number::zero)
        };
        (0..model.n()).map(|s| if fixed(s) { v[s].clone() } else { worth(s) }).collect()
    })
}

/// Which of `n` states are in a set.
fn member(states: &[u32], n: usize) -> Vec<bool> {
    (0..n as u32).map(|s| states.contains(&s)).collect()
}
