"""bench_peers.py quantecon|storm MODEL.umb DISCOUNT [--costs]: one line with the CPU seconds of the solve call. See bench-peers."""

import sys
import tarfile
import time

import numpy as np

TOLERANCE = 1e-4
RUNS = 3


def arrays(path):
    """The flat arrays of a UMB file whose rewards belong to choices."""
    with tarfile.open(path) as archive:
        files = {member.name: member for member in archive.getmembers()}

        def read(name, kind):
            return np.frombuffer(archive.extractfile(files[name]).read(), kind)

        rewards = [name for name in files if name.startswith("annotations/rewards/") and name.endswith("/choices/values.bin")]
        if len(rewards) != 1:
            sys.exit(f"{path}: found {len(rewards)} rewards of choices; expected 1")
        return (
            read("state-to-choices.bin", "<u8").astype(np.int64),
            read("choice-to-branches.bin", "<u8").astype(np.int64),
            read("branch-to-target.bin", "<u8").astype(np.int64),
            read("branch-to-probability.bin", "<f8"),
            read(rewards[0], "<f8"),
        )


def fastest(solve):
    """CPU seconds of the fastest call."""
    best = float("inf")
    for _ in range(RUNS):
        start = time.process_time()
        solve()
        best = min(best, time.process_time() - start)
    return best


def quantecon(path, discount, costs):
    import scipy.sparse
    from quantecon.markov import DiscreteDP

    choices, branches, targets, probabilities, rewards = arrays(path)
    n_states, n_choices = len(choices) - 1, len(branches) - 1
    matrix = scipy.sparse.csr_matrix((probabilities, targets, branches), shape=(n_choices, n_states))
    states = np.repeat(np.arange(n_states), np.diff(choices))
    actions = np.arange(n_choices) - choices[states]
    problem = DiscreteDP(-rewards if costs else rewards, matrix, discount, states, actions)
    # The first call compiles.
    problem.solve(method="mpi", epsilon=1e3, max_iter=1)
    return fastest(lambda: problem.solve(method="mpi", epsilon=TOLERANCE, max_iter=1_000_000))


def storm(path, discount, costs):
    import stormpy

    model = stormpy.build_model_from_umb(path)
    name = next(iter(model.reward_models))
    extreme = "min" if costs else "max"
    formula = stormpy.parse_properties(f'R{{"{name}"}}{extreme}=? [Cdiscount={discount!r}]')[0]
    environment = stormpy.Environment()
    environment.solver().min_max().precision = stormpy.Rational(repr(TOLERANCE))
    environment.solver().min_max().relative_termination_criterion = False
    return fastest(lambda: stormpy.model_checking(model, formula, environment=environment))


if __name__ == "__main__":
    tool, path, discount = sys.argv[1:4]
    seconds = {"quantecon": quantecon, "storm": storm}[tool](path, float(discount), "--costs" in sys.argv)
    print(f"{tool:16} {seconds:.5f} CPU s", flush=True)
