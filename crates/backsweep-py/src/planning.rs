//! Planning without holding the interpreter, in slices between which Ctrl-C is checked.

use crate::errors;
use crate::named_agent::NamedAgent;
use crate::numbers::{count, number};
use backsweep::planner::Planned;
use backsweep::{Agent, Budget};
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// Up to this many cycles are run without releasing the interpreter: a step of learning must not wait for other threads.
const FEW_CYCLES: u64 = 32;
/// Up to this time is planned without releasing the interpreter.
const SHORT: Duration = Duration::from_micros(100);
/// The duration of a slice; Ctrl-C waits for at most one.
const SLICE: Duration = Duration::from_millis(20);

/// An amount of planning, checked.
#[derive(Clone, Copy)]
pub enum Amount {
    Cycles(u64),
    Time(Duration),
    Until { tolerance: f64, max_cycles: u64 },
}

impl Amount {
    pub fn new(
        cycles: Option<&Bound<'_, PyAny>>,
        microseconds: Option<&Bound<'_, PyAny>>,
        until: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        match (cycles, microseconds, until) {
            (Some(cycles), None, None) => Ok(Self::Cycles(count(cycles, "cycles")?)),
            (None, Some(time), None) => {
                let time = number(time, "microseconds")?;
                match Duration::try_from_secs_f64(time / 1e6) {
                    Ok(time) => Ok(Self::Time(time)),
                    Err(_) => Err(errors::value(format!(
                        "microseconds is {time}; expected a finite number, 0 or more"
                    ))),
                }
            }
            (cycles, None, Some(until)) => {
                let tolerance = number(until, "until")?;
                if !(tolerance >= 0.0 && tolerance.is_finite()) {
                    return Err(errors::value(format!(
                        "until is {tolerance}; expected a finite number, 0 or more"
                    )));
                }
                let max_cycles = cycles.map_or(Ok(u64::MAX), |cycles| count(cycles, "cycles"))?;
                Ok(Self::Until { tolerance, max_cycles })
            }
            (None, None, None) => {
                Err(errors::wrong_type("no budget given; expected cycles=, microseconds= or until="))
            }
            _ => Err(errors::wrong_type(
                "microseconds is given together with cycles or until; expected only one of them",
            )),
        }
    }
}

/// Plans for one of an agent's two sets of values.
pub type PlanFn = fn(&mut Agent, Budget<'_>) -> Planned;

/// Plans; returns the number of cycles. `heavy` means that even one cycle may take a long time.
#[inline]
pub fn run(py: Python<'_>, agent: &mut Agent, plan: PlanFn, amount: Amount, heavy: bool) -> PyResult<u64> {
    match amount {
        Amount::Cycles(n) if n <= FEW_CYCLES && !heavy => Ok(plan(agent, Budget::Cycles(n)).cycles),
        Amount::Cycles(n) => in_slices(py, n, |n| {
            let planned = plan(agent, Budget::Cycles(n));
            (planned.cycles, planned.is_idle)
        }),
        Amount::Until { tolerance, max_cycles } => in_slices(py, max_cycles, |max_cycles| {
            let planned = plan(agent, Budget::Until { tolerance, max_cycles });
            (planned.cycles, planned.is_idle)
        }),
        Amount::Time(time) => {
            let end = Instant::now() + time.min(Duration::from_secs(1 << 32));
            if time <= SHORT {
                return Ok(plan(agent, Budget::UntilStopped(&|| Instant::now() >= end)).cycles);
            }
            let mut cycles = 0;
            loop {
                let planned = py.detach(|| {
                    let slice = end.min(Instant::now() + SLICE);
                    plan(agent, Budget::UntilStopped(&|| Instant::now() >= slice))
                });
                cycles += planned.cycles;
                if planned.is_idle || Instant::now() >= end {
                    return Ok(cycles);
                }
                py.check_signals()?;
            }
        }
    }
}

/// Brings the recommended values of an exploring agent up to date after observations, within the number of cycles that a
/// model of its size should need.
#[inline]
pub fn recommend(py: Python<'_>, learner: &mut NamedAgent) -> PyResult<()> {
    let agent = &mut learner.agent;
    if !agent.is_recommendation_due() && !learner.is_recommendation_cut {
        return Ok(());
    }
    let max_cycles = 10_000 + 20 * agent.model().n_states() as u64;
    let planned = run(py, agent, Agent::recommend, Amount::Until { tolerance: 0.0, max_cycles }, false);
    learner.is_recommendation_cut = planned.is_err();
    planned.map(drop)
}

/// Runs up to `most` cycles in slices of about [`SLICE`] each. The cycles are the same as without slices, and so are the
/// numbers.
fn in_slices(py: Python<'_>, most: u64, mut slice: impl FnMut(u64) -> (u64, bool) + Send) -> PyResult<u64> {
    let (mut cycles, mut size) = (0, 1u64);
    loop {
        let start = Instant::now();
        let n = size.min(most - cycles);
        let (done, converged) = py.detach(|| slice(n));
        cycles += done;
        if converged || cycles >= most || done < n {
            return Ok(cycles);
        }
        py.check_signals()?;
        let took = start.elapsed();
        if took < SLICE / 2 {
            // The time of a cycle differs by five orders of magnitude between planners, so the slice size grows fast while
            // that is safe.
            size = size.saturating_mul(if took < SLICE / 64 { 16 } else { 2 });
        } else if took > SLICE {
            size = (size / 2).max(1);
        }
    }
}
