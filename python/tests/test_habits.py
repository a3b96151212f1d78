"""Habits of Gymnasium, NumPy and Jupyter users, which the package must meet."""

import copy
import inspect
import io
import pickle
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings
from dataclasses import dataclass

import gymnasium as gym
import numpy as np
import pytest
from conftest import TIMED
from gymnasium import spaces
from test_learn import Corridor

import backsweep
from backsweep._progress import Bar


@dataclass(frozen=True)
class Cell:
    x: int


def test_evaluate_gives_the_mean_and_its_standard_error():
    env = gym.make("FrozenLake-v1")
    mdp = backsweep.MDP.from_gymnasium(env, discount=0.99)
    mdp.solve()
    result = backsweep.evaluate(env, mdp, 400, seed=1)
    assert len(result) == 400 and set(result.returns) == {0.0, 1.0}
    assert result.mean == np.mean(result.returns)
    assert result.standard_error == pytest.approx(np.std(result.returns, ddof=1) / 20)
    assert abs(result.mean - 0.74) < 5 * result.standard_error
    assert result.returns == backsweep.evaluate(env, mdp, 400, seed=1).returns
    assert repr(result).startswith(f"<backsweep.Evaluation: mean return {result.mean:.4g} ± ")
    assert "mean return" in result._repr_html_()
    assert np.isnan(backsweep.evaluate(env, mdp, 1).standard_error)


class Endless(gym.Env):
    """One state, one action, and no end."""

    observation_space, action_space = spaces.Discrete(1), spaces.Discrete(1)

    def reset(self, *, seed=None, options=None):
        return 0, {}

    def step(self, action):
        return 0, 1.0, False, False, {}


def test_evaluate_learns_nothing():
    env = Corridor(spaces.Discrete(6), lambda i: i)
    agent = backsweep.Agent(0.9, epsilon=0.5, seed=0)
    backsweep.learn(env, agent, 50)
    before = agent.to_bytes()
    result = backsweep.evaluate(env, agent, 10)
    assert agent.to_bytes() == before
    assert result.lengths == [5] * 10 and all(result.terminated)  # greedy, although epsilon is 0.5
    # An agent that knows nothing acts at random; a limit truncates its episodes.
    lost = backsweep.evaluate(env, backsweep.Agent(), 5, max_steps=3, seed=0)
    assert lost.lengths == [3] * 5 and not any(lost.terminated)
    for arguments, error in [((env, agent, 0), ValueError), ((env, agent, 1.5), TypeError), ((3, agent, 1), TypeError)]:
        with pytest.raises(error):
            backsweep.evaluate(*arguments)
    assert backsweep.evaluate(Endless(), backsweep.Agent(), 2).lengths == [10_000, 10_000]
    with pytest.raises(ValueError, match="max_steps is 0"):
        backsweep.evaluate(env, agent, 1, max_steps=0)


def test_a_notebook_shows_a_bar(tmp_path):
    """In a real kernel: the bar is one output that is updated, although the error stream is not a terminal."""
    import nbclient
    import nbformat

    code = (
        "import backsweep, gymnasium as gym\n"
        "agent = backsweep.Agent(seed=0)\n"
        "history = backsweep.learn(gym.make('FrozenLake-v1'), agent, 300)\n"
        "history"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code), nbformat.v4.new_code_cell("agent")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of Jupyter's own packages
        nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    bar, result = notebook.cells[0].outputs
    assert bar.output_type == "display_data" and '<progress value="300" max="300">' in bar.data["text/html"]
    assert "300/300 episodes" in bar.data["text/html"]
    assert "<caption>backsweep.History</caption>" in result.data["text/html"]
    assert "<caption>backsweep.Agent</caption>" in notebook.cells[1].outputs[0].data["text/html"]


def test_the_bar_in_a_file_has_no_escapes():
    stream = io.StringIO()
    with Bar(2, True, stream) as bar:
        bar.show(1, "half")
        bar.show(2, "all")
    assert "\x1b" not in stream.getvalue() and "2/2 episodes, all, 0 s remaining" in stream.getvalue()
    quiet = io.StringIO()
    with Bar(2, None, quiet) as bar:
        bar.show(2, "all")
    assert quiet.getvalue() == ""


def test_short_reprs():
    env = gym.make("FrozenLake-v1")
    mdp = backsweep.MDP.from_gymnasium(env, discount=0.99)
    agent = backsweep.Agent(seed=0)
    history = backsweep.learn(env, agent, 200)
    solution = mdp.solve()
    for thing in (agent, mdp, solution, history, backsweep.evaluate(env, mdp, 3), backsweep.TD0(), backsweep.SmallBackupPredictor()):
        assert repr(thing).startswith(f"<backsweep.{type(thing).__name__}: ") and len(repr(thing)) < 150
    for thing in (agent, mdp, solution, history):
        html = thing._repr_html_()
        assert html.startswith(f"<table><caption>backsweep.{type(thing).__name__}</caption>") and len(html) < 1000
    assert "200 episodes" in repr(history) and "16 states, converged" in repr(solution)
    assert repr(backsweep.History()) == "<backsweep.History: 0 episodes, 0 steps, no return yet>"
    assert backsweep.History()._repr_html_()
    assert repr(backsweep.TD0()) == "<backsweep.TD0: 0 states>"


def test_ctrl_c_in_learn_returns_the_history_so_far():
    class Slow(Corridor):
        def step(self, action):
            time.sleep(0.0005)
            return super().step(action)

    env = Slow(spaces.Discrete(6), lambda i: i)
    agent = backsweep.Agent(0.9, epsilon=0.1, seed=0)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=lambda: (time.sleep(0.5), signal.raise_signal(signal.SIGINT)))
    try:
        thread.start()
        history = backsweep.learn(env, agent, 10**9)
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert history.interrupted and 0 < len(history) < 10**6
    assert len(history.lengths) == len(history.planning_seconds) == len(history.terminated) == len(history)
    assert "interrupted" in repr(history) and "interrupted" in history._repr_html_()
    assert not backsweep.learn(env, agent, 3).interrupted


def test_no_seed_is_a_fresh_seed():
    def choices(**seed):
        agent = backsweep.Agent(actions=4, epsilon=1.0, **seed)
        return [agent.act("s") for _ in range(40)]

    assert choices(seed=0) == choices(seed=0)
    assert choices() != choices() and choices(seed=None) != choices()

    def values(**seed):
        predictor = backsweep.SmallBackupPredictor(0.9, selection="random", **seed)
        for i in range(60):
            predictor.observe(i * i % 7, float(i % 5), i * 3 % 7)
        return predictor.values()

    assert values(seed=1) == values(seed=1) and len({str(values()) for _ in range(5)}) > 1


def test_everything_is_true():
    things = [backsweep.Agent(), backsweep.MDP(0.9), backsweep.TD0(), backsweep.SmallBackupPredictor()]
    assert all(len(thing) == 0 and bool(thing) for thing in things)


def test_a_state_in_which_episodes_only_ended():
    agent = backsweep.Agent(0.9)
    agent.observe("s", "go", 1.0, "E", terminated=True)
    assert agent.value("E") == 0.0 and "E" in agent and agent.best_action("E") is None
    assert agent.actions("E") == [] and agent.action_values("E") == {}
    assert agent.states == ["s"] and len(agent) == 1 and agent.values() == {"s": 1.0}
    for call in (agent.value, agent.best_action, agent.actions, agent.action_values):
        with pytest.raises(KeyError, match="state 'F' is not known"):
            call("F")
    assert "F" not in agent
    agent.observe("E", "on", 2.0, "s")
    assert agent.value("E") > 0 and agent.best_action("E") == "on" and len(agent) == 2


def test_the_queue_that_was_called_heap():
    with pytest.warns(DeprecationWarning, match='"heap" is now called "exact"') as caught:
        planner = backsweep.SmallBackups(queue="heap")
    assert caught[0].filename == __file__
    assert planner == backsweep.SmallBackups() and planner.queue == "exact"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents = [backsweep.Agent(planner=kind(queue="exact"), seed=0) for kind in (backsweep.SmallBackups, backsweep.PengWilliams)]
    assert agents[0].to_bytes() == backsweep.Agent(planner=planner, seed=0).to_bytes()


def test_the_iterations_that_were_called_cycles():
    mdp = backsweep.MDP(discount=0.9)
    mdp.set_outcomes("hall", "wait", [(1.0, "hall", 1.0, False)])
    solution = mdp.solve()
    with pytest.warns(DeprecationWarning, match="Solution.cycles is now called Solution.iterations") as caught:
        assert solution.cycles == solution.iterations
    assert caught[0].filename == __file__


PREDICTORS = [
    lambda: backsweep.TD0(0.9, step_size=0.3, initial_value=1.0),
    lambda: backsweep.TD0(0.9, decay=0.5),
    *(
        lambda selection=selection: backsweep.SmallBackupPredictor(0.9, selection=selection, iterations=3, seed=4)
        for selection in ("most_recent", "round_robin", "random", "largest")
    ),
]


def steps(predictor, n, seed):
    rng = np.random.default_rng(seed)
    for state, reward, next_state, ended in zip(rng.integers(9, size=n), rng.normal(size=n), rng.integers(9, size=n), rng.random(n) < 0.1):
        predictor.observe(Cell(int(state)), float(reward), Cell(int(next_state)), bool(ended))
    return {state: value.hex() for state, value in predictor.values().items()}


@pytest.mark.parametrize("make", PREDICTORS)
def test_predictors_are_pickled_and_copied(make):
    """A copy continues bit for bit as the original."""
    predictor = make()
    for n in (0, 1, 300):
        steps(predictor, n, seed=n)
        copies = [pickle.loads(pickle.dumps(predictor)), copy.copy(predictor), copy.deepcopy(predictor)]
        expected = steps(predictor, 200, seed=5)
        for other in copies:
            assert type(other) is type(predictor) and len(other) <= len(predictor)
            assert steps(other, 200, seed=5) == expected
    assert Cell(3) in predictor and Cell(99) not in predictor


def test_pickled_predictors_are_checked():
    predictor = backsweep.SmallBackupPredictor(0.9)
    predictor.observe("a", 1.0, "b")
    restore, (data, others) = predictor.__reduce__()
    for spoilt in (data[:-1], b"", data[:40] + bytes([data[40] ^ 1]) + data[41:]):
        with pytest.raises(backsweep.FileError):
            restore(spoilt, others)
    with pytest.raises(backsweep.FileError):
        backsweep.TD0._restore(data, others)


def test_two_threads_get_one_message():
    """Whichever calls collide, the message is the same and says what to do."""
    agent = backsweep.Agent(discount=1.0, actions=1)
    agent.observe(0, 0, 1.0, 0)
    calls = [
        lambda: agent.value(0), lambda: agent.observe(0, 0, 1.0, 0), lambda: agent.act(0), lambda: agent.plan(cycles=1), lambda: agent.states,
        lambda: agent.epsilon, lambda: setattr(agent, "epsilon", 0.5), lambda: len(agent), lambda: 0 in agent, lambda: agent.to_bytes(),
        lambda: copy.copy(agent), lambda: pickle.dumps(agent), lambda: agent.audit(), lambda: agent.policy(), lambda: repr(agent),
    ]  # fmt: skip
    thread = threading.Thread(target=agent.plan, kwargs={"microseconds": 3e6})
    thread.start()
    time.sleep(0.2)
    messages = set()
    for call in calls:
        with pytest.raises(RuntimeError) as raised:
            call()
        messages.add(str(raised.value))
    assert bool(agent)  # needs nothing of it
    thread.join()
    assert len(messages) == 1 and "one call at a time" in messages.pop()


PUBLIC = [getattr(backsweep, name) for name in backsweep.__all__ if callable(getattr(backsweep, name))]


def documented():
    """All public functions, classes and methods that take arguments."""
    for thing in PUBLIC:
        if isinstance(thing, type) and issubclass(thing, (Exception, tuple)):
            continue
        yield thing.__name__, thing
        if isinstance(thing, type):
            for name, method in inspect.getmembers(thing, callable):
                # What Discretize inherits is explained by Gymnasium.
                if not name.startswith("_") and not (getattr(method, "__module__", None) or "").startswith("gymnasium"):
                    yield f"{thing.__name__}.{name}", method


@pytest.mark.parametrize(("name", "thing"), list(documented()), ids=lambda value: value if isinstance(value, str) else "")
def test_help_explains_every_argument(name, thing):
    arguments = [argument for argument in inspect.signature(thing).parameters if argument not in ("self", "cls")]
    text = inspect.getdoc(thing)
    assert text
    if isinstance(thing, type) and hasattr(thing, "__dataclass_fields__"):
        text = inspect.getsource(thing) + "".join(inspect.getsource(base) for base in thing.__mro__[1:-1])
    for argument in arguments:
        assert f"{argument}:" in text, f"{name} does not explain {argument}"


def seconds(call):
    """The processor time of a call, which other programs do not change much."""
    start = time.process_time()
    call()
    return time.process_time() - start


@pytest.mark.parametrize("how", ["list", "mask", "add_state", "declare_actions"])
def test_many_actions_cost_in_proportion(how):
    """Ten times as many actions take about ten times as long, not a hundred times."""

    def run(n):
        agent = backsweep.Agent(seed=0)
        names = [f"action {i}" for i in range(n)]
        match how:
            case "list":
                return lambda: [agent.act("s", names) for _ in range(3)]
            case "mask":
                mask = np.ones(n, bool)
                return lambda: [agent.act("s", action_mask=mask) for _ in range(3)]
            case "add_state":
                agent.add_state("s", names[:1])
                agent.add_state("t", names[:1])
                return lambda: agent.add_state("s", names)
            case "declare_actions":
                agent.add_state("s", names[:1])
                return lambda: agent.declare_actions(names)

    small = min(seconds(run(2_000)) for _ in range(5))
    large = min(seconds(run(20_000)) for _ in range(3))
    # A quadratic one would take a hundred times as long; caches and a busy machine are allowed for.
    assert large < 45 * small + 0.01, (small, large)


def test_ctrl_c_while_declaring_millions_of_actions(capsys):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = []

    def interrupt():
        time.sleep(0.05)
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            backsweep.Agent(actions=2**24)
            backsweep.Agent(actions=2**24)  # in case that the first was that fast
        took = time.perf_counter() - sent[0]
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    with capsys.disabled():
        print(f"\ndeclaring actions: stopped after {1000 * took:.0f} ms", end="")
    if TIMED:
        assert took < 0.2


def test_ten_million_actions_take_seconds_not_minutes():
    took = seconds(lambda: backsweep.Agent(actions=10**7))
    assert took < 15, took  # it was 40 before repeated actions were found by hash


def test_a_state_of_millions_of_actions_is_refused_if_it_does_not_fit():
    """In a separate process with limited memory: it must raise, not be killed."""
    script = (
        "import resource, backsweep\n"
        "resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))\n"
        "agent = backsweep.Agent(actions=2**21)\n"
        "try:\n"
        "    for i in range(10**6): agent.observe(i, 0, 0.0, i + 1)\n"
        "except MemoryError as error:\n"
        "    print('refused:', error)\n"
        "print(len(agent) < 1000)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "refused: state " in done.stdout and "would take about" in done.stdout and done.stdout.endswith("True\n")


def test_reading_a_mask_makes_no_objects():
    agent = backsweep.Agent(actions=1000)
    mask = np.ones(1000, np.int8)
    agent.act("s", action_mask=mask)
    tracemalloc.start()
    agent.act("s", action_mask=mask)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000
