//! Both versions of Algorithm 2 on one problem of three states, worked out by hand, line by line. Fixed-point tests
//! do not see a wrong queue order or a wrong priority; this does.
//!
//! States A, B, C; A has the actions x and y, B and C one action. γ = ½, values start at 0, threshold 0. All numbers are
//! sums of powers of two (except in the last line of the first trace), so `==` is intended.

use crate::common::{on, step};
use backsweep::planner::{Cycle, Model, Planner, ReversedFullBackups, SmallBackups};
use backsweep::{Next, Settings, State};

const A: u32 = 0;
const B: u32 = 1;
const C: u32 = 2;
const X: u32 = 0;
const Y: u32 = 1;

/// The line that a trace writes down: V(A) V(B) V(C), Q(A,x) Q(A,y) Q(B) Q(C), priorities of A B C.
struct Line {
    v: [f64; 3],
    q: [f64; 4],
    priority: [f64; 3],
}

struct Trace<P> {
    model: Model,
    planner: P,
}

impl<P: Planner> Trace<P> {
    fn new(planner: P) -> Self {
        let mut trace = Self { model: Model::with_states([2, 1, 1]).unwrap(), planner };
        trace.planner.grow(&trace.model);
        trace
    }

    fn observe(&mut self, state: u32, action: u32, reward: f64, next: Next) -> &mut Self {
        let change = self.model.record(&step(state, action, reward, next)).unwrap().unwrap();
        self.planner.observe(&self.model, &change);
        self
    }

    fn cycle(&mut self) -> &mut Self {
        assert_eq!(self.planner.update_cycle(&self.model, usize::MAX), Cycle::Done);
        self
    }

    #[track_caller]
    fn is(&mut self, line: Line) {
        let values = self.planner.values();
        assert_eq!([A, B, C].map(|s| values.value(State(s))), line.v, "V(A) V(B) V(C)");
        let pairs: Vec<_> = [A, B, C].iter().flat_map(|&s| self.model.pairs(State(s))).collect();
        let q: Vec<f64> = pairs.iter().map(|&pair| values.action_value(pair)).collect();
        assert_eq!(q, line.q, "Q(A,x) Q(A,y) Q(B) Q(C)");
        assert_eq!(
            [A, B, C].map(|s| self.planner.queue().unwrap().priority(&self.model, State(s))),
            line.priority,
            "priorities of A B C"
        );
        let queued = line.priority.iter().filter(|&&priority| priority > 0.0);
        assert_eq!(self.planner.queue().unwrap().n_queued(), queued.clone().count(), "queue length");
        assert_eq!(self.planner.top_priority(), queued.copied().reduce(f64::max), "top priority");
    }
}

fn settings() -> Settings {
    Settings { discount: 0.5, threshold: 0.0, ..Settings::default() }
}

/// ICML 2013, Algorithm 2. Beside V and Q there is one U for each state, at first 0; it is noted where it changes.
#[test]
fn reversed_full_backups_by_hand() {
    let mut t = Trace::new(ReversedFullBackups::new(settings()).unwrap());
    // Nothing has been observed.
    t.is(Line { v: [0.0, 0.0, 0.0], q: [0.0, 0.0, 0.0, 0.0], priority: [0.0, 0.0, 0.0] });

    // Observe A,x → B, r = 2. N(A,x) = 1. Q(A,x) = [0·0 + 2 + ½·U(B)]/1 = 2 (the start value has weight 0).
    // V(A) = max(2, 0) = 2. Priority of A = |V − U| = |2 − 0| = 2.
    t.observe(A, X, 2.0, on(B));
    t.is(Line { v: [2.0, 0.0, 0.0], q: [2.0, 0.0, 0.0, 0.0], priority: [2.0, 0.0, 0.0] });

    // Observe B → C, r = 4. Q(B) = 4 + ½·U(C) = 4. V(B) = 4, priority |4 − 0| = 4. A is not backed up: Q(A,x) stays.
    t.observe(B, 0, 4.0, on(C));
    t.is(Line { v: [2.0, 4.0, 0.0], q: [2.0, 0.0, 4.0, 0.0], priority: [2.0, 4.0, 0.0] });

    // Observe C → A, r = 1. Q(C) = 1 + ½·U(A) = 1 + ½·0 = 1: it is U(A) that counts, not V(A) = 2. Priority 1.
    t.observe(C, 0, 1.0, on(A));
    t.is(Line { v: [2.0, 4.0, 1.0], q: [2.0, 0.0, 4.0, 1.0], priority: [2.0, 4.0, 1.0] });

    // Cycle. The top is B (4). ΔU = 4 − 0; U(B) = 4. Its predecessor (A,x), N = 1 of 1: Q(A,x) = 2 + ½·1·4 = 4.
    // V(A) = 4, priority |4 − 0| = 4. A queue in reversed order would have taken C.
    t.cycle();
    t.is(Line { v: [4.0, 4.0, 1.0], q: [4.0, 0.0, 4.0, 1.0], priority: [4.0, 0.0, 1.0] });

    // Observe A,x → C, r = 0. N(A,x) = 2. Q(A,x) = [4·1 + 0 + ½·U(C)]/2 = [4 + 0 + 0]/2 = 2.
    // (Relation: R̂ = (2+0)/2 = 1; ½(½·U(B) + ½·U(C)) = ½(2 + 0) = 1; sum 2.) V(A) = 2; priority is *lowered* to |2 − 0| = 2.
    t.observe(A, X, 0.0, on(C));
    t.is(Line { v: [2.0, 4.0, 1.0], q: [2.0, 0.0, 4.0, 1.0], priority: [2.0, 0.0, 1.0] });

    // Cycle. A (2). ΔU = 2; U(A) = 2. Predecessor C: Q(C) = 1 + ½·1·2 = 2. V(C) = 2, priority |2 − 0| = 2.
    t.cycle();
    t.is(Line { v: [2.0, 4.0, 2.0], q: [2.0, 0.0, 4.0, 2.0], priority: [0.0, 0.0, 2.0] });

    // Cycle. C (2). ΔU = 2; U(C) = 2. Predecessors: (A,x), N = 1 of 2: Q(A,x) = 2 + ½·½·2 = 2½, V(A) = 2½, priority
    // |2½ − 2| = ½. (B): Q(B) = 4 + ½·1·2 = 5, V(B) = 5, priority |5 − 4| = 1.
    t.cycle();
    t.is(Line { v: [2.5, 5.0, 2.0], q: [2.5, 0.0, 5.0, 2.0], priority: [0.5, 1.0, 0.0] });

    // Observe A,y → B, r = 3. Q(A,y) = 3 + ½·U(B) = 3 + ½·4 = 5. y is the greedy action now: V(A) = 5, priority |5 − 2| = 3.
    t.observe(A, Y, 3.0, on(B));
    t.is(Line { v: [5.0, 5.0, 2.0], q: [2.5, 5.0, 5.0, 2.0], priority: [3.0, 1.0, 0.0] });

    // Cycle. A (3). ΔU = 5 − 2 = 3; U(A) = 5. Q(C) = 2 + ½·3 = 3½. V(C) = 3½, priority |3½ − 2| = 1½.
    t.cycle();
    t.is(Line { v: [5.0, 5.0, 3.5], q: [2.5, 5.0, 5.0, 3.5], priority: [0.0, 1.0, 1.5] });

    // Observe A,y → end, r = −3. N(A,y) = 2. Q(A,y) = [5·1 − 3 + ½·0]/2 = 1: the end is worth 0. The greedy action got
    // worse, so the maximum is searched for: V(A) = max(2½, 1) = 2½. Priority |2½ − 5| = 2½.
    t.observe(A, Y, -3.0, Next::Terminated);
    t.is(Line { v: [2.5, 5.0, 3.5], q: [2.5, 1.0, 5.0, 3.5], priority: [2.5, 1.0, 1.5] });

    // Cycle. A (2½). ΔU = 2½ − 5 = −2½; U(A) = 2½. Q(C) = 3½ − ½·2½ = 2¼. V(C) = 2¼, lowered to |2¼ − 2| = ¼.
    t.cycle();
    t.is(Line { v: [2.5, 5.0, 2.25], q: [2.5, 1.0, 5.0, 2.25], priority: [0.0, 1.0, 0.25] });

    // Cycle. B (1). ΔU = 5 − 4 = 1; U(B) = 5. (A,x), 1 of 2: 2½ + ½·½·1 = 2¾. (A,y), 1 of 2: 1 + ¼ = 1¼. V(A) = 2¾,
    // priority |2¾ − 2½| = ¼.
    t.cycle();
    t.is(Line { v: [2.75, 5.0, 2.25], q: [2.75, 1.25, 5.0, 2.25], priority: [0.25, 0.0, 0.25] });

    // Observe A,x → B, r = 1. N(A,x) = 3, and here the weight N − 1 = 2 counts: Q(A,x) = [2¾·2 + 1 + ½·5]/3 = 9/3 = 3.
    // (Relation: R̂ = (2+0+1)/3 = 1; ½(⅔·5 + ⅓·2) = ½·4 = 2; sum 3.) Priority |3 − 2½| = ½.
    t.observe(A, X, 1.0, on(B));
    t.is(Line { v: [3.0, 5.0, 2.25], q: [3.0, 1.25, 5.0, 2.25], priority: [0.5, 0.0, 0.25] });

    // Cycle. A (½). ΔU = ½; U(A) = 3. Q(C) = 2¼ + ¼ = 2½, priority |2½ − 2| = ½.
    t.cycle();
    t.is(Line { v: [3.0, 5.0, 2.5], q: [3.0, 1.25, 5.0, 2.5], priority: [0.0, 0.0, 0.5] });

    // Cycle. C (½). ΔU = ½; U(C) = 2½. (B): 5 + ½·½ = 5¼, priority |5¼ − 5| = ¼. (A,x), 1 of 3: 3 + ½·⅓·½ = 3 + 1/12.
    t.cycle();
    let q = t.planner.values().value(State(A));
    assert!((q - (3.0 + 1.0 / 12.0)).abs() < 1e-15);
    t.is(Line { v: [q, 5.25, 2.5], q: [q, 1.25, 5.25, 2.5], priority: [q - 3.0, 0.25, 0.0] });

    // Predecessors backed up in the eight cycles: B·1, A·1, C·2, A·1, A·1, B·2, A·1, C·2. No pop was idle.
    let counters = t.planner.counters().unwrap();
    assert_eq!((counters.cycles, counters.small_backups, counters.idle_pops), (8, 11, 0));
}

/// arXiv 2013, Algorithm 2. The same steps. V moves only when its state is popped, so U = V; priorities are only promoted.
#[test]
fn small_backups_by_hand() {
    let mut t = Trace::new(SmallBackups::new(settings()).unwrap());
    // Q_prev(A,x) Q_prev(A,y) Q_prev(B) Q_prev(C).
    #[track_caller]
    fn previous(t: &Trace<SmallBackups>, expected: [f64; 4]) {
        let pairs: Vec<_> = [A, B, C].iter().flat_map(|&s| t.model.pairs(State(s))).collect();
        let found: Vec<f64> = pairs.iter().map(|&pair| t.planner.previous_action_value(pair)).collect();
        assert_eq!(found, expected, "Q_prev");
    }
    t.is(Line { v: [0.0, 0.0, 0.0], q: [0.0, 0.0, 0.0, 0.0], priority: [0.0, 0.0, 0.0] });

    // Observe A,x → B, r = 2. l.9: N = 1. l.10: Q(A,x) = [0·0 + 2 + ½·V(B)]/1 = 2. l.11: p = |2 − Q_prev| = 2. l.12: A at 2.
    // V(A) stays 0 until A is popped.
    t.observe(A, X, 2.0, on(B));
    t.is(Line { v: [0.0, 0.0, 0.0], q: [2.0, 0.0, 0.0, 0.0], priority: [2.0, 0.0, 0.0] });

    // Observe B → C, r = 4. l.10: Q(B) = 4 + ½·0 = 4. l.11, 12: B at 4.
    t.observe(B, 0, 4.0, on(C));
    t.is(Line { v: [0.0, 0.0, 0.0], q: [2.0, 0.0, 4.0, 0.0], priority: [2.0, 4.0, 0.0] });

    // Observe C → A, r = 1. l.10: Q(C) = 1 + ½·V(A) = 1. C at 1.
    t.observe(C, 0, 1.0, on(A));
    t.is(Line { v: [0.0, 0.0, 0.0], q: [2.0, 0.0, 4.0, 1.0], priority: [2.0, 4.0, 1.0] });
    previous(&t, [0.0; 4]);

    // Cycle. l.14: B (4). l.15: Q_prev(B) = 4. l.16, 17: V(B) = 4. l.18: ΔV = 4. l.19, 20: (A,x), 1 of 1: 2 + ½·4 = 4.
    // l.21: p = |4 − 0| = 4. l.22: A promoted to 4.
    t.cycle();
    t.is(Line { v: [0.0, 4.0, 0.0], q: [4.0, 0.0, 4.0, 1.0], priority: [4.0, 0.0, 1.0] });
    previous(&t, [0.0, 0.0, 4.0, 0.0]);

    // Observe A,x → C, r = 0. N = 2. l.10: Q(A,x) = [4·1 + 0 + ½·V(C)]/2 = 2. l.11: p = |2 − 0| = 2. l.12: no promotion, A
    // stays at 4.
    t.observe(A, X, 0.0, on(C));
    t.is(Line { v: [0.0, 4.0, 0.0], q: [2.0, 0.0, 4.0, 1.0], priority: [4.0, 0.0, 1.0] });

    // Cycle. A (4). Q_prev(A,·) = 2, 0. V(A) = 2, ΔV = 2. (C): 1 + ½·2 = 2, p = |2 − 0| = 2: C promoted to 2.
    t.cycle();
    t.is(Line { v: [2.0, 4.0, 0.0], q: [2.0, 0.0, 4.0, 2.0], priority: [0.0, 0.0, 2.0] });
    previous(&t, [2.0, 0.0, 4.0, 0.0]);

    // Cycle. C (2). Q_prev(C) = 2, V(C) = 2, ΔV = 2. (A,x), 1 of 2: 2 + ½·½·2 = 2½, p = |2½ − 2| = ½. (B): 4 + ½·2 = 5,
    // p = |5 − 4| = 1.
    t.cycle();
    t.is(Line { v: [2.0, 4.0, 2.0], q: [2.5, 0.0, 5.0, 2.0], priority: [0.5, 1.0, 0.0] });
    previous(&t, [2.0, 0.0, 4.0, 2.0]);

    // Observe A,y → B, r = 3. Q(A,y) = 3 + ½·V(B) = 3 + ½·4 = 5, p = |5 − 0| = 5: A promoted to 5.
    t.observe(A, Y, 3.0, on(B));
    t.is(Line { v: [2.0, 4.0, 2.0], q: [2.5, 5.0, 5.0, 2.0], priority: [5.0, 1.0, 0.0] });

    // Cycle. A (5). Q_prev(A,·) = 2½, 5. V(A) = 5, ΔV = 3. (C): 2 + ½·3 = 3½, p = |3½ − 2| = 1½.
    t.cycle();
    t.is(Line { v: [5.0, 4.0, 2.0], q: [2.5, 5.0, 5.0, 3.5], priority: [0.0, 1.0, 1.5] });
    previous(&t, [2.5, 5.0, 4.0, 2.0]);

    // Observe A,y → end, r = −3. N = 2. Q(A,y) = [5·1 − 3 + 0]/2 = 1, p = |1 − 5| = 4. V(A) stays 5.
    t.observe(A, Y, -3.0, Next::Terminated);
    t.is(Line { v: [5.0, 4.0, 2.0], q: [2.5, 1.0, 5.0, 3.5], priority: [4.0, 1.0, 1.5] });

    // Cycle. A (4). Q_prev(A,·) = 2½, 1. V(A) = 2½, ΔV = −2½. (C): 3½ − 1¼ = 2¼, p = |2¼ − 2| = ¼: C stays at 1½.
    t.cycle();
    t.is(Line { v: [2.5, 4.0, 2.0], q: [2.5, 1.0, 5.0, 2.25], priority: [0.0, 1.0, 1.5] });

    // Cycle. C (1½). Q_prev(C) = 2¼, V(C) = 2¼, ΔV = ¼. (A,x), 1 of 2: 2½ + ½·½·¼ = 2.5625, p = 0.0625. (B): 5 + ½·¼ = 5.125,
    // p = |5.125 − 4| = 1.125: B promoted to 1.125.
    t.cycle();
    t.is(Line { v: [2.5, 4.0, 2.25], q: [2.5625, 1.0, 5.125, 2.25], priority: [0.0625, 1.125, 0.0] });

    // Cycle. B (1.125). V(B) = 5.125, ΔV = 1.125. (A,x), 1 of 2: 2.5625 + ¼·1.125 = 2.84375, p = |2.84375 − 2½| = 0.34375.
    // (A,y), 1 of 2: 1 + 0.28125 = 1.28125, p = |1.28125 − 1| = 0.28125. A promoted to 0.34375.
    t.cycle();
    t.is(Line { v: [2.5, 5.125, 2.25], q: [2.84375, 1.28125, 5.125, 2.25], priority: [0.34375, 0.0, 0.0] });
    previous(&t, [2.5, 1.0, 5.125, 2.25]);

    // Observe A,x → B, r = ¾. N = 3, weight N − 1 = 2: Q(A,x) = [2.84375·2 + 0.75 + ½·5.125]/3 = 9/3 = 3. p = |3 − 2½| = ½.
    t.observe(A, X, 0.75, on(B));
    t.is(Line { v: [2.5, 5.125, 2.25], q: [3.0, 1.28125, 5.125, 2.25], priority: [0.5, 0.0, 0.0] });

    // Cycle. A (½). V(A) = 3, ΔV = ½. (C): 2¼ + ¼ = 2½, p = ¼.
    t.cycle();
    t.is(Line { v: [3.0, 5.125, 2.25], q: [3.0, 1.28125, 5.125, 2.5], priority: [0.0, 0.0, 0.25] });
    previous(&t, [3.0, 1.28125, 5.125, 2.25]);
    assert_eq!(t.planner.counters().unwrap().idle_pops, 0);

    // Observe A,y → end, r = −2.5625. N = 3. Q(A,y) = [1.28125·2 − 2.5625]/3 = 0. p = |0 − 1.28125|: A at 1.28125.
    t.observe(A, Y, -2.5625, Next::Terminated);
    t.is(Line { v: [3.0, 5.125, 2.25], q: [3.0, 0.0, 5.125, 2.5], priority: [1.28125, 0.0, 0.25] });

    // Cycle. A (1.28125). Q_prev(A,·) = 3, 0. V(A) = 3 as before, ΔV = 0: the pop changes nothing, and is counted.
    t.cycle();
    t.is(Line { v: [3.0, 5.125, 2.25], q: [3.0, 0.0, 5.125, 2.5], priority: [0.0, 0.0, 0.25] });
    previous(&t, [3.0, 0.0, 5.125, 2.25]);
    let counters = t.planner.counters().unwrap();
    // B·1, A·1, C·2, A·1, A·1, C·2, B·2, A·1, and the idle pop.
    assert_eq!((counters.cycles, counters.small_backups, counters.idle_pops), (9, 11, 1));
}
