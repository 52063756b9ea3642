"""All problems on 1, 2, 4, 8 GPUs of one host, and the processors beside them.

usage: python3 bench/plan_gpus.py OUTPUT_FOLDER [SUBJECT...]     (from the repository root, after `make`)
SUBJECT: lava, table1, particles, whole, tracers, auto, grids (as devices and as ranks), table7, table6; all of them where none is named.
STRAKE=build/strake  the program; GPUS=gpu:0,gpu:1,...  which ones (default: all that it lists);
SCALE=8  rehearses with an eighth of the cells along every axis, on anything: GPUS=ocl:0,ocl:0.
SIZES=3162,10000  rows of lava, some of 100, 1000, 3162, 10000 (default: all);
ROUNDS=3  runs of each, the median of which counts; LIMIT=SECONDS  after which nothing more is started;
TIME=0.1  brings particles to a tenth of the times from which on they are measured, and ends table1 after a tenth of the event.

Table 1 is that of Rustico et al. (2012), MAGFLOW on several GPUs: a fifth of the event on one GPU, the rest on so many.

Table 7 and Table 6 are those of Wyrzykowski, Szustak and Rojek (2014): a grid on all processors, on one GPU, on both, on all GPUs
and on everything; the processors alone in 1, 2, 4, 8 teams. rates.jsonl has a line for each run, table.txt the
medians with speed-up, efficiency and Karp-Flatt's serial fraction, and whether the bits agree on every count.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import threading
import time

STRAKE = os.environ.get("STRAKE", "build/strake")
SCALE = int(os.environ.get("SCALE", "1"))
TIME = float(os.environ.get("TIME", "1"))  # of the times to which particles are brought before they are measured
ROUNDS = int(os.environ.get("ROUNDS", "3"))
SIZES = os.environ.get("SIZES", "100,1000,3162,10000").split(",")
END = time.monotonic() + float(os.environ.get("LIMIT", "inf"))


def side(cells):
    return max(cells // SCALE, 16)


def gpus():
    if "GPUS" in os.environ:
        return os.environ["GPUS"].split(",")
    text = subprocess.run([STRAKE, "devices"], capture_output=True, text=True, check=True).stdout
    return [f"gpu:{k}" for k in range(64) if f"gpu:{k}\n" in text]


def mpdata2d(n, steps):
    n = side(n)
    return f"""problem: mpdata2d
grid: {{rows: {n}, cols: {n}}}
time: {{dt: 0.1, steps: {steps}}}
boundary: {{rows: open, cols: open}}
fields:
  psi: {{gaussian: {{center: [{n // 2}, {n // 2}], sigma: {n // 8}, height: 1, base: 0.5}}}}
  u1: {{deformation: {{amplitude: 0.4, waves: [2, 2]}}}}
  u2: {{deformation: {{amplitude: 0.4, waves: [2, 2]}}}}
"""


def mpdata3d(n, steps):
    n = side(n)
    return f"""problem: mpdata3d
grid: {{planes: {n}, rows: {n}, cols: {n}}}
time: {{dt: 0.1, steps: {steps}}}
fields:
  psi: {{random: {{seed: 1, minimum: 0.5, maximum: 1}}}}
  u1: {{constant: 0.2}}
  u2: {{constant: -0.1}}
  u3: {{constant: 0.3}}
"""


def cahn_hilliard(dims, n, steps):
    n = side(n)
    axes = f"rows: {n}, cols: {n}" if dims == 2 else f"planes: {n}, rows: {n}, cols: {n}"
    return f"""problem: cahn_hilliard{dims}d
grid: {{{axes}}}
time: {{dt: 0.004, steps: {steps}}}
scheme: {{time: midpoint}}
fields: {{u: {{random: {{seed: 1, minimum: -0.1, maximum: 0.1}}}}}}
"""


def lava(n, seconds):
    n = side(n)
    return f"""problem: lava
grid: {{rows: {n}, cols: {n}, dx: 10, dy: 10}}
time: {{end: {seconds}, dt_max: 60}}
fields:
  terrain: {{random: {{seed: 1, minimum: 0, maximum: 1}}}}
  thickness: {{random: {{seed: 2, minimum: 2, maximum: 4}}}}
scheme: {{crust: none}}
"""


def us(seconds):
    return "-" if seconds is None else f"{1e6 * seconds:.0f}"


def dealings(report):
    """What parts of the run exchange and wait for in a step [us], beside what the models of transfers say."""
    lines, m = [], report.get("meeting")
    if m:
        lines.append(f"step {us(m['step_seconds'])}: kernels {us(m['kernel_seconds'])}, meeting {us(m['measured_seconds'])} (predicted "
                     f"{us(m['predicted_seconds'])}), woken {us(m['wake_seconds'])}, waiting {us(m['waiting_seconds'])}")
    for d in report["devices"]:
        x, w = d.get("exchange"), d.get("waiting")
        if x and w:
            lines.append(f"{d['id']} {d['rows']}: {x['bytes_sent_per_step']:.0f} B out, {x['bytes_received_per_step']:.0f} in, "
                         f"{us(x['measured_seconds_per_step'])} (predicted {us(x['predicted_seconds_per_step'])}); waits for forces "
                         f"{us(w['forces_seconds_per_step'])}, dt {us(w['time_step_seconds_per_step'])}, orders "
                         f"{us(w['order_seconds_per_step'])} (predicted {us(w['predicted_seconds_per_step'])})")
    return lines


class Plan:
    def __init__(self, out):
        self.out = out
        self.rates = open(out / "rates.jsonl", "w", encoding="utf-8")
        self.table = open(out / "table.txt", "w", encoding="utf-8")

    def say(self, line):
        print(line, flush=True)
        print(line, file=self.table, flush=True)

    def run(self, case, on, options=(), ranks=0, name="case"):
        """Runs a case. Returns its report, or None: it failed, or there is no time left. name: of its files."""
        if time.monotonic() > END:
            return None
        path, report = self.out / f"{name}.yaml", self.out / f"{name}.json"
        path.write_text(case if "\noutput:" in case else case + "output: {fields: []}\n", encoding="utf-8")
        report.unlink(missing_ok=True)
        command = [STRAKE, "run", str(path), "--on", on, "--no-tune", "--quiet", "--report", str(report),
                   "--output", str(self.out / "results"), *options]
        if ranks:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-np", str(ranks), *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not report.exists():
            why = [line for line in done.stderr.splitlines() if line.startswith("strake: ")] or [done.stderr[-300:]]
            self.say(f"FAILED --on {on} {' '.join(options)}{f' on {ranks} ranks' if ranks else ''}: {why[0]}")
            return None
        text = report.read_text(encoding="utf-8")
        path.unlink()
        report.unlink()
        return json.loads(text)

    def compare(self, name, case, places, rounds=ROUNDS):
        """Runs a case in all places in turns. places: (label, count of what speeds it up, where, options, ranks).
        A place without a count is compared, and has no speed-up."""
        seconds, sums, work, told = {}, {}, {}, {}
        for _ in range(rounds):
            for label, count, on, options, ranks in places:
                report = self.run(case, on, options, ranks)
                if report is None:
                    continue
                line = {"subject": name, "place": label, "count": count, "on": on, "options": options,
                        "ranks": ranks, "report": report}
                print(json.dumps(line), file=self.rates, flush=True)
                seconds.setdefault(label, []).append(report["seconds"])
                sums[label] = [f["checksum"] for _, f in sorted(report["fields"].items())]
                work[label] = (1e6 * report["mips"] if "mips" in report else report["cells_per_second"]) * report["seconds"]
                told[label] = dealings(report)
        medians = {label: statistics.median(found) for label, found in seconds.items()}
        base = None
        for label, count, *_ in places:
            if label not in medians:
                continue
            mine, text = medians[label], ""
            base = mine if base is None and count == 1 else base
            if base is not None and count > 1:
                gain = base / mine
                serial = (1 / gain - 1 / count) / (1 - 1 / count)
                text = f", speed-up {gain:.2f}, efficiency {100 * gain / count:.1f} %, Karp-Flatt {100 * serial:.2f} %"
            self.say(f"{name:24} {label:20} {work[label] / mine / 1e6:11.1f} M/s {mine:9.3f} s{text}")
            for line in told[label]:
                self.say(f"    {line}")
        if len(sums) > 1:
            self.say(f"{'EQUAL' if len({str(s) for s in sums.values()}) == 1 else 'DIFFERENT'} {name}: {', '.join(sums)}")
        return medians


def counts(most):
    return [n for n in (1, 2, 4, 8) if n <= most]


def devices_of(names):
    return [(f"{n} GPU" + "s" * (n > 1), n, ",".join(names[:n]), (), 0) for n in counts(len(names))]


def do_lava(plan, names):
    """Every cell active; steps by number, so that the balancer settles before most of them."""
    for n, steps in ((100, 4000), (1000, 4000), (3162, 2000), (10000, 400)):
        if str(n) not in SIZES:
            continue
        places = devices_of(names)
        places += [(f"{place}, unbalanced", count, on, ("--set", "run.balance=fixed"), 0) for place, count, on, *_ in places if count > 1]
        if n > 1000:
            places += [(f"{place}, overlap off", count, on, ("--set", "run.overlap=off", "--set", "run.balance=fixed"), 0)
                       for place, count, on, *_ in devices_of(names) if count > 1]
        places = [(place, count, on, (*options, "--steps", str(steps)), ranks) for place, count, on, options, ranks in places]
        plan.compare(f"lava {side(n)}^2", lava(n, 1e9), places)


RELEASED = {"1.6M": (0.5, 1.0), "16M": (0.03,)}  # [s] from which on particles are measured, beside a start at rest
SPACING = {"1.6M": 0.00645, "16M": 0.003}        # [m]
STEPS = {"1.6M": 500, "16M": 300}


def bore(kind):
    return pathlib.Path(f"data/cases/bore-{kind}.yaml").read_text(encoding="utf-8")


def common(label):
    return ("--set", f"scene.spacing={SPACING[label] * SCALE}", "--set", "output.fields=[]", "--set", "output.every_seconds=10",
            "--set", "precision=single")


def released(plan, kind, label, gpu, found):
    """Brings a column of water to the times of RELEASED on one GPU. Leaves (checkpoint, its step) of each in found."""
    resume = ()
    for start in RELEASED[label]:
        folder = plan.out / f"{kind}-{label}-{start}"
        report = plan.run(bore(kind), gpu, (*common(label), *resume, "--set", f"time.end={start * TIME}", "--set",
                                            f"checkpoint.every_seconds={start * TIME}", "--output", str(folder)), name=folder.name)
        if report is None:
            return
        found[kind, label, start] = (str(folder / "checkpoint.strake"), report["case"]["steps"])
        resume = ("--resume", found[kind, label, start][0])


def do_particles(plan, names):
    """The cases of Rustico et al. (2012), from rest and from later times on, balanced and not: their Tables 1 and 2."""
    chains = [(kind, label) for label in reversed(SPACING) for kind in ("wall", "corridor")]
    found, each = {}, list(dict.fromkeys(names))
    for first in range(0, len(chains), len(each)):  # as many side by side as there are GPUs
        threads = [threading.Thread(target=released, args=(plan, kind, label, gpu, found))
                   for (kind, label), gpu in zip(chains[first:], each)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for label in reversed(SPACING):
        for start in (0, *RELEASED[label]) if label == "1.6M" else RELEASED[label]:
            for kind in ("wall", "corridor"):
                checkpoint, step = found.get((kind, label, start), (None, 0))
                if start > 0 and checkpoint is None:
                    continue
                go = (*common(label), *(("--resume", checkpoint) if checkpoint else ()), "--steps", str(step + STEPS[label]))
                places = [(place, n, on, go, ranks) for place, n, on, _, ranks in devices_of(names)]
                places += [(f"{place}, unbalanced", n, on, (*go, "--set", "run.balance=fixed"), 0)
                           for place, n, on, *_ in devices_of(names) if n > 1]
                if label == "1.6M" and kind == "corridor":
                    places += [("GPU and processors", 0, f"cpu,{names[0]}", go, 0)]
                plan.compare(f"bore {kind} {label} {start} s", bore(kind), places)
    for checkpoint, _ in found.values():
        shutil.rmtree(pathlib.Path(checkpoint).parent, ignore_errors=True)


def do_table1(plan, names):
    """lava-2m.yaml: a fifth of it on one GPU, whose checkpoint others go on from, with the same outputs."""
    text, end = pathlib.Path("data/cases/lava-2m.yaml").read_text(encoding="utf-8"), 64800 * TIME
    folder = plan.out / "table1"
    common = ("--set", "output.fields=[thickness]", "--set", f"output.every_seconds={end / 10}")
    begun = plan.run(text, names[0], (*common, "--set", f"time.end={end / 5}", "--set", f"checkpoint.every_seconds={end / 5}",
                                      "--output", str(folder)), name="table1-begin")
    if begun is None:
        return
    plan.say(f"table 1: {end / 5:.0f} of {end:.0f} s on {names[0]}: {begun['seconds']:.2f} s, {begun['case']['steps']} steps")
    go = (*common, "--resume", str(folder / "checkpoint.strake"), "--set", f"time.end={end}")
    found = plan.compare("table 1, the rest", text, [(place, n, on, go, 0) for place, n, on, *_ in devices_of(names)], rounds=1)
    for place, n, *_ in devices_of(names):
        if "1 GPU" in found and place in found:
            ideal = found["1 GPU"] / n
            plan.say(f"    {place}: {found[place]:.2f} s, ideal {ideal:.2f}, cost {found[place] - ideal:.2f}")
    shutil.rmtree(folder, ignore_errors=True)


TRACERS = """problem: mpdata2d
grid: {{rows: {n}, cols: {n}}}
time: {{dt: 0.1, steps: {steps}}}
boundary: {{rows: open, cols: open}}
tracers: [{names}]
fields:
{fields}
  u1: {{deformation: {{amplitude: 0.4, waves: [2, 2]}}}}
  u2: {{deformation: {{amplitude: 0.4, waves: [2, 2]}}}}
  h: {{random: {{seed: 3, minimum: 1, maximum: 2}}}}
"""


def do_tracers(plan, names):
    """Four tracers on one flow beside one, with h a field, on one GPU: cells that are told are those of the grid."""
    for count in (1, 4):
        tracers = [f"q{k}" for k in range(count)]
        fields = "\n".join(f"  {q}: {{random: {{seed: {k + 1}, minimum: 0.5, maximum: 1}}}}" for k, q in enumerate(tracers))
        text = TRACERS.format(n=side(4096), steps=1200 // count, names=", ".join(tracers), fields=fields)
        plan.compare(f"{count} tracer{'s' * (count > 1)} {side(4096)}^2", text, devices_of(names)[:1])


def do_auto(plan, names):
    """A flow that grows, where `auto` may take what it likes, beside one GPU: to so many seconds of it."""
    text = pathlib.Path("data/cases/lava-2m.yaml").read_text(encoding="utf-8")
    go = ("--set", f"time.end={1000 // SCALE}", "--set", "output.fields=[]", "--set", "output.every_seconds=1e6")
    plan.compare("auto, lava-2m.yaml", text, [("1 GPU", 1, names[0], go, 0), ("auto", 0, "auto", go, 0)], rounds=3)


def do_whole(plan, names):
    """The corridor of 1.6 million particles in full, balanced."""
    for place, n, on, *_ in devices_of(names)[-1:]:
        plan.compare("bore corridor in full", bore("corridor"), [(place, n, on, common("1.6M"), 0)], rounds=1)


def do_grids(plan, names):
    """As devices of one process, and as ranks with one device each."""
    ranks = []
    if shutil.which("mpirun") is not None:
        ranks = [(f"{n} rank" + "s" * (n > 1), n, "/".join(names[:n]), (), n) for n in counts(len(names))]
    else:
        plan.say("ranks: not run, no mpirun here")
    for name, case in (("mpdata2d", mpdata2d(16384, 400)), ("cahn_hilliard2d", cahn_hilliard(2, 16384, 400)),
                       ("mpdata3d", mpdata3d(512, 150)), ("cahn_hilliard3d", cahn_hilliard(3, 512, 600))):
        plan.compare(name, case, devices_of(names) + ranks)


def do_table7(plan, names):
    """The processors make few steps of their own; all others the same ones, with the same bits."""
    for n, steps in ((4096, 1600), (8192, 600), (16384, 240)):
        label = f"table 7, {side(n)}^2"
        alone = plan.compare(label, mpdata2d(n, steps // 10), [("processors", 0, "cpu", (), 0)])
        places = [("1 GPU", 1, names[0], (), 0), ("processors, 1 GPU", 0, f"cpu,{names[0]}", (), 0)]
        if len(names) > 1:
            every = ",".join(names)
            places += [(f"{len(names)} GPUs", len(names), every, (), 0), ("everything", 0, f"cpu,{every}", (), 0)]
        found = plan.compare(label, mpdata2d(n, steps), [*places, ("auto", 0, "auto", (), 0)])
        if "processors" in alone and {"1 GPU", "processors, 1 GPU"} <= found.keys():
            share = found["1 GPU"] / alone["processors"] / 10
            plan.say(f"  processors make {100 * share:.1f} % of the GPU's rate; both together "
                     f"{found['1 GPU'] / found['processors, 1 GPU']:.3f} times the GPU's, at best {1 + share:.3f}")


def do_table6(plan, _):
    for n, steps in ((2048, 100), (4096, 40)):
        plan.compare(f"table 6, {side(n)}^2", mpdata2d(n, steps),
                     [(f"{teams} team" + "s" * (teams > 1), 0, "cpu", ("--set", f"run.teams={teams}"), 0) for teams in (1, 2, 4, 8)])


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    subjects = {"lava": do_lava, "table1": do_table1, "particles": do_particles, "whole": do_whole, "tracers": do_tracers, "auto": do_auto, "grids": do_grids, "table7": do_table7, "table6": do_table6}
    chosen = sys.argv[2:] or list(subjects)
    unknown = [name for name in chosen if name not in subjects]
    if unknown:
        sys.exit(f"plan_gpus.py: no subject {unknown[0]}; there are {', '.join(subjects)}")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    names = gpus()
    if not names:
        sys.exit("plan_gpus.py: no GPU here; GPUS=ocl:0,ocl:0 SCALE=32 rehearses on an OpenCL device of the processors")
    plan = Plan(out)
    with open(out / "devices.txt", "w", encoding="utf-8") as file:
        subprocess.run([STRAKE, "devices"], stdout=file, check=True)
    plan.say(f"{time.strftime('%Y-%m-%d')} {os.cpu_count()} processors, GPUs {','.join(names)}, scale {SCALE}, rounds {ROUNDS}")
    for name in chosen:
        subjects[name](plan, names)
    if time.monotonic() > END:
        plan.say(f"the limit of {os.environ['LIMIT']} s ended it: what is not listed was not run")


main()
