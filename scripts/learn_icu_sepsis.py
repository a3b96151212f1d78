"""ICU-Sepsis: what `learn_log` promises, and what its policies are truly worth.

    pip install --no-deps icu-sepsis==2.0.1     # only its dynamics.npz and expert policy are used; then: backsweep, numpy, pyarrow
    python scripts/learn_icu_sepsis.py [--episodes 17000] [--seeds 3]

First the known problem: random .780071, expert .781845 and optimal .875142, from `MDP.solve`, to six digits at discount 1. Then logs of the
expert are sampled, a policy is learned from each, and it is evaluated in the known problem.
"""

import argparse
import importlib.util
import pathlib

import numpy as np

import backsweep

N = 713  # states in which something is decided; the rest are ends


def dynamics():
    package = importlib.util.find_spec("icu_sepsis").submodule_search_locations[0]
    with np.load(pathlib.Path(package) / "envs/assets/dynamics.npz") as found:
        return found["tx_mat"], (found["tx_mat"] * found["r_mat"]).sum(2), found["d_0"], found["expert_policy"]


def solved(p, r, start):
    """The value of the best policy, by our solver; `p` and `r` have one action if a policy is to be evaluated."""
    end = p[:N, :, N:].sum(2)
    mdp = backsweep.MDP.from_arrays(p[:N, :, :N], r[:N], end=end, discount=1.0, normalize=True)
    solution = mdp.solve(tolerance=1e-9)
    if not solution.converged:
        raise SystemExit("not converged")
    values = mdp.values()
    return sum(start[s] * values[s] for s in range(N))


def worth(p, r, start, policy):
    """The exact value of a policy."""
    chain = np.einsum("sa,sat->st", policy[:N], p[:N])[:, :N]
    return start[:N] @ np.linalg.solve(np.eye(N) - chain, (policy * r)[:N].sum(1))


def sample(p, r, start, policy, n, seed):
    """Episodes of a policy as columns."""
    random = np.random.default_rng(seed)
    by_action, by_next, by_start = policy.cumsum(1), p.cumsum(2), start.cumsum()
    case = np.arange(n)
    state = np.searchsorted(by_start, random.random(n) * by_start[-1])
    parts = []
    step = 0
    while len(case):
        action = (random.random(len(case))[:, None] * by_action[state, -1:] > by_action[state]).sum(1)
        rows = by_next[state, action]
        following = (random.random(len(case))[:, None] * rows[:, -1:] > rows).sum(1)
        # The reward of an episode is 1 if it ends in state 714, survival.
        parts.append((case, np.full(len(case), step), state, action, (following == N + 1).astype(int)))
        alive = following < N
        case, state, step = case[alive], following[alive], step + 1
    columns = [np.concatenate(column) for column in zip(*parts)]
    return dict(zip(["case", "t", "state", "action", "reward"], columns))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--episodes", type=int, default=17_000)
    options.add_argument("--seeds", type=int, default=3)
    options = options.parse_args()
    p, r, start, expert = dynamics()
    uniform = np.full_like(expert, 1 / expert.shape[1])
    for name, policy in [("random", uniform), ("expert", expert)]:
        chain = np.einsum("sa,sat->st", policy, p)[:, None, :]
        print(f"{name}: {solved(chain, (policy * r).sum(1)[:, None], start):.6f}")
    print(f"optimal: {solved(p, r, start):.6f}")
    print("seed, minimum, keep logged: logged return | promised | held-out model | truly | finding")
    for seed in range(options.seeds):
        log = sample(p, r, start, expert, options.episodes, seed)
        for minimum, keep, hold_out in [(1, False, 0.2), (5, False, 0.2), (20, False, 0.2), (50, False, 0.2), (20, True, 0.2), (1, False, 0.0), (20, False, 0.0)]:
            try:
                learned = backsweep.learn_log(
                    log, case="case", order="t", state="state", action="action", reward="reward",
                    discount=1.0, min_count=minimum, keep_logged=keep, hold_out=hold_out,
                )
            except ValueError as refused:  # Without discount, a policy that never ends in its own model has no value.
                print(f"{seed} {minimum:3} {str(keep):5} hold-out {hold_out}: refused: {refused}", flush=True)
                continue
            policy = expert.copy()
            for state, actions in learned.probabilities.items():
                policy[int(state)] = 0.0
                for action, probability in actions.items():
                    policy[int(state), int(action)] = probability
            found = learned.report.summary
            logged = found["logged"]["held_out"] or found["logged"]["training_model"]
            held_out = found["policy"]["held_out_model"]
            in_model = f"{held_out['policy']['value']:.3f}" if held_out else "    –"
            print(
                f"{seed} {minimum:3} {str(keep):5} hold-out {hold_out}: {logged['value']:.3f} | {found['policy']['training_model']['value']:.3f} | {in_model} | "
                f"{worth(p, r, start, policy):.3f} | {learned.report.finding} ({found['policy']['effective_cases']:.1f} effective cases)",
                flush=True,
            )


if __name__ == "__main__":
    main()
