"""What people run, and its controller, played by the test: each gang makes its pods, loses some, changes its object and mends
itself, as `chance` has it, and knows the questions to ask about it with the truth of each.
"""
import churn_truth
from churn_pods import MERGE, is_over, name_of, something_happens

# The objects that are no part of Kubernetes, as much of their definitions as it takes to store them.
DEFINITIONS = (("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets"),
               ("leaderworkerset.x-k8s.io", "v1", "LeaderWorkerSet", "leaderworkersets"))
TEMPLATE = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/trainer"}]}}


class Gang:
    """`questions`: by name the plugin's options. `seen` is all JSON that a truth is made of."""

    questions = {}
    folder = None  # of what is not pods
    lists_several = False  # lists of pods, each of its own moment

    def __init__(self, name, pods):
        self.name, self.pods, self.chance = name, pods, pods.chance

    def act(self):
        """One thing that happens."""
        own = self.own()
        if not own or self.chance.random() < 0.25:
            return self.mend(1)
        return something_happens(self.pods, self.chance.choice(own))

    def own(self):
        return [pod for pod in self.pods.items() if pod["metadata"]["labels"].get("gang") == self.name]

    def seen(self):
        return {"pods": self.own()}

    def is_about(self, path):
        """Whether what is stored there is its own."""
        return path.startswith(f"{self.pods.path}/{self.name}-")

    def mixed(self, question, moments):
        """The truths of an object of one moment and pods of another, which a list of each may see."""
        return []

    def mend(self, most=100):
        """The controller goes on, by so many pods."""
        raise NotImplementedError

    def truth(self, question, seen):
        raise NotImplementedError


# ---- Pods by their labels --------------------------------------------------------------------


class Selected(Gang):
    """Four pods of a ReplicaSet, without indices; now and then one that nobody owns."""

    questions = {"selector": {"job_to_label_mapping": {"worker": ["app=free"]}},
                 "selector, ready": {"job_to_label_mapping": {"worker": ["app=free,!odd"]}, "require": "ready"}}

    def mend(self, most=100):
        own = self.own()
        for pod in [pod for pod in own if is_over(pod)][:most]:
            if self.chance.random() < 0.5:
                self.pods.remove(name_of(pod))
        for _ in range(min(most, 4 - sum(not is_over(pod) for pod in own))):
            odd = {"odd": "yes"} if self.chance.random() < 0.1 else {}
            owner = None if self.chance.random() < 0.1 else ("ReplicaSet", self.name, "0f0e-" + self.name)
            self.pods.make(f"{self.name}-{self.suffix()}", {"gang": self.name, "app": "free", **odd}, owner, start=self.chance.random() < 0.8)

    def suffix(self):
        return self.pods.suffix()

    def truth(self, question, seen):
        options = self.questions[question]
        return churn_truth.by_selectors(options["job_to_label_mapping"], seen["pods"], options.get("require", "running"))


class Parted(Selected):
    """Pods that are told apart by labels, which change: they go from one selector to another."""

    lists_several = True
    questions = {"selectors": {"job_to_label_mapping": {"worker": ["app=parted,part=a", "app=parted,part=b"], "ps": ["app=parted,part=ps"]}},
                 "a selector of each": {"job_to_label_mapping": {"a": ["app=parted,part=a"], "rest": ["app=parted,part!=a"]}}}

    def act(self):
        own = self.own()
        if own and self.chance.random() < 0.4:
            return self.pods.label(name_of(self.chance.choice(own)), part=self.chance.choice(["a", "b", "ps"]))
        return super().act()

    def mend(self, most=100):
        own = self.own()
        for pod in [pod for pod in own if is_over(pod)][:most]:
            self.pods.remove(name_of(pod))
        for _ in range(min(most, 5 - sum(not is_over(pod) for pod in own))):
            self.pods.make(f"{self.name}-{self.suffix()}", {"gang": self.name, "app": "parted", "part": self.chance.choice(["a", "b", "ps"])})


class Indexed(Selected):
    """Pods with an index of their own, of which several may stand for one index."""

    questions = {"selector, by index": {"job_to_label_mapping": {"worker": ["app=indexed"]}}}

    def mend(self, most=100):
        own = self.own()
        index = lambda pod: int(pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])
        for pod in [pod for pod in own if is_over(pod)][:most]:
            if self.chance.random() < 0.3:
                self.pods.remove(name_of(pod))
        for n in [n for n in range(4) if all(is_over(pod) for pod in own if index(pod) == n)][:most]:
            self.pods.make(f"{self.name}-{n}-{self.suffix()}", {
                "gang": self.name, "app": "indexed", "batch.kubernetes.io/job-completion-index": str(n)}, ("Job", self.name, "0f0e-" + self.name))


# ---- Objects ---------------------------------------------------------------------------------


class OfObject(Gang):
    """A gang that an object describes; the object changes, goes, and comes again."""

    kind = api = plural = made_as = None

    def __init__(self, name, pods):
        super().__init__(name, pods)
        self.folder = f"/apis/{self.api}/namespaces/{pods.namespace}/{self.plural}"
        self.questions = {question: {self.kind: name, **options} for question, options in type(self).questions.items()}

    def object(self):
        return self.pods.store.get(f"{self.folder}/{self.name}")

    def seen(self):
        return {"object": self.object(), **super().seen()}

    def is_about(self, path):
        return path == f"{self.folder}/{self.name}" or super().is_about(path)

    def truth(self, question, seen):
        options = self.questions[question]
        return churn_truth.by_object(self.kind, seen["object"], seen["pods"], options.get("as_job"), options.get("require", "running"))

    def mixed(self, question, moments):
        objects = {whole and whole["metadata"]["resourceVersion"]: whole for whole in (seen["object"] for seen in moments)}
        return (self.truth(question, {**seen, "object": whole}) for seen in moments for whole in objects.values())

    def spec(self):
        raise NotImplementedError

    def create(self):
        self.pods.log(f"create {self.kind} {self.name}")
        return self.pods.request("POST", self.folder, {
            "apiVersion": self.api, "kind": self.made_as, "metadata": {"name": self.name}, "spec": self.spec()})

    def delete(self):
        self.pods.log(f"delete {self.kind} {self.name}")
        self.pods.request("DELETE", f"{self.folder}/{self.name}?propagationPolicy=Background")

    def patch(self, **fields):
        self.pods.log(f"patch {self.kind} {self.name} {fields}")
        self.pods.request("PATCH", f"{self.folder}/{self.name}", fields, MERGE)

    def act(self):
        whole = self.object()
        if whole is None:
            return self.create()
        drawn = self.chance.random()
        if drawn < 0.02:
            return self.delete()
        if drawn < 0.12:
            return self.change(whole)
        return super().act()

    def change(self, whole):
        """Of the object alone."""
        raise NotImplementedError

    def mend(self, most=100):
        if self.object() is None:
            self.create()
        self.mend_pods(self.object(), self.own(), most)

    def mend_pods(self, whole, own, most):
        raise NotImplementedError

    def mend_places(self, own, places, place_of, most, keeps=0.5):
        """`places`: place -> what makes its pod. Others go, and one that is over makes room; by `keeps` it stays beside its successor."""
        for pod in own:
            place = place_of(pod)
            if place not in places or (is_over(pod) and self.chance.random() >= keeps):
                if most <= 0:
                    return
                self.pods.remove(name_of(pod))
                most -= 1
                own = [one for one in own if one is not pod]
        names = {name_of(pod) for pod in own}
        for place, make in places.items():
            if most > 0 and all(is_over(pod) for pod in own if place_of(pod) == place):
                most -= 1
                make(names)


class JobGang(OfObject):
    kind, made_as, api, plural = "job", "Job", "batch/v1", "jobs"
    questions = {"job": {}}
    parallelism, completions, mode = 3, 3, "Indexed"

    def spec(self):
        return {"parallelism": self.parallelism, "completions": self.completions, "completionMode": self.mode, "template": TEMPLATE}

    def change(self, whole):
        count = self.chance.choice([1, 2, 3, 4])
        if self.chance.random() < 0.2:
            return self.patch(spec={"suspend": not whole["spec"].get("suspend", False)})
        elastic = self.mode == "Indexed" and self.parallelism == self.completions
        return self.patch(spec={"parallelism": count, **({"completions": count} if elastic else {})})

    def mend_pods(self, whole, own, most):
        uid, spec = whole["metadata"]["uid"], whole["spec"]
        labels = {"gang": self.name, "batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": self.name}
        owner = ("Job", self.name, uid)
        of_this = lambda pod: pod["metadata"]["labels"]["batch.kubernetes.io/controller-uid"] == uid
        if self.mode == "Indexed":
            def make(index):
                return lambda _: self.pods.make(f"{self.name}-{index}-{self.pods.suffix()}", {
                    **labels, "batch.kubernetes.io/job-completion-index": str(index)}, owner, start=self.chance.random() < 0.9)
            place = lambda pod: pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] if of_this(pod) else None
            wanted = [str(n) for n in range(spec["completions"])]
            done = [place(pod) for pod in own if pod["status"]["phase"] == "Succeeded"]
            if spec["parallelism"] < spec["completions"]:  # those that are not done take turns
                going = [n for n in wanted if n not in done][:spec["parallelism"]]
                wanted = [n for n in wanted if n in done or n in going]
            return self.mend_places(own, {n: make(n) for n in wanted}, place, most, keeps=0.7)
        for pod in [pod for pod in own if not of_this(pod)][:most]:
            self.pods.remove(name_of(pod))
        alive = [pod for pod in own if of_this(pod) and not is_over(pod)]
        for pod in alive[spec["parallelism"]:][:most]:
            self.pods.end(name_of(pod))
        for _ in range(min(most, spec["parallelism"] - len(alive))):
            self.pods.make(f"{self.name}-{self.pods.suffix()}", labels, owner, start=self.chance.random() < 0.9)


class QueueGang(JobGang):
    """An Indexed Job with more places than pods at a time."""

    questions = {"job, more completions": {}}
    parallelism, completions = 2, 5


class PlainJobGang(JobGang):
    questions = {"job, not indexed": {}}
    parallelism, completions, mode = 3, 6, "NonIndexed"


class JobSetGang(OfObject):
    kind, made_as, api, plural = "jobset", "JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets"
    questions = {"jobset": {}, "jobset, as one job": {"as_job": "all", "require": "ready"}}
    by_label = {"jobset, by its label": {"job_to_label_mapping": {"worker": ["jobset.sigs.k8s.io/jobset-name=js"]}}}

    def __init__(self, name, pods):
        super().__init__(name, pods)
        self.questions.update(self.by_label)

    def truth(self, question, seen):
        if question in self.by_label:
            return churn_truth.by_selectors(self.by_label[question]["job_to_label_mapping"], seen["pods"])
        return super().truth(question, seen)

    def spec(self):
        def job(name, replicas, pods):
            return {"name": name, "replicas": replicas, "template": {"spec": {
                "parallelism": pods, "completions": pods, "completionMode": "Indexed", "template": TEMPLATE}}}
        return {"replicatedJobs": [job("driver", 1, 1), job("slice", 2, 2)]}

    def change(self, whole):
        """It restarts: it says so, and its pods go one by one."""
        if self.chance.random() < 0.5:
            return self.patch(status={"restarts": whole.get("status", {}).get("restarts", 0) + 1})
        jobs = self.spec()["replicatedJobs"]
        jobs[1]["replicas"] = self.chance.choice([1, 2, 3])
        return self.patch(spec={"replicatedJobs": jobs, "suspend": self.chance.random() < 0.2})

    def mend_pods(self, whole, own, most):
        uid = whole["metadata"]["uid"]
        attempt = str(whole.get("status", {}).get("restarts", 0))
        label = lambda pod, key: pod["metadata"]["labels"]["jobset.sigs.k8s.io/" + key]

        def place(pod):
            if label(pod, "jobset-uid") != uid or label(pod, "restart-attempt") != attempt:
                return None
            return (label(pod, "replicatedjob-name"), label(pod, "job-index"), pod["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"])

        def make(role, group, index):
            return lambda _: self.pods.make(f"{self.name}-{role}-{group}-{index}-{self.pods.suffix()}", {
                "gang": self.name, "jobset.sigs.k8s.io/jobset-name": self.name, "jobset.sigs.k8s.io/jobset-uid": uid,
                "jobset.sigs.k8s.io/replicatedjob-name": role, "jobset.sigs.k8s.io/job-index": group,
                "jobset.sigs.k8s.io/restart-attempt": attempt, "batch.kubernetes.io/job-completion-index": index},
                ("Job", f"{self.name}-{role}-{group}", f"{uid}-{role}-{group}-{attempt}"), start=self.chance.random() < 0.9)

        places = {}
        for job in whole["spec"]["replicatedJobs"]:
            for group in range(job["replicas"]):
                for index in range(job["template"]["spec"]["completions"]):
                    of_pod = (job["name"], str(group), str(index))
                    places[of_pod] = make(*of_pod)
        self.mend_places(own, places, place, most)


class LeaderWorkerGang(OfObject):
    kind, made_as, api, plural = "leaderworkerset", "LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "leaderworkersets"
    questions = {"leaderworkerset": {}}

    def spec(self):
        return {"replicas": 2, "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE}}

    def change(self, whole):
        """Another size, or a group that is made anew."""
        if self.chance.random() < 0.5:
            return self.patch(spec={"replicas": self.chance.choice([1, 2, 3])})
        group = self.chance.choice("01")
        for pod in self.own():
            if pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] == group:
                self.pods.remove(name_of(pod))
        return None

    def mend_pods(self, whole, own, most):
        label = lambda pod, key: int(pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/" + key])
        size = whole["spec"]["leaderWorkerTemplate"]["size"]

        def make(group, index):
            name = f"{self.name}-{group}" + (f"-{index}" if index else "")
            above = self.name if index == 0 else f"{self.name}-{group}"
            return lambda names: name in names or self.pods.make(name, {
                "gang": self.name, "leaderworkerset.sigs.k8s.io/name": self.name, "leaderworkerset.sigs.k8s.io/group-index": str(group),
                "leaderworkerset.sigs.k8s.io/worker-index": str(index)}, ("StatefulSet", above, "0f0e-" + above),
                annotations={"leaderworkerset.sigs.k8s.io/size": str(size)}, start=self.chance.random() < 0.9)

        places = {(group, index): make(group, index) for group in range(whole["spec"]["replicas"]) for index in range(size)}
        self.mend_places(own, places, lambda pod: (label(pod, "group-index"), label(pod, "worker-index")), most, keeps=0)


class StatefulGang(OfObject):
    kind, made_as, api, plural = "statefulset", "StatefulSet", "apps/v1", "statefulsets"
    questions = {"statefulset": {}, "statefulset, with addresses": {"require": "address"}}

    def spec(self):
        return {"replicas": 3, "ordinals": {"start": 2}, "serviceName": self.name, "selector": {"matchLabels": {"gang": self.name}},
                "template": {"metadata": {"labels": {"gang": self.name}}, "spec": {"containers": TEMPLATE["spec"]["containers"]}}}

    def change(self, whole):
        if self.chance.random() < 0.3:
            return self.patch(spec={"ordinals": {"start": self.chance.choice([0, 1, 2])}})
        return self.patch(spec={"replicas": self.chance.choice([0, 1, 2, 3, 4, 5])})

    def mend_pods(self, whole, own, most):
        uid, spec = whole["metadata"]["uid"], whole["spec"]
        start = spec["ordinals"]["start"]

        def place(pod):
            of_this = pod["metadata"]["ownerReferences"][0]["uid"] == uid
            return int(name_of(pod).rsplit("-", 1)[1]) if of_this else None

        def make(ordinal):
            name = f"{self.name}-{ordinal}"
            index = {"apps.kubernetes.io/pod-index": str(ordinal)} if self.chance.random() < 0.5 else {}
            return lambda names: name in names or self.pods.make(name, {"gang": self.name, **index}, ("StatefulSet", self.name, uid),
                                                                 start=self.chance.random() < 0.9)
        self.mend_places(own, {n: make(n) for n in range(start, start + spec["replicas"])}, place, most, keeps=0)


# ---- A Service -------------------------------------------------------------------------------


class ServiceGang(Gang):
    """Its slices, whose endpoints come, go, and wander from one slice to another, for a moment in both. A pod that goes has a successor
    of its name, as a StatefulSet's has, before its own endpoint is gone."""

    questions = {"service": {}, "service, ready": {"require": "ready"}}

    def __init__(self, name, pods):
        super().__init__(name, pods)
        self.folder = f"/apis/discovery.k8s.io/v1/namespaces/{pods.namespace}/endpointslices"
        self.questions = {question: {"service": name, **options} for question, options in type(self).questions.items()}
        self.count = 0

    def slices(self):
        return self.pods.within(self.folder)

    def seen(self):
        return {"slices": self.slices()}

    def is_about(self, path):
        return path.startswith(f"{self.folder}/{self.name}-")

    def truth(self, question, seen):
        return churn_truth.by_service(seen["slices"], self.questions[question].get("require", "running"))

    def endpoint(self):
        self.count += 1
        number = self.count if self.chance.random() < 0.7 else self.chance.choice(self.going() or [self.count])
        return {"addresses": [f"10.200.{self.count // 250}.{self.count % 250 + 1}"], "conditions": {"ready": self.chance.random() < 0.8},
                "targetRef": {"kind": "Pod", "namespace": self.pods.namespace, "name": f"{self.name}-{number}",
                              "uid": f"0f0e-{self.name}-{self.count}"}}

    def going(self):
        """The numbers of those that are terminating and have no successor."""
        all_of_them = [e for one in self.slices() for e in one.get("endpoints") or []]
        number = lambda e: int(e["targetRef"]["name"].rsplit("-", 1)[1])
        uids = {}
        for e in all_of_them:
            uids.setdefault(number(e), set()).add(e["targetRef"]["uid"])
        return sorted(n for n in {number(e) for e in all_of_them if e["conditions"].get("terminating")} if len(uids[n]) == 1)

    def put(self, one, endpoints):
        self.pods.log(f"slice {name_of(one)}: {[(e['addresses'][0], e['conditions']) for e in endpoints]}")
        self.pods.request("PUT", f"{self.folder}/{name_of(one)}", {**one, "endpoints": endpoints})

    def create(self):
        name = f"{self.name}-{self.pods.suffix()}"
        endpoints = [self.endpoint() for _ in range(self.chance.choice([0, 1, 2, 3]))]
        self.pods.log(f"create slice {name}: {[e['addresses'][0] for e in endpoints]}")
        self.pods.request("POST", self.folder, {"metadata": {"name": name, "labels": {"kubernetes.io/service-name": self.name}},
                                                "addressType": "IPv4", "ports": [{"name": "rpc", "port": 8470}], "endpoints": endpoints})

    def act(self):
        slices = self.slices()
        drawn = self.chance.random()
        if not slices or (drawn < 0.1 and len(slices) < 3):
            return self.create()
        one = self.chance.choice(slices)
        endpoints = one.get("endpoints") or []
        if drawn < 0.15:
            self.pods.log(f"delete slice {name_of(one)}")
            return self.pods.request("DELETE", f"{self.folder}/{name_of(one)}")
        if drawn < 0.4 or not endpoints:
            return self.put(one, [*endpoints, self.endpoint()])
        at = self.chance.randrange(len(endpoints))
        rest = endpoints[:at] + endpoints[at + 1:]
        if drawn < 0.55:
            return self.put(one, rest)
        if drawn < 0.8 and not endpoints[at]["conditions"].get("terminating"):
            conditions = self.chance.choice([{"ready": True}, {"ready": False}, {"ready": False, "serving": True, "terminating": True}])
            return self.put(one, [*rest, {**endpoints[at], "conditions": conditions}])
        other = self.chance.choice(slices)
        if other is not one and all(e["targetRef"]["uid"] != endpoints[at]["targetRef"]["uid"] for e in other.get("endpoints") or []):
            self.put(other, [*(other.get("endpoints") or []), endpoints[at]])
            if self.chance.random() < 0.7:
                self.put(one, rest)
        return None

    def mend(self, most=100):
        slices = self.slices()
        if not slices:
            return self.create()
        for one in slices[:most]:
            endpoints = [{**e, "conditions": {"ready": True}} for e in one.get("endpoints") or [] if not e["conditions"].get("terminating")]
            self.put(one, endpoints[:3] or [self.endpoint()])
        return None


def gangs(pods):
    return [Selected("free", pods), Parted("parted", pods), Indexed("indexed", pods), JobGang("ij", pods), QueueGang("queue", pods),
            PlainJobGang("plain", pods), JobSetGang("js", pods), LeaderWorkerGang("lw", pods), StatefulGang("ss", pods),
            ServiceGang("sv", pods)]


def define(server):
    """The kinds of objects that are no part of Kubernetes."""
    for group, version, kind, plural in DEFINITIONS:
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        server.must("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
            "metadata": {"name": f"{plural}.{group}"},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
                     "versions": [{"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}]}})
