"""The promised speeds, in one run: medians of pairs run one right after the other, in processor time."""

import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples"))
import speed  # noqa: E402


def test_speed(capsys):
    ns = speed.measure(100_000, repeats=15)
    with capsys.disabled():
        print(
            f"\nspeed, ns a step: Rust {ns['rust_steps']:.0f}, Python {ns['python_steps']:.0f} (over: {ns['over']:.0f}), "
            f"pure Python {ns['pure_steps']:.0f}; observe_many {ns['observe_many']:.0f} = {ns['ratio']:.2f} x Rust"
        )
    assert ns["over"] <= 1500
    assert ns["ratio"] <= 1.2
    assert ns["pure_steps"] > 5 * ns["python_steps"]


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
