package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
)

// server is kube-apiserver on a port; it can be stopped and started anew.
type server struct {
	flags  []string
	port   *port
	files  *files
	cancel context.CancelFunc
	ended  chan error // what the running one ended with
}

// start returns when the server says that it is ready.
func (s *server) start(ctx context.Context) error {
	opts := options.NewServerRunOptions()
	set := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	named := opts.Flags()
	for _, flags := range named.FlagSets {
		set.AddFlagSet(flags)
	}
	if err := set.Parse(s.flags); err != nil {
		return err
	}
	if err := opts.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	listener, err := s.port.listener()
	if err != nil {
		return err
	}
	opts.SecureServing.Listener = listener
	completed, err := opts.Complete(ctx)
	if err != nil {
		return err
	}
	if errs := completed.Validate(); len(errs) != 0 {
		return utilerrors.NewAggregate(errs)
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- app.Run(running, completed) }()
	s.cancel, s.ended = cancel, ended
	if err := s.waitUntilReady(ctx); err != nil {
		cancel()
		return err
	}
	return nil
}

func (s *server) waitUntilReady(ctx context.Context) error {
	client, err := s.client("apiserver-test")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		var status int
		client.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).Do(ctx).StatusCode(&status)
		if status == http.StatusOK {
			return nil
		}
		select {
		case err := <-s.ended:
			return fmt.Errorf("kube-apiserver ended: %w", err)
		case <-ctx.Done():
			return fmt.Errorf("kube-apiserver was not ready within %v", startTimeout)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop cuts the connections, for open watches would hold the server back.
func (s *server) stop() error {
	s.cancel()
	deadline := time.After(stopTimeout)
	for {
		s.port.cut()
		select {
		case err := <-s.ended:
			return err
		case <-deadline:
			return errors.New("kube-apiserver did not stop in time")
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (s *server) restart(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return err
	}
	return s.start(ctx)
}

// client is the administrator under a program's name, which the server writes into managedFields.
func (s *server) client(program string) (*kubernetes.Clientset, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.files.path("kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.UserAgent = program
	config.QPS = -1 // without limit
	config.ContentType = "application/vnd.kubernetes.protobuf"
	return kubernetes.NewForConfig(config)
}
