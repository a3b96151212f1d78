//! The policy that values stand for.
//!
//! With a discount below 1, any action of the highest value will do. Without discount it will not: staying in place at no cost
//! is worth as much as stepping to the goal, since the goal can still be reached later, but a policy that always stays never
//! gets there. Ties are therefore broken toward ending: among the actions that attain a state's value, the policy takes one
//! on a shortest path to an end, and never risks a state without such a path.

use backsweep::planner::{Model, Pair, Values};
use backsweep::{Action, Agent, Random, State};

/// The distance below the best at which an action still counts as tied, relative to the state's value. Each state uses the
/// first of these with which it can end, since values that are still off by a little break exact ties.
const TOLERANCES: [f64; 7] = [0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, WIDEST_TOLERANCE];
const WIDEST_TOLERANCE: f64 = 1e-3;
/// Missing mass of a pair below this is rounding of probabilities that sum to 1, and not an end.
const ROUNDING: f64 = 1e-12;

/// The action to take in each state; `None` where there is none.
///
/// # Complexity
/// O(pairs), and O(arcs) per round without discount: rarely more than a handful of rounds.
pub fn policy(agent: &Agent) -> Vec<Option<Action>> {
    let greedy = agent.model().states().map(|state| agent.best_action(state)).collect();
    if agent.planner().values().discount() < 1.0 {
        return greedy;
    }
    toward_ends(agent.model(), agent.planner().values(), greedy)
}

/// The action to take in one state, the one of [`policy`].
///
/// # Complexity
/// O(actions), unless there is no discount and actions are tied: then that of [`policy`].
pub fn best_action(agent: &Agent, state: State) -> Option<Action> {
    let best = agent.best_action(state)?;
    if agent.planner().values().discount() < 1.0 {
        return Some(best);
    }
    let row = agent.planner().values().pair_values(agent.model(), state);
    let highest = row[best.index()].value();
    let tied = row.iter().filter(|pair| pair.value() >= highest - WIDEST_TOLERANCE * highest.abs()).count();
    if tied == 1 { Some(best) } else { policy(agent).get(state.index()).copied().flatten() }
}

/// The place of the action that acting without chance would take in each state, `u32::MAX` where there is none. Which of several
/// equal ones depends on the state and the seed, so that actors with different seeds do not all try the same.
pub fn acting(agent: &Agent, seed: u64) -> Vec<u32> {
    let values = agent.acting_planner().values();
    let choose = |state: State| {
        let row = values.pair_values(agent.model(), state);
        let best = row.iter().map(|pair| pair.value()).fold(f64::NEG_INFINITY, f64::max);
        let tied = || (0..).zip(row).filter(|(_, pair)| pair.value() == best).map(|(place, _)| place);
        match tied().count() {
            0 => u32::MAX,
            1 => tied().next().unwrap_or(u32::MAX),
            n => {
                let nth = Random::stream(seed, &[u64::from(state.0)]).below(n as u32);
                tied().nth(nth as usize).unwrap_or(u32::MAX)
            }
        }
    };
    agent.model().states().map(choose).collect()
}

fn toward_ends(model: &Model, values: &Values, mut chosen: Vec<Option<Action>>) -> Vec<Option<Action>> {
    let row_max =
        |state| values.pair_values(model, state).iter().map(|q| q.value()).fold(f64::NEG_INFINITY, f64::max);
    let best: Vec<f64> = model.states().map(row_max).collect();
    let largest = model.states().map(|state| values.value(state).abs()).fold(0.0, f64::max);
    // A state without actions, or all of whose actions are unknown, is worth a constant: as good as an end.
    let mut is_settled: Vec<bool> =
        model.states().map(|state| model.pairs(state).all(|pair| !values.is_known(model, pair))).collect();
    for tolerance in TOLERANCES {
        let attains = |pair: Pair| {
            let best = best[model.state_of(pair).index()];
            values.is_known(model, pair) && values.action_value(pair) >= best - tolerance * best.abs()
        };
        settle(model, attains, &mut is_settled, &mut chosen);
        if tolerance == 0.0 {
            // These states are worth nothing, so nothing is lost by staying there.
            for state in model.states().filter(|&state| values.value(state).abs() <= ROUNDING * largest) {
                is_settled[state.index()] = true;
            }
            settle(model, attains, &mut is_settled, &mut chosen);
        }
        if is_settled.iter().all(|&settled| settled) {
            break;
        }
    }
    chosen
}

/// Settles every state from which `allowed` pairs reach an end or a settled state with probability 1, and chooses such pairs.
///
/// Finds the largest set of states in which each has a pair that stays in the set and is a step nearer to an end or to a
/// settled state: a policy of such pairs comes nearer with a probability above 0 from anywhere and never leaves, so it
/// arrives.
fn settle(
    model: &Model,
    allowed: impl Fn(Pair) -> bool,
    is_settled: &mut [bool],
    chosen: &mut [Option<Action>],
) {
    let mut in_set = vec![true; model.n_states()];
    loop {
        let stays = |pair: Pair| {
            allowed(pair)
                && model.successors(pair).all(|next| next.weight <= 0.0 || in_set[next.state.index()])
        };
        let mut pairs: Vec<Option<Pair>> = vec![None; model.n_states()];
        let mut reached = is_settled.to_vec();
        let mut open: Vec<State> = model.states().filter(|state| reached[state.index()]).collect();
        for state in model.states().filter(|state| in_set[state.index()]) {
            let ending = model.pairs(state).find(|&pair| may_end(model, pair) && stays(pair));
            if !reached[state.index()] && ending.is_some() {
                pairs[state.index()] = ending;
                reached[state.index()] = true;
                open.push(state);
            }
        }
        // Breadth first, so that paths are short.
        let mut first = 0;
        while let Some(&state) = open.get(first) {
            first += 1;
            for before in model.predecessors(state).filter(|before| before.weight > 0.0) {
                let from = model.state_of(before.pair).index();
                if in_set[from] && !reached[from] && stays(before.pair) {
                    pairs[from] = Some(before.pair);
                    reached[from] = true;
                    open.push(State(from as u32));
                }
            }
        }
        if reached == in_set {
            for (state, pair) in pairs.into_iter().enumerate() {
                if let Some(pair) = pair {
                    chosen[state] = Some(model.action_of(pair));
                }
            }
            is_settled.copy_from_slice(&in_set);
            return;
        }
        in_set = reached;
    }
}

fn may_end(model: &Model, pair: Pair) -> bool {
    let carried: f64 = model.successors(pair).map(|next| next.weight).sum();
    model.weight(pair) - carried > ROUNDING * model.weight(pair)
}
