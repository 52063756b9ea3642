#!/usr/bin/env python3
"""Tables of bench/plan_ranks.sh. usage: ranks.py FOLDER [LINK RANKS CASE]

The folder has runs.jsonl; writes exchange.txt and choice.txt, or prints what was near the fastest in this case."""
import json
import sys
from math import sqrt
from pathlib import Path
from statistics import median, quantiles


def exchanges(runs):
    """Predicted beside measured exchanges: the least of equal runs."""
    rows = {}
    for run in runs:
        x = run["report"]["rank_exchange"]
        if run["what"] == "exchange" and x["predicted_seconds"] is not None:
            bytes_sent = run["report"]["devices"][0]["rank_bytes_per_sweep"]
            key = run["link"], run["ranks"], x["exchange"], run["case"], bytes_sent
            best = rows.get(key)
            if best is None or x["measured_seconds"] < best[1]:
                rows[key] = x["predicted_seconds"], x["measured_seconds"]
    yield f"{'link':6} {'ranks':>5} {'exchange':10} {'rows':8} {'bytes sent':>10} {'predicted us':>13} {'measured us':>12} {'ratio':>6}"
    good = 0
    for (link, ranks, way, case, size), (predicted, measured) in sorted(rows.items()):
        ratio = predicted / measured
        good += 0.8 <= ratio <= 1.25
        ends = "open" if case == "line" else "periodic"
        yield f"{link:6} {ranks:5} {way:10} {ends:8} {size:10} {1e6 * predicted:13.1f} {1e6 * measured:12.1f} {ratio:6.2f}"
    yield f"within 25 %: {good} of {len(rows)}"


def programs(runs):
    """By link, ranks and case: seconds a step of all runs of each way and number of steps, and which ones runs chose."""
    tables = {}
    for run in runs:
        if run["what"] == "choice":
            x, report = run["report"]["rank_exchange"], run["report"]
            # Ranks that share no machine have nothing but messages.
            alone = run["link"] != "none" and run["ranks"] == 2
            way = "both" if alone and x["exchange"] == "messages" else x["exchange"]
            program = f"{way} {x['steps_per_sweep']}"
            table, chosen = tables.setdefault((run["link"], run["ranks"], run["case"]), ({}, []))
            table.setdefault(program, []).append(report["seconds"] / report["case"]["steps"])
            if not run["options"]:
                chosen.append(program)
    return tables


def off(seconds):
    """How far the median may be off: half a notch's width of McGill, Tukey and Larsen (1978); unknown of one run."""
    if len(seconds) < 2:
        return float("inf")
    low, _, high = quantiles(seconds, n=4, method="inclusive")
    return 1.57 * (high - low) / sqrt(len(seconds))


def choices(runs):
    """What runs chose beside all others: medians. A run that chose is one more run of what it chose."""
    verdicts = {"within 3 %": 0, "not told from the fastest": 0, "slower": 0, "too few runs": 0}
    tables = programs(runs)
    for (link, ranks, case), (table, chosen) in sorted(tables.items()):
        times = {program: median(seconds) for program, seconds in table.items()}
        best = min(times, key=times.get)
        if not chosen:
            continue
        usual = max(set(chosen), key=lambda program: (chosen.count(program), -times[program]))
        taken = times[usual]
        scatter = sqrt(off(table[usual]) ** 2 + off(table[best]) ** 2)
        verdict = ("too few runs" if min(len(table[usual]), len(table[best])) < 3 else
                   "within 3 %" if taken <= 1.03 * times[best] else
                   "not told from the fastest" if taken - times[best] <= scatter else "slower")
        verdicts[verdict] += 1
        counts = ", ".join(f"{program} x {chosen.count(program)}" for program in sorted(set(chosen)))
        yield (f"{link:6} {ranks} ranks {case:7} chose {counts}; {usual} {1e3 * taken:8.3f} ms a step, best {best} "
               f"{1e3 * times[best]:8.3f}: {100 * (taken / times[best] - 1):+6.1f} %, off by "
               f"{100 * scatter / times[best]:.1f} % at most: {verdict}")
        yield "       " + ", ".join(f"{program} {1e3 * times[program]:.3f} ({1e3 * min(seconds):.3f} to {1e3 * max(seconds):.3f}, "
                                    f"{len(seconds)} runs)" for program, seconds in sorted(table.items()))
    yield "; ".join(f"{name}: {count}" for name, count in verdicts.items()) + f"; of {sum(verdicts.values())}"


def near(runs, link, ranks, case):
    """Ways and steps that may yet be the fastest: within 30 % of it after one run, 15 % after four, 10 % in the end."""
    table, _ = programs(runs).get((link, int(ranks), case), ({}, []))
    times = {program: median(seconds) for program, seconds in table.items()}
    best = min(times, key=times.get, default=None)
    most = 1.0 + max(0.1, 0.3 / sqrt(len(table[best]))) if best else 1.0
    yield from (program for program in sorted(times) if times[program] <= most * times[best])


def main():
    """Reads runs.jsonl of the folder; prints and writes both tables, or of a link, ranks and case the near ones."""
    folder = Path(sys.argv[1])
    runs = [json.loads(line) for line in (folder / "runs.jsonl").read_text().splitlines()]
    if len(sys.argv) > 2:
        print("\n".join(near(runs, *sys.argv[2:])))
        return
    for name, lines in (("exchange.txt", exchanges(runs)), ("choice.txt", choices(runs))):
        text = "\n".join(lines) + "\n"
        (folder / name).write_text(text)
        print(text)


main()
