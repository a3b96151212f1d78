//! Small MDPs in rational numbers, solved by trying every policy: nothing here is shared with the solver.
//!
//! A policy makes a Markov chain. What a chain is worth follows from which states reach which (a boolean closure) and from
//! linear equations, solved by Gauss with rationals.

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

pub type Number = BigRational;

/// A value that may be infinite.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Minus,
    Finite(Number),
    Plus,
}

impl Value {
    pub fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Finite(a), Self::Finite(b)) => a.cmp(b),
            (a, b) if a == b => Ordering::Equal,
            (Self::Minus, _) | (_, Self::Plus) => Ordering::Less,
            _ => Ordering::Greater,
        }
    }

    /// Whether the value is between two doubles, compared exactly.
    pub fn between(&self, lower: f64, upper: f64) -> bool {
        let of = |x: f64| match x {
            f64::INFINITY => Self::Plus,
            f64::NEG_INFINITY => Self::Minus,
            x => Self::Finite(Number::from_float(x).expect("finite")),
        };
        of(lower).cmp(self) != Ordering::Greater && self.cmp(&of(upper)) != Ordering::Greater
    }

    pub fn approximate(&self) -> f64 {
        match self {
            Self::Minus => f64::NEG_INFINITY,
            Self::Finite(x) => x.to_f64().expect("in range"),
            Self::Plus => f64::INFINITY,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Choice {
    pub arcs: Vec<(usize, Number)>,
    pub reward: Number,
}

/// Choices per state.
#[derive(Clone, Debug)]
pub struct Model {
    pub states: Vec<Vec<Choice>>,
}

impl Model {
    pub fn n(&self) -> usize {
        self.states.len()
    }

    /// Every way to pick a choice per state; states without choices get 0.
    pub fn policies(&self) -> Vec<Vec<usize>> {
        let mut all = vec![vec![]];
        for choices in &self.states {
            all = all
                .iter()
                .flat_map(|p| (0..choices.len().max(1)).map(move |c| [&p[..], &[c]].concat()))
                .collect();
        }
        all
    }

    pub fn chain(&self, policy: &[usize]) -> Chain {
        let n = self.n();
        // State n stands for the end of the episode.
        let mut p = vec![vec![Number::zero(); n + 1]; n + 1];
        let mut reward = vec![Number::zero(); n + 1];
        p[n][n] = Number::one();
        for s in 0..n {
            let mut rest = Number::one();
            if let Some(choice) = self.states[s].get(policy[s]) {
                reward[s] = choice.reward.clone();
                for (t, probability) in &choice.arcs {
                    p[s][*t] += probability;
                    rest -= probability;
                }
            }
            p[s][n] += rest;
        }
        Chain::new(p, reward)
    }
}

pub struct Chain {
    p: Vec<Vec<Number>>,
    reward: Vec<Number>,
    /// Which states can be reached from which, in any number of steps.
    reaches: Vec<Vec<bool>>,
}

impl Chain {
    fn new(p: Vec<Vec<Number>>, reward: Vec<Number>) -> Self {
        let n = p.len();
        let mut reaches: Vec<Vec<bool>> =
            (0..n).map(|s| (0..n).map(|t| s == t || p[s][t].is_positive()).collect()).collect();
        for k in 0..n {
            for s in 0..n {
                for t in 0..n {
                    reaches[s][t] |= reaches[s][k] && reaches[k][t];
                }
            }
        }
        Self { p, reward, reaches }
    }

    /// The number of states with the end of the episode.
    pub fn n(&self) -> usize {
        self.p.len()
    }

    /// A chain that stays forever at the states of `stop`, without reward.
    fn absorbed(&self, stop: impl Fn(usize) -> bool) -> Self {
        let n = self.n();
        let mut p = self.p.clone();
        let mut reward = self.reward.clone();
        for s in (0..n).filter(|&s| stop(s)) {
            p[s] = (0..n).map(|t| if s == t { Number::one() } else { Number::zero() }).collect();
            reward[s] = Number::zero();
        }
        Self::new(p, reward)
    }

    fn recurrent(&self, s: usize) -> bool {
        (0..self.n()).all(|t| !self.reaches[s][t] || self.reaches[t][s])
    }

    /// The mean reward per step of a recurrent state's class.
    fn mean(&self, s: usize) -> Number {
        let class: Vec<usize> = (0..self.n()).filter(|&t| self.reaches[s][t]).collect();
        let m = class.len();
        // Stationary distribution: balance for all but one state, and the sum is 1.
        let mut a = vec![vec![Number::zero(); m + 1]; m];
        for (i, &t) in class.iter().enumerate().skip(1) {
            for (j, &u) in class.iter().enumerate() {
                a[i][j] = self.p[u][t].clone() - if i == j { Number::one() } else { Number::zero() };
            }
        }
        a[0] = vec![Number::one(); m + 1];
        let weights = gauss(a);
        weights.iter().zip(&class).map(|(w, &t)| w * &self.reward[t]).sum()
    }

    /// Solves `x = reward + P x` on the states where `open` holds, with `x` given elsewhere.
    fn equations(&self, open: &[bool], given: &[Number], rewards: bool) -> Vec<Number> {
        let states: Vec<usize> = (0..self.n()).filter(|&s| open[s]).collect();
        let m = states.len();
        let mut a = vec![vec![Number::zero(); m + 1]; m];
        for (i, &s) in states.iter().enumerate() {
            for (j, &t) in states.iter().enumerate() {
                a[i][j] = if i == j { Number::one() } else { Number::zero() } - &self.p[s][t];
            }
            a[i][m] = if rewards { self.reward[s].clone() } else { Number::zero() };
            for t in (0..self.n()).filter(|&t| !open[t]) {
                a[i][m] += &self.p[s][t] * &given[t];
            }
        }
        let solved = gauss(a);
        let mut x = given.to_vec();
        states.iter().zip(solved).for_each(|(&s, v)| x[s] = v);
        x
    }

    /// The probability of reaching `goal` from each state without passing through `avoid`.
    pub fn reach(&self, goal: &[bool], avoid: &[bool]) -> Vec<Number> {
        let is = |set: &[bool], s: usize| set.get(s).copied().unwrap_or(false);
        let chain = self.absorbed(|s| is(goal, s) || is(avoid, s));
        let possible: Vec<bool> =
            (0..self.n()).map(|s| (0..self.n()).any(|t| is(goal, t) && chain.reaches[s][t])).collect();
        let open: Vec<bool> = (0..self.n()).map(|s| possible[s] && !is(goal, s)).collect();
        let given: Vec<Number> =
            (0..self.n()).map(|s| if is(goal, s) { Number::one() } else { Number::zero() }).collect();
        chain.equations(&open, &given, false)
    }

    /// The expected reward until `goal`; +∞ where it may be missed.
    pub fn until(&self, goal: &[bool]) -> Vec<Value> {
        let is = |s: usize| goal.get(s).copied().unwrap_or(false);
        let sure: Vec<bool> = self.reach(goal, &[]).iter().map(One::is_one).collect();
        let chain = self.absorbed(is);
        let open: Vec<bool> = (0..self.n()).map(|s| sure[s] && !is(s)).collect();
        let x = chain.equations(&open, &vec![Number::zero(); self.n()], true);
        (0..self.n()).map(|s| if sure[s] { Value::Finite(x[s].clone()) } else { Value::Plus }).collect()
    }

    /// The total reward of each state; `None` where it is not defined (rewards that go up and down forever).
    pub fn total(&self) -> Vec<Option<Value>> {
        let n = self.n();
        let recurrent: Vec<bool> = (0..n).map(|s| self.recurrent(s)).collect();
        let zero: Vec<bool> = (0..n)
            .map(|s| recurrent[s] && (0..n).all(|t| !self.reaches[s][t] || self.reward[t].is_zero()))
            .collect();
        let endless =
            |s: usize| (0..n).filter(|&t| recurrent[t] && !zero[t] && self.reaches[s][t]).collect::<Vec<_>>();
        let endless: Vec<Vec<usize>> = (0..n).map(endless).collect();
        let open: Vec<bool> = (0..n).map(|s| !recurrent[s] && endless[s].is_empty()).collect();
        let x = self.equations(&open, &vec![Number::zero(); n], true);
        (0..n)
            .map(|s| {
                let means: Vec<Number> = endless[s].iter().map(|&t| self.mean(t)).collect();
                if means.is_empty() {
                    return Some(Value::Finite(x[s].clone()));
                }
                if means.iter().all(Signed::is_positive) {
                    return Some(Value::Plus);
                }
                means.iter().all(Signed::is_negative).then_some(Value::Minus)
            })
            .collect()
    }

    /// The reward per step of each state in the long run.
    pub fn average(&self) -> Vec<Number> {
        let recurrent: Vec<bool> = (0..self.n()).map(|s| self.recurrent(s)).collect();
        let given: Vec<Number> =
            (0..self.n()).map(|s| if recurrent[s] { self.mean(s) } else { Number::zero() }).collect();
        let open: Vec<bool> = recurrent.iter().map(|r| !r).collect();
        self.equations(&open, &given, false)
    }

    /// Whether from `s` a class with a negative (or a zero, but not free) mean is reached.
    pub fn classes(&self, s: usize) -> Vec<(Number, bool)> {
        let class = |t: usize| (0..self.n()).all(|u| !self.reaches[t][u] || self.reward[u].is_zero());
        (0..self.n())
            .filter(|&t| self.reaches[s][t] && self.recurrent(t))
            .map(|t| (self.mean(t), class(t)))
            .collect()
    }
}

/// Gauss's elimination of an augmented matrix that has exactly one solution.
fn gauss(mut a: Vec<Vec<Number>>) -> Vec<Number> {
    let m = a.len();
    for k in 0..m {
        let pivot = (k..m).find(|&i| !a[i][k].is_zero()).expect("the equations have one solution");
        a.swap(k, pivot);
        let row: Vec<Number> = a[k].iter().map(|x| x / &a[k][k]).collect();
        for i in (0..m).filter(|&i| i != k) {
            let factor = a[i][k].clone();
            if !factor.is_zero() {
                (k..=m).for_each(|j| a[i][j] -= &factor * &row[j]);
            }
        }
        a[k] = row;
    }
    a.into_iter().map(|mut row| row.remove(m)).collect()
}
