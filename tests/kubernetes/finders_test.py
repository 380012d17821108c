"""What people run, by its name: a command, and the whole cluster with what is missing."""
import unittest

from asking import ask, world

# Three of four: slice 1's second pod is not there yet.
SET = """  objects:
    - apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: vintage, namespace: ml, uid: set-uid}
      spec: {replicatedJobs: [{name: slice, replicas: 2, template: {spec: {parallelism: 2, completions: 2}}}]}
    - {apiVersion: batch/v1, kind: Job, metadata: {name: bare, namespace: ml}, spec: {parallelism: 1, selector: {matchLabels: {job-name: bare}}}}
    - apiVersion: discovery.k8s.io/v1
      kind: EndpointSlice
      metadata: {name: web-x, namespace: ml, labels: {kubernetes.io/service-name: web}}
      addressType: IPv4
      ports: [{name: rpc, port: 7000}]
      endpoints: [{addresses: [10.8.0.1], targetRef: {kind: Pod, name: web-0, uid: u}}]
  pods:
""" + "".join(f"""    - name: vintage-slice-{job}-{index}-x7k2p
      namespace: ml
      ip: 10.8.{job}.{index}
      hostname: vintage-slice-{job}-{index}
      subdomain: vintage
      ports: [{{name: rpc, port: 9000}}]
      labels: {{jobset.sigs.k8s.io/jobset-name: vintage, jobset.sigs.k8s.io/jobset-uid: set-uid, jobset.sigs.k8s.io/replicatedjob-name: slice,
               jobset.sigs.k8s.io/job-index: "{job}", batch.kubernetes.io/job-completion-index: "{index}"}}
""" for job, index in ((0, 0), (0, 1), (1, 0)))


def find(sim, *options, **more):
    return ask(sim, None, options=options, **more)


class Finders(unittest.TestCase):
    def test_a_jobset_is_its_roles_with_ranks_and_what_is_missing(self):
        with world(SET) as sim:
            run = find(sim, "jobset=vintage", "namespace=ml")
        self.assertEqual(run.code, 10, run)
        self.assertEqual(run.answer["cluster"], {"slice": ["10.8.0.0:8470", "10.8.0.1:8470", "10.8.1.0:8470"]}, run)
        self.assertEqual(run.answer["jobs"]["slice"]["expected"], 4)
        missing = run.answer["jobs"]["slice"]["missing"]
        self.assertEqual([(m["index"], m["name"], m["reason"]) for m in missing], [(3, "vintage-slice-1-1", "no pod yet")])

    def test_names_of_a_headless_service_and_ports_by_name_in_a_config(self):
        with world(SET) as sim:
            run = find(sim, "jobset=vintage", "namespace=ml", "as_job=worker", "port=rpc", "address=dns", "cluster_domain=k8s.example")
        self.assertEqual(run.answer["cluster"]["worker"][0], "vintage-slice-0-0.vintage.ml.svc.k8s.example:9000", run)

    def test_a_service_is_its_endpoints(self):
        with world(SET) as sim:
            run = find(sim, "service=web", "namespace=ml")
        self.assertEqual(run.code, 0, run)
        self.assertEqual(run.cluster(), {"worker": ["10.8.0.1:7000"]})

    def test_of_two_pods_of_one_name_behind_a_service_the_one_that_does_not_go_counts(self):
        def slices(*conditions):
            return "  objects:\n" + "".join(
                f"    - {{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, addressType: IPv4, metadata: {{name: web-{n}, namespace: ml, "
                f"labels: {{kubernetes.io/service-name: web}}}}, ports: [{{port: 7000}}], endpoints: [{{addresses: [10.8.0.{n}], "
                f"conditions: {{{said}}}, targetRef: {{kind: Pod, name: web-0, uid: u{n}}}}}]}}\n" for n, said in enumerate(conditions))
        there, goes = "ready: true", "ready: false, terminating: true"
        for conditions, cluster in (((there, goes), ["10.8.0.0:7000"]), ((goes, there), ["10.8.0.1:7000"]), ((goes, there, goes), ["10.8.0.1:7000"]),
                                    ((goes, goes), []), ((there, there), [])):
            with self.subTest(conditions), world(slices(*conditions)) as sim:
                run = find(sim, "service=web", "namespace=ml")
                self.assertEqual((run.code, run.cluster()), (0 if cluster else 10, {"worker": cluster}), run)
                self.assertEqual(list(run.missing()), [] if cluster else ["web-0"], run)

    def test_what_is_not_there_or_forbidden_says_what_to_do(self):
        with world("  forbid: [{verb: get, resource: jobs}]\n" + SET) as sim:
            absent = find(sim, "jobset=other", "namespace=ml")
            unknown = find(sim, "tfjob=other", "namespace=ml")
            forbidden = find(sim, "job=bare", "namespace=ml")
        self.assertIn("there is no JobSet 'other' in namespace 'ml'", absent.err)
        self.assertIn("kubectl get jobsets.jobset.x-k8s.io other -n ml", absent.err)
        self.assertIn("this cluster does not know such objects", unknown.err)
        self.assertIn('resources: [jobs], verbs: [get]', forbidden.err)
        self.assertIn("kind: RoleBinding", forbidden.err)

    def test_two_that_say_who_the_members_are_contradict_each_other(self):
        with world(SET) as sim:
            run = find(sim, "jobset=vintage", "job=bare")
        self.assertIn("'jobset' and 'job' both say who the members are", run.err)

    def test_evidence_that_disagrees_is_an_error(self):
        with world(SET) as sim:
            here = {"POD_NAME": "vintage-slice-0-0-x7k2p", "POD_NAMESPACE": "ml"}
            good = find(sim, "jobset=vintage", "namespace=ml", env=here)
            bad = find(sim, "jobset=vintage", "namespace=ml", env={**here, "POD_IP": "10.8.1.0"})
        self.assertEqual((good.answer["task"]["type"], good.answer["task"]["index"]), ("slice", 0), good)
        self.assertNotIn(bad.code, (0, 10))
        self.assertIn("POD_IP", bad.err)
        self.assertEqual(bad.out, "")


if __name__ == "__main__":
    unittest.main()
