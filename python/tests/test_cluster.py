"""The learner of a team, without Ray; `./test engines` runs a team whose processes are killed."""

import numpy as np
import pytest

import backsweep
from backsweep.cluster import Batch, Learner, counts


def new_agent():
    return backsweep.Agent(0.9, optimism=backsweep.Optimism(0.0), seed=0)


def learner(folder=None, **options):
    return Learner(new_agent, actions=[0, 1], checkpoint=folder, checkpoint_every=10, **options)


def batch(seed, n=7):
    random = np.random.default_rng(seed)
    states, actions, nexts = (random.integers(0, high, n) for high in (5, 2, 5))
    rewards, ended = np.round(random.normal(size=n), 1), random.random(n) < 0.2
    return Batch(states, actions, rewards, nexts, ended, np.zeros(n, bool))


def seen(*batches):
    agent = new_agent()
    for one in batches:
        agent.observe_many(*one)
    return counts(agent)


def test_a_batch_counts_once_and_in_order():
    ours = learner()
    assert ours.apply("a", 1, batch(1)).last == 1
    assert ours.apply("a", 1, batch(1)).last == 1
    assert ours.apply("a", 3, batch(3)).last == 1
    assert ours.apply("b", 1, batch(9)).last == 1
    reply = ours.apply("a", 2, batch(2))
    assert (reply.last, reply.total) == (2, 21)
    assert counts(ours.agent) == seen(batch(1), batch(2), batch(9))


def test_the_order_of_actors_does_not_matter():
    ours, theirs = learner(), learner()
    for seed in range(1, 40):
        ours.apply("a", seed, batch(seed))
    for seed in range(1, 40):
        ours.apply("b", seed, batch(1000 + seed))
        theirs.apply("b", seed, batch(1000 + seed))
        theirs.apply("a", seed, batch(seed))
    assert counts(ours.agent) == counts(theirs.agent)


def test_a_refused_batch_changes_nothing():
    ours = learner()
    bad = batch(1)._replace(rewards=np.array([0.0] * 6 + [np.nan]))
    with pytest.raises(ValueError):
        ours.apply("a", 1, bad)
    assert ours.poll("a").last == 0 and counts(ours.agent) == {}


def test_a_restarted_learner_says_what_it_lacks(tmp_path):
    ours = learner(tmp_path)
    replies = [ours.apply("a", i, batch(i)) for i in (1, 2, 3)]
    assert [reply.stored for reply in replies] == [0, 2, 2]
    again = learner(tmp_path)
    reply = again.apply("a", 4, batch(4), version=replies[-1].version)
    assert (reply.last, reply.total) == (2, 14)
    # The rows of a learner that is gone may be newer than the restored ones, so all of them are sent.
    assert reply.rows == again.agent.policy()
    again.apply("a", 3, batch(3))
    again.apply("a", 4, batch(4))
    assert counts(again.agent) == seen(*map(batch, (1, 2, 3, 4)))


def test_what_was_half_written_is_ignored(tmp_path):
    ours = learner(tmp_path)
    ours.apply("a", 1, batch(1, 20))
    (tmp_path / "new-half").mkdir()
    (tmp_path / "new-half" / "learner.json").write_text("{")
    again = learner(tmp_path)
    assert again.poll("a").last == 1
    again.apply("a", 2, batch(2, 20))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["at-00000000000000000040"]


def test_a_folder_keeps_what_the_learner_did_not_write(tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1").write_text("precious")
    (tmp_path / "notes").write_text("precious")
    ours = learner(tmp_path)
    ours.apply("a", 1, batch(1, 20))
    for _ in range(3):
        ours.store()  # nothing has happened in between
    assert (tmp_path / "thesis" / "chapter1").read_text() == (tmp_path / "notes").read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 3
    assert counts(learner(tmp_path).agent) == seen(batch(1, 20))


@pytest.mark.parametrize("text", ["", "{", "[]", "\xff", '{"last": 3}', '{"last": {"a": -1}, "total": 1, "draws": 0}', "[" * 100_000])
def test_a_damaged_checkpoint_is_refused_by_its_name(tmp_path, text):
    ours = learner(tmp_path)
    ours.apply("a", 1, batch(1, 20))
    (stored,) = tmp_path.glob("at-*")
    (stored / "learner.json").write_text(text)
    with pytest.raises(backsweep.FileError, match="learner.json is damaged"):
        learner(tmp_path)


def test_only_changed_rows_are_sent():
    ours = learner(cycles=5)
    version, table = 0, {}
    sent = 0
    for i in range(1, 60):
        reply = ours.apply("a", i, batch(i), version=version)
        version = reply.version
        sent += len(reply.rows)
        table.update(reply.rows)
    assert table == ours.agent.policy()
    assert 5 <= sent < 60
    assert ours.poll("a", version=version).rows == {}


def test_draws_differ_and_are_stored(tmp_path):
    def exploring():
        return backsweep.Agent(0.9, explore=backsweep.CountBonus(), reward_range=(-5, 5), seed=0)

    options = {"actions": list(range(50)), "draws": 3, "checkpoint": tmp_path}
    ours = Learner(exploring, **options)
    ours.apply("a", 1, batch(1, 200))
    tables = [ours.poll("a", table=table).rows for table in range(4)]
    assert tables[0] == tables[3]
    assert tables[0] != tables[1] != tables[2]
    ours.store()
    again = Learner(exploring, **options)
    assert [again.poll("a", table=table).rows for table in range(4)] == tables
    with pytest.raises(backsweep.FileError, match="holds 3 draws; expected 2"):
        Learner(exploring, **{**options, "draws": 2})


def test_draws_need_a_range():
    with pytest.raises(ValueError, match="reward_range"):
        learner(draws=2)
