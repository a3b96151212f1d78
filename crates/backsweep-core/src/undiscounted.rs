//! Values without discount when some policy never ends and rewards have one sign.
//!
//! Three questions about the graph of the model decide it. They are all of one kind: from where can a policy reach a goal with
//! probability 1?

use crate::{Model, Pair, State, Values};

impl Model {
    /// A state from which some policy can continue forever, or `None` if every policy ends with probability 1. Pairs without
    /// weight count as ending: their value is a constant.
    ///
    /// # Complexity
    /// O(states + pairs + arcs).
    pub fn endless_state(&self) -> Option<State> {
        // A state can avoid the end if one of its pairs has no mass that ends and all its successors can avoid it. Start with
        // all states and remove those that cannot.
        let mut escapes = vec![false; self.n_pairs()]; // whether the pair may end, or lead to a state that cannot avoid it
        let mut open = vec![0u32; self.n_states()]; // pairs of the state that still avoid it
        for state in self.states() {
            for pair in self.pairs(state) {
                escapes[pair.index()] = self.weight(pair) <= 0.0 || may_end(self, pair);
                open[state.index()] += u32::from(!escapes[pair.index()]);
            }
        }
        let mut gone: Vec<State> = self.states().filter(|state| open[state.index()] == 0).collect();
        while let Some(state) = gone.pop() {
            for before in self.predecessors(state).filter(|before| before.weight > 0.0) {
                if !std::mem::replace(&mut escapes[before.pair.index()], true) {
                    let from = self.state_of(before.pair);
                    open[from.index()] -= 1;
                    if open[from.index()] == 0 {
                        gone.push(from);
                    }
                }
            }
        }
        self.states().find(|state| open[state.index()] > 0)
    }
}

/// The states from which some policy of `allowed` pairs comes to a `goal` pair or to a `safe` state with probability 1, and,
/// after a goal pair that does not end, again and again.
///
/// # Complexity
/// O(arcs) per round, at most one round per state; usually a few.
fn surely_reaching(
    model: &Model,
    allowed: impl Fn(Pair) -> bool,
    goal: impl Fn(Pair) -> bool,
    safe: impl Fn(State) -> bool,
) -> Vec<bool> {
    let mut alive = vec![true; model.n_states()];
    loop {
        let stays = |pair: Pair| {
            allowed(pair)
                && model.successors(pair).all(|next| next.weight <= 0.0 || alive[next.state.index()])
        };
        let mut reaching = vec![false; model.n_states()];
        let mut open: Vec<State> = model
            .states()
            .filter(|&state| alive[state.index()])
            .filter(|&state| safe(state) || model.pairs(state).any(|pair| goal(pair) && stays(pair)))
            .collect();
        for state in &open {
            reaching[state.index()] = true;
        }
        while let Some(state) = open.pop() {
            for before in model.predecessors(state).filter(|before| before.weight > 0.0) {
                let from = model.state_of(before.pair);
                if alive[from.index()] && !reaching[from.index()] && stays(before.pair) {
                    reaching[from.index()] = true;
                    open.push(from);
                }
            }
        }
        if reaching == alive {
            return alive;
        }
        alive = reaching;
    }
}

fn may_end(model: &Model, pair: Pair) -> bool {
    model.ended_weight(pair) > 0.0
}

/// The states in which a policy can stay forever at no cost.
fn restful(model: &Model, values: &Values) -> Vec<bool> {
    let is_free =
        |pair| values.is_known(model, pair) && model.mean_reward(pair) == 0.0 && !may_end(model, pair);
    surely_reaching(model, is_free, |_| true, |_| false)
}

fn pays(model: &Model) -> bool {
    model.states().flat_map(|state| model.pairs(state)).any(|pair| model.mean_reward(pair) > 0.0)
}

/// A state whose value is unbounded although rewards have one sign: rewards above 0 that can be collected again and
/// again, or rewards below 0 that no policy can stop.
pub(crate) fn unbounded_state(model: &Model, values: &Values) -> Option<State> {
    let known = |pair| values.is_known(model, pair);
    let position = |found: Option<usize>| found.map(|s| State(s as u32));
    if pays(model) {
        let gains = surely_reaching(
            model,
            |pair| known(pair) && !may_end(model, pair),
            |pair| model.mean_reward(pair) > 0.0,
            |_| false,
        );
        return position(gains.iter().position(|&gains| gains));
    }
    let restful = restful(model, values);
    // A pair that is not trusted is worth a constant, as good as an end.
    let stops = |state: State| {
        restful[state.index()] || !model.pairs(state).all(known) || model.n_actions(state) == 0
    };
    let bounded = surely_reaching(model, known, |pair| may_end(model, pair), stops);
    position(bounded.iter().position(|&bounded| !bounded))
}

/// Whether values that solve the equations are the optimum and not another solution of them (a constant above the highest
/// reward, say, in states that can loop forever): what rewards above 0 promise is attained by some pairs, and staying at
/// no cost is worth 0. Both up to `tolerance`.
pub(crate) fn is_optimum(model: &Model, values: &Values, tolerance: f64) -> bool {
    if !pays(model) {
        let restful = restful(model, values);
        return model.states().all(|state| !restful[state.index()] || values.value(state) >= -tolerance);
    }
    let attains = |pair: Pair| {
        let successors = model.successors(pair).map(|next| (next.weight, values.value(next.state)));
        let q = values.full_backup(model.pair_record(pair), successors);
        values.is_known(model, pair) && q >= values.value(model.state_of(pair)) - tolerance
    };
    let is_nothing = |state: State| values.value(state) <= tolerance;
    surely_reaching(model, attains, |pair| may_end(model, pair), is_nothing).iter().all(|&reaches| reaches)
}
