//! An independent check of a result against its model: are the bounds true, are they as tight as they claim, and does the
//! policy attain them? It shares no code with the solver.
//!
//! [`verify`] says yes, no, or that it could not decide: [`Proven`](Verification::Proven), [`Wrong`](Verification::Wrong) and
//! [`NotProven`](Verification::NotProven) are
//! three different things.
//!
//! # What is checked
//! With V the true values, [lower, upper] the claimed bounds and ε the claimed tolerance (the absolute one or, if larger, the
//! relative one times the value), for every state:
//!
//! 1. lower ≤ V + ε/100 and V − ε/100 ≤ upper;
//! 2. if the result says that it converged: upper − lower ≤ 2ε, and the policy's own value is within ε of the bound that it
//!    has to attain (lower when maximizing, upper when minimizing).
//!
//! # How
//! The check computes enclosures [a, b] of V of its own, with the claimed values and policy as a first guess, and enclosures of
//! the policy's value in the same way, from the model that has no other choices. A claim that lies inside is true, one that
//! contradicts them is wrong, and where enclosures are too wide to tell, the claim is not proven. Guesses (values, policies,
//! weights) come from ordinary floating-point arithmetic and need not be right; every inequality that a proof rests on is
//! checked with its rounding errors accounted for (module `rows`).
//!
//! **Discounted.** T is a contraction of modulus γ. If T w ≥ w − d everywhere, then V ≥ w − d/(1 − γ); likewise from above. So
//! one sweep over any w gives an enclosure, and more sweeps make it narrower.
//!
//! **Reachability and total reward.** First the graph (module `graph`): states whose value is 0, 1 or infinite independently of
//! the numbers. End components among the rest in which moving about is free count as one state, for then every policy that
//! matters leaves the rest with probability 1. On what remains (module `problem`), with w a guess of the values and π a policy:
//!
//! - a path out of every state under π shows, in a finite model, that π leaves for certain;
//! - l ≤ T_π l then gives l ≤ V_π, because l(s) ≤ E[rewards of n steps] + E[l(X_n)], and the last term goes to the value of
//!   where π leaves to;
//! - for a maximum, u ≥ T_c u for *every* choice c gives u ≥ V_σ for every policy σ that leaves for certain, likewise. With
//!   end components merged, every policy leaves when a probability is maximized or minimized; for total rewards those that do
//!   not leave count as infinite and were handled by the graph. So [l, u] encloses V; minima are the same with signs changed;
//! - w is not an exact fixed point, so l = w − e and u = w + e, where e adds up the error of every step along the way: e is
//!   about four times the error of a step plus the mean of e over what follows, for the slowest choice that is nearly best.
//!   Choices that are clearly worse pay by being worse. e is a guess too; l and u are checked like any others;
//! - T w − w is computed from differences between values, and w is the sum of two doubles, so that errors are those of the
//!   differences. A chain that takes a million steps is enclosed to 1e-11.
//!
//! **Totals until the episode ends, and the long run**: module `longrun`. **A number of steps**: backward induction on intervals
//! (module `steps`); the policy is then that of the first step.
//!
//! # What a model means
//! Probabilities of a choice that sum to 1 within 1e-9 are divided by their sum; what is missing beyond that ends the episode,
//! which reaches no goal. A state in both goal and `avoid` counts as reached. A run that misses the label of a total reward is
//! worth +∞. A state without choices is terminal.
//!
//! # What it cannot decide
//! Totals where loops of positive and negative rewards cancel out; components of
//! thousands of states that take very many steps to leave (e is found by sweeps there, within a budget) or to mix (the long
//! run); values whose rounding errors, multiplied by the expected number of steps, exceed a hundredth of the tolerance. All of
//! these are `NotProven`.

mod claims;
mod discounted;
mod enclosure;
mod exact;
mod fingerprint;
mod graph;
mod linear;
mod longrun;
mod problem;
mod result;
mod rows;
mod steps;
mod undiscounted;

pub use claims::{Report, Verification, verify};
pub use fingerprint::fingerprint;
pub use result::{ParseError, ResultFile};

/// The example of the crate's README is compiled too.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct VerifyReadme;
