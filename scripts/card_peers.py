"""Times the sweeps of `card_bench` in CuPy and in JAX on the same card.

Same shapes and access patterns, f64: a grid of 4096 x 4096 states with 4 choices of 15 arcs to cells nearby, and a garnet of
20 million states with 5 choices of 10 arcs to random states. A sweep is the best of the choices' rewards plus discounted means.
"""
import os
import sys
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def best_of(sweep, wait, times=10):
    sweep(), wait()
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        sweep()
        wait()
        seconds.append(time.perf_counter() - start)
    return sorted(seconds)[times // 2], min(seconds)


def report(name, arcs, timed):
    middle, fastest = timed
    print(f"{name}: {1e3 * middle:.3f} ms (fastest {1e3 * fastest:.3f}), {12e-12 * arcs / middle:.2f} TB/s of 12-byte arcs", flush=True)


def grid(np):
    side = 4096
    state = np.arange(side * side, dtype=np.int32)
    y, x = state // side, state % side
    targets = np.empty((side * side, 4, 15), dtype=np.int32)
    for action in range(4):
        for i in range(15):
            ahead, aside = i // 3, i % 3 - 1
            dx, dy = [(ahead, aside), (-aside, ahead), (-ahead, -aside), (aside, -ahead)][action]
            targets[:, action, i] = np.clip(y + dy, 0, side - 1) * side + np.clip(x + dx, 0, side - 1)
    weights = np.array([a * b for a in (1.0, 2.0, 4.0, 2.0, 1.0) for b in (1.0, 3.0, 1.0)])
    probabilities = np.broadcast_to(weights / weights.sum(), targets.shape).copy()
    return targets, probabilities


def garnet(np):
    n = 20_000_000
    targets = np.random.randint(0, n, size=(n, 5, 10), dtype=np.int32)
    probabilities = np.random.random((n, 5, 10)) + 0.01
    probabilities /= probabilities.sum(axis=2, keepdims=True)
    return targets, probabilities


def cupy_sweeps(name, make):
    import cupy
    from cupyx.scipy.sparse import csr_matrix

    targets, probabilities = make(cupy)
    n, choices, arcs = targets.shape
    starts = cupy.arange(0, n * choices * arcs + 1, arcs, dtype=cupy.int32)
    matrix = csr_matrix((probabilities.ravel(), targets.ravel(), starts), shape=(n * choices, n))
    rewards = cupy.random.random((n, choices))
    values = cupy.random.random(n)
    wait = cupy.cuda.Device().synchronize

    def sweep():
        return (rewards + 0.99 * (matrix @ values).reshape(n, choices)).max(axis=1)

    report(f"CuPy {cupy.__version__}, csr_matrix, {name}", targets.size, best_of(sweep, wait))


def jax_sweeps(name, make):
    import cupy
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp

    targets, probabilities = (jax.dlpack.from_dlpack(array) for array in make(cupy))
    rewards = jax.random.uniform(jax.random.key(0), targets.shape[:2], dtype=jnp.float64)
    values = jax.random.uniform(jax.random.key(1), targets.shape[:1], dtype=jnp.float64)

    @jax.jit
    def sweep(values, targets, probabilities, rewards):
        return (rewards + 0.99 * (probabilities * values[targets]).sum(axis=2)).max(axis=1)

    last = [None]

    def run():
        last[0] = sweep(values, targets, probabilities, rewards)

    report(f"JAX {jax.__version__}, {name}", targets.size, best_of(run, lambda: last[0].block_until_ready()))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        {"cupy": cupy_sweeps, "jax": jax_sweeps}[sys.argv[1]](sys.argv[2], {"grid": grid, "garnet": garnet}[sys.argv[2]])
    else:
        import subprocess

        for library in ("cupy", "jax"):
            for model in ("grid", "garnet"):
                done = subprocess.run([sys.executable, __file__, library, model], capture_output=True, text=True, timeout=150)
                print(done.stdout or f"{library}, {model}: FAILED: {done.stderr.strip()[-300:]}", flush=True, end="" if done.stdout else "\n")
