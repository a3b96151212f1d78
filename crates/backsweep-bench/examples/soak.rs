//! A soak: very many observations with forgetting, moved rows, saves and restores in between. `scripts/soak` runs it.
//!
//! ```text
//! soak [OBSERVATIONS]        # default: 10,000,000
//! ```
//!
//! The agent learns in a world that changes back and forth, and remembers a window of the last observations: each new one
//! replaces the oldest. Now and then a state gets another action, so that its row moves, and the agent is stored, restored and
//! compared. At every report all weights are checked against the window. The run fails if the relation exceeds 1e-10, if a
//! weight is wrong, or if memory grows after the first tenth of the run: by then every successor has been seen.

use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Result, Settings, State, Transition};
use std::collections::{HashMap, VecDeque};
use std::process::ExitCode;
use std::time::Instant;

const N_STATES: u32 = 2_000;
const FIRST_ACTIONS: usize = 3;
const N_MOVES: u64 = 64;
const N_REPORTS: u64 = 20;
/// The agent's memory may grow by this factor after the first tenth: the ids of moved rows are not reused.
const SLACK: f64 = 1.1;
/// The memory of the process may grow by this factor: an allocator does not immediately return the memory of a stored copy.
const PROCESS_SLACK: f64 = 1.25;

/// A transition of the world in one of its eight phases, which differ in where actions lead.
fn draw(agent: &Agent, phase: u32, random: &mut Random) -> Transition {
    let state = random.below(N_STATES);
    let action = random.below(agent.model().n_actions(State(state)) as u32);
    let next = (state * 7 + action * 13 + phase + random.below(4)) % N_STATES;
    let next = match random.below(50) {
        0 => Next::Terminated,
        1 => Next::Truncated(State(next)),
        _ => Next::Continue(State(next)),
    };
    let reward = random.unit() * if random.below(1000) == 0 { 1e6 } else { 1.0 } - 0.5;
    Transition { state: State(state), action: Action(action), reward, next }
}

/// Compares every weight of the model with those of the window.
fn check_weights(agent: &Agent, window: &VecDeque<Transition>) -> std::result::Result<(), String> {
    let mut expected: HashMap<(u32, u32, Option<u32>), f64> = HashMap::new();
    for step in window {
        *expected.entry((step.state.0, step.action.0, step.next.state().map(|next| next.0))).or_default() +=
            1.0;
    }
    let model = agent.model();
    for state in model.states() {
        for (action, pair) in model.pairs(state).enumerate() {
            let found = model.successors(pair).map(|next| (Some(next.state.0), next.weight));
            for (next, weight) in found.chain([(None, model.ended_weight(pair))]) {
                let key = (state.0, action as u32, next);
                let recorded = expected.remove(&key).unwrap_or(0.0);
                if weight != recorded {
                    return Err(format!("the weight of {key:?} is {weight}; expected {recorded}"));
                }
            }
        }
    }
    expected.keys().next().map_or(Ok(()), |key| Err(format!("{key:?} was lost")))
}

/// The memory that the process holds now, in bytes, as Linux reports it; `None` elsewhere.
fn resident_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// The agent after being stored and restored.
fn restored(agent: &Agent) -> std::result::Result<Agent, String> {
    let stored = agent.store().map_err(|error| error.to_string())?;
    let restored = Agent::restore(&stored).map_err(|error| format!("cannot be restored: {error}"))?;
    if restored.store().as_ref() != Ok(&stored) {
        return Err("the restored agent differs from the one that was stored".to_owned());
    }
    Ok(restored)
}

fn add_states(agent: &mut Agent) -> Result<()> {
    for _ in 0..N_STATES {
        agent.add_state(FIRST_ACTIONS)?;
    }
    Ok(())
}

fn soak(kind: PlannerKind, n_observations: u64) -> std::result::Result<(), String> {
    let text = |error: backsweep::Error| error.to_string();
    let random = &mut Random::from_seed(1);
    let mut agent =
        Agent::with_planner(kind, Settings { discount: 0.95, ..Settings::default() }).map_err(text)?;
    add_states(&mut agent).map_err(text)?;
    let mut window: VecDeque<Transition> = VecDeque::new();
    let window_length = (n_observations / 40).clamp(1, 100_000) as usize;
    let phase_length = (n_observations / 160).max(1);
    let every = (n_observations / N_REPORTS).max(1);
    let (mut first_memory, start) = (None, Instant::now());
    for i in 1..=n_observations {
        let step = draw(&agent, (i / phase_length % 8) as u32, random);
        agent.observe_transition(&step).map_err(text)?;
        window.push_back(step);
        if window.len() > window_length {
            let oldest = window.pop_front().expect("the window is full");
            agent.observe_weighted(&oldest, -1.0).map_err(text)?;
        }
        agent.plan(Budget::Cycles(2));
        if i % (n_observations / N_MOVES).max(1) == 0 {
            agent.add_action(State(random.below(N_STATES - 1))).map_err(text)?;
        }
        if i % (every / 4).max(1) == 0 {
            agent = restored(&agent)?;
        }
        if i % every == 0 {
            check_weights(&agent, &window)?;
            let relation = agent.audit().relative_relation;
            let (own, process) = (agent.memory().total() as u64, resident_memory().unwrap_or(0));
            println!(
                "{kind}: {i} observations in {:.0} s: relation {relation:.1e}, {} arcs, agent {:.1} MB, process {:.1} MB",
                start.elapsed().as_secs_f64(),
                agent.model().n_arcs(),
                own as f64 / 1e6,
                process as f64 / 1e6
            );
            if relation > 1e-10 {
                return Err(format!("the relation is {relation:e}; expected at most 1e-10"));
            }
            let (own_first, process_first) = *first_memory.get_or_insert((own, process));
            if i <= n_observations / 10 {
                first_memory = Some((own, process));
            } else if own as f64 > own_first as f64 * SLACK
                || process as f64 > process_first as f64 * PROCESS_SLACK
            {
                return Err(format!(
                    "memory grows: {own_first} and {process_first} bytes after a tenth, now {own} and {process}"
                ));
            }
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    let n_observations = match std::env::args().nth(1).map(|text| text.replace('_', "").parse::<u64>()) {
        None => 10_000_000,
        Some(Ok(n)) if n > 0 => n,
        Some(_) => {
            eprintln!("soak: expected a number of observations above 0, for instance 1000000000");
            return ExitCode::from(2);
        }
    };
    for kind in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        if let Err(problem) = soak(kind, n_observations / 2) {
            eprintln!("soak: {kind}: {problem}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
