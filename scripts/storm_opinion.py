"""Asks Storm's exact engine and our solver the same questions about random models.

Storm reads each model as fractions and answers with fractions; our solver reads it rounded to doubles. Storm's answer has to
be inside our interval in every state. `--references FOLDER` checks models with known answers instead: NAME.tra, NAME.lab,
NAME.REWARD.crew and NAME.ref.json (the exact value of the initial state as a fraction).
"""

import argparse
import json
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile
from fractions import Fraction

TOLERANCE = "1e-7"


def random_model(rng):
    """States with choices (arcs, reward); arcs that sum to less than 1 end the episode. No choice: a terminal state."""
    n = rng.randint(2, 30)
    sign = rng.choice(["costs", "costs", "both"])
    rarity = rng.choice([4, 10, 1000])
    # Small models connect everywhere, large ones mostly nearby, so that components differ.
    reach = rng.choice([2, 5, n])
    states = []
    for s in range(n):
        choices = []
        for _ in range(0 if rng.random() < 1 / rarity else rng.choice([1, 1, 2, 3])):
            targets = {min(n - 1, max(0, s + rng.randint(-reach, reach))) for _ in range(rng.choice([1, 1, 2, 3]))}
            if rng.random() < 0.1:
                targets = {s}
            weights = {t: rng.choice([1, 1, 2, 5, 9, 1000]) for t in sorted(targets)}
            ends = rng.randint(1, 3) if rng.random() < 1 / (2 * rarity) else 0
            total = sum(weights.values()) + ends
            reward = Fraction(rng.choice([0, 0, 1, 2, 7]), rng.choice([1, 3, 10]))
            if sign == "both" and rng.random() < 0.5:
                reward = -reward
            choices.append(({t: Fraction(w, total) for t, w in weights.items()}, reward))
        states.append(choices)
    labels = {
        "goal": sorted(rng.sample(range(n), rng.randint(1, max(1, n // 6)))),
        "bad": sorted(rng.sample(range(n), rng.randint(0, n // 8))),
    }
    labels["bad"] = [s for s in labels["bad"] if s not in labels["goal"]]
    return states, labels


def write_explicit(base, states, labels):
    rows, rewards = [], []
    for s, choices in enumerate(states):
        for c, (arcs, reward) in enumerate(choices):
            rows += [f"{s} {c} {t} {float(p)!r}" for t, p in arcs.items()]
            rewards.append(f"{s} {c} {float(reward)!r}")
    header = f"{len(states)} {len(rewards)} {len(rows)}"
    pathlib.Path(f"{base}.tra").write_text("\n".join([header, *rows]) + "\n")
    pathlib.Path(f"{base}.r.crew").write_text("\n".join(rewards) + "\n")
    lines = [" ".join(f'{i}="{name}"' for i, name in enumerate(labels))]
    for s in range(len(states)):
        marks = [str(i) for i, name in enumerate(labels) if s in labels[name]]
        if marks:
            lines.append(f"{s}: {' '.join(marks)}")
    pathlib.Path(f"{base}.lab").write_text("\n".join(lines) + "\n")


def write_drn(path, states, labels):
    """Ends of episodes become a state with a self-loop without reward."""
    n = len(states)
    lines = ["@type: MDP", "@parameters", "", "@reward_models", "r", "@nr_states", str(n + 1), "@nr_choices"]
    lines += [str(1 + sum(max(1, len(choices)) for choices in states)), "@model"]
    for s in range(n + 1):
        # The state beyond the end carries every label but the goal's, because Storm refuses labels without states.
        marks = [name for name in labels if s in labels[name] or (s == n and name != "goal")]
        lines.append(f"state {s} [0]" + (" init" if s == 0 else "") + "".join(f" {m}" for m in marks))
        choices = states[s] if s < n else []
        for c, (arcs, reward) in enumerate(choices or [({s: Fraction(1)}, Fraction(0))]):
            lines.append(f"\taction {c} [{reward}]")
            arcs = dict(arcs)
            rest = 1 - sum(arcs.values())
            if rest:
                arcs[n] = rest
            lines += [f"\t\t{t} : {p}" for t, p in sorted(arcs.items())]
    pathlib.Path(path).write_text("\n".join(lines) + "\n")


QUESTIONS = [
    ("reach goal", 'P{d}=? [F "goal"]'),
    ("reach goal bad", 'P{d}=? [!"bad" U "goal"]'),
    ("within 7 goal", 'P{d}=? [F<=7 "goal"]'),
    ("within 7 goal bad", 'P{d}=? [!"bad" U<=7 "goal"]'),
    ("until r goal", 'R{{"r"}}{d}=? [F "goal"]'),
    ("total r", 'R{{"r"}}{d}=? [C]'),
    ("horizon r 9", 'R{{"r"}}{d}=? [C<=9]'),
    ("average r", 'R{{"r"}}{d}=? [LRA]'),
]


def ask_storm(path, formulas, pipe):
    """One process per model: a question that Storm does not finish or refuses costs only itself."""
    import stormpy

    model = stormpy.build_model_from_drn[stormpy.Rational](path)
    for formula in formulas:
        try:
            result = stormpy.model_checking(model, stormpy.parse_properties(formula)[0], only_initial_states=False)
            pipe.send([str(result.get_value(s)) for s in range(model.nr_states - 1)])
        except Exception as error:  # noqa: BLE001: whatever Storm refuses
            pipe.send(str(error))
    pipe.close()


def storm(path, formulas, seconds):
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=ask_storm, args=(path, formulas, theirs))
    process.start()
    theirs.close()
    answers = []
    try:
        while len(answers) < len(formulas) and ours.poll(seconds):
            answers.append(ours.recv())
    except EOFError:
        pass
    process.kill()
    process.join()
    return answers + ["no answer"] * (len(formulas) - len(answers))


def ask_us(program, lines):
    run = subprocess.run([program], input="\n".join(lines) + "\n", text=True, capture_output=True, check=False)
    if run.returncode:
        sys.exit(f"{program} failed: {run.stderr}")
    return [json.loads(line) for line in run.stdout.splitlines()]


def inside(exact, low, high):
    if exact in ("inf", "-inf"):
        return float(low) <= float(exact) <= float(high)
    if float(low) == float("inf") or float(high) == float("-inf"):
        return False
    below = float(low) == float("-inf") or Fraction(float(low)) <= Fraction(exact)
    return below and (float(high) == float("inf") or Fraction(exact) <= Fraction(float(high)))


def zero_mean(ours):
    """Whether we said that rewards of both signs cancel in some loop, which floating point cannot decide."""
    return any("cannot be distinguished from 0" in line for line in ours["explanation"])


def compare_random(program, n_models, seed, folder):
    counts = {question: [0, 0, 0, 0, 0] for question, _ in QUESTIONS}
    wrong = 0
    multiprocessing.set_start_method("fork")
    import stormpy  # noqa: F401: loaded once, before the processes fork

    asked = [(q, d, formula.format(d=d)) for q, formula in QUESTIONS for d in ("max", "min")]
    for number in range(n_models):
        rng = random.Random(seed + number)
        states, labels = random_model(rng)
        base = f"{folder}/model"
        write_explicit(base, states, labels)
        write_drn(f"{base}.drn", states, labels)
        answers = ask_us(program, [f"{TOLERANCE} {d} {base} {q}" for q, d, _ in asked])
        opinions = storm(f"{base}.drn", [formula for _, _, formula in asked], 10)
        for (question, direction, _), ours, theirs in zip(asked, answers, opinions, strict=True):
            count = counts[question]
            count[0] += 1
            count[1] += ours["converged"]
            if isinstance(theirs, str):
                count[2] += 1
                continue
            outside = [
                (s, value, low, high)
                for s, (value, low, high) in enumerate(zip(theirs, ours["lower"], ours["upper"], strict=True))
                if not inside(value, low, high)
            ]
            if outside and direction == "min" and all(high == "-inf" for _, _, _, high in outside):
                # Storm minimizes over policies without memory, which use a loop that pays forever or never, while going
                # round once more before leaving is always better.
                count[4] += 1
            elif outside:
                wrong += 1
                count[3] += 1
                s, value, low, high = outside[0]
                print(f"seed {seed + number}: {direction} {question}: Storm {value} in state {s}, ours [{low}, {high}]")
            elif not ours["converged"] and not zero_mean(ours):
                wrong += 1
                print(f"seed {seed + number}: {direction} {question}: Storm answers, ours did not converge")
    print(f"{'question':20} {'asked':>6} {'proven':>7} {'Storm silent':>13} {'outside':>8} {'loops that pay':>15}")
    for question, (n_asked, proven, silent, outside, loops) in counts.items():
        print(f"{question:20} {n_asked:6} {proven:7} {silent:13} {outside:8} {loops:15}")
    return wrong


def compare_references(program, folder):
    wrong = 0
    for path in sorted(pathlib.Path(folder).glob("*.ref.json")):
        reference = json.loads(path.read_text())
        base = str(path).removesuffix(".ref.json")
        for name, prop in reference["properties"].items():
            if "init_exact" not in prop:
                continue
            formula, target = prop["formula"], prop["target_label"]
            kind = {"P": "reach", "T": "until 1"}.get(formula[0]) or f"until {formula.split(chr(34))[1]}"
            question = f"1e-9 {'max' if 'max=' in formula else 'min'} {base} {kind} {target}"
            [answer] = ask_us(program, [question])
            s = reference["initial_state"]
            low, high = answer["lower"][s], answer["upper"][s]
            good = inside(prop["init_exact"], low, high)
            wrong += not good
            print(f"{'ok ' if good else 'BAD'} {path.stem} {name}: [{low}, {high}] {prop['init_exact']}, {answer['seconds']:.4f} s")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--models", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--references")
    arguments = parser.parse_args()
    if arguments.references:
        wrong = compare_references(arguments.program, arguments.references)
    else:
        with tempfile.TemporaryDirectory() as folder:
            wrong = compare_random(arguments.program, arguments.models, arguments.seed, folder)
    sys.exit(f"{wrong} answers differ" if wrong else 0)


if __name__ == "__main__":
    main()
