#!/usr/bin/env python3
"""Who would have computed a flow: Strake's decisions and the rule of Bilotta et al. (2013), from one report.

    strake run flow.yaml --on ocl:0,ocl:1 --balance model --report run.json
    bench/parts.py run.json [--units 132,132] [--block 256] [--factor 10]

Their rule takes a device more when those in use have FACTOR blocks of cells for each of their multiprocessors, and
cuts the rows that hold the flow in proportion to these. Predicted are seconds of a step for either: of each part a
line over its work, fitted to what the report saw, of the slowest part, and what a step of several parts took beyond it.

    bench/parts.py run.json --thresholds 0.1,0.2,0.5,1,2 [--every 10]

replays the rule of Rustico et al. (2014) with these thresholds (their figure 10) on the loads that the report saw, from
its first rows on, and beside it exact cuts: seconds, and how many more these are than on average.
"""
import argparse
import bisect
import json
import sys


def fit(points):
    """Least squares of relative errors: start and rate, both at least 0. Without points nothing is known."""
    points = [(w, t) for w, t in points if w > 0.0 and t > 0.0]
    if not points:
        return None
    s = sw = sww = st = swt = 0.0
    for w, t in points:
        weight = 1.0 / (t * t)
        s, sw, sww = s + weight, sw + weight * w, sww + weight * w * w
        st, swt = st + weight * t, swt + weight * w * t
    determinant = s * sww - sw * sw
    if determinant > 1e-9 * s * sww:
        rate = (s * swt - sw * st) / determinant
        start = (st - rate * sw) / s
        if rate > 0.0 and start >= 0.0:
            return start, rate
    return 0.0, swt / sww


def before(decision, row):
    """Work of all rows before one."""
    places = decision["work_places"]
    k = bisect.bisect_right(places, row) - 1
    if k < 0 or row <= places[0]:
        return 0.0
    if k + 1 >= len(places):
        return decision["all_work"]
    span = places[k + 1] - places[k]
    return decision["all_work"] * (k + ((row - places[k]) / span if span > 0.0 else 0.0)) / (len(places) - 1)


def predict(decision, rows, lines, beyond):
    """Seconds of a step with these rows of each part; None where a part was never seen."""
    slowest, at, used = 0.0, 0.0, 0
    for p, count in enumerate(rows):
        work = before(decision, at + count) - before(decision, at)
        at += count
        if count > 0:
            if lines[p] is None:
                return None
            used += 1
            slowest = max(slowest, lines[p][0] + lines[p][1] * work)
    return slowest + (beyond if used > 1 else 0.0)


def paper(decision, units, block, factor):
    """Rows of each part by the rule: those beyond the flow go with its first and last part."""
    blocks, used = decision["all_work"] / block, 1
    while used < len(units) and blocks >= factor * sum(units[:used]):
        used += 1
    first, last = decision["work_places"][0], decision["work_places"][-1]
    total, rows, at = sum(decision["rows"]), [0] * len(units), 0
    for p in range(used):
        share = sum(units[:p + 1]) / sum(units[:used])
        end = total if p + 1 == used else round(first + share * (last - first))
        rows[p], at = end - at, end
    return rows


def load_at(looks, step):
    """A look as it would have been at a step: work between two looks changes evenly."""
    after = next((k for k, d in enumerate(looks) if d["step"] >= step), len(looks) - 1)
    a, b = looks[max(after - 1, 0)], looks[after]
    span = b["step"] - a["step"]
    part = min(max((step - a["step"]) / span, 0.0), 1.0) if span > 0 else 1.0
    mix = lambda x, y: x + part * (y - x)
    return {"all_work": mix(a["all_work"], b["all_work"]),
            "work_places": [mix(x, y) for x, y in zip(a["work_places"], b["work_places"])]}


def slice_moves(rows, seconds, threshold):
    """Who gives a slice to whom by the rule; None: nobody."""
    used = [p for p, count in enumerate(rows) if count > 0]
    mean = sum(seconds[p] for p in used) / len(used)
    each = sum(seconds[p] / rows[p] for p in used) / len(used)
    slow, fast = max(used, key=lambda p: seconds[p]), min(used, key=lambda p: seconds[p])
    off = seconds[slow] - mean > threshold * each
    return (slow, fast) if off and slow != fast and rows[slow] > 1 else None


def exact(load, rows, lines):
    """Rows with which the slowest part is done first, all of them taking part."""
    total, low, high = sum(rows), 0.0, None
    cumulative = [before(load, row) for row in range(total + 1)]

    def probe(most):
        out, at = [], 0
        for p, (start, rate) in enumerate(lines):
            left = len(lines) - 1 - p
            limit = cumulative[at] + (most - start) / rate if rate > 0.0 else cumulative[-1]
            end = min(max(bisect.bisect_right(cumulative, limit) - 1, at + 1), total - left)
            out.append(end - at)
            at = end
        out[-1] += total - at
        return out if at == total or left_fits(out, most) else None

    def left_fits(out, most):
        return lines[-1][0] + lines[-1][1] * (cumulative[-1] - cumulative[total - out[-1]]) <= most

    high = sum(start for start, _ in lines) + max(rate for _, rate in lines) * cumulative[-1]
    best = probe(high)
    for _ in range(60):
        middle = 0.5 * (low + high)
        found = probe(middle)
        low, high, best = (low, middle, found) if found else (middle, high, best)
    return best


def replay(looks, lines, beyond, every, decide):
    """Seconds and moves from the first look to the last one, where decide(load, rows, seconds) changes rows."""
    rows, seconds, moves = list(looks[0]["rows"]), 0.0, 0
    for step in range(looks[0]["step"], looks[-1]["step"], every):
        load, took, at = load_at(looks, step), [], 0.0
        for count, (start, rate) in zip(rows, lines):
            took.append(start + rate * (before(load, at + count) - before(load, at)) if count else 0.0)
            at += count
        seconds += every * (max(took) + beyond)
        then = decide(load, rows, took)
        moves += then != rows
        rows = then
    return seconds, moves, rows


def sweep(looks, lines, beyond, thresholds, every):
    def by_rule(threshold):
        def decide(_, rows, took):
            pair, then = slice_moves(rows, took, threshold), list(rows)
            if pair is not None:
                then[pair[0]] -= 1
                then[pair[1]] += 1
            return then
        return decide

    table = [(f"{t:g}", *replay(looks, lines, beyond, every, by_rule(t))) for t in thresholds]
    mean = sum(row[1] for row in table) / len(table)
    table.append(("exact", *replay(looks, lines, beyond, every, lambda load, rows, _: exact(load, rows, lines))))
    print("threshold,seconds,from_the_mean,moves,rows")
    for name, seconds, moves, rows in table:
        print(f"{name},{seconds:.6g},{seconds - mean:+.3g},{moves},{'+'.join(map(str, rows))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("report")
    parser.add_argument("--units", help="multiprocessors of each part; as the report has them")
    parser.add_argument("--block", type=float, default=256, help="cells of a block")
    parser.add_argument("--factor", type=float, default=10, help="blocks of a saturated multiprocessor")
    parser.add_argument("--thresholds", help="of the rule of Rustico et al., one replay each")
    parser.add_argument("--every", type=int, default=10, help="steps between two of its decisions")
    options = parser.parse_args()
    with open(options.report, encoding="utf-8") as file:
        report = json.load(file)
    looks = [d for d in report["balance"]["decisions"] if "work" in d]
    if not looks:
        sys.exit(f"{options.report}: no look at a balance by work; expected a run of several parts, of particles or of "
                 "a problem that leaves out cells (lava), with run.balance: model or slice")
    parts = len(looks[0]["rows"])
    if options.thresholds:
        lines = [fit([(d["work"][p], d["seconds"][p]) for d in looks]) for p in range(parts)]
        shared = sorted(max(0.0, d["step_seconds"] - max(d["seconds"])) for d in looks)
        if len(looks) < 2:
            sys.exit(f"{options.report}: a replay takes two looks at the balance at least; expected a longer run")
        idle = [str(p) for p, line in enumerate(lines) if line is None]
        if idle:  # how fast they are is not known, also where they have slices, of walls alone
            sys.exit(f"{options.report}: part {', '.join(idle)} had no work at any look, so that a replay cannot tell "
                     "its time; expected a run in which all have some, such as one with --split")
        sweep(looks, lines, shared[len(shared) // 2], [float(t) for t in options.thresholds.split(",")],
              options.every)
        return
    units = ([float(u) for u in options.units.split(",")] if options.units else
             [max(d["units"], d["threads"]) for d in report["devices"]][:parts])
    if len(units) != parts:
        sys.exit(f"--units: {len(units)} numbers; expected one for each of {parts} parts")
    lines = [fit([(d["work"][p], d["seconds"][p]) for d in looks]) for p in range(parts)]
    shared = [max(0.0, d["step_seconds"] - max(d["seconds"])) for d in looks if sum(r > 0 for r in d["rows"]) > 1]
    beyond = sorted(shared)[len(shared) // 2] if shared else 0.0
    for p, line in enumerate(lines):
        print(f"part {p}: " + ("never seen" if line is None else
                               f"{1e6 * line[0]:.4g} us + {1e9 * line[1]:.4g} ns a cell") + f", {units[p]:g} units")
    print(f"several parts: {1e6 * beyond:.4g} us more")
    print("step,all_work,rows,measured_ms,predicted_ms,paper_rows,paper_predicted_ms")
    ours = theirs = 0.0
    for k, d in enumerate(looks):
        rule = paper(d, units, options.block, options.factor)
        own, other = predict(d, d["rows"], lines, beyond), predict(d, rule, lines, beyond)
        steps = (looks[k + 1]["step"] if k + 1 < len(looks) else d["step"] + 1) - d["step"]
        if own is not None and other is not None:
            ours, theirs = ours + steps * own, theirs + steps * other
        show = [("unknown" if t is None else f"{1e3 * t:.4g}") for t in (own, other)]
        print(f"{d['step']},{d['all_work']:.0f},{'+'.join(map(str, d['rows']))},{1e3 * d['step_seconds']:.4g},"
              f"{show[0]},{'+'.join(map(str, rule))},{show[1]}")
    print(f"predicted: {ours:.4g} s as decided, {theirs:.4g} s by the rule")


if __name__ == "__main__":
    main()
