package main

import "strings"

const line = "a line is 'name address', or 'name -' and why it has none"

// member is one line of the list.
type member struct {
	line    int
	name    string
	address string // empty: it is missing
	reason  string // of a missing one
	problem string // what is wrong with the line; nothing else counts then
}

// readList reads the members of a list. Comments and empty lines are passed over.
func readList(text string) []member {
	var members []member
	for number, line := range strings.Split(text, "\n") {
		if m := readLine(strings.TrimSuffix(line, "\r")); m != (member{}) {
			m.line = number + 1
			members = append(members, m)
		}
	}
	return members
}

// readLine reads one line; the zero member is none.
func readLine(line string) member {
	for _, c := range []byte(line) {
		if c != '\t' && (c < ' ' || c > '~') {
			return member{problem: "there is a byte that is no printable ASCII"}
		}
	}
	name, rest := takeWord(line)
	address, rest := takeWord(rest)
	rest = strings.TrimLeft(rest, " \t")
	switch {
	case name == "" || name[0] == '#':
		return member{}
	case address == "":
		return member{name: name, problem: "there is no address"}
	case address == "-" && rest == "":
		return member{name: name, reason: "the list has no address for it"}
	case address == "-":
		return member{name: name, reason: rest}
	case rest != "":
		return member{name: name, problem: "there is a third word"}
	}
	return member{name: name, address: address}
}

// takeWord cuts the first word off; an empty one when there is none.
func takeWord(line string) (word, rest string) {
	line = strings.TrimLeft(line, " \t")
	end := strings.IndexAny(line, " \t")
	if end < 0 {
		end = len(line)
	}
	return line[:end], line[end:]
}
