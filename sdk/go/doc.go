// SPDX-License-Identifier: Apache-2.0

// Package backend is for backends of muster in Go: programs that muster starts, and that speak its frames.
//
//	type roster struct{ url string }
//
//	func (r *roster) Resolve(ctx context.Context, call *backend.Call) error {
//		response, err := call.HTTP(backend.HTTPRequest{Method: "GET", URL: r.url, Purpose: "the roster"})
//		if err != nil {
//			return err
//		}
//		...
//		call.AddTask(backend.Task{Job: "worker", Index: 0, Name: "node-a", Address: "10.0.0.1:8470"})
//		return nil
//	}
//
//	func main() {
//		backend.Main(descriptor, func(options []byte, host *backend.Host) (backend.Resolver, error) { ... })
//	}
//
// A backend is a Resolver. It is made once, with its options (JSON that was checked against the descriptor's schema) and a Host;
// Resolve is called whenever an answer is wanted. It may be a Watcher, a Permitter and a Planner besides, and an io.Closer, which
// is closed at the end. What fails returns an *Error.
package backend
