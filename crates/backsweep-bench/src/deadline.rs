//! The precision with which planning calls keep their time budget on a state with very many predecessors.
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

/// The times of planning calls, in microseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Deadline {
    /// The time budget.
    pub budget_us: f64,
    /// Predecessors of the hub.
    pub predecessors: usize,
    /// Planning calls, with an observation before each.
    pub calls: usize,
    /// Backups done in all calls.
    pub backups: u64,
    /// Half of the calls took no longer than this.
    pub p50_us: f64,
    /// 99 % of them.
    pub p99_us: f64,
    /// 99.9 % of them.
    pub p999_us: f64,
    /// 99.99 % of them.
    pub p9999_us: f64,
    /// The longest call.
    pub max_us: f64,
    /// Calls that only read the clock until the budget is used up, one after each planning call: the overhead that the
    /// machine adds to any program. 99 % of them.
    pub machine_p99_us: f64,
    /// 99.9 % of them.
    pub machine_p999_us: f64,
    /// 99.99 % of them.
    pub machine_p9999_us: f64,
    /// The longest of them.
    pub machine_max_us: f64,
    /// The processor time of a call, without time that the machine spent on other work. 99.99 % of the calls.
    pub cpu_p9999_us: f64,
    /// The longest call in processor time.
    pub cpu_max_us: f64,
    /// The time of the observations between the calls: half of them.
    pub observe_p50_us: f64,
    /// 99.99 % of the observations.
    pub observe_p9999_us: f64,
    /// The longest observation.
    pub observe_max_us: f64,
    /// The largest |Q − (R̂ + γ Σ P̂ U)| at the end: the relation holds wherever cycles were cut.
    pub relation: f64,
}

impl Deadline {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{} planning calls of {} µs on a hub with {} predecessors, an observation before each; {} backups",
            self.calls, self.budget_us, self.predecessors, self.backups
        )?;
        writeln!(out, "            p50      p99    p99.9   p99.99      max  (µs)")?;
        writeln!(
            out,
            "plan    {:>7.1}  {:>7.1}  {:>7.1}  {:>7.1}  {:>7.1}",
            self.p50_us, self.p99_us, self.p999_us, self.p9999_us, self.max_us
        )?;
        writeln!(
            out,
            "machine          {:>7.1}  {:>7.1}  {:>7.1}  {:>7.1}  (calls that only read the clock)",
            self.machine_p99_us, self.machine_p999_us, self.machine_p9999_us, self.machine_max_us
        )?;
        writeln!(out, "  processor time only        {:>7.1}  {:>7.1}", self.cpu_p9999_us, self.cpu_max_us)?;
        writeln!(
            out,
            "observe {:>7.1}                    {:>7.1}  {:>7.1}",
            self.observe_p50_us, self.observe_p9999_us, self.observe_max_us
        )?;
        writeln!(out, "largest deviation from Q = R + gamma sum P U at the end: {:.1e}", self.relation)
    }
}

/// The time that a share of the calls did not exceed, in microseconds.
fn quantile(sorted: &[Duration], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1].as_secs_f64() * 1e6
}

/// Makes planning calls with a time budget and reports how long they took.
///
/// # Errors
/// If the model cannot hold the hub.
pub fn measure_deadline(budget: Duration, hub: usize, calls: usize, seed: u64) -> Result<Deadline> {
    let settings = Settings { discount: DISCOUNT, ..Settings::default() };
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, settings)?;
    let mut random = Random::from_seed(seed);
    let centre = agent.add_state(2)?;
    let step = |state, action, reward, next| Transition { state, action: Action(action), reward, next };
    for _ in 0..hub {
        let state = agent.add_state(2)?;
        agent.observe_transition(&step(state, 0, -1.0, Next::Continue(centre)))?;
    }
    let (mut plans, mut machine) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
    let (mut processor, mut observations) = (Vec::with_capacity(calls), Vec::with_capacity(calls));
    for call in 0..calls {
        let other = State(1 + random.below(hub as u32));
        let transition = match call % 4 {
            0 => step(centre, random.below(2), f64::from(random.below(1000)), Next::Continue(other)),
            1 => step(other, 1, -1.0, Next::Continue(centre)),
            2 => step(other, 1, -1.0, Next::Continue(State(1 + random.below(hub as u32)))),
            _ => step(other, 0, -1.0, Next::Continue(centre)),
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
    plans.sort_unstable();
    machine.sort_unstable();
    processor.sort_unstable();
    observations.sort_unstable();
    Ok(Deadline {
        budget_us: budget.as_secs_f64() * 1e6,
        predecessors: agent.model().n_predecessors(centre),
        calls,
        backups: agent.planner().counters().unwrap_or_default().backups(),
        p50_us: quantile(&plans, 0.5),
        p99_us: quantile(&plans, 0.99),
        p999_us: quantile(&plans, 0.999),
        p9999_us: quantile(&plans, 0.9999),
        max_us: quantile(&plans, 1.0),
        machine_p99_us: quantile(&machine, 0.99),
        machine_p999_us: quantile(&machine, 0.999),
        machine_p9999_us: quantile(&machine, 0.9999),
        machine_max_us: quantile(&machine, 1.0),
        cpu_p9999_us: quantile(&processor, 0.9999),
        cpu_max_us: quantile(&processor, 1.0),
        observe_p50_us: quantile(&observations, 0.5),
        observe_p9999_us: quantile(&observations, 0.9999),
        observe_max_us: quantile(&observations, 1.0),
        relation: agent.audit().relation,
    })
}
