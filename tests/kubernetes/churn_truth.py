"""Who is a member, by the rules of plugins/kubernetes/README.md, written down once more and apart from the plugin: from the JSON
of objects and pods, as `kubectl get -o json` prints it, to the answer that muster has to give.

An answer is a dict: `jobs` (by name: `expected`, `tasks` as [index, name, address, uid], `missing` as [index, name]) and
`complete`. None is NOT_FOUND. Times are compared as the server has them, in whole seconds.
"""
import calendar
import re
import time

PORT = 8470


class Pod:
    """What counts of a pod's JSON."""

    def __init__(self, json):
        metadata, status = json["metadata"], json.get("status", {})
        self.name, self.uid = metadata["name"], metadata["uid"]
        self.said = {**metadata.get("labels", {}), **metadata.get("annotations", {})}
        self.labels = metadata.get("labels", {})
        self.created = seconds(metadata["creationTimestamp"])
        self.deleting = "deletionTimestamp" in metadata
        self.phase = status["phase"]
        self.ready = any(c["type"] == "Ready" and c["status"] == "True" for c in status.get("conditions", []))
        ips = [status["podIP"]] if status.get("podIP") else [one["ip"] for one in status.get("podIPs", [])]
        self.ip = ips[0] if ips else None
        owner = next((one for one in metadata.get("ownerReferences", []) if one.get("controller")), None)
        self.owner = owner and f"{owner['kind']}/{owner['name']}"
        self.owner_uid = owner and owner["uid"]
        self.restarts = sum(container.get("restartCount", 0) for container in status.get("containerStatuses", []))
        self.ended = self.end(metadata, status)
        self.in_doubt = False  # whether it is the one that counts
        self.role = self.said.get("jobset.sigs.k8s.io/replicatedjob-name", "")
        self.group = self.number("jobset.sigs.k8s.io/job-index", "leaderworkerset.sigs.k8s.io/group-index")
        self.global_group = self.number("jobset.sigs.k8s.io/job-global-index")
        self.group_size = self.number("leaderworkerset.sigs.k8s.io/size")
        self.attempt = self.number("jobset.sigs.k8s.io/restart-attempt") or 0
        # A pod of a LeaderWorkerSet is one of a StatefulSet's as well.
        self.index = self.number("leaderworkerset.sigs.k8s.io/worker-index", "batch.kubernetes.io/job-completion-index",
                                 "apps.kubernetes.io/pod-index")

    def end(self, metadata, status):
        """When it ended, if it has: with its last container, or when it was evicted; else when its deletion was due. Never before it
        was made. None: nobody says."""
        times = [one["lastTransitionTime"] for one in status.get("conditions", [])
                 if one["type"] == "DisruptionTarget" and one["status"] == "True" and one.get("lastTransitionTime")]
        states = [container.get("state", {}) for container in status.get("containerStatuses", [])]
        if not any("running" in state for state in states):
            times += [state["terminated"]["finishedAt"] for state in states if state.get("terminated", {}).get("finishedAt")]
        times = times or [time for time in [metadata.get("deletionTimestamp")] if time]
        return max([self.created, *map(seconds, times)]) if times else None

    def number(self, *keys):
        return next((int(self.said[key]) for key in keys if key in self.said), None)

    def failed(self):
        return self.phase == "Failed"

    def succeeded(self):
        return self.phase == "Succeeded"

    def is_task(self, require):
        if self.deleting or not self.ip:
            return False
        if require == "address":
            return self.phase in ("Running", "Pending")
        return self.phase == "Running" and (require == "running" or self.ready)

    def address(self, port=PORT):
        return f"[{self.ip}]:{port}" if ":" in self.ip else f"{self.ip}:{port}"


def counts(pod, require):
    return pod.is_task(require) and not pod.in_doubt


def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def natural(name):
    """A key by which names have their natural order: numbers count as numbers."""
    return [(ord("0"), int(part)) if part.isdigit() else (ord(part), 0) for part in re.findall(r"\d+|\D", name)]


# ---- The answer ------------------------------------------------------------------------------


def job_of(members, expected=None, ranked=True, missing_places=()):
    """A job of `members`: (index, pod, is it a task). Without indices the names rank, those of the missing among them;
    `missing_places` are (index, name) of places without a pod."""
    missing_places = list(missing_places)
    if not ranked:
        members = [(n, pod, task) for n, (_, pod, task) in enumerate(sorted(members, key=lambda one: natural(one[1].name)))]
    return {"expected": expected,
            "tasks": sorted([index, pod.name, pod.address(), pod.uid] for index, pod, task in members if task),
            "missing": in_order([[index, pod.name] for index, pod, task in members if not task] + [list(one) for one in missing_places])}


def in_order(missing):
    return sorted(missing, key=lambda one: (one[0] is None, one[0] or 0, natural(one[1])))


def answer_of(jobs):
    return {"jobs": jobs, "complete": all(
        not job["missing"] and (job["expected"] is None or len(job["tasks"]) >= job["expected"]) for job in jobs.values())}


def said_by(answer):
    """The same of muster's JSON."""
    jobs = {}
    for name, job in answer["jobs"].items():
        jobs[name] = {"expected": job["expected"], "tasks": [], "missing": in_order([one["index"], one["name"]] for one in job["missing"])}
    for task in answer["tasks"]:
        jobs[task["job"]]["tasks"].append([task["index"], task["name"], task["address"], task["attributes"].get("uid")])
    return {"jobs": jobs, "complete": answer["complete"]}


# ---- Of several pods for one place -----------------------------------------------------------


def standing(pod, require):
    """The higher, the more it is the one that counts: a task, a live one, one that may come yet, one that goes, one that failed."""
    if pod.is_task(require):
        return 4
    if pod.phase == "Running" and not pod.deleting and pod.ip:
        return 3
    if pod.failed():
        return 0
    return 1 if pod.deleting else 2


def choose(pods, require):
    """The one of the newest attempt, of these of the object made last, of these of the highest standing, of these the one made last;
    and whether it can be told from all others. Where it cannot, the place is missing."""
    made = {}
    for pod in pods:
        made[pod.attempt, pod.owner_uid] = max(made.get((pod.attempt, pod.owner_uid), 0), pod.created)
    of = lambda pod: (pod.attempt, made[pod.attempt, pod.owner_uid])
    one, *others = sorted(pods, key=lambda pod: (*(-number for number in of(pod)), -standing(pod, require), -pod.created, pod.name))

    def is_told_from(other):
        if of(other) != of(one):
            return True
        if standing(other, require) != standing(one, require):
            return other.owner_uid == one.owner_uid or other.deleting
        return other.created != one.created
    one.in_doubt = not all(map(is_told_from, others))
    return one


def in_places(pods, place_of, require):
    """One pod for each place."""
    claims = {}
    for pod in pods:
        claims.setdefault(place_of(pod), []).append(pod)
    return {place: choose(claimants, require) for place, claimants in claims.items() if place is not None}


# ---- By selectors ----------------------------------------------------------------------------


def without_replaced(pods, succeeded, require):
    """Of pods with one index, owner, role and group one stays; none, where all of them failed and a later one has ended well."""
    place_of = lambda pod: None if pod.index is None else (pod.owner, pod.role, pod.group, pod.index)
    is_done = lambda pod: pod.failed() and any(
        place_of(pod) == place_of(one) is not None and one.owner_uid == pod.owner_uid and one.attempt >= pod.attempt and
        one.created > pod.created for one in succeeded)
    pods = [pod for pod in pods if not is_done(pod)]
    chosen = in_places(pods, place_of, require)
    return [pod for pod in pods if pod.index is None or chosen[place_of(pod)] is pod]


def without_failed_before(pods, succeeded):
    """Each pod without index that failed gives its place to one pod of its owner that was made after it failed. Times are whole
    seconds: one made in the same second may have been there before."""
    gone = set()
    of = lambda pod: (pod.owner, pod.owner_uid, pod.role, pod.group)
    without_index = [pod for pod in [*pods, *succeeded] if pod.owner and pod.index is None]
    for siblings in set(map(of, without_index)):
        own = [pod for pod in without_index if of(pod) == siblings]
        later = sorted(own, key=lambda pod: (pod.created, pod.name))
        for failed in sorted((pod for pod in own if pod.failed() and pod.ended), key=lambda pod: (pod.ended, pod.name)):
            while later and later[0].created <= failed.ended:
                later.pop(0)
            if not later:
                break
            later.pop(0)
            gone.add(failed.uid)
    return [pod for pod in pods if pod.uid not in gone]


def matches(selector, labels):
    """Of `key=value`, `key!=value`, `key` and `!key`, apart by commas."""
    def one(term):
        if "!=" in term:
            key, value = term.split("!=")
            return labels.get(key) != value
        if "=" in term:
            key, value = term.split("=")
            return labels.get(key) == value
        return term[1:] not in labels if term.startswith("!") else term in labels
    return all(one(term) for term in selector.split(","))


def by_selectors(mapping, pods, require="running"):
    """`mapping`: job -> selectors. A list of pods, each once, in the order of the selectors."""
    pods = [Pod(json) for json in pods]
    jobs, any_pod = {}, False
    for job, selectors in mapping.items():
        chosen = []
        for number, selector in enumerate(selectors):
            for pod in pods:
                if matches(selector, pod.labels) and pod.uid not in {one.uid for one in chosen}:
                    pod.selector = number
                    chosen.append(pod)
        succeeded = [pod for pod in chosen if pod.succeeded()]
        members = [pod for pod in chosen if not pod.succeeded()]
        members = without_failed_before(without_replaced(members, succeeded, require), succeeded)
        # Of an attempt that is over none is a task, though nobody has its place yet.
        run = lambda pod: pod.labels.get("jobset.sigs.k8s.io/jobset-uid") or pod.owner
        for pod in members:
            pod.in_doubt = pod.in_doubt or pod.attempt < max(other.attempt for other in chosen if run(other) == run(pod))
        any_pod = any_pod or bool(members)
        jobs[job] = ranked_by_selectors(members, len(selectors), require)
    return answer_of(jobs) if any_pod else None


def own_rank(pod):
    if None not in (pod.group, pod.group_size, pod.index):
        return pod.group * pod.group_size + pod.index
    return pod.index


def ranked_by_selectors(pods, selectors, require):
    ranks = [own_rank(pod) for pod in pods]
    if selectors == 1 and None in ranks:
        return job_of([(None, pod, counts(pod, require)) for pod in pods], ranked=False)
    if selectors == 1 and len(set(ranks)) == len(ranks):
        return job_of([(rank, pod, counts(pod, require)) for rank, pod in zip(ranks, pods)])

    def key(pod):
        number = lambda value: -1 if value is None else value
        return pod.selector, number(pod.global_group), natural(pod.role), number(pod.group), number(pod.index), natural(pod.name)
    return job_of([(n, pod, counts(pod, require)) for n, pod in enumerate(sorted(pods, key=key))])


# ---- By objects ------------------------------------------------------------------------------


class Role:
    def __init__(self, name, expected, places, group_size=None, first=0, indexed=True):
        self.name, self.expected, self.places = name, expected, places
        self.group_size, self.first, self.indexed = group_size, first, indexed


def job_role(name, spec, replicas=1, grouped=False, mode="NonIndexed"):
    parallelism = spec.get("parallelism", 1)
    completions = spec.get("completions", parallelism)
    return Role(name, min(parallelism, completions) * replicas, completions * replicas, completions if grouped else None,
                indexed=spec.get("completionMode", mode) == "Indexed")


def roles_of(kind, spec):
    if kind == "job":
        return [job_role("worker", spec)]
    if kind == "jobset":
        return [job_role(one["name"], one["template"]["spec"], one.get("replicas", 1), True, "Indexed") for one in spec["replicatedJobs"]]
    if kind == "leaderworkerset":
        size = spec["leaderWorkerTemplate"].get("size", 1)
        return [Role("worker", spec.get("replicas", 1) * size, spec.get("replicas", 1) * size, size)]
    return [Role("worker", spec.get("replicas", 1), spec.get("replicas", 1), first=spec.get("ordinals", {}).get("start", 0))]


def is_own(kind, object_json, pod):
    """Which of the pods by the label or the selector are this very object's."""
    name, uid = object_json["metadata"]["name"], object_json["metadata"]["uid"]
    if kind == "jobset":
        return (pod.labels.get("jobset.sigs.k8s.io/jobset-name") == name and
                pod.labels.get("jobset.sigs.k8s.io/jobset-uid", uid) == uid)
    if kind == "leaderworkerset":  # its pods have its name alone, so those of one before it are told by time
        return (pod.labels.get("leaderworkerset.sigs.k8s.io/name") == name and
                pod.created >= seconds(object_json["metadata"]["creationTimestamp"]))
    wanted = object_json["spec"]["selector"]["matchLabels"]
    return pod.owner_uid == uid and all(pod.labels.get(key) == value for key, value in wanted.items())


def place_of(kind, role, pod):
    index = pod.index
    if index is None and kind == "statefulset":
        index = int(re.search(r"-(\d+)$", pod.name)[1])
    if index is None:
        return None
    index -= role.first
    if not 0 <= index < (role.group_size or role.places):
        return None
    if role.group_size:
        if pod.group is None:
            return None
        index += pod.group * role.group_size
    return index if index < role.places else None


def name_of_place(kind, name, role, place):
    size = role.group_size or max(role.places, 1)
    group, index = divmod(place, size)
    if kind == "jobset":
        return f"{name}-{role.name}-{group}-{index}"
    if kind == "leaderworkerset":
        return f"{name}-{group}" if index == 0 else f"{name}-{group}-{index}"
    return f"{name}-{index + role.first}"


def has_ended(object_json):
    return any(c["type"] in ("Complete", "Completed", "Succeeded", "Failed") and c["status"] == "True"
               for c in object_json.get("status", {}).get("conditions", []))


def by_object(kind, object_json, pods, as_job=None, require="running"):
    """`object_json`: None when there is none of that name."""
    if object_json is None:
        return None
    own = [pod for pod in map(Pod, pods) if is_own(kind, object_json, pod)]
    roles = roles_of(kind, object_json["spec"])
    if kind == "jobset":
        attempt = max([pod.attempt for pod in own] + [object_json.get("status", {}).get("restarts", 0)])
        own = [pod for pod in own if pod.attempt == attempt]
    jobs, offset, seated = {}, 0, []
    for role in roles:
        of_role = [pod for pod in own if kind != "jobset" or pod.role == role.name]
        role.succeeded = object_json.get("status", {}).get("succeeded", 0) if kind == "job" else 0
        expected, members, empty = seats(kind, object_json["metadata"]["name"], role, of_role, offset, require)
        seated += [pod for _, pod, _ in members]
        job = job_of(members, expected, role.indexed, empty)
        if as_job and jobs:
            for key in ("expected", "tasks", "missing"):
                jobs[as_job][key] += job[key]
        else:
            jobs[as_job or role.name] = job
        offset += role.places if as_job else 0
    if sum(role.expected for role in roles) == 0 and not seated:
        return None
    if has_ended(object_json) and all(pod.failed() or pod.succeeded() for pod in seated):
        return None
    return answer_of(jobs)


def seats(kind, name, role, pods, offset, require):
    """How many it is to have, its members, and places without a pod."""
    if not role.indexed:
        return in_turn(role, {n: pod for n, pod in enumerate(pods)}, lambda n: None, require)
    taken = in_places(pods, lambda pod: place_of(kind, role, pod), require)
    if role.expected < role.places:
        return in_turn(role, taken, lambda place: offset + place, require)
    if kind == "leaderworkerset":  # the workers of a group are made after its leader
        for place, pod in taken.items():
            leader = taken.get(place - place % role.group_size)
            pod.in_doubt = pod.in_doubt or (leader is not None and pod.created < leader.created)
    return role.expected, [(offset + place, pod, counts(pod, require)) for place, pod in taken.items()], [
        (offset + place, name_of_place(kind, name, role, place)) for place in range(role.places) if place not in taken]


def in_turn(role, pods, index_of, require):
    """Of a Job that has not all its pods at a time: those that have succeeded are done with, as long as some are left to come. Of too
    many that run the controller ends some: those that are not ready, that restarted, that were made last."""
    left = role.places - max(role.succeeded, sum(pod.succeeded() for pod in pods.values()))
    expected = min(role.expected, left)
    if role.expected < role.places and expected > 0:
        pods = {n: pod for n, pod in pods.items() if not pod.succeeded()}
    else:
        expected = role.expected

    def key(of):
        pod = of[1]
        if pod.is_task(require):
            return 0, not pod.ready, pod.restarts, pod.created, pod.name
        return 5 - standing(pod, require), -pod.created, pod.name
    order = sorted(pods.items(), key=key)
    return expected, [(index_of(n), pod, counts(pod, require) and at < expected) for at, (n, pod) in enumerate(order)
                      if at < expected or pod.is_task(require)], [(None, "")] * max(0, expected - len(order))


# ---- By a Service ----------------------------------------------------------------------------


def by_service(slices, require="running"):
    """Each endpoint once, by its pod; of one in two slices the better word counts. Of two pods of one name one is gone: the one that
    is said to go."""
    found = {}
    for one in slices:
        port = one["ports"][0]["port"]
        for endpoint in one.get("endpoints") or []:
            target, conditions = endpoint["targetRef"], endpoint.get("conditions", {})
            entry = found.setdefault(target["uid"], {"name": target["name"], "uid": target["uid"], "here": False, "ready": False,
                                                     "address": f"{endpoint['addresses'][0]}:{port}"})
            entry["here"] = entry["here"] or not conditions.get("terminating")
            entry["ready"] = entry["ready"] or conditions.get("ready", True) is not False
    if not found:
        return None
    job = {"expected": None, "tasks": [], "missing": []}
    for n, name in enumerate(sorted({entry["name"] for entry in found.values()}, key=natural)):
        here = [entry for entry in found.values() if entry["name"] == name and entry["here"]]
        if len(here) == 1 and (require != "ready" or here[0]["ready"]):
            job["tasks"].append([n, name, here[0]["address"], here[0]["uid"]])
        else:
            job["missing"].append([n, name])
    return answer_of({"worker": job})
