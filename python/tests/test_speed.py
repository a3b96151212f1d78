"""The comparison of speeds runs, and compares like with like. Speeds are printed, not asserted: machines differ."""

import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples"))
import speed  # noqa: E402


def test_speed(capsys):
    ns = speed.measure(100_000, repeats=5)
    with capsys.disabled():
        print(
            f"\nspeed, ns per step: Rust {ns['rust_steps']:.0f}, Python {ns['python_steps']:.0f} (over: {ns['over']:.0f}), "
            f"pure Python {ns['pure_steps']:.0f}; observe_many {ns['observe_many']:.0f} = {ns['ratio']:.2f} x Rust"
        )
    assert all(ns[name] > 0 for name in ("rust_steps", "python_steps", "pure_steps", "observe_many", "ratio"))


def test_pure_python_computes_the_same():
    """The comparison is with something that works: the same values up to rounding."""
    import backsweep

    data = speed.record(2000)
    agent = backsweep.Agent(discount=speed.DISCOUNT, actions=speed.N_ACTIONS)
    agent.observe_many(*data)
    agent.plan(until=1e-9)
    pure = speed.PureSweeping(speed.DISCOUNT, speed.N_ACTIONS)
    for row in zip(*(column.tolist() for column in data)):
        pure.observe(*row)
    pure.plan(10**6)
    assert max(abs(pure.v[s] - agent.value(s)) for s in agent.states) < 1e-5
