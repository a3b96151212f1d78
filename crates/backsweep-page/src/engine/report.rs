//! The effect of one update cycle, the queue, and the making of a Q: for drawing and for text.

use backsweep::explore::Explore;
use backsweep::planner::{ArcId, Model, Pair, Planner};
use backsweep::report::ActionExplanation;
use backsweep::{Action, Agent, State};
use backsweep_worlds::grid_world::MAX_ACTIONS;
use serde_json::{Value, json};

/// The number of the most urgent cells that are listed.
pub const LISTED: usize = 32;

/// A Q that a cycle changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BackedUp {
    /// The cell.
    pub cell: u32,
    /// The action, 0 to 3.
    pub action: u32,
    /// By how much.
    pub delta: f64,
}

/// A cell on the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queued {
    /// The cell.
    pub cell: u32,
    /// Its priority; infinite if it comes before all others, like a state just observed in some planners.
    pub priority: f64,
}

impl Queued {
    /// As it is sent.
    pub fn json(&self) -> Value {
        json!([self.cell, priority_json(self.priority)])
    }
}

/// The effect of one update cycle.
#[derive(Clone, Debug, PartialEq)]
pub struct CycleReport {
    /// The state that was taken off the queue; `None` if there was none, or the planner has no queue.
    pub popped: Option<u32>,
    /// The value of that state that other cells relied on before the cycle, and after it.
    pub relied_on: (f64, f64),
    /// The cells from which some action was seen to lead to it, where the model is trusted.
    pub predecessors: Vec<u32>,
    /// Every Q that changed, by cell and action.
    pub backups: Vec<BackedUp>,
    /// The cells among the most urgent that were not queued before the cycle.
    pub joined: Vec<u32>,
    /// The most urgent cells before the cycle, and after it.
    pub queue: (Vec<Queued>, Vec<Queued>),
    /// The number of terms P̂·V that were added up: one per small backup, one per outcome in a full backup.
    pub additions: u64,
    /// The number it would have taken to recompute each of the changed Q from all its outcomes.
    pub additions_in_full: u64,
    /// The number of steps that the agent took first, because there was nothing to do.
    pub waited: u64,
}

impl CycleReport {
    /// The cells with a changed Q, each once.
    pub fn changed(&self) -> Vec<u32> {
        let mut cells: Vec<u32> = self.backups.iter().map(|backup| backup.cell).collect();
        cells.dedup();
        cells
    }

    /// As it is sent.
    pub fn json(&self) -> Value {
        let list = |queue: &[Queued]| queue.iter().map(Queued::json).collect::<Vec<_>>();
        json!({
            "popped": self.popped, "before": self.relied_on.0, "after": self.relied_on.1,
            "predecessors": self.predecessors, "changed": self.changed(),
            "backups": self.backups.iter().map(|b| json!([b.cell, b.action, b.delta])).collect::<Vec<_>>(),
            "queue_before": list(&self.queue.0), "queue_after": list(&self.queue.1), "joined": self.joined,
            "additions": self.additions, "in_full": self.additions_in_full, "waited": self.waited,
        })
    }
}

/// Does one update cycle and reports it.
pub fn observed_cycle(agent: &mut Agent) -> CycleReport {
    let popped = agent.acting_planner().queue().and_then(|queue| queue.next_state(agent.model()));
    let predecessors = popped.map_or_else(Vec::new, |state| believed_predecessors(agent, state));
    let waiting = priorities(agent);
    let before = (action_values(agent), relied_on(agent, popped), most_urgent(waiting.iter().copied()));
    let counted = agent.acting_planner().counters().unwrap_or_default();
    agent.plan(backsweep::Budget::Cycles(1));
    let after = agent.acting_planner().counters().unwrap_or_default();
    let changes = before.0.iter().zip(action_values(agent)).enumerate();
    let backups: Vec<BackedUp> = changes
        .filter(|(_, (old, new))| **old != *new)
        .map(|(pair, (old, new))| BackedUp {
            cell: (pair / MAX_ACTIONS) as u32,
            action: (pair % MAX_ACTIONS) as u32,
            delta: new - old,
        })
        .collect();
    let outcomes = |b: &BackedUp| {
        let pair = agent.model().pair(State(b.cell), Action(b.action));
        pair.map_or(0, |pair| agent.model().n_successors(pair) as u64)
    };
    let additions_in_full = backups.iter().map(outcomes).sum();
    let queue_after = most_urgent(priorities(agent).into_iter());
    let is_new = |queued: &&Queued| waiting.get(queued.cell as usize).is_none_or(|&priority| priority <= 0.0);
    CycleReport {
        popped: popped.map(|state| state.0),
        relied_on: (before.1, relied_on(agent, popped)),
        predecessors,
        backups,
        joined: queue_after.iter().filter(is_new).map(|queued| queued.cell).collect(),
        queue: (before.2, queue_after),
        additions: after.additions - counted.additions,
        additions_in_full,
        waited: 0,
    }
}

/// The value of a state that its predecessors rely on: U in the paper. It lags behind V while the state is queued.
pub fn relied_on(agent: &Agent, state: Option<State>) -> f64 {
    // A world drawn from the posterior has its own arcs, which are not accessible.
    let is_drawn =
        agent.exploration().is_some_and(|e| matches!(e.explore, Explore::PosteriorSampling { .. }));
    let backed_up = |state: State| {
        // A state without predecessors has a U all the same, and its priority is counted from it.
        let arc =
            agent.model().predecessors(state).next().map_or(ArcId(u32::MAX), |predecessor| predecessor.arc);
        agent.acting_planner().backed_up_value(state, arc).filter(|_| !is_drawn)
    };
    state.map_or(0.0, |state| backed_up(state).unwrap_or(agent.acting_values().value(state)))
}

/// A number of every pair, [`MAX_ACTIONS`] per cell; 0 for actions that a cell does not have.
pub fn by_pair<T: Copy + Default>(agent: &Agent, number: impl Fn(Pair) -> T) -> Vec<T> {
    let model = agent.model();
    let mut all = vec![T::default(); MAX_ACTIONS * model.n_states()];
    for state in model.states() {
        for (action, pair) in model.pairs(state).enumerate() {
            all[MAX_ACTIONS * state.index() + action] = number(pair);
        }
    }
    all
}

/// Q of every pair, by which the agent acts.
pub fn action_values(agent: &Agent) -> Vec<f64> {
    by_pair(agent, |pair| agent.acting_values().action_value(pair))
}

/// The cells from which some action leads to a state, where the model is trusted.
fn believed_predecessors(agent: &Agent, state: State) -> Vec<u32> {
    let (model, values) = (agent.model(), agent.acting_values());
    let pairs = model.predecessors(state).filter(|p| p.weight > 0.0 && values.is_known(model, p.pair));
    let mut cells: Vec<u32> = pairs.map(|predecessor| model.state_of(predecessor.pair).0).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// The priority of a state, 0 if it is not queued or there is no queue.
pub fn priority(planner: &dyn Planner, model: &Model, state: State) -> f64 {
    planner.queue().map_or(0.0, |queue| queue.priority(model, state))
}

fn priorities(agent: &Agent) -> Vec<f64> {
    let model = agent.model();
    model.states().map(|state| priority(agent.acting_planner(), model, state)).collect()
}

/// The most urgent cells, highest priority first; among equal ones, the lowest cell.
pub fn most_urgent(priorities: impl Iterator<Item = f64>) -> Vec<Queued> {
    let mut queue: Vec<Queued> = (0..)
        .zip(priorities)
        .filter(|&(_, priority)| priority > 0.0)
        .map(|(cell, priority)| Queued { cell, priority })
        .collect();
    let order = |a: &Queued, b: &Queued| b.priority.total_cmp(&a.priority).then(a.cell.cmp(&b.cell));
    if queue.len() > LISTED {
        queue.select_nth_unstable_by(LISTED, order);
        queue.truncate(LISTED);
    }
    queue.sort_by(order);
    queue
}

/// Everything about one cell, with how each Q is computed: Q = R̂ + γ Σ P̂ U, term by term. `None` if there is no such cell.
pub fn cell_json(agent: &Agent, cell: u32) -> Option<Value> {
    let found = agent.explain(State(cell))?;
    let values = agent.acting_values();
    let made = |action: &ActionExplanation| {
        let terms: Vec<_> = action.terms.iter().map(|&(next, p, value)| json!([next.0, p, value])).collect();
        json!({
            "visits": action.weight as u64, "known": action.is_known, "reward": action.reward, "bonus": action.bonus,
            "ended": action.ended, "terms": terms,
        })
    };
    Some(json!({
        "value": found.value,
        // Planners on full backups keep no such value.
        "relied_on": found.backed_up_value,
        "q": found.actions.iter().map(|action| action.value).collect::<Vec<_>>(),
        "visits": found.actions.iter().map(|action| action.weight as u64).collect::<Vec<_>>(),
        "known": found.actions.iter().all(|action| action.is_known),
        "priority": priority_json(found.priority),
        "discount": values.discount(),
        "min_visits": values.optimism().min_visits,
        // In a world drawn from the posterior, P̂ and R̂ are not the counts.
        "made": (!found.is_drawn).then(|| found.actions.iter().map(made).collect::<Vec<_>>()),
        "is_drawn": found.is_drawn,
    }))
}

/// A priority as it is sent: JSON has no infinity.
fn priority_json(priority: f64) -> Value {
    if priority.is_finite() { json!(priority) } else { json!("first") }
}
