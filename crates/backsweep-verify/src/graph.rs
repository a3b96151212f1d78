//! Questions that the graph alone decides: values 0, 1 and infinity, and end components.

use backsweep_mdp::Mdp;

/// A model as a graph. Goal and avoided states go nowhere.
pub struct Graph<'a> {
    pub mdp: &'a Mdp,
    /// True if a choice may end the episode.
    pub ends: Vec<bool>,
    pub goal: Vec<bool>,
    pub avoid: Vec<bool>,
    /// Where the choices that lead to each state begin in `incoming`.
    starts: Vec<u32>,
    /// Choices by the states that they lead to.
    incoming: Vec<u32>,
    /// The state of each choice.
    owner: Vec<u32>,
}

impl<'a> Graph<'a> {
    pub fn new(mdp: &'a Mdp, goal: &[u32], avoid: &[u32]) -> Self {
        let n = mdp.n_states();
        let member = |states: &[u32]| {
            let mut set = vec![false; n];
            states.iter().for_each(|&state| set[state as usize] = true);
            set
        };
        let goal = member(goal);
        let mut avoid = member(avoid);
        // A state in both counts as reached.
        avoid.iter_mut().zip(&goal).for_each(|(avoid, goal)| *avoid &= !goal);
        let mut owner = vec![0; mdp.n_choices()];
        let mut starts = vec![0; n + 1];
        for state in 0..n {
            for choice in mdp.choices_of(state) {
                owner[choice] = state as u32;
            }
        }
        mdp.targets().iter().for_each(|&target| starts[target as usize + 1] += 1);
        (0..n).for_each(|state| starts[state + 1] += starts[state]);
        let mut at = starts.clone();
        let mut incoming = vec![0; mdp.n_arcs()];
        for choice in 0..mdp.n_choices() {
            for &target in &mdp.targets()[mdp.arcs_of(choice)] {
                incoming[at[target as usize] as usize] = choice as u32;
                at[target as usize] += 1;
            }
        }
        let ends = (0..mdp.n_choices()).map(|choice| mdp.can_end(choice)).collect();
        Self { mdp, ends, goal, avoid, starts, incoming, owner }
    }

    pub fn targets(&self, choice: usize) -> &[u32] {
        &self.mdp.targets()[self.mdp.arcs_of(choice)]
    }

    fn into(&self, state: usize) -> &[u32] {
        &self.incoming[self.starts[state] as usize..self.starts[state + 1] as usize]
    }

    fn moves(&self, state: usize) -> bool {
        !self.goal[state] && !self.avoid[state]
    }

    /// States with some path, by choices that are allowed, into `seeds`.
    pub fn backward(&self, seeds: &[bool], allowed: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut found = seeds.to_vec();
        let mut stack: Vec<usize> = (0..found.len()).filter(|&state| found[state]).collect();
        while let Some(state) = stack.pop() {
            for &choice in self.into(state) {
                let from = self.owner[choice as usize] as usize;
                if !found[from] && self.moves(from) && allowed(choice as usize) {
                    found[from] = true;
                    stack.push(from);
                }
            }
        }
        found
    }

    /// Where the largest probability of reaching the goal is above 0.
    pub fn may_reach(&self) -> Vec<bool> {
        self.backward(&self.goal, |_| true)
    }

    /// Where some policy reaches the goal with probability 1.
    pub fn can_surely_reach(&self) -> Vec<bool> {
        let mut set = self.may_reach();
        loop {
            let stays = |choice: usize| {
                !self.ends[choice] && self.targets(choice).iter().all(|&target| set[target as usize])
            };
            let smaller = self.backward(&self.goal, stays);
            if smaller == set {
                return set;
            }
            set = smaller;
        }
    }

    /// Where some policy, within `set`, ends the episode or comes to `ends_at` with probability 1.
    pub fn can_surely_end(&self, set: &[bool], ends_at: &[bool]) -> Vec<bool> {
        let mut set = set.to_vec();
        loop {
            let stays = |choice: usize| {
                set[self.owner[choice] as usize]
                    && self.targets(choice).iter().all(|&target| set[target as usize])
            };
            let mut seeds: Vec<bool> = set.iter().zip(ends_at).map(|(set, end)| *set && *end).collect();
            for (choice, _) in self.ends.iter().enumerate().filter(|(_, ends)| **ends) {
                seeds[self.owner[choice] as usize] |= stays(choice);
            }
            let smaller = self.backward(&seeds, stays);
            if smaller == set {
                return set;
            }
            set = smaller;
        }
    }

    /// Returns whether a choice leads nowhere but into its state's component.
    pub fn stays_in(&self, component: &[Option<u32>], choice: usize) -> bool {
        let home = component[self.owner[choice] as usize];
        home.is_some()
            && !self.ends[choice]
            && self.targets(choice).iter().all(|&target| component[target as usize] == home)
    }

    /// Where every policy reaches the goal with positive probability.
    pub fn must_maybe_reach(&self) -> Vec<bool> {
        let mut set = self.goal.clone();
        // How many choices of each state do not lead into the set yet.
        let mut left: Vec<u32> = self.mdp.choice_starts().windows(2).map(|pair| pair[1] - pair[0]).collect();
        let mut counted = vec![false; self.mdp.n_choices()];
        let mut stack: Vec<usize> = (0..set.len()).filter(|&state| set[state]).collect();
        while let Some(state) = stack.pop() {
            for &choice in self.into(state) {
                let from = self.owner[choice as usize] as usize;
                if std::mem::replace(&mut counted[choice as usize], true) || set[from] || !self.moves(from) {
                    continue;
                }
                left[from] -= 1;
                if left[from] == 0 {
                    set[from] = true;
                    stack.push(from);
                }
            }
        }
        set
    }

    /// Where every policy reaches the goal with probability 1.
    pub fn must_surely_reach(&self) -> Vec<bool> {
        let maybe = self.must_maybe_reach();
        let mut misses: Vec<bool> = maybe.iter().map(|maybe| !maybe).collect();
        for (choice, _) in self.ends.iter().enumerate().filter(|(_, ends)| **ends) {
            let state = self.owner[choice] as usize;
            misses[state] |= self.moves(state);
        }
        let misses = self.backward(&misses, |_| true);
        misses.iter().map(|misses| !misses).collect()
    }

    /// Maximal end components within `set` that use only choices that are allowed: the number of each state's, or `None`.
    pub fn end_components(&self, set: &[bool], allowed: impl Fn(usize) -> bool) -> Vec<Option<u32>> {
        let inside = |choice: usize| {
            set[self.owner[choice] as usize]
                && self.targets(choice).iter().all(|&target| set[target as usize])
        };
        let mut kept: Vec<bool> = (0..self.mdp.n_choices())
            .map(|choice| !self.ends[choice] && inside(choice) && allowed(choice))
            .collect();
        loop {
            let component = components(set.len(), |state, visit| {
                for choice in self.mdp.choices_of(state).filter(|&choice| kept[choice]) {
                    self.targets(choice).iter().for_each(|&target| visit(target as usize));
                }
            });
            let mut changed = false;
            for choice in 0..kept.len() {
                let home = component[self.owner[choice] as usize];
                if kept[choice]
                    && self.targets(choice).iter().any(|&target| component[target as usize] != home)
                {
                    kept[choice] = false;
                    changed = true;
                }
            }
            if !changed {
                // Every choice stays in its component: a component is an end component if a state of it has a choice left.
                let lives = |state: usize| self.mdp.choices_of(state).any(|choice| kept[choice]);
                return (0..set.len()).map(|state| lives(state).then_some(component[state])).collect();
            }
        }
    }
}

/// Strongly connected components, numbered so that arcs lead to the same or to smaller numbers. `each` hands over the
/// successors of a state.
pub fn components(n: usize, each: impl Fn(usize, &mut dyn FnMut(usize))) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low, mut component) = (vec![NEW; n], vec![0u32; n], vec![NEW; n]);
    let (mut stack, mut calls): (Vec<usize>, Vec<(usize, Vec<usize>)>) = (Vec::new(), Vec::new());
    let (mut clock, mut n_components) = (0, 0);
    for root in 0..n {
        if index[root] != NEW {
            continue;
        }
        let mut enter = Some(root);
        loop {
            if let Some(state) = enter.take() {
                index[state] = clock;
                low[state] = clock;
                clock += 1;
                stack.push(state);
                let mut successors = Vec::new();
                each(state, &mut |next| successors.push(next));
                calls.push((state, successors));
            }
            let Some((state, successors)) = calls.last_mut() else { break };
            let state = *state;
            match successors.pop() {
                Some(next) if index[next] == NEW => enter = Some(next),
                Some(next) => {
                    if component[next] == NEW {
                        low[state] = low[state].min(index[next]);
                    }
                }
                None => {
                    calls.pop();
                    if let Some((parent, _)) = calls.last() {
                        low[*parent] = low[*parent].min(low[state]);
                    }
                    if low[state] == index[state] {
                        while let Some(member) = stack.pop() {
                            component[member] = n_components;
                            if member == state {
                                break;
                            }
                        }
                        n_components += 1;
                    }
                }
            }
        }
    }
    component
}
