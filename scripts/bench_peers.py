"""bench_peers.py quantecon|storm|mdpax ...: solves the same models with Backsweep and with another tool, in turn in one
process, and prints a table. See bench-peers for the arguments.

Only solve calls are timed, in CPU seconds on one thread; the fastest of RUNS counts. `off` is the largest distance of the
other tool's values from our proven intervals.
"""

import copy
import json
import math
import os
import pathlib
import sys
import tarfile
import tempfile
import time

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import numpy as np

import backsweep

RUNS = 5
# A tool that takes longer than this in one run, in seconds, is not run again.
LONG = 20.0


def fastest(*solvers):
    """CPU seconds of the fastest call of each, and what it returned. A solver is a function that prepares a call."""
    best, results = [math.inf] * len(solvers), [None] * len(solvers)
    for _ in range(RUNS):
        for i, prepare in enumerate(solvers):
            if best[i] < LONG or best[i] == math.inf:
                solve = prepare()
                start = time.process_time()
                results[i] = solve()
                best[i] = min(best[i], time.process_time() - start)
    return best, results


def distance(values, solution):
    """Of values from intervals."""
    return float(np.maximum(np.maximum(solution.lower - values, values - solution.upper), 0.0).max())


class Table:
    def __init__(self, title, peer):
        print(f"{title}\n{'model':30} {'states':>8} {'arcs':>9} {'Backsweep':>10} {peer:>10} {'ratio':>6} {'off':>8}  method", flush=True)
        self.ratios = []

    def row(self, name, size, ours, peer, off, solution):
        ratio = ours / peer
        self.ratios.append(ratio)
        proven = "" if solution.converged else "NOT CONVERGED "
        print(f"{name:30} {size[0]:8} {size[1]:9} {ours:10.5f} {peer:10.5f} {ratio:6.2f} {off:8.1e}  {proven}{solution.method[:40]}", flush=True)

    def end(self):
        mean = math.exp(sum(map(math.log, self.ratios)) / len(self.ratios))
        print(f"{len(self.ratios)} rows: geometric mean {mean:.2f}, largest {max(self.ratios):.2f}\n", flush=True)


def umb(path):
    """The flat arrays of a UMB file whose rewards belong to choices."""
    with tarfile.open(path) as archive:
        files = {member.name: member for member in archive.getmembers()}

        def read(name, kind):
            return np.frombuffer(archive.extractfile(files[name]).read(), kind)

        rewards = [name for name in files if name.startswith("annotations/rewards/") and name.endswith("/choices/values.bin")]
        if len(rewards) != 1:
            sys.exit(f"{path}: found {len(rewards)} rewards of choices; expected 1")
        names = ("state-to-choices.bin", "choice-to-branches.bin", "branch-to-target.bin")
        return (*(read(name, "<u8").astype(np.int64) for name in names), read("branch-to-probability.bin", "<f8"), read(rewards[0], "<f8"))


def quantecon(paths, discounts, costs):
    """Modified policy iteration of QuantEcon.py to 1e-4."""
    import scipy.sparse
    from quantecon.markov import DiscreteDP

    table = Table("discounted reward to 1e-4, quantecon: modified policy iteration", "quantecon")
    for path in paths:
        choices, branches, targets, probabilities, rewards = umb(path)
        n_states, n_choices = len(choices) - 1, len(branches) - 1
        matrix = scipy.sparse.csr_matrix((probabilities, targets, branches), shape=(n_choices, n_states))
        states = np.repeat(np.arange(n_states), np.diff(choices))
        for discount in discounts:
            mdp = backsweep.MDP.read(path, discount=discount, progress=False)
            gains = -rewards if costs else rewards
            problem = DiscreteDP(gains, matrix, discount, states, np.arange(n_choices) - choices[states])
            problem.solve(method="mpi", epsilon=1e3, max_iter=1)  # the first call compiles

            def ours():
                fresh = copy.copy(mdp)
                return lambda: fresh.solve(1e-4, minimize=costs, threads=1)

            seconds, (solution, found) = fastest(ours, lambda: lambda: problem.solve(method="mpi", epsilon=1e-4, max_iter=1_000_000))
            off = distance((-found.v if costs else found.v)[: len(solution.values)], solution)
            table.row(f"{path.stem}, {discount}", (n_states, len(targets)), *seconds, off, solution)
    table.end()


def storm(folder):
    """Storm's sound methods to 1e-6 on models with known answers."""
    import stormpy

    table = Table("no discount, to 1e-6, Storm: sound", "Storm")
    outside = 0
    for path in sorted(pathlib.Path(folder).glob("*.ref.json")):
        reference = json.loads(path.read_text())
        base = str(path).removesuffix(".ref.json")
        mdp = backsweep.MDP.read(f"{base}.tra", progress=False)
        with tempfile.TemporaryDirectory() as temporary:
            mdp.write(f"{temporary}/model.umb")
            model = stormpy.build_model_from_umb(f"{temporary}/model.umb")
        environment = stormpy.environments.sound()
        environment.solver().min_max().precision = stormpy.Rational("1e-6")
        environment.solver().min_max().relative_termination_criterion = False
        for name, prop in reference["properties"].items():
            if "init_exact" not in prop:
                continue
            formula, target = prop["formula"], prop["target_label"]
            minimize = "min=" in formula
            objective = backsweep.Reach(target) if formula[0] == "P" else backsweep.Total(until=target, reward="steps" if formula[0] == "T" else formula.split('"')[1])
            asked = f'{formula.split("[")[0]}[F "{target}"]'
            [parsed] = stormpy.parse_properties(asked)

            def ours():
                fresh = copy.copy(mdp)
                return lambda: fresh.solve(1e-6, objective, minimize=minimize, threads=1)

            seconds, (solution, found) = fastest(ours, lambda: lambda: stormpy.model_checking(model, parsed, only_initial_states=False, environment=environment))
            numerator, denominator = (*map(int, prop["init_exact"].split("/")), 1)[:2]
            exact, first = numerator / denominator, reference["initial_state"]
            outside += not solution.lower[first] - 1e-15 * exact <= exact <= solution.upper[first] + 1e-15 * exact
            off = abs(found.get_value(first) - exact)
            table.row(f"{path.name[:-9]} {name}", (len(mdp), model.nr_transitions), *seconds, off, solution)
    table.end()
    print(f"{outside} exact values outside of our intervals (`off` is Storm's error here)")


def mdpax():
    """Model and solve of the perishable inventory with three ages, from Python."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
    from known_answers import perishable
    from mdpax.problems.perishable_inventory.de_moor_single_product import DeMoorSingleProductPerishable
    from mdpax.solvers.value_iteration import ValueIteration

    table = Table("perishable inventory, life 3, lead time 2, LIFO, model and solve, to 1e-4, mdpax: value iteration", "mdpax")
    first, outcomes = perishable(3, 2, False)

    def ours():
        return lambda: backsweep.MDP.from_function(first, 11, outcomes, discount=0.99, vectorized=True).solve(1e-4, minimize=True, threads=1)

    def theirs():
        def call():
            problem = DeMoorSingleProductPerishable(max_useful_life=3, lead_time=2, issue_policy="lifo")
            solver = ValueIteration(problem, gamma=0.99, epsilon=1e-4, verbose=0)
            return problem, solver.solve(max_iterations=100_000)

        return call

    seconds, (solution, (problem, found)) = fastest(ours, theirs)
    values = {tuple(map(int, state)): -float(value) for state, value in zip(problem.state_space, found.values)}
    off = distance(np.array([values[state] for state in solution.states]), solution)
    table.row("inventory", (len(solution.values), problem.n_actions * problem.n_random_events * problem.n_states), *seconds, off, solution)
    table.end()


def main():
    what, *rest = sys.argv[1:] or [""]
    if what == "quantecon" and rest:
        costs = "--costs" in rest
        rest = [word for word in rest if word != "--costs"]
        discounts = [float(word) for word in rest if not word.endswith(".umb")] or [0.99, 0.999, 0.9999]
        quantecon([pathlib.Path(word) for word in rest if word.endswith(".umb")], discounts, costs)
    elif what == "storm" and len(rest) == 1:
        storm(rest[0])
    elif what == "mdpax":
        mdpax()
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
