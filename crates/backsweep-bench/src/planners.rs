//! The library as a user would use it: an agent that observes and plans.

use crate::clock::{peak_memory, reset_peak_memory, thread_time};
use crate::fixed_point::rmse;
use crate::world::{DISCOUNT, N_ACTIONS, Observation};
use crate::{BenchOptions, Result, Speed};
use backsweep::explore::EpsilonGreedy;
use backsweep::planner::{Model, QueueKind};
use backsweep::{Agent, Budget, PlannerKind, Settings};

/// Sweeps over which value iteration is timed.
const SWEEPS: u64 = 50;

/// Learns the walk with a planner and a queue, and reports the cost.
///
/// Value iteration is different: the walk is learned without planning, then single sweeps over the whole model are timed;
/// its backups are transitions, its cycles sweeps, and its time per observation is the time of one sweep.
///
/// # Errors
/// If the planner refuses a setting.
pub fn run_planner(
    options: &BenchOptions,
    planner: PlannerKind,
    queue: Option<QueueKind>,
    walk: &[Observation],
    exact: Option<&[f64]>,
) -> Result<Speed> {
    reset_peak_memory();
    let settings = Settings {
        discount: DISCOUNT,
        threshold: options.threshold,
        queue: queue.unwrap_or_default(),
        ..Settings::default()
    };
    let built = planner.build(settings)?;
    let model = Model::with_states(std::iter::repeat_n(N_ACTIONS, options.side * options.side))?;
    let mut agent = Agent::from_parts(model, built, EpsilonGreedy::GREEDY);
    let is_value_iteration = planner == backsweep_baselines::VALUE_ITERATION;
    let afterwards = options.afterwards.or(is_value_iteration.then_some(SWEEPS));
    let cycles = if afterwards.is_some() { 0 } else { options.cycles };
    let mut start = thread_time();
    for step in walk {
        agent.observe_transition(&step.transition())?;
        agent.plan(Budget::Cycles(cycles));
    }
    if let Some(cycles) = afterwards {
        start = thread_time();
        agent.plan(Budget::Cycles(cycles));
    }
    let seconds = (thread_time() - start).as_secs_f64();

    let counters = agent.planner().counters().unwrap_or_default();
    let n_arcs = agent.model().n_arcs() as u64;
    let backups = if is_value_iteration { counters.cycles * n_arcs } else { counters.backups() };
    let times = if is_value_iteration { SWEEPS as f64 } else { walk.len() as f64 };
    let memory = agent.memory();
    Ok(Speed {
        planner: planner.to_string(),
        queue: queue.map_or("none", QueueKind::name).to_owned(),
        side: options.side,
        observations: walk.len(),
        cycles: counters.cycles,
        backups,
        us_per_observation: seconds / times * 1e6,
        us_per_cycle: seconds / counters.cycles.max(1) as f64 * 1e6,
        ns_per_backup: seconds / backups.max(1) as f64 * 1e9,
        arcs: n_arcs as usize,
        bytes_per_arc: memory.arcs as f64 / n_arcs.max(1) as f64,
        bytes_per_pair: memory.others() as f64 / agent.model().n_pairs() as f64,
        peak_mb: peak_memory().map(|bytes| bytes as f64 / f64::from(1 << 20)),
        rmse: exact.map(|exact| {
            let values = agent.model().states().map(|state| agent.value(state));
            rmse(values, exact)
        }),
    })
}
