package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

const (
	seedNamespace = "bulk"
	seedWorkers   = 32
)

// seed makes running pods bulk-worker-FIRST... of one Job in the namespace "bulk", label job-name=bulk, as the job
// controller, the scheduler and a kubelet leave them: with managedFields of the first and the last.
func (s *server) seed(ctx context.Context, first, count int) error {
	controller, err := s.client("kube-controller-manager")
	if err != nil {
		return err
	}
	kubelet, err := s.client("kubelet")
	if err != nil {
		return err
	}
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: seedNamespace}}
	_, err = controller.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{})
	if err != nil && !errors.IsAlreadyExists(err) {
		return err
	}

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := atomic.Int64{}
	next.Store(int64(first))
	var workers sync.WaitGroup
	for range seedWorkers {
		workers.Go(func() {
			for ctx.Err() == nil {
				index := int(next.Add(1)) - 1
				if index >= first+count {
					return
				}
				pod, err := controller.CoreV1().Pods(seedNamespace).Create(ctx, seedPod(index), meta.CreateOptions{})
				if err == nil {
					pod.Status = seedStatus(pod, index)
					_, err = kubelet.CoreV1().Pods(seedNamespace).UpdateStatus(ctx, pod, meta.UpdateOptions{})
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

func seedPod(index int) *core.Pod {
	yes := true
	variable := func(name, path string) core.EnvVar {
		return core.EnvVar{Name: name, ValueFrom: &core.EnvVarSource{FieldRef: &core.ObjectFieldSelector{FieldPath: path}}}
	}
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{
			Name: fmt.Sprintf("bulk-worker-%d", index),
			Labels: map[string]string{
				"job-name":                                 "bulk",
				"batch.kubernetes.io/job-name":             "bulk",
				"batch.kubernetes.io/job-completion-index": fmt.Sprint(index),
				"app.kubernetes.io/name":                   "trainer",
				"app.kubernetes.io/component":              "worker",
			},
			Annotations: map[string]string{"batch.kubernetes.io/job-completion-index": fmt.Sprint(index)},
			OwnerReferences: []meta.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: "bulk", UID: types.UID("5f0c2f9e-1c0b-4a33-9f0f-3a5f7c7e1d42"),
				Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			Finalizers: []string{"batch.kubernetes.io/job-tracking"},
		},
		Spec: core.PodSpec{
			NodeName:      fmt.Sprintf("node-%d", index/8),
			RestartPolicy: core.RestartPolicyNever,
			Hostname:      fmt.Sprintf("bulk-%d", index),
			Subdomain:     "bulk",
			Containers: []core.Container{{
				Name:    "trainer",
				Image:   "registry.example/team/trainer:2026.11.1",
				Command: []string{"python3", "-m", "trainer.main", "--config=/etc/trainer/config.yaml"},
				Ports:   []core.ContainerPort{{Name: "grpc", ContainerPort: 8470}, {Name: "metrics", ContainerPort: 9090}},
				Env: []core.EnvVar{
					variable("POD_NAME", "metadata.name"), variable("POD_NAMESPACE", "metadata.namespace"),
					variable("POD_IP", "status.podIP"), variable("NODE_NAME", "spec.nodeName"),
					{Name: "NCCL_DEBUG", Value: "WARN"},
				},
				Resources: core.ResourceRequirements{
					Limits:   core.ResourceList{"nvidia.com/gpu": resource.MustParse("8"), "memory": resource.MustParse("512Gi")},
					Requests: core.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("512Gi")},
				},
				VolumeMounts: []core.VolumeMount{{Name: "config", MountPath: "/etc/trainer"}, {Name: "shm", MountPath: "/dev/shm"}},
				ReadinessProbe: &core.Probe{ProbeHandler: core.ProbeHandler{
					HTTPGet: &core.HTTPGetAction{Path: "/healthz", Port: intstr.FromString("metrics")}}},
			}},
			Volumes: []core.Volume{
				{Name: "config", VolumeSource: core.VolumeSource{ConfigMap: &core.ConfigMapVolumeSource{
					LocalObjectReference: core.LocalObjectReference{Name: "trainer"}}}},
				{Name: "shm", VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{Medium: core.StorageMediumMemory}}},
			},
			Tolerations: []core.Toleration{{Key: "nvidia.com/gpu", Operator: core.TolerationOpExists}},
		},
	}
}

func seedStatus(pod *core.Pod, index int) core.PodStatus {
	now := meta.NewTime(time.Now())
	ip := fmt.Sprintf("10.%d.%d.%d", 64+index>>16&0x3F, index>>8&0xFF, index&0xFF)
	host := fmt.Sprintf("172.16.%d.%d", index/8>>8&0xFF, index/8&0xFF)
	started := true
	status := core.PodStatus{
		Phase: core.PodRunning, PodIP: ip, PodIPs: []core.PodIP{{IP: ip}}, HostIP: host, HostIPs: []core.HostIP{{IP: host}},
		StartTime: &now, QOSClass: core.PodQOSBurstable,
		ContainerStatuses: []core.ContainerStatus{{
			Name: "trainer", Ready: true, Started: &started, Image: pod.Spec.Containers[0].Image,
			ImageID:     "registry.example/team/trainer@sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0",
			ContainerID: fmt.Sprintf("containerd://%064x", index),
			State:       core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}},
		}},
	}
	for _, kind := range []core.PodConditionType{core.PodReadyToStartContainers, core.PodInitialized, core.PodReady,
		core.ContainersReady, core.PodScheduled} {
		status.Conditions = append(status.Conditions,
			core.PodCondition{Type: kind, Status: core.ConditionTrue, LastTransitionTime: now})
	}
	return status
}
