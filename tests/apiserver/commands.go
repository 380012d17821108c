package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// commands are what standard input may ask for.
type commands struct {
	server *server
	etcd   *etcd
	seeded int
}

// answer does what a line asks for and gives one line of JSON: what was done, or {"error": "..."}.
func (c *commands) answer(ctx context.Context, line string) string {
	done, err := c.do(ctx, strings.Fields(line))
	if err != nil {
		done = map[string]any{"error": err.Error()}
	}
	text, err := json.Marshal(done)
	if err != nil {
		return fmt.Sprintf(`{"error": %q}`, err)
	}
	return string(text)
}

func (c *commands) do(ctx context.Context, words []string) (map[string]any, error) {
	if len(words) == 0 {
		return nil, fmt.Errorf("an empty line is no command")
	}
	switch name, arguments := words[0], words[1:]; {
	case name == "compact" && len(arguments) == 0:
		revision, err := c.etcd.compact(ctx)
		return map[string]any{"revision": revision}, err
	case name == "drop" && len(arguments) == 0:
		return map[string]any{"connections": c.server.port.cut()}, nil
	case name == "restart" && len(arguments) == 0:
		return map[string]any{"url": "https://" + c.server.port.address()}, c.server.restart(ctx)
	case name == "seed" && len(arguments) == 1:
		count, err := strconv.Atoi(arguments[0])
		if err != nil || count < 1 {
			return nil, fmt.Errorf("%q is no number of pods", arguments[0])
		}
		first := c.seeded
		c.seeded += count
		return map[string]any{"pods": c.seeded}, c.server.seed(ctx, first, count)
	}
	return nil, fmt.Errorf("%q is no command: there are compact, drop, restart and seed N", strings.Join(words, " "))
}
