package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// etcd is one member on unix sockets in the folder, which forgets everything at the end.
type etcd struct {
	server   *embed.Etcd
	endpoint string
}

func startEtcd(folder string) (*etcd, error) {
	socket := func(name string) url.URL { return url.URL{Scheme: "unix", Path: filepath.Join(folder, name)} }
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "etcd")
	config.ListenClientUrls = []url.URL{socket("client")}
	config.ListenPeerUrls = []url.URL{socket("peer")}
	config.UnsafeNoFsync = true
	config.LogOutputs = []string{filepath.Join(folder, "etcd.log")}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case err := <-server.Err():
		return nil, fmt.Errorf("etcd: %w", err)
	case <-time.After(30 * time.Second):
		server.Close()
		return nil, fmt.Errorf("etcd was not ready within 30 s")
	}
	endpoint := socket("client")
	return &etcd{server: server, endpoint: endpoint.String()}, nil
}

func (e *etcd) Close() { e.server.Close() }

// compact drops everything older than now, as the apiserver's own compactor does it: the key tells the apiserver,
// and its change makes sure that whatever was read before is older than what is kept. It gives the revision.
func (e *etcd) compact(ctx context.Context) (int64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{e.endpoint}, DialTimeout: 5 * time.Second})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	now, err := client.Get(ctx, "compact_rev_key")
	if err != nil {
		return 0, err
	}
	revision := now.Header.Revision + 1
	put, err := client.Put(ctx, "compact_rev_key", strconv.FormatInt(revision, 10))
	if err != nil {
		return 0, err
	}
	// Others may have written in between, which only makes the kept moment an older one than now.
	_, err = client.Compact(ctx, min(revision, put.Header.Revision))
	return revision, err
}
