"""Prioritized sweeping with reversed full backups in pure Python: dicts and heapq, nothing else.

The same algorithm as the default planner, written for the comparison in ``speed.py``. A heap cannot change the priority
of an entry, so stale entries stay in it and are skipped when popped.
"""

from collections import defaultdict
from heapq import heappop, heappush


class PureSweeping:
    """The model, the values and the queue of a learner, all in dicts."""

    def __init__(self, discount, n_actions, threshold=1e-9):
        self.discount, self.n_actions, self.threshold = discount, n_actions, threshold
        self.visits = defaultdict(int)
        self.counts = defaultdict(dict)  # (state, action) -> {next state: count}
        self.predecessors = defaultdict(set)  # state -> {(state, action)}
        self.q = {}
        self.v = defaultdict(float)
        self.u = defaultdict(float)
        self.heap = []

    def observe(self, state, action, reward, next_state, terminated):
        pair = state, action
        n = self.visits[pair] = self.visits[pair] + 1
        u = 0.0
        if not terminated:
            row = self.counts[pair]
            row[next_state] = row.get(next_state, 0) + 1
            self.predecessors[next_state].add(pair)
            u = self.u[next_state]
        q = self.q.get(pair, 0.0)
        self.q[pair] = q + (reward + self.discount * u - q) / n
        self._restore(state)

    def _restore(self, state):
        """V = max Q, and the priority |V - U|."""
        q = self.q
        v = self.v[state] = max(q.get((state, action), 0.0) for action in range(self.n_actions))
        priority = abs(v - self.u[state])
        if priority > self.threshold:
            heappush(self.heap, (-priority, state))

    def plan(self, cycles):
        for _ in range(cycles):
            while self.heap:
                priority, state = heappop(self.heap)
                if -priority == abs(self.v[state] - self.u[state]):
                    break
            else:
                return
            change = self.v[state] - self.u[state]
            self.u[state] = self.v[state]
            touched = set()
            for pair in self.predecessors[state]:
                share = self.counts[pair][state] / self.visits[pair]
                self.q[pair] += self.discount * share * change
                touched.add(pair[0])
            for predecessor in touched:
                self._restore(predecessor)

    def act(self, state):
        q = self.q
        return max(range(self.n_actions), key=lambda action: q.get((state, action), 0.0))
