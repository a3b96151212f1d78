//! Strongly connected components of a graph in compressed rows: Tarjan's algorithm with its own stack instead of recursion.
//!
//! One pass over states and arcs, no recursion, three words per state. Components come out with successors first: solved
//! in order, every value outside the current component is already known.

use std::ops::Range;

/// Stands for "no state": an arc that the caller wants ignored.
pub(crate) const NONE: u32 = u32::MAX;

/// Returns whether a pass that has come this far asks whether to stop: once per some ten thousand items.
pub(crate) fn is_time(item: usize) -> bool {
    item.is_multiple_of(1 << 14)
}

/// The components of a graph, successors first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Components {
    /// The component of each state; [`NONE`] for a state that was left out.
    pub of: Vec<u32>,
    /// Where each component's states begin in `states`; one more entry than there are components.
    pub starts: Vec<u32>,
    /// The states of all components, ascending within each.
    pub states: Vec<u32>,
}

impl Components {
    /// Finds the components of states `0..n`. The arcs of state `s` are `arcs(s)`, arc `a` leads to `target(a)`, or nowhere
    /// if that is [`NONE`]. States for which `included` is false are left out, and so are arcs to them.
    pub fn find(
        n: usize,
        included: impl Fn(usize) -> bool,
        arcs: impl Fn(usize) -> Range<usize>,
        target: impl Fn(usize) -> u32,
    ) -> Self {
        Self::find_unless(n, included, arcs, target, &|| false).unwrap_or_default()
    }

    /// As [`find`](Self::find); `None` if `stop` says so on the way.
    pub fn find_unless(
        n: usize,
        included: impl Fn(usize) -> bool,
        arcs: impl Fn(usize) -> Range<usize>,
        target: impl Fn(usize) -> u32,
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        // `low[s]` is 0 before the visit, then Tarjan's low link (visits count from 1), and `DONE` once s has a component.
        const DONE: u32 = u32::MAX;
        let mut low = vec![0_u32; n];
        let mut of = vec![NONE; n];
        let mut open: Vec<u32> = Vec::new();
        // Per state on the path: the state, its own visit number, the next arc to look at.
        let mut path: Vec<(u32, u32, usize)> = Vec::new();
        let (mut visits, mut n_components) = (0_u32, 0_u32);
        for root in 0..n {
            if low[root] != 0 || !included(root) {
                continue;
            }
            visits += 1;
            low[root] = visits;
            open.push(root as u32);
            path.push((root as u32, visits, arcs(root).start));
            if is_time(root) && stop() {
                return None;
            }
            while let Some(&mut (state, visit, ref mut next)) = path.last_mut() {
                let s = state as usize;
                let end = arcs(s).end;
                let mut lowest = low[s];
                let mut deeper = NONE;
                while *next < end {
                    let t = target(*next);
                    *next += 1;
                    if t == NONE {
                        continue;
                    }
                    match low[t as usize] {
                        0 if included(t as usize) => {
                            deeper = t;
                            break;
                        }
                        0 | DONE => {}
                        // The low link of an open state may stand for its visit: it names an open state either way.
                        link => lowest = lowest.min(link),
                    }
                }
                low[s] = lowest;
                if deeper != NONE {
                    if is_time(visits as usize) && stop() {
                        return None;
                    }
                    visits += 1;
                    low[deeper as usize] = visits;
                    open.push(deeper);
                    path.push((deeper, visits, arcs(deeper as usize).start));
                    continue;
                }
                path.pop();
                if lowest == visit {
                    while let Some(member) = open.pop() {
                        low[member as usize] = DONE;
                        of[member as usize] = n_components;
                        if member == state {
                            break;
                        }
                    }
                    n_components += 1;
                }
                if let Some(&(parent, _, _)) = path.last()
                    && lowest != visit
                {
                    low[parent as usize] = low[parent as usize].min(lowest);
                }
            }
        }
        Some(Self::gather(of, n_components as usize))
    }

    /// Sorts the states by component, ascending within each, by counting.
    fn gather(of: Vec<u32>, n_components: usize) -> Self {
        let mut starts = vec![0_u32; n_components + 1];
        for &component in of.iter().filter(|&&c| c != NONE) {
            starts[component as usize + 1] += 1;
        }
        for c in 0..n_components {
            starts[c + 1] += starts[c];
        }
        let mut states = vec![0_u32; starts[n_components] as usize];
        let mut next = starts.clone();
        for (state, &component) in of.iter().enumerate().filter(|&(_, &c)| c != NONE) {
            let place = &mut next[component as usize];
            states[*place as usize] = state as u32;
            *place += 1;
        }
        Self { of, starts, states }
    }

    /// The number of components.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The states of a component, ascending.
    pub fn states_of(&self, component: usize) -> &[u32] {
        &self.states[self.starts[component] as usize..self.starts[component + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(n: usize, edges: &[(usize, usize)]) -> Components {
        let mut starts = vec![0; n + 1];
        let mut targets = Vec::new();
        for s in 0..n {
            targets.extend(edges.iter().filter(|e| e.0 == s).map(|e| e.1 as u32));
            starts[s + 1] = targets.len();
        }
        Components::find(n, |_| true, |s| starts[s]..starts[s + 1], |a| targets[a])
    }

    #[test]
    fn two_rings_and_a_bridge_come_out_successors_first() {
        let found = of(6, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 3), (4, 5)]);
        assert_eq!(found.len(), 3);
        assert_eq!(found.states_of(0), [5]);
        assert_eq!(found.states_of(1), [3, 4]);
        assert_eq!(found.states_of(2), [0, 1, 2]);
    }

    #[test]
    fn states_and_arcs_left_out_do_not_connect() {
        let targets = [1, 2, 0_u32];
        let ring = |included: fn(usize) -> bool, skipped: usize| {
            Components::find(3, included, |s| s..s + 1, move |a| if a == skipped { NONE } else { targets[a] })
        };
        assert_eq!(ring(|_| true, 9).len(), 1);
        assert_eq!(ring(|_| true, 1).len(), 3);
        let without = ring(|s| s != 2, 9);
        assert_eq!((without.len(), without.of[2]), (2, NONE));
    }

    /// Against the definition: two states share a component exactly if each reaches the other; arcs lead to components that
    /// came out no later.
    #[test]
    fn random_graphs_agree_with_reachability() {
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        for _ in 0..300 {
            let n = 1 + random(12);
            let edges: Vec<_> = (0..random(2 * n + 1)).map(|_| (random(n), random(n))).collect();
            let found = of(n, &edges);
            let mut reach = vec![vec![false; n]; n];
            (0..n).for_each(|s| reach[s][s] = true);
            for _ in 0..n {
                for &(a, b) in &edges {
                    for row in &mut reach {
                        row[b] |= row[a];
                    }
                }
            }
            for (a, row) in reach.iter().enumerate() {
                for (b, &there) in row.iter().enumerate() {
                    assert_eq!(found.of[a] == found.of[b], there && reach[b][a], "{edges:?}");
                }
            }
            assert!(edges.iter().all(|&(a, b)| found.of[b] <= found.of[a]), "{edges:?}");
        }
    }

    #[test]
    fn a_chain_of_a_million_states_needs_no_recursion() {
        let n = 1_000_000;
        let found = Components::find(n, |_| true, |s| s..s + usize::from(s + 1 < n), |a| a as u32 + 1);
        assert_eq!(found.len(), n);
        assert_eq!(found.states_of(0), [n as u32 - 1]);
    }
}
