"""Round trips of models through `backsweep convert`, judged by umbi and Storm. Called by scripts/test-models."""
import fractions
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import stormpy
import umbi.ats
import umbi.tar
import umbi.umb

BACKSWEEP = pathlib.Path(os.environ["BACKSWEEP"]).resolve()
LABELS = ["goal", "bad", "a label with spaces", "x-1_y"]


def convert(source, target, *options):
    done = subprocess.run([BACKSWEEP, "convert", source, target, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"convert {source} {target}: {done.stderr.strip()}")
    return done.stderr


def random_ats(rng, chain, exact):
    """A model of a random shape: some with names, labels, rewards of all kinds, several initial states, repeated branches."""
    ats = umbi.ats.ExplicitAts()
    ats.time = umbi.ats.TimeType.DISCRETE
    ats.num_players = 0 if chain else 1
    n_states = rng.choice([1, 2, 7, 64, 65, 200])
    n_initial = rng.randint(1, min(2, n_states))
    initial = rng.sample(range(n_states), n_initial)
    ats.num_initial_states = n_initial
    ats.state_is_initial = [state in initial for state in range(n_states)]
    named = not chain and rng.random() < 0.5
    if named:
        ats.num_choice_actions = 3
        ats.choice_action_to_name = ["left", "go right", "αβ"] if rng.random() < 0.7 else None
    for _ in range(n_states):
        ats.add_state()
    n_branches = 0
    # Storm takes rewards of branches only if no choice has two branches to the same state.
    repeated = rng.random() < 0.5
    for state in range(n_states):
        for _ in range(1 if chain else rng.randint(1, 3)):
            choice = ats.add_state_choice(state=state)
            targets = [rng.randrange(n_states) for _ in range(rng.randint(1, 5))]
            targets = targets if repeated else list(dict.fromkeys(targets))
            weights = [rng.randint(1, 9) for _ in targets]
            for target, weight in zip(targets, weights):
                p = fractions.Fraction(weight, sum(weights))
                choice.add_branch(target=target, prob=p if exact else float(p))
                n_branches += 1
            if named:
                choice.action = rng.randrange(3)
    number = (lambda: fractions.Fraction(rng.randint(-50, 50), 7)) if exact else (lambda: rng.uniform(-9, 9))
    for i in range(rng.randint(0, 2)):
        rewards = ats.add_reward_annotation(f"r{i}", alias=f"r{i}")
        kinds = [("states", n_states), ("choices", ats.num_choices), ("branches", n_branches)][: 2 if repeated else 3]
        kinds = rng.sample(kinds, rng.randint(1, len(kinds)))
        for kind, n in kinds:
            rewards.set_values_for(umbi.ats.EntityClass(kind), [number() for _ in range(n)])
    for i, name in enumerate(rng.sample(LABELS, rng.randint(0, len(LABELS)))):
        ap = ats.add_ap_annotation(f"ap{i}", alias=name)
        ap.set_values_for(umbi.ats.EntityClass.STATES, [rng.random() < 0.3 for _ in range(n_states)])
    return ats


def content(path):
    """What umbi finds in a file, in a form that does not depend on how names are numbered."""
    umb = umbi.umb.read(path)
    system = umb.index.transition_system
    actions = umb.choice_to_choice_action
    if actions and umb.choice_action_to_string:
        actions = [umb.choice_action_to_string[action] for action in actions]
    annotations = {}
    for group, by_name in (umb.index.annotations or {}).items():
        for name, about in by_name.items():
            for part, values in umb.annotations[group][name].items():
                if group == "rewards":
                    values = [float(value) for value in values]
                annotations[group, about.alias or name, part] = values
    return {
        "counts": (system.num_states, system.num_players, system.num_initial_states, system.num_choices, system.num_branches),
        "initial": umb.state_is_initial,
        "choices": umb.state_to_choices or list(range(system.num_states + 1)),
        "branches": umb.choice_to_branches,
        "targets": umb.branch_to_target,
        "probabilities": [float(p) for p in umb.branch_to_probability],
        "actions": actions,
        "annotations": annotations,
    }


def of_states(model, reward):
    return [float(value) for value in reward.state_rewards] if reward.has_state_rewards else [0.0] * model.nr_states


def number(entry):
    """An entry of a matrix of Storm, which may be exact."""
    value = entry.value
    return float(value() if callable(value) else value)


def storm_content(model):
    """What Storm has in memory. Its rewards are compared as expected rewards per choice plus rewards per state."""
    matrix = model.transition_matrix
    rows = [[(entry.column, number(entry)) for entry in matrix.get_row(row)] for row in range(matrix.nr_rows)]
    labels = {name: sorted(model.labeling.get_states(name)) for name in model.labeling.get_labels()}
    rewards = {}
    for name, reward in model.reward_models.items():
        values = [0.0] * matrix.nr_rows
        if reward.has_state_action_rewards:
            values = [float(value) for value in reward.state_action_rewards]
        if reward.has_transition_rewards:
            # In a variable: rows of a temporary matrix point into freed memory (stormpy 2.0.0).
            of_transitions = reward.transition_rewards
            for row in range(matrix.nr_rows):
                by_column = {entry.column: number(entry) for entry in of_transitions.get_row(row)}
                values[row] += sum(p * by_column.get(column, 0.0) for column, p in rows[row])
        rewards[name] = (of_states(model, reward), values)
    return str(model.model_type), model.nr_states, rows, labels, rewards


def close(a, b):
    """Equal, but for the last digits of floating-point numbers."""
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= 1e-12 * max(1, abs(a))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    return a == b


def same(what, a, b, equal=lambda a, b: a == b):
    if equal(a, b):
        return
    parts = a.keys() if isinstance(a, dict) else range(len(a))
    for part in parts:
        if not equal(a[part], b[part]):
            sys.exit(f"{what}: {part} differs:\n  {str(a[part])[:500]}\n  {str(b[part])[:500]}")
    sys.exit(f"{what}: differs")


def umb_round_trip(folder, source):
    """UMB → ours → UMB is the same to umbi, whatever the compression, and the same to Storm."""
    before = content(source)
    convert(source, folder / "b.umb")
    same("UMB", before, content(folder / "b.umb"))
    archive = umbi.tar.TarFile(source)
    for compression in (None, "gz", "bz2", "xz"):
        archive.write(folder / "packed.umb", compression)
        convert(folder / "packed.umb", folder / "plain.umb", "--uncompressed")
        same(f"UMB, {compression}", before, content(folder / "plain.umb"))
    same(
        "UMB in Storm",
        storm_content(stormpy.build_model_from_umb(str(source))),
        storm_content(stormpy.build_model_from_umb(str(folder / "b.umb"))),
        close,
    )


def drn_round_trip(folder, source):
    """Storm's DRN → ours → DRN is the same to Storm, and so is UMB → ours → DRN but for rewards of transitions."""
    model = stormpy.build_model_from_umb(str(source))
    before = storm_content(model)
    convert(source, folder / "a.drn")
    after = storm_content(stormpy.build_model_from_drn[float](str(folder / "a.drn")))
    same("UMB to DRN in Storm", before, without_empty(after, before), close)
    if any(reward.has_transition_rewards for reward in model.reward_models.values()):
        return
    options = stormpy.io.DirectEncodingExporterOptions()
    options.output_precision = 17
    stormpy.io.export_to_drn(model, str(folder / "storm.drn"), options=options)
    convert(folder / "storm.drn", folder / "b.drn")
    after = storm_content(stormpy.build_model_from_drn[float](str(folder / "b.drn")))
    same("DRN in Storm", before, without_empty(after, before), close)
    convert(folder / "storm.drn", folder / "c.umb")
    after = storm_content(stormpy.build_model_from_umb(str(folder / "c.umb")))
    same("DRN to UMB in Storm", before, without_empty(after, before), close)


def without_empty(found, wanted):
    """DRN cannot say that a label has no states, or rewards are all 0."""
    kind, n_states, rows, labels, rewards = found
    labels = {name: labels.get(name, []) for name in wanted[3]} | labels
    return kind, n_states, rows, labels, rewards


def tra_round_trip(folder, source):
    """UMB → .tra → UMB is the same to Storm; and .tra itself is, in Storm's dialect."""
    before = storm_content(stormpy.build_model_from_umb(str(source)))
    for old in folder.glob("p*"):
        old.unlink()
    convert(source, folder / "p.tra")
    convert(folder / "p.tra", folder / "p.umb")
    same(".tra in Storm", before, storm_content(stormpy.build_model_from_umb(str(folder / "p.umb"))), close)
    # Storm's dialect has a word for a header, and labels without spaces.
    if any(" " in name for name in before[3]):
        return
    lines = (folder / "p.tra").read_text().splitlines()
    kind = "dtmc" if len(lines[0].split()) == 2 else "mdp"
    n = 3 if kind == "dtmc" else 4
    (folder / "s.tra").write_text("\n".join([kind] + [" ".join(line.split()[:n]) for line in lines[1:]]) + "\n")
    lines = (folder / "p.lab").read_text().splitlines()
    names = [part.split("=")[1].strip('"') for part in lines[0].split()]
    states = [line.split(":") for line in lines[1:]]
    rows = [state + " " + " ".join(names[int(label)] for label in labels.split()) for state, labels in states]
    (folder / "s.lab").write_text("#DECLARATION\n" + " ".join(names) + "\n#END\n" + "\n".join(rows) + "\n")
    after = storm_content(stormpy.build_model_from_explicit(str(folder / "s.tra"), str(folder / "s.lab")))
    same(".tra read by Storm", before[:4], after[:4], close)
    convert(folder / "s.tra", folder / "s.umb")
    after = storm_content(stormpy.build_model_from_umb(str(folder / "s.umb")))
    same("Storm's .tra in ours", before[:4], after[:4], close)


def main():
    n_models = int(sys.argv[1])
    stormpy.set_loglevel_error() if hasattr(stormpy, "set_loglevel_error") else None
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for seed in range(n_models):
            rng = random.Random(seed)
            ats = random_ats(rng, chain=seed % 4 == 0, exact=seed % 3 == 0)
            source = folder / "a.umb"
            umbi.ats.write(ats, source)
            try:
                umb_round_trip(folder, source)
                drn_round_trip(folder, source)
                tra_round_trip(folder, source)
            except SystemExit as failure:
                sys.exit(f"model {seed}: {failure}")
    print(f"{n_models} models: UMB, DRN and .tra are the same to umbi and Storm before and after")


main()
