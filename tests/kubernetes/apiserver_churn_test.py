"""Hours of a busy cluster in minutes: pods and objects change at random on the real kube-apiserver, connections break, it restarts
and forgets; at each quiet point `muster resolve`, a `muster watch` that runs all the time, and the rules (churn_truth) agree.

MUSTER_TEST_CHURN_SECONDS   how long (100)
MUSTER_TEST_CHURN_SEEDS     "7" or "7,8": these seeds and no others, each until its share of the time is over
MUSTER_TEST_CHURN_ROUNDS    no more rounds than this of each seed
MUSTER_TEST_LONG            set: an hour
"""
import collections
import concurrent.futures
import json
import os
import random
import signal
import sys
import time
import unittest

import churn_gangs
import churn_truth
from apiserver import started
from breaking import Way
from churn_pods import Pods, must, name_of
from churn_watches import Watch, config, resolved, seconds_until

LONG = bool(os.environ.get("MUSTER_TEST_LONG"))
SECONDS = float(os.environ.get("MUSTER_TEST_CHURN_SECONDS") or (3600 if LONG else 100))
SEEDS = [int(seed) for seed in (os.environ.get("MUSTER_TEST_CHURN_SEEDS") or ("1,2" if LONG else "1,2,3")).split(",")]
ROUNDS = int(os.environ.get("MUSTER_TEST_CHURN_ROUNDS") or 1_000_000)
SILENCE = 15  # watch_silence; of a server the bookmarks come each minute, so that a quiet stream is listed anew now and then
ISOLATED = ("selector", "jobset")
TOLD = 6  # disagreements that are told in full


def setUpModule():
    global server
    server = started()
    churn_gangs.define(server)


class World:
    """One seed: a namespace with its gangs, the way to the server that breaks, and a watch for each question."""

    def __init__(self, seed):
        self.seed, self.chance, self.events = seed, random.Random(seed), []
        namespace = server.namespace(f"churn-{seed}")
        self.way = Way(server.ready["port"])
        user = {"client-certificate": server.ready["client_certificate"], "client-key": server.ready["client_key"]}
        url = f"https://127.0.0.1:{self.way.port}"
        kubeconfig = server.kubeconfig(user, namespace, {"server": url}, f"churn-{seed}")
        self.pods = Pods(server, namespace, self.chance, self.events.append)
        self.gangs = churn_gangs.gangs(self.pods)
        for gang in self.gangs:
            gang.mend()
        self.questions = {question: gang for gang in self.gangs for question in gang.questions}
        # What there was since the last quiet point: by gang what a truth is made of, by question each truth.
        self.moments, self.truths = {gang: [] for gang in self.gangs}, {question: set() for question in self.questions}
        self.pods.written = lambda path: [self.keep_moment(gang) for gang in self.gangs if gang.is_about(path)]
        for gang in self.gangs:
            self.keep_moment(gang)
        self.folder = server.folder.name
        self.configs, self.watches, self.first_resident = {}, {}, {}
        for question, gang in self.questions.items():
            options = {"watch_silence": SILENCE, **gang.questions[question]}
            self.configs[question] = config(self.folder, f"{seed}-{question}", kubeconfig, namespace, options, question in ISOLATED)
            self.watches[question] = Watch(self.configs[question], self.folder)

    def keep_moment(self, gang):
        seen = gang.seen()
        self.moments[gang].append(seen)
        for question in gang.questions:
            self.truths[question].add(text_of(gang.truth(question, seen)))

    def close(self):
        """The exit statuses of the watches."""
        try:
            return {question: watch.stop() for question, watch in self.watches.items()}
        finally:
            self.way.__exit__()

    def resident(self):
        return {question: watch.resident() for question, watch in self.watches.items()}

    # ---- What happens ------------------------------------------------------------------------

    def act(self, times):
        for _ in range(times):
            gang = self.chance.choice(self.gangs)
            gang.act()

    def mend(self):
        for gang in self.gangs:
            gang.mend()

    def breaks(self):
        """Something of the network or the server breaks while things happen; how many seconds it takes to be over, at most."""
        what = self.chance.choice(["nothing", "nothing", "cut", "reset", "drop", "silence", "held", "closed", "flood", "compact", "forgotten",
                                  "restart"])
        self.events.append(f"--- {what}")
        if what == "nothing":
            self.act(self.chance.randrange(5, 30))
            return what, 15
        if what in ("cut", "reset", "silence"):
            getattr(self.way, what)()
            self.act(self.chance.randrange(3, 15))
            return what, 15 + (SILENCE + 15 if what == "silence" else 0)
        if what == "held":
            self.way.flows.clear()
            self.act(self.chance.randrange(3, 15))
            time.sleep(self.chance.choice([0, 2, 5]))
            self.way.flows.set()
            return what, 15
        if what == "flood":
            for pod in self.pods.items()[:10]:
                self.pods.touch(name_of(pod), 20)
            return what, 15
        if what in ("drop", "compact"):
            server.command(what)
            self.act(self.chance.randrange(3, 15))
            return what, 20
        # Nobody gets through for a while; "forgotten": and what was known before is no longer.
        self.way.closed = True
        self.way.reset()
        self.act(self.chance.randrange(3, 15))
        if what == "forgotten":
            server.command("compact")
            server.command("restart")
        elif what == "restart":
            server.command("restart")
        else:
            time.sleep(self.chance.choice([0.2, 1, 3]))
        self.way.closed = False
        return what, 60

    # ---- What is said ------------------------------------------------------------------------

    def check_store(self):
        """Reads all of it from the server: what the truths are made of is what it says."""
        folders = [self.pods.path, *(gang.folder for gang in self.gangs if gang.folder)]
        fresh = {f"{folder}/{one['metadata']['name']}": one for folder in folders for one in must(server, "GET", folder)["items"]}
        versions = lambda store: {at: one["metadata"]["resourceVersion"] for at, one in store.items()}
        assert versions(fresh) == versions(self.pods.store), (versions(fresh), versions(self.pods.store))
        self.pods.store = fresh

    def quiet(self, within):
        """The truth of every question, and what disagrees: (question, the objects, truth, who, what it said)."""
        self.check_store()
        truths = {question: gang.truth(question, gang.seen()) for question, gang in self.questions.items()}
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            said = dict(zip(truths, pool.map(lambda question: resolved(self.configs[question], self.folder), truths)))
        wrong = []
        for question, truth in truths.items():
            code, answer, words = said[question]
            if not is_right(truth, code, answer):
                wrong.append((question, truth, "resolve", (code, answer and churn_truth.said_by(answer), words)))
        right = lambda question: watch_is_right(truths[question], self.watches[question].answer)
        slowest = seconds_until(lambda: all(map(right, truths)), within)
        for question, truth in truths.items():
            watch = self.watches[question]
            if not right(question):
                wrong.append((question, truth, "watch", (watch.process.poll(), essence(watch.answer), watch.words())))
                continue
            wrong += [(question, truth, "an answer of the watch", (None, essence(answer), watch.words()))
                      for answer in watch.take_news() if not self.was_right(question, answer)]
            self.truths[question] = {text_of(truth)}
        wrong = [(question, self.questions[question].seen(), *others) for question, *others in wrong]
        for gang in self.gangs:
            self.moments[gang] = [gang.seen()]
        return truths, wrong, slowest

    def was_right(self, question, answer):
        """An answer that looks complete was the truth at some moment."""
        gang = self.questions[question]
        said = text_of(churn_truth.said_by(answer))
        return (answer["state"] != "fresh" or not answer["complete"] or said in self.truths[question] or gang.lists_several or
                any(text_of(truth) == said for truth in gang.mixed(question, self.moments[gang])))


def essence(answer):
    return answer and {**churn_truth.said_by(answer), "state": answer["state"], "time": answer["time"]}


def text_of(answer):
    return json.dumps(answer and ordered(answer), sort_keys=True)


def ordered(answer):
    return {"complete": answer["complete"], "jobs": {name: {**job, "tasks": sorted(job["tasks"]), "missing": churn_truth.in_order(job["missing"])}
                                                      for name, job in answer["jobs"].items()}}


def is_right(truth, code, answer):
    if truth is None:
        return code == 11 and answer is None
    return code == (0 if truth["complete"] else 10) and answer is not None and answer["state"] == "fresh" and (
        ordered(churn_truth.said_by(answer)) == ordered(truth))


def watch_is_right(truth, answer):
    if truth is None:  # Of a source that had members the answer is that they are gone; before that there is nothing to print.
        return answer is None or (answer["state"] == "gone" and not answer["complete"] and not answer["tasks"])
    return answer is not None and answer["state"] == "fresh" and ordered(churn_truth.said_by(answer)) == ordered(truth)


class Churn(unittest.TestCase):
    def tell(self, world, number, what, disagreement):
        question, seen, truth, who, said = disagreement
        for pods in seen.values():
            for one in pods if isinstance(pods, list) else [pods or {"metadata": {}}]:
                one["metadata"].pop("managedFields", None)
        print(f"\n=== seed {world.seed}, round {number} ({what}): {who} of '{question}' disagrees\n"
              f"truth: {json.dumps(truth)}\n{who}: {json.dumps(said[:2])}\nits words: {said[2]}\n"
              "what happened in this round:\n  " + "\n  ".join(world.events) + "\n"
              f"the objects: {json.dumps(seen)}\n"
              f"again: MUSTER_TEST_CHURN_SEEDS={world.seed} MUSTER_TEST_CHURN_ROUNDS={number} and this test\n", file=sys.stderr, flush=True)

    def churn(self, world, until):
        """Rounds until then."""
        number, began = 0, time.monotonic()
        while number < ROUNDS and time.monotonic() < until:
            number += 1
            world.events.clear()
            world.act(world.chance.randrange(5, 40))
            what, within = world.breaks()
            if world.chance.random() < 0.4:
                world.mend()
            truths, disagreements, slowest = world.quiet(within)
            print(f"seed {world.seed}, round {number}: {what}; {len(truths)} questions, agreed after {slowest:.1f} s", flush=True)
            for disagreement in disagreements:
                self.count["disagreements"] += 1
                if self.count["disagreements"] <= TOLD:
                    self.tell(world, number, what, disagreement)
                else:
                    print(f"=== seed {world.seed}, round {number}: {disagreement[3]} of '{disagreement[0]}' disagrees", flush=True)
            self.count["rounds"] += 1
            self.count["comparisons"] += 2 * len(truths)
            self.count["complete"] += 2 * sum(truth is not None and truth["complete"] for truth in truths.values())
            self.slowest[what] = max(self.slowest.get(what, 0), slowest)
            if not world.first_resident and time.monotonic() - began > (until - began) / 5:
                world.first_resident = world.resident()
        self.count["events"] += world.pods.writes

    def test_resolve_and_watch_and_the_rules_agree_at_every_quiet_point(self):
        self.count, self.slowest, grown = collections.Counter(), {}, []
        for seed in SEEDS:
            world = World(seed)
            try:
                self.churn(world, time.monotonic() + SECONDS / len(SEEDS))
                last = world.resident()
            finally:
                ended = world.close()
            for question, watch in world.watches.items():
                self.assertEqual((question, ended[question], watch.broken), (question, -signal.SIGTERM, None))
                first = world.first_resident.get(question, last[question])
                print(f"seed {seed}: '{question}': {watch.answers} answers; {first} KiB at first, {last[question]} KiB at last")
                if last[question] > 1.1 * first + 1024:
                    grown.append((seed, question, first, last[question]))
        print("{rounds} rounds, {events} events, {comparisons} comparisons, {disagreements} disagreements".format_map(self.count))
        print("all agreed after, at most:", ", ".join(f"{what} {took:.1f} s" for what, took in sorted(self.slowest.items())))
        self.assertEqual((self.count["disagreements"], grown), (0, []))
        # Else the worlds were too poor to judge by.
        self.assertGreater(self.count["complete"], self.count["comparisons"] // 10)
        self.assertLess(self.count["complete"], self.count["comparisons"] * 9 // 10)


if __name__ == "__main__":
    unittest.main()
