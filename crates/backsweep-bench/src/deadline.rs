//! Measures how well planning calls keep their time budget on a state with very many predecessors.
//!
//! The world: a hub, to which every other state leads (action 0, reward −1) and which has two actions with
//! random rewards that lead away from it. Every observation of the hub changes its value, and a cycle must then update
//! all its predecessors. Between any two planning calls there is an observation, one in four of the hub.

use crate::Result;
use crate::clock::thread_time;
use crate::world::DISCOUNT;
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State, Transition};
use serde::Serialize;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// The times of many calls, in microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Quantiles {
    /// Half of the calls took no longer than this.
    pub p50: f64,
    /// 99 % of them.
    pub p99: f64,
    /// 99.9 % of them.
    pub p999: f64,
    /// 99.99 % of them.
    pub p9999: f64,
    /// The longest call.
    pub max: f64,
}

impl Quantiles {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let quantile = |share: f64| {
            let rank = (share * times.len() as f64).ceil() as usize;
            times[rank.clamp(1, times.len()) - 1].as_secs_f64() * 1e6
        };
        let [p50, p99, p999, p9999, max] = [0.5, 0.99, 0.999, 0.9999, 1.0].map(quantile);
        Self { p50, p99, p999, p9999, max }
    }
}

/// The times of planning calls with a budget.
#[derive(Clone, Debug, Serialize)]
pub struct DeadlineTimes {
    /// The time budget, in microseconds.
    pub budget_us: f64,
    /// Predecessors of the hub.
    pub predecessors: usize,
    /// Planning calls, with an observation before each.
    pub calls: usize,
    /// Backups done in all calls.
    pub backups: u64,
    /// The planning calls.
    pub plan_us: Quantiles,
    /// Calls that only read the clock until the budget is used up, one after each planning call: the overhead that the
    /// machine adds to any program.
    pub machine_us: Quantiles,
    /// The processor time of the planning calls, without time that the machine spent on other work.
    pub cpu_us: Quantiles,
    /// The observations between the calls.
    pub observe_us: Quantiles,
    /// The largest |Q − (R̂ + γ Σ P̂ U)| at the end: the relation holds wherever cycles were cut.
    pub relation: f64,
}

impl DeadlineTimes {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} planning calls of {} µs on a hub with {} predecessors, an observation before each; {} backups",
            self.calls, self.budget_us, self.predecessors, self.backups
        )?;
        writeln!(out, "               p50      p99    p99.9   p99.99      max  (µs)")?;
        for (name, Quantiles { p50, p99, p999, p9999, max }) in [
            ("plan", self.plan_us),
            ("clock only", self.machine_us),
            ("plan, CPU", self.cpu_us),
            ("observe", self.observe_us),
        ] {
            writeln!(out, "{name:<10} {p50:>7.1}  {p99:>7.1}  {p999:>7.1}  {p9999:>7.1}  {max:>7.1}")?;
        }
        writeln!(out, "largest deviation from Q = R + gamma sum P U at the end: {:.1e}", self.relation)
    }
}

/// Makes planning calls with a time budget and reports how long they took.
///
/// # Errors
/// If the model cannot hold the hub.
pub fn measure_deadline(budget: Duration, hub: usize, calls: usize, seed: u64) -> Result<DeadlineTimes> {
    let settings = Settings { discount: DISCOUNT, ..Settings::default() };
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, settings)?;
    let mut random = Random::from_seed(seed);
    let center = agent.add_state(2)?;
    let step = |state, action, reward, next| Transition { state, action: Action(action), reward, next };
    for _ in 0..hub {
        let state = agent.add_state(2)?;
        agent.observe_transition(&step(state, 0, -1.0, Next::Continue(center)))?;
    }
    let (mut plans, mut machine) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
    let (mut processor, mut observations) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
    for call in 0..calls {
        let other = State(1 + random.below(hub as u32));
        let transition = match call % 4 {
            0 => step(center, random.below(2), f64::from(random.below(1000)), Next::Continue(other)),
            1 => step(other, 1, -1.0, Next::Continue(center)),
            2 => step(other, 1, -1.0, Next::Continue(State(1 + random.below(hub as u32)))),
            _ => step(other, 0, -1.0, Next::Continue(center)),
        };
        let start = Instant::now();
        agent.observe_transition(&transition)?;
        observations.push(start.elapsed());
        let processor_start = thread_time();
        let start = Instant::now();
        agent.plan(Budget::UntilStopped(&|| start.elapsed() >= budget));
        plans.push(start.elapsed());
        processor.push(thread_time() - processor_start);
        let start = Instant::now();
        while start.elapsed() < budget {}
        machine.push(start.elapsed());
    }
    Ok(DeadlineTimes {
        budget_us: budget.as_secs_f64() * 1e6,
        predecessors: agent.model().n_predecessors(center),
        calls,
        backups: agent.planner().counters().unwrap_or_default().backups(),
        plan_us: Quantiles::of(plans),
        machine_us: Quantiles::of(machine),
        cpu_us: Quantiles::of(processor),
        observe_us: Quantiles::of(observations),
        relation: agent.audit().relation,
    })
}
