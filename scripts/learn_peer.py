"""The same with pandas and mdptoolbox-hiive: from a file of counts to a policy and a page, for comparison with `backsweep learn --counts`.

    pip install pandas mdptoolbox-hiive
    python scripts/learn_peer.py make counts.csv [states] [actions] [next states]    # about states · actions · next states rows
    python scripts/learn_peer.py run counts.csv out.html
    backsweep learn --counts counts.csv --hold-out 0% --out out

Both read the same file, drop actions seen fewer than 20 times, solve at discount .99 to within 1e-6, and write policy and page. The peer has no support for
states without such an action, no held-out estimates and no intervals, so it does less.
"""

import resource
import sys
import time

import numpy as np
import pandas as pd


def make(path, n_states=2000, n_actions=5, n_next=10):
    random = np.random.default_rng(0)
    rows = []
    for state in range(n_states):
        for action in range(n_actions):
            following = random.choice(n_states, n_next - 1, replace=False)
            counts = random.integers(1, 40, n_next)
            for i, n in enumerate(counts):
                name = f"s{following[i]:05}" if i < n_next - 1 else None
                rows.append((f"s{state:05}", f"a{action}", name, int(random.integers(0, 16)), int(n), int(random.binomial(n, 0.1))))
    rows += [(f"s{state:05}", None, None, state % 16, 10, 0) for state in range(n_states)]
    with open(path, "w") as file:
        file.write("# backsweep counts 1\n# reward_unit: 1\n")
        pd.DataFrame(rows, columns=["state", "action", "next", "fold", "n", "reward_sum"]).to_csv(file, index=False)


def run(path, page):
    import scipy.sparse
    from hiive.mdptoolbox.mdp import PolicyIterationModified

    began = time.perf_counter()
    counts = pd.read_csv(path, comment="#")
    counts = counts[counts["action"].notna()]
    sums = counts.groupby(["state", "action"])[["n", "reward_sum"]].sum().reset_index()
    states = pd.Index(sorted(set(counts["state"]) | set(counts["next"].dropna())))
    actions = pd.Index(sorted(set(counts["action"])))
    n_states = len(states)
    joint = counts.groupby(["state", "action", "next"])["n"].sum().reset_index().merge(sums, on=["state", "action"], suffixes=("", "_of"))
    transitions, rewards = [], np.full((n_states + 1, len(actions)), -1e6)
    for a, action in enumerate(actions):
        part, total = joint[joint["action"] == action], sums[(sums["action"] == action) & (sums["n"] >= 20)]
        part = part[part["n_of"] >= 20]
        row, column = states.get_indexer(part["state"]), states.get_indexer(part["next"])
        p = scipy.sparse.csr_matrix((part["n"] / part["n_of"], (row, column)), shape=(n_states + 1, n_states + 1))
        # The missing probability leads to the end, the last state.
        rest = 1 - np.asarray(p.sum(1)).ravel()
        p = p + scipy.sparse.csr_matrix((rest, (np.arange(n_states + 1), np.full(n_states + 1, n_states))), shape=p.shape)
        transitions.append(p.tocsr())
        rewards[states.get_indexer(total["state"]), a] = total["reward_sum"] / total["n"]
    rewards[n_states] = 0.0
    solver = PolicyIterationModified(transitions, rewards, 0.99, epsilon=1e-6, max_iter=10000)
    solver.run()
    table = pd.DataFrame({"state": states, "action": actions[list(solver.policy[:n_states])], "value": solver.V[:n_states]})
    table.to_csv(page.replace(".html", ".csv"), index=False)
    table.sort_values("value").head(100).to_html(page)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{time.perf_counter() - began:.2f} s, {memory:.0f} MB, mean value {table['value'].mean():.6f}")


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        run(*sys.argv[2:4])
