// A backend that does what its option `do` says, for frames_test.py. tests/sdk/probe.py is the same in Python.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"muster/backend"
)

const descriptor = `{"name": "probe", "version": "1.2.3", "abi": {"major": 1, "minor": 0}, "description": "What a test says.", "options": {"type": "object"}}`

type probe struct {
	do   string
	host *backend.Host
}

func create(options []byte, host *backend.Host) (backend.Resolver, error) {
	var read struct{ Do string }
	if err := json.Unmarshal(options, &read); err != nil {
		return nil, err
	}
	switch read.Do {
	case "create fails":
		return nil, backend.Errorf(backend.InvalidArgument, "the option do is wrong").With("option", "/do")
	case "create breaks":
		panic("do")
	}
	return &probe{read.Do, host}, nil
}

func (p *probe) Resolve(ctx context.Context, call *backend.Call) error {
	return map[string]func(context.Context, *backend.Call) error{
		"push": push, "services": p.services, "stream": stream, "stop stream": stopStream, "streams": streams, "fail": fail,
		"break down": breakDown, "fail with ok": failWithOK, "push for ever": pushForEver, "sleep": sleep, "spin": spin,
		"ignore": ignore, "many": many, "swallow": swallow, "say": say, "crash": crash, "leak": leak,
	}[p.do](ctx, call)
}

func (p *probe) Watch(ctx context.Context, call *backend.Call) error {
	for count := 1; count < 4; count++ {
		call.AddTask(backend.Task{Job: "worker", Name: fmt.Sprintf("generation-%d", count), Address: "10.0.0.1:1"})
		if err := call.Commit(); err != nil {
			return err
		}
	}
	for {
		if err := call.Sleep(time.Hour); err != nil {
			return err
		}
	}
}

func (p *probe) Permissions(ctx context.Context, call *backend.Call, request backend.PermissionsRequest) error {
	call.AddPermission(backend.Permission{Scope: "namespace ml", Rule: "list pods", PrincipalKind: "ServiceAccount", Principal: request.Principal})
	if request.Watch {
		call.AddPermission(backend.Permission{Scope: "namespace ml", Rule: "watch pods"})
	}
	call.SetGrant("sh", "# grant\n")
	return nil
}

func (p *probe) Plan(ctx context.Context, call *backend.Call, members int64) error {
	call.AddPlanned(backend.Planned{API: "roster", Request: "GET", Least: 1, Most: members, Reason: "one a member", Quota: "read requests", QuotaPerMinute: 600})
	return nil
}

// ---- What Resolve does

func push(ctx context.Context, call *backend.Call) error {
	call.MarkSecret([]byte("a-secret"))
	call.Progress("pushing")
	call.SetAttribute("rpc_layer", "grpc")
	call.AddJob("worker")
	call.AddTask(backend.Task{Job: "worker", Index: backend.Unranked, Name: "a", Address: "10.0.0.1:8470"})
	call.AddTask(backend.Task{Job: "worker", Index: math.MaxInt32, Address: "fd00::2", Port: 8471})
	call.SetAttribute("zone", "zürich")
	call.AddMissing(backend.Missing{Job: "worker", Index: 3, Name: "c", Reason: "Pending"})
	call.SetExpected("worker", 300)
	call.SetIdentity(backend.Identity{Job: "worker", Evidence: "HOSTNAME is 'a'"})
	call.SetIdentity(backend.Identity{Index: backend.Unranked, Name: "a", Evidence: "by name"})
	call.AddWarning("slow")
	call.Log(backend.Warning, "two\nlines")
	return nil
}

// must is for what the test lets succeed.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func (p *probe) services(ctx context.Context, call *backend.Call) error {
	out := map[string]any{
		"path":        p.host.Path,
		"address":     call.CheckAddress("10.0.0.1:1", 0),
		"no_address":  p.host.CheckAddress("10.0.0.1", 0).Error(),
		"monotonic":   must(call.Monotonic()),
		"realtime":    must(call.Now()).UnixNano(),
		"unset":       nil,
		"hostname":    must(call.Hostname()),
		"no_hostname": must(call.Hostname()) == "",
		"file":        len(must(call.SecretFile("~/roster", 100))),
		"terminal":    must(call.HasTerminal()),
	}
	if value, there, err := call.Variable("SET"); err == nil && there {
		out["set"] = value
	}
	if _, there, err := call.Variable("UNSET"); err != nil || there {
		out["unset"] = there
	}
	if err := call.Sleep(1500 * time.Millisecond); err != nil {
		return err
	}
	var failure *backend.Error
	_, err := call.File("/nowhere", 1)
	errors.As(err, &failure)
	out["nowhere"] = []any{failure.Code, failure.Message, failure.Details}
	response := must(call.HTTP(backend.HTTPRequest{
		Method: "POST", URL: "http://h/p", Headers: []backend.Header{{Name: "Accept", Value: "text/plain"}}, Body: []byte("body"),
		Purpose: "a purpose", MaximumBodySize: 5, Timeout: time.Second, IdleTimeout: 2 * time.Second, Idempotent: true, NoRetry: true,
		FollowRedirects: true, SecretBody: true, Insecure: true, NoProxy: true, ProxyURL: "http://proxy:1", CAPEM: []byte("ca"),
		ClientCertificatePEM: []byte("certificate"), ClientKeyPEM: []byte("key"), TLSServerName: "name",
	}))
	none := any(nil)
	if value := response.Header("none"); value != "" {
		none = value
	}
	out["http"] = []any{response.Status, response.Header("ETAG"), none, string(response.Body)}
	result := must(call.RunProgram(backend.Program{
		Arguments: []string{"p", "", "x"}, Environment: []string{"A=b"}, Terminal: true, MaximumOutputSize: 7, Timeout: 3 * time.Second}))
	out["program"] = []any{result.ExitStatus, string(result.Output), result.ErrorOutput, result.Keep}
	call.AddWarning(string(must(json.Marshal(out))))
	return nil
}

func stream(ctx context.Context, call *backend.Call) error {
	response, err := call.HTTP(backend.HTTPRequest{Method: "GET", URL: "http://h/stream", OnPiece: func(piece []byte) error {
		nested, _, err := call.Variable("NESTED")
		call.AddWarning(string(piece) + " " + nested)
		return err
	}})
	if err != nil {
		return err
	}
	call.AddWarning(fmt.Sprint(response.Status, " ", len(response.Body)))
	return nil
}

func stopStream(ctx context.Context, call *backend.Call) error {
	_, err := call.HTTP(backend.HTTPRequest{Method: "GET", URL: "http://h/stream", OnPiece: func(piece []byte) error {
		return backend.Errorf(backend.DataLoss, "piece %s", piece).With("hint", "mend it")
	}})
	return err
}

func streams(ctx context.Context, call *backend.Call) error {
	said := map[bool]string{true: "True", false: "False"}
	first := must(call.BeginHTTP(backend.HTTPRequest{Method: "GET", URL: "http://h/1", OnPiece: func(piece []byte) error {
		call.AddWarning("1 " + string(piece))
		return nil
	}}))
	second := must(call.BeginHTTP(backend.HTTPRequest{Method: "GET", URL: "http://h/2"}))
	end := must(call.NextHTTP(time.Second))
	call.AddWarning("none " + said[end == nil])
	end = must(call.NextHTTP(time.Second))
	call.AddWarning(fmt.Sprintf("%s %d %s", said[end.Number == second], end.Response.Status, end.Response.Body))
	end = must(call.NextHTTP(time.Second))
	var failure *backend.Error
	errors.As(end.Err, &failure)
	call.AddWarning(fmt.Sprintf("%s %d %s", said[end.Number == first], failure.Code, failure.Message))
	call.EndHTTP(first)
	return nil
}

func fail(ctx context.Context, call *backend.Call) error {
	return backend.Errorf(backend.PermissionDenied, "not for %s", "you").With("http_status", 403).With("hint", "ask")
}

func breakDown(ctx context.Context, call *backend.Call) error { panic("seven") }

func failWithOK(ctx context.Context, call *backend.Call) error {
	return backend.Errorf(backend.OK, "no failure")
}

func pushForEver(ctx context.Context, call *backend.Call) error {
	for n := int64(0); ctx.Err() == nil; n++ {
		call.AddTask(backend.Task{Job: "worker", Index: n, Name: fmt.Sprint("n", n), Address: "10.0.0.1:1"})
	}
	return call.Err()
}

func sleep(ctx context.Context, call *backend.Call) error { return call.Sleep(time.Hour) }

func spin(ctx context.Context, call *backend.Call) error {
	call.Progress("spinning")
	<-ctx.Done()
	return fmt.Errorf("spinning: %w", ctx.Err())
}

func ignore(ctx context.Context, call *backend.Call) error {
	call.Progress("ignoring")
	time.Sleep(time.Hour)
	return nil
}

func many(ctx context.Context, call *backend.Call) error {
	for n := int64(0); n < 100000; n++ {
		call.AddTask(backend.Task{Job: "worker", Index: n, Name: fmt.Sprint("node-", n), Address: "10.0.0.1:8470"})
	}
	return nil
}

func swallow(ctx context.Context, call *backend.Call) error {
	for ctx.Err() == nil {
		call.AddTask(backend.Task{Job: "worker", Name: "a", Address: "10.0.0.1:1"})
	}
	return nil
}

func crash(ctx context.Context, call *backend.Call) error {
	fmt.Fprintln(os.Stderr, "on its way")
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func leak(ctx context.Context, call *backend.Call) error {
	path, _, err := call.Variable("SECRET_FILE")
	if err != nil {
		return err
	}
	secret := must(call.File(path, 1<<20))
	call.MarkSecret(secret)
	call.Log(backend.Warning, "read "+string(secret))
	call.AddWarning("read " + string(secret))
	return backend.Errorf(backend.Unauthenticated, "%s is refused", secret).With("hint", "renew "+string(secret))
}

func say(ctx context.Context, call *backend.Call) error {
	fmt.Println("standard output")
	return nil
}

func main() { backend.Main(descriptor, create) }
