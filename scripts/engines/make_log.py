"""A small log in several files, its rows shuffled: python make_log.py FOLDER [ROWS]"""

import pathlib
import random
import sys

N_FILES = 3


def make(folder: pathlib.Path, n_rows: int) -> None:
    draw = random.Random(5)
    rows = []
    while len(rows) < n_rows:
        case, length, ends = f"case {len(rows)}", draw.randint(1, 30), draw.random() < 0.7
        state = draw.randrange(200)
        for t in range(length):
            action, cents = draw.randrange(4), draw.randint(-500, 500)
            done = int(ends and t + 1 == length)
            rows.append(f"{case},{t},s{state},a{action},{cents / 100:.2f},{done}")
            state = (7 * state + action + draw.randrange(3)) % 200
    draw.shuffle(rows)
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(N_FILES):
        lines = ["case,t,state,action,reward,done", *rows[i::N_FILES]]
        (folder / f"part-{i}.csv").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 60_000)
