package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/backends/external"
)

// list is a flag with its values.
type list struct {
	flag   string
	values *[]string
}

func (f *flags) lists() []list {
	return []list{
		{"--allow-read=", &f.read}, {"--deny-read=", &f.noRead},
		{"--allow-write=", &f.write}, {"--deny-write=", &f.noWrite},
		{"--allow-net=", &f.net}, {"--allow-env=", &f.env},
	}
}

// Decide implements external.Backend: it reads the text, as Deno would, and knows nothing of the policy.
func (deno) Decide(artifact []byte, op external.Operation) (external.Verdict, error) {
	f := &flags{}
	for line := range strings.Lines(string(artifact)) {
		line = strings.TrimSuffix(line, "\n")
		known := false
		for _, l := range f.lists() {
			if value, is := strings.CutPrefix(line, l.flag); is {
				*l.values, known = append(*l.values, value), true
			}
		}
		if !known {
			return "", fmt.Errorf("found the flag %q", line)
		}
	}
	return f.decide(op), nil
}

func (f *flags) decide(op external.Operation) external.Verdict {
	var paths []string
	for _, p := range op.Places {
		path, inside := strings.CutPrefix(p, "${workspace}")
		if !inside {
			return external.Deny // no flag names a path elsewhere
		}
		paths = append(paths, place(strings.TrimPrefix(path, "/")))
	}
	reads := func(i int) bool { return below(paths[i], f.read) && !below(paths[i], f.noRead) }
	writes := func(i int) bool { return below(paths[i], f.write) && !below(paths[i], f.noWrite) }
	switch op.Verb {
	case "read":
		return verdict(reads(0))
	case "create", "update", "delete":
		return verdict(writes(0))
	case "copy":
		return verdict(reads(0) && writes(1))
	case "rename":
		return verdict(reads(0) && writes(0) && writes(1))
	case "connect":
		return verdict(slices.Contains(f.net, op.Host+":"+strconv.Itoa(int(op.Port))))
	case "env":
		return verdict(slices.Contains(f.env, op.Name))
	default:
		return external.Unknown
	}
}

func verdict(yes bool) external.Verdict {
	if yes {
		return external.Allow
	}
	return external.Deny
}
