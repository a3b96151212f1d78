#!/usr/bin/env python3
"""Write the small test problems, with their known answers, that the tests read.

Needs Python >= 3.11 and numpy, scipy, gymnasium[toy-text].

    python scripts/make_testdata.py            write the files
    python scripts/make_testdata.py --check    write nothing; fail if a file differs

For every problem NAME two files are written:

    NAME.csv      state,action,next_state,prob,reward,terminated
    NAME.ref.csv  discount,state,value

A terminated outcome ends the return: its reward counts, the value of its
next_state does not. A state without actions has value 0.

How the answers are found. Policy iteration, each policy evaluated by a dense
linear solve (numpy), whose answer is then refined: the residual is taken in
exact rational arithmetic on the very numbers in the CSV, solved for, and added,
until the error is far below one unit in the last place. So the last bits do
not depend on the machine's linear algebra, and an action is only called better
when it is. For discount 1, the probabilities are read as the fractions they
stand for (0.3333333333333333 as 1/3) and each policy is evaluated by exact
elimination; the value is the fraction rounded once. Every answer is compared
with a linear program (scipy's HiGHS), and must agree to 1e-9 of max(1, |value|).

Discount 1 is only written where the answer is certain (see `why_discount_one`).
"""

import argparse
import importlib.metadata
import math
import sys
from collections import defaultdict, namedtuple
from fractions import Fraction
from pathlib import Path

import numpy as np
import scipy.optimize
import scipy.sparse

OUT = Path(__file__).resolve().parent.parent / "crates" / "backsweep" / "tests" / "testdata"
AGREE = 1e-9  # policy iteration against linear program, of max(1, |value|)
ALWAYS = (0.9, 0.99)

Row = namedtuple("Row", "state action next_state prob reward terminated")
Problem = namedtuple("Problem", "name what origin license rows own_discounts known check")


# ---------------------------------------------------------------- the problems


def problem(name, what, origin, license, rows, own_discounts=(), known=True, check=None):
    """`known`: write discount 1 too, if `why_discount_one` finds the answer certain."""
    rows = [Row(int(s), int(a), int(t), float(p), float(r), int(end)) for s, a, t, p, r, end in rows]
    return Problem(name, what, origin, license, rows, tuple(own_discounts), known, check)


def gymnasium_problems():
    import gymnasium

    version = importlib.metadata.version("gymnasium")

    def newest(name):
        specs = [s for s in gymnasium.registry.values() if s.name == name and s.namespace is None]
        if not specs:
            sys.exit(f"gymnasium {version} has no {name}")
        return max(specs, key=lambda s: s.version or 0).id

    def table(name, what, env, kwargs, known=True, check=None):
        env_id = newest(env)
        made = gymnasium.make(env_id, **kwargs)
        p = made.unwrapped.P
        rows = [
            (s, a, t, prob, reward, end)
            for s in sorted(p)
            for a in sorted(p[s])
            for prob, t, reward, end in p[s][a]
        ]
        made.close()
        args = ", ".join(f"{k}={v!r}" for k, v in kwargs.items())
        origin = f"Gymnasium {version}, `{env_id}`" + (f" with `{args}`" if args else "")
        return problem(name, what, origin, "MIT, `LICENSE.gymnasium`", rows, known=known, check=check)

    def slippery4(v, d):
        if d == 1:
            assert v[0] == Fraction(14, 17), v[0]

    def cliff(v, d):
        if d == 1:
            assert v[36] == -13, v[36]

    return [
        table("FrozenLake-4x4-slippery", "V(0) = 14/17 at discount 1", "FrozenLake",
              {"map_name": "4x4", "is_slippery": True}, check=slippery4),
        table("FrozenLake-4x4-det", "the same lake without slipping", "FrozenLake",
              {"map_name": "4x4", "is_slippery": False}),
        table("FrozenLake-8x8-slippery", "the larger lake", "FrozenLake",
              {"map_name": "8x8", "is_slippery": True}),
        table("CliffWalking", "the goal, state 47, has rows of its own that do not end", "CliffWalking",
              {}, check=cliff),
        table("CliffWalking-slippery", "one successor listed with different rewards", "CliffWalking",
              {"is_slippery": True}),
        table("Taxi", "500 states, some never seen in an episode", "Taxi", {}),
        # exact elimination on 500 stochastic states is not worth its time
        table("Taxi-rainy", "500 states, moves that slip", "Taxi", {"is_rainy": True}, known=False),
    ]


def book_gridworld():
    """Examples 3.5 and 3.8. Cell (row, col) is state 5*row+col; up, down, left, right."""
    jumps = {(0, 1): ((4, 1), 10), (0, 3): ((2, 3), 5)}
    rows = []
    for y in range(5):
        for x in range(5):
            for a, (dy, dx) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
                if (y, x) in jumps:
                    (ty, tx), r = jumps[y, x]
                else:
                    ty, tx, r = y + dy, x + dx, 0
                    if not (0 <= ty < 5 and 0 <= tx < 5):
                        ty, tx, r = y, x, -1
                rows.append((5 * y + x, a, 5 * ty + tx, 1, r, False))

    def check(v, d):
        assert abs(float(v[1]) - 10 / (1 - d**5)) < 1e-9 * float(v[1])  # four steps back up to A
        if d == 0.9:
            assert [round(float(x), 1) for x in v[:5]] == [22.0, 24.4, 22.0, 19.4, 17.5]

    return problem("sb-gridworld", "5x5 cells, never ends, four equal actions at A and at B",
                   "Sutton & Barto, 2nd ed., examples 3.5 and 3.8, from their text",
                   "the project's", rows, (0.9,), check=check)


def book_maze():
    """Example 8.1. Cell (row, col) is state 9*row+col; up, down, left, right."""
    high, wide = 6, 9
    start, goal = (2, 0), (0, 8)
    walls = {(1, 2), (2, 2), (3, 2), (4, 5), (0, 7), (1, 7), (2, 7)}
    rows = []
    for y in range(high):
        for x in range(wide):
            if (y, x) in walls or (y, x) == goal:
                continue
            for a, (dy, dx) in enumerate(((-1, 0), (1, 0), (0, -1), (0, 1))):
                to = (y + dy, x + dx)
                if not (0 <= to[0] < high and 0 <= to[1] < wide) or to in walls:
                    to = (y, x)
                end = to == goal
                rows.append((wide * y + x, a, wide * to[0] + to[1], 1, 1 if end else 0, end))

    def check(v, d):
        assert abs(float(v[wide * start[0] + start[1]]) - d**13) < 1e-12  # 14 steps

    return problem("sb-dyna-maze", "6x9 cells, 14 steps from state 18 to the goal, state 8; "
                   "walls are states without rows",
                   "Sutton & Barto, 2nd ed., example 8.1, from its text",
                   "the project's", rows, (0.95,), check=check)


def book_gambler():
    """Example 4.3, heads with probability 0.4. Action k stakes k+1."""
    rows = []
    for s in range(1, 100):
        for stake in range(1, min(s, 100 - s) + 1):
            up, down = s + stake, s - stake
            rows.append((s, stake - 1, up, 0.4, 1 if up == 100 else 0, up == 100))
            rows.append((s, stake - 1, down, 0.6, 0, down == 0))

    def check(v, d):
        if d == 1:
            assert (v[25], v[50], v[75]) == (Fraction(4, 25), Fraction(2, 5), Fraction(16, 25))
            assert v[5] == Fraction(256, 14725)

    return problem("sb-gambler", "heads with 0.4; action k stakes k+1, so 1 to 50 actions; many ties",
                   "Sutton & Barto, 2nd ed., example 4.3, from its text",
                   "the project's", rows, (1.0,), check=check)


def own_problems():
    def own(name, what, rows, **more):
        return problem(name, what, "made here", "the project's", rows, **more)

    out = []

    def close(x, y):
        assert abs(float(x) - y) <= 1e-9 * max(1, abs(y)), (float(x), y)

    def self_loop(v, d):
        v1 = 1 / (1 - 0.5 * d)
        close(v[1], v1)
        close(v[0], max((0.75 + 0.25 * d * v1) / (1 - 0.75 * d), 2 + d * v1))

    out.append(own("tiny-self-loop",
                   "self-loops with a probability, one of them also ending; the best action of "
                   "state 0 is 1 at 0.9 and 0 at 0.99", [
        (0, 0, 0, 0.75, 1, 0),
        (0, 0, 1, 0.25, 0, 0),
        (0, 1, 1, 1, 2, 0),
        (1, 0, 1, 0.5, -1, 0),
        (1, 0, 1, 0.5, 3, 1),
    ], check=self_loop))

    def duplicates(v, d):
        # state 1 has one action; state 0 is better off with action 0
        v0 = (1.75 + 2 * d) / (1 - 0.75 * d * d)
        close(v[0], v0)
        close(v[1], 2 + 0.75 * d * v0)
        close(v[2], 7)

    out.append(own("tiny-duplicates",
                   "one successor listed three times, with different rewards, not side by side, "
                   "and with only some of the three ending", [
        (0, 0, 1, 0.25, 1, 0),
        (0, 0, 1, 0.25, -2, 0),
        (0, 0, 1, 0.5, 4, 0),
        (0, 1, 1, 0.2, 1, 0),
        (0, 1, 2, 0.1, 0, 0),
        (0, 1, 1, 0.3, 2, 1),
        (0, 1, 2, 0.1, 0, 0),
        (0, 1, 1, 0.3, 1, 0),
        (1, 0, 0, 0.5, 0, 0),
        (1, 0, 0, 0.25, 0, 0),
        (1, 0, 0, 0.25, 8, 1),
        (2, 0, 2, 0.5, 6, 1),
        (2, 0, 2, 0.25, 8, 1),
        (2, 0, 2, 0.25, 8, 1),
    ], check=duplicates))

    out.append(own("tiny-uneven-actions",
                   "1, 2, 5, 0 and 3 actions in states 0 to 4", [
        (0, 0, 1, 0.5, 1, 0),
        (0, 0, 2, 0.5, -1, 0),
        (1, 0, 2, 1, 0.5, 0),
        (1, 1, 4, 1, 0.25, 0),
        (2, 0, 3, 1, 1, 1),
        (2, 1, 4, 0.5, 2, 0),
        (2, 1, 3, 0.5, 0, 1),
        (2, 2, 4, 1, -3, 0),
        (2, 3, 4, 0.75, 0.5, 0),
        (2, 3, 3, 0.25, 0, 1),
        (2, 4, 3, 1, 2, 1),
        (4, 0, 3, 1, 4, 1),
        (4, 1, 4, 0.5, 1, 0),
        (4, 1, 3, 0.5, 2, 1),
        (4, 2, 3, 0.5, 7, 1),
        (4, 2, 3, 0.5, 2, 1),
    ]))

    def dead_end(v, d):
        close(v[2], 0)
        close(v[1], -1)
        close(v[0], max(-0.5, 1 - d))
        close(v[3], 3)

    out.append(own("tiny-dead-end",
                   "state 2 has no actions and is reached by outcomes that are not terminated; "
                   "its value is 0, above and below its neighbors'", [
        (0, 0, 2, 1, -0.5, 0),
        (0, 1, 1, 1, 1, 0),
        (1, 0, 2, 1, -1, 0),
        (1, 1, 1, 0.5, -5, 0),
        (1, 1, 2, 0.5, 0, 0),
        (3, 0, 2, 0.5, 4, 0),
        (3, 0, 2, 0.5, 2, 1),
    ], check=dead_end))

    chain = []
    for s in range(10):
        end = s == 9
        chain += [
            (s, 0, s + 1, 0.7, -1, end),
            (s, 0, s, 0.1, -1, 0),
            (s, 0, max(s - 1, 0), 0.2, -1, 0),
            (s, 1, s + 1, 0.5, -0.75, end),
            (s, 1, s, 0.5, -0.75, 0),
        ]
    out.append(own("tiny-chain", "ten states in a line, steps that fail, an end", chain))

    out.append(own("tiny-scales",
                   "rewards of 1e6 and of 1e-6 in one problem; states 2 and 3 only see the small ones", [
        (0, 0, 1, 1, 1e6, 0),
        (0, 1, 2, 1, 1e-6, 0),
        (1, 0, 1, 0.5, 1e-6, 0),
        (1, 0, 0, 0.25, -1e6, 0),
        (1, 0, 4, 0.25, 1e6, 1),
        (1, 1, 2, 1, -1e6, 0),
        (2, 0, 3, 1, 1e-6, 0),
        (2, 1, 4, 1, 3e-6, 1),
        (3, 0, 2, 0.5, -1e-6, 0),
        (3, 0, 4, 0.5, 1e-6, 1),
        (3, 1, 4, 1, 2.5e-6, 1),
        (5, 0, 0, 0.5, 1e-6, 0),
        (5, 0, 3, 0.5, -1e6, 0),
        (5, 1, 3, 1, 1e-6, 0),
    ]))

    out.append(own("random-60", "60 states, 1 to 4 actions, 1 to 5 outcomes, fixed seed; "
                   "probabilities in 1024ths", random_rows(60)))

    def unreachable(v, d):
        close(v[2], 0)
        close(v[3], 5 + d * v[0])
        close(v[4], 9)

    out.append(own("tiny-unreachable",
                   "nothing leads to states 3 and 4, yet they have values; "
                   "state 2 is in no row at all", [
        (0, 0, 1, 0.5, 1, 0),
        (0, 0, 0, 0.5, 1, 0),
        (0, 1, 1, 1, 1.75, 0),
        (1, 0, 1, 1, 2, 1),
        (3, 0, 0, 1, 5, 0),
        (3, 1, 1, 1, -2, 0),
        (4, 0, 4, 1, 9, 1),
    ], check=unreachable))
    return out


def random_rows(n, seed=20240229):
    """A sparse random problem from SplitMix64, so no library's generator matters."""
    state, mask = seed, (1 << 64) - 1

    def below(k):
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return ((z ^ (z >> 31)) * k) >> 64

    rows = []
    for s in range(n):
        for a in range(1 + below(4)):
            cuts = sorted({1 + below(1023) for _ in range(below(5))})
            for low, high in zip([0] + cuts, cuts + [1024]):
                reward = (below(8001) - 4000) / 1000
                rows.append((s, a, below(n), (high - low) / 1024, reward, below(12) == 0))
    return rows


# ------------------------------------------------------------------- the model


class Model:
    """The rows grouped by state and action, in floats and in exact fractions."""

    def __init__(self, rows):
        self.n = 1 + max(max(r.state, r.next_state) for r in rows)
        grouped = defaultdict(lambda: defaultdict(list))
        for r in rows:
            grouped[r.state][r.action].append(r)
        self.actions = [[] for _ in range(self.n)]
        for s, by_action in grouped.items():
            assert sorted(by_action) == list(range(len(by_action))), (s, "actions are 0, 1, ...")
            self.actions[s] = [by_action[a] for a in range(len(by_action))]
        for s in range(self.n):
            for rows_sa in self.actions[s]:
                assert all(0 < r.prob <= 1 and math.isfinite(r.reward) for r in rows_sa)
                assert abs(math.fsum(r.prob for r in rows_sa) - 1) < 1e-15, (s, "probabilities")

    def exact(self, meant):
        """Per state, per action: (expected reward, {next: probability of going on})."""
        read = as_meant if meant else Fraction
        out = []
        for acts in self.actions:
            out.append([])
            for rows_sa in acts:
                probs = [read(r.prob) for r in rows_sa]
                if meant:
                    assert sum(probs) == 1
                go_on = defaultdict(Fraction)
                for r, p in zip(rows_sa, probs):
                    if not r.terminated:
                        go_on[r.next_state] += p
                out[-1].append((sum(p * read(r.reward) for r, p in zip(rows_sa, probs)), dict(go_on)))
        return out


def as_meant(x):
    """The short fraction a float stands for: 0.3333333333333333 is 1/3."""
    f = Fraction(x).limit_denominator(10**7)
    assert abs(float(f) - x) <= 2 * math.ulp(x), x
    return f


def as_floats(exact):
    return [[(float(r), {t: float(p) for t, p in g.items()}) for r, g in acts] for acts in exact]


# ------------------------------------------------------------------ the answers


def policy_matrix(model, policy, d):
    a = np.eye(len(model))
    b = np.zeros(len(model))
    for s, acts in enumerate(model):
        if acts:
            b[s], go_on = acts[policy[s]]
            for t, p in go_on.items():
                a[s, t] -= d * p
    return a, b


def q_values(model, s, v, d):
    return [r + d * sum(p * v[t] for t, p in go_on.items()) for r, go_on in model[s]]


def better(model, policy, v, d, slack):
    """The policy with every action that `slack(state)` says is clearly better, or None."""
    new = list(policy)
    for s, acts in enumerate(model):
        if acts:
            q = q_values(model, s, v, d)
            best = max(range(len(q)), key=q.__getitem__)
            if q[best] > q[policy[s]] + slack(s):
                new[s] = best
    return new if new != policy else None


def rough_policy_iteration(model, d, policy):
    """In floats; good enough to start the exact one."""
    for _ in range(1000):
        v = np.linalg.solve(*policy_matrix(model, policy, d)).tolist()
        reach = [max((abs(r) + sum(p * abs(v[t]) for t, p in g.items()) for r, g in acts), default=0.0)
                 for acts in model]
        new = better(model, policy, v, d, lambda s: 1e-11 * reach[s])
        if new is None:
            return policy
        policy = new
    raise RuntimeError("policy iteration does not settle")


def refined_values(exact, floats, policy, d):
    """The policy's values as fractions, wrong by less than about 1e-40 of their size."""
    a, b = policy_matrix(floats, policy, d)
    inverse = np.linalg.inv(a)
    v = [Fraction(x) for x in np.linalg.solve(a, b).tolist()]
    d = Fraction(d)
    for _ in range(20):
        rest = []
        for s, acts in enumerate(exact):
            if acts:
                r, go_on = acts[policy[s]]
                rest.append(r + d * sum(p * v[t] for t, p in go_on.items()) - v[s])
            else:
                rest.append(-v[s])
        size = max(map(abs, rest))
        if size < Fraction(1, 10**50):
            return v
        # scaled to keep the small numbers within a float
        step = inverse @ np.array([float(x / size) for x in rest])
        v = [round_to(x + Fraction(y) * size) for x, y in zip(v, step.tolist())]
    raise RuntimeError("refinement does not settle")


def round_to(x, bits=256):
    return Fraction(round(x * (1 << bits)), 1 << bits)


def eliminated_values(exact, policy):
    """The policy's exact values at discount 1, by elimination on sparse rows."""
    n = len(exact)
    rows = []
    for s, acts in enumerate(exact):
        row, rhs = {s: Fraction(1)}, Fraction(0)
        if acts:
            rhs, go_on = acts[policy[s]]
            for t, p in go_on.items():
                row[t] = row.get(t, Fraction(0)) - p
        rows.append([{t: x for t, x in row.items() if x}, rhs])
    users = [set() for _ in range(n)]
    for s, (row, _) in enumerate(rows):
        for t in row:
            users[t].add(s)
    left, order = set(range(n)), []
    while left:
        # least fill first; a state's own column is always a sound pivot here
        s = min(left, key=lambda s: ((len(rows[s][0]) - 1) * (len(users[s]) - 1), s))
        left.remove(s)
        order.append(s)
        row, rhs = rows[s]
        pivot = row[s]
        assert pivot > 0, "a policy that does not end"
        for u in [u for u in users[s] if u in left]:
            factor = rows[u][0].pop(s) / pivot
            for t, x in row.items():
                if t != s:
                    y = rows[u][0].get(t, Fraction(0)) - factor * x
                    if y:
                        rows[u][0][t] = y
                        users[t].add(u)
                    else:
                        rows[u][0].pop(t, None)
                        users[t].discard(u)
            rows[u][1] -= factor * rhs
        for t in row:
            users[t].discard(s)
        users[s] = set()
    v = [Fraction(0)] * n
    for s in reversed(order):
        row, rhs = rows[s]
        v[s] = (rhs - sum(x * v[t] for t, x in row.items() if t != s)) / row[s]
    return v


def ending_policy(exact):
    """A policy that ends from every state with probability 1, or None."""
    policy = [0] * len(exact)
    done = {s for s, acts in enumerate(exact) if not acts}
    grown = True
    while grown:
        grown = False
        for s in range(len(exact)):
            if s not in done:
                for a, (_, go_on) in enumerate(exact[s]):
                    if sum(go_on.values()) < 1 or any(t in done for t in go_on):
                        policy[s], grown = a, True
                        done.add(s)
                        break
    return policy if len(done) == len(exact) else None


def every_policy_ends(exact):
    """No set of states in which one can stay forever."""
    inside = {s for s, acts in enumerate(exact) if acts}
    while True:
        keep = {s for s in inside
                if any(sum(g.values()) == 1 and set(g) <= inside for _, g in exact[s])}
        if keep == inside:
            return not inside
        inside = keep


def why_discount_one(model, exact, v):
    """Why v, the value of an ending policy with no better action anywhere, is optimal.

    Against a policy that ends this needs nothing more. For one that may not:
    its return is minus infinity if every outcome that goes on costs something,
    and is never above v if v is nowhere negative.
    """
    if every_policy_ends(exact):
        return "every policy ends"
    if all(r.terminated or r.reward < 0 for acts in model.actions for rows in acts for r in rows):
        return "going on always costs"
    if all(x >= 0 for x in v):
        return "values not negative"
    return None


def linear_program(model, d):
    """The smallest v with v >= reward + d * next, over all pairs."""
    n = len(model)
    rows, cols, vals, rhs = [], [], [], []
    for s, acts in enumerate(model):
        for r, go_on in acts:
            entry = defaultdict(float)
            entry[s] -= 1.0
            for t, p in go_on.items():
                entry[t] += d * p
            for t, x in entry.items():
                rows.append(len(rhs))
                cols.append(t)
                vals.append(x)
            rhs.append(-r)
    a = scipy.sparse.csr_matrix((vals, (rows, cols)), shape=(len(rhs), n))
    bounds = [(None, None) if acts else (0, 0) for acts in model]
    found = scipy.optimize.linprog(
        np.ones(n), A_ub=a, b_ub=rhs, bounds=bounds, method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10})
    assert found.status == 0, found.message
    return found.x.tolist()


def tied_states(exact, v, d):
    """States where two actions are equally good, as far as 1e-12 tells."""
    count = 0
    for s, acts in enumerate(exact):
        q = sorted(q_values(exact, s, v, Fraction(d)), reverse=True)
        count += len(q) > 1 and q[0] - q[1] <= Fraction(1, 10**12) * max(abs(q[0]), Fraction(1, 10**6))
    return count


def solve(prob):
    """{discount: values as floats}, notes for the report, the largest LP deviation."""
    model = Model(prob.rows)
    exact = model.exact(meant=False)
    floats = as_floats(exact)
    answers, worst, why, ties = {}, 0.0, None, 0

    def accept(d, v):
        nonlocal worst
        if prob.check:
            prob.check(v, d)
        value = [float(x) + 0.0 for x in v]
        off = max(abs(x - y) / max(1.0, abs(x)) for x, y in zip(value, linear_program(floats, d)))
        assert off <= AGREE, f"{prob.name} at {d}: linear program differs by {off}"
        worst = max(worst, off)
        answers[d] = value

    for d in sorted({*ALWAYS, *(x for x in prob.own_discounts if x < 1)}):
        policy = rough_policy_iteration(floats, d, [0] * model.n)
        for _ in range(1000):
            v = refined_values(exact, floats, policy, d)
            new = better(exact, policy, v, Fraction(d), lambda s: Fraction(1, 10**30))
            if new is None:
                break
            policy = new
        else:
            raise RuntimeError("policy iteration does not settle")
        accept(d, v)
        if d == ALWAYS[0]:
            ties = tied_states(exact, v, d)

    meant = model.exact(meant=True) if prob.known else None
    start = ending_policy(meant) if meant else None
    # With gains from going on there may be no best ending policy, so no search for one.
    if start and (every_policy_ends(meant) or all(
            r.terminated or r.reward <= 0 for acts in model.actions for rows in acts for r in rows)):
        policy = rough_policy_iteration(floats, 1.0, start)
        while True:
            v = eliminated_values(meant, policy)
            new = better(meant, policy, v, 1, lambda s: 0)
            if new is None:
                break
            policy = new
        why = why_discount_one(model, meant, v)
        if why:
            accept(1.0, v)
    assert set(prob.own_discounts) <= set(answers), prob.name
    return model.n, answers, worst, why, ties


# -------------------------------------------------------------------- the files


def problem_csv(rows):
    lines = ["state,action,next_state,prob,reward,terminated"]
    lines += [f"{r.state},{r.action},{r.next_state},{r.prob!r},{r.reward!r},{r.terminated}" for r in rows]
    return "\n".join(lines) + "\n"


def ref_csv(answers):
    lines = ["discount,state,value"]
    lines += [f"{d!r},{s},{x!r}" for d in sorted(answers) for s, x in enumerate(answers[d])]
    return "\n".join(lines) + "\n"


def gymnasium_license():
    for f in importlib.metadata.files("gymnasium") or ():
        if ".dist-info" in f.parts[0] and f.name.upper().startswith("LICENSE"):
            return f.read_text(encoding="utf-8").replace("\r\n", "\n")
    sys.exit("the installed gymnasium has no license file")


README = """\
# Test problems with known answers

Written by `scripts/make_testdata.py`, this file too. Do not edit by hand.

For each problem NAME:

- `NAME.csv`: `state,action,next_state,prob,reward,terminated`, one line per
  outcome. The number of states is 1 + the largest id in `state` or
  `next_state`. The actions of a state are 0, 1, ... without gaps; each state
  has its own number of them, possibly none. Lines are in order of state and
  action.
- `NAME.ref.csv`: `discount,state,value`, the optimal value of every state.
  Reward is maximized.

Numbers are written so that reading them gives back the same 64-bit float.

| file | states | lines | discounts | tied | what | origin | license |
|---|--:|--:|---|--:|---|---|---|
{table}

`tied` is the number of states with more than one best action at discount 0.9.

## Traps

- **Duplicates are to be added.** A pair may list one successor several times,
  also with different rewards, also with only some of them terminated, and not
  always side by side. Each line counts, with its own probability and reward.
- **`terminated` is on the transition, not on the state.** Such an outcome pays
  its reward and ends: the value of its `next_state` is not added. That state
  can have lines, and a value, of its own (`CliffWalking`, state 47), and can
  be the very state the outcome left (`tiny-self-loop`).
- **States without actions** have value 0, however they are reached, and are
  not errors. Some have ids in the middle, some are in no line at all.
- **Tied actions.** Many states have several best actions, and rounding decides
  among them. Compare values, not policies; or check that the chosen action's
  worth equals the state's value.
- **Probabilities of a pair** add to 1 only up to rounding (three times 1/3).
- **Discount 1.** Where it is given, the answer is certain:

{ones}

  Where some policy never ends, the equations can have other solutions too (in
  `sb-dyna-maze` any constant above 1 is one for the cells), so a method started
  too high can stop at a wrong one. The values are those of the fractions that
  the probabilities stand for (1/3, not 0.3333333333333333), rounded once.
- **Scale.** In `tiny-scales` values of 1e6 and of 1e-6 are in one file; an
  absolute tolerance says nothing about the small ones.

## How the answers were found

Policy iteration with linear solves, refined in exact arithmetic so that the
values are the optimum of the numbers in the file, rounded to the nearest
float. Each was compared with a linear program solved by HiGHS and agrees to
1e-9 of max(1, |value|). For discount 1 see above.

## To regenerate

    python3 -m venv VENV
    VENV/bin/pip install numpy scipy 'gymnasium[toy-text]=={version}'
    VENV/bin/python scripts/make_testdata.py

`--check` instead compares and writes nothing. Another version of Gymnasium may
have other tables.

The Gymnasium tables were made from Gymnasium {version} (`env.unwrapped.P`), which
is under the MIT license: `LICENSE.gymnasium`. The book is R. S. Sutton and
A. G. Barto, *Reinforcement Learning: An Introduction*, 2nd edition, MIT Press,
2018; its problems were written from their definitions.
"""


def main():
    parser = argparse.ArgumentParser(description="Write the test problems and their answers.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file differs")
    check_only = parser.parse_args().check

    problems = gymnasium_problems() + [book_gridworld(), book_maze(), book_gambler()] + own_problems()
    files, table, ones = {}, [], defaultdict(list)
    for p in problems:
        n, answers, worst, why, ties = solve(p)
        files[f"{p.name}.csv"] = problem_csv(p.rows)
        files[f"{p.name}.ref.csv"] = ref_csv(answers)
        ds = [f"{d:g}" for d in sorted(answers)]
        table.append(f"| `{p.name}` | {n} | {len(p.rows)} | {', '.join(ds)} | {ties} "
                     f"| {p.what} | {p.origin} | {p.license} |")
        if why:
            ones[why].append(f"`{p.name}`")
        print(f"{p.name}: {n} states, {len(p.rows)} lines, discounts {', '.join(ds)}, "
              f"{ties} tied, linear program within {worst:.1e}")
    files["LICENSE.gymnasium"] = gymnasium_license()
    reasons = {
        "every policy ends": "every policy ends",
        "going on always costs": "not every policy ends, but one that does not loses without bound",
        "values not negative": "not every policy ends, but one that does not gains nothing by it, "
                               "and no value is negative",
    }
    files["README.md"] = README.format(
        table="\n".join(table),
        ones="\n".join(f"  - {text}: {', '.join(ones[why])}." for why, text in reasons.items() if ones[why]),
        version=importlib.metadata.version("gymnasium"))

    differing = 0
    if not check_only:
        OUT.mkdir(parents=True, exist_ok=True)
    for name, text in sorted(files.items()):
        data = text.encode("utf-8")
        path = OUT / name
        if check_only:
            if not path.is_file() or path.read_bytes() != data:
                print(f"differs: {name}")
                differing += 1
        else:
            path.write_bytes(data)
            print(f"wrote {name}, {len(data)} bytes")
    total = sum(len(t.encode("utf-8")) for t in files.values())
    print(f"{len(files)} files, {total} bytes" + (f", {differing} differ" if check_only else ""))
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
