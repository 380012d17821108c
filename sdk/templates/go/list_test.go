package main

import (
	"fmt"
	"strings"
	"testing"
)

// read is "name=address", "name-(reason)" or "line!problem", one after the other.
func read(text string) string {
	var out []string
	for _, m := range readList(text) {
		switch {
		case m.problem != "":
			out = append(out, fmt.Sprintf("%d!%s", m.line, m.problem))
		case m.address != "":
			out = append(out, m.name+"="+m.address)
		default:
			out = append(out, m.name+"-("+m.reason+")")
		}
	}
	return strings.Join(out, " ")
}

func TestList(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"# nobody\n\n":                   "",
		" \t\n":                          "",
		"a a:1\nb\n":                     "a=a:1 2!there is no address",
		"a a:1 more":                     "1!there is a third word",
		"caf\u00e9 a:1":                  "1!there is a byte that is no printable ASCII",
		" a\ta:1 \n#b -":                 "a=a:1",
		"a 10.0.0.1:1\r\nb\t[fd00::2]:2": "a=10.0.0.1:1 b=[fd00::2]:2",
		"a - off since Monday\nb -":      "a-(off since Monday) b-(the list has no address for it)",
	} {
		if got := read(text); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}
