package check

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Odd is the bit of a verdict that no policy gives: readings of a text differ, or parts of a capability do.
const Odd Verdict = 1 << 63

// seatbeltModel is the model of seatbelt.sb.
var seatbeltModel = Model{
	Platform: "darwin",
	Assumes: "macOS judges an operation on a file by its path without links; of the rules with a filter that " +
		"name the operation the last match decides; open, mkdir, unlink, rename, link, clonefile, chmod and " +
		"execve ask for the operations that docs/platforms/macos.md lists, rename without asking about a " +
		"file that it replaces; what the list frame of the checker says beside them reaches nothing that a " +
		"policy is about; the proxy of the run holds the rules about hosts, and the loader those about " +
		"variables and limits",
	Read: readSeatbelt,
}

// A profileText is a profile with the document of its loader.
type profileText struct {
	*profile
	launchDoc
	launch launch
	policy *Policy
}

// launchDoc is what each text of a system has for its loader.
type launchDoc struct {
	Tool        string    `json:"tool"`
	Command     command   `json:"command"`
	Workspace   string    `json:"workspace"`
	Home        string    `json:"home"`
	Environment []envRule `json:"environment"`
	Limits      []limit   `json:"limits"`
	Needs       []Row     `json:"needs"`
	Accept      []string  `json:"accept"`
	Context     string    `json:"context"`
}

// Starts is what the text has a loader start, and the gaps that it accepts.
func (d *launchDoc) Starts() (tool string, c command, accept []string) {
	return d.Tool, d.Command, d.Accept
}

func (d *launchDoc) launch() launch {
	return launch{env: d.Environment, private: d.Home != "", limits: d.Limits}
}

var sbDefine = expression{text: `^ define -D ([A-Z_0-9]+)=(?:PATH|PORT)  (?:the approved target of )?(.*)$`}

// sbRoots are the places and the port that the comments of a profile describe, in the spelling of policies.
func sbRoots() map[string]string {
	return map[string]string{
		"the workspace": "${workspace}", "the tool's private home directory": "${home}",
		"the private directory of the run": "${tmp}", "the proxy of the run": "${proxy}",
	}
}

func readSeatbelt(text []byte, policy *Policy) (Text, error) {
	params, roots := map[string]string{}, sbRoots()
	for _, line := range strings.Split(string(text), "\n") {
		m := sbDefine.get().FindStringSubmatch(strings.TrimPrefix(line, ";"))
		if m == nil {
			continue
		}
		v, known := roots[m[2]]
		if !known {
			v = "${external:" + m[2] + "}"
		}
		if params[m[1]] != "" {
			return nil, fmt.Errorf("parameter %s has two meanings", m[1])
		}
		params[m[1]] = v
	}
	p, err := readProfile(string(text), params)
	if err != nil {
		return nil, err
	}
	s := &profileText{profile: p, policy: policy}
	var loader struct {
		launchDoc
		Directories []string        `json:"directories"`
		Starts      string          `json:"starts"`
		Egress      json.RawMessage `json:"egress"`
	}
	if err := strict([]byte(p.loader), &loader); err != nil {
		return nil, fmt.Errorf("the comments at the end: %w", err)
	}
	s.launchDoc, s.launch = loader.launchDoc, loader.launch()
	s.launch.limits = slices.DeleteFunc(s.launch.limits, func(l limit) bool { // setrlimit(2) holds the others
		return l.Kind == "memory" || l.Kind == "wall_time"
	})
	return s, nil
}

func (s *profileText) Platform() string { return "darwin" }
func (s *profileText) Levels() []Level  { return []Level{{}} }

// Acts leaves out the making of a socket's name, which no profile permits: rows about sockets state it.
func (s *profileText) Acts() Verdict { return (1<<acts - 1) &^ Socket }
func (s *profileText) Needs() []Row  { return s.launchDoc.Needs }

func (s *profileText) Mentions(k Kind) []string {
	switch k {
	case Files:
		out := slices.Clone(s.places)
		for _, n := range s.names {
			for _, m := range s.names {
				at := n.below + "/" + plainName(n.globs[0])
				if m.below == n.below && m.globs[0] != n.globs[0] {
					at += "/" + plainName(m.globs[0])
				}
				for range n.depth + 1 {
					out = append(out, at)
					at += "/x"
				}
			}
		}
		return out
	case Names:
		var out []string
		for _, n := range s.names {
			out = append(out, n.globs...)
		}
		return out
	case Hosts:
		return s.hosts
	case Moves, Variables, Programs, Limits:
	}
	return s.launch.mentions(k)
}

func (s *profileText) Answer(q Question) []Verdict {
	switch q.Kind {
	case Files:
		v := s.files(q.Target)
		return []Verdict{v | v&^Odd<<Late}
	case Moves:
		return []Verdict{s.moves(q.Target, q.To)}
	case Hosts:
		return []Verdict{s.reaches(parseEndpoint(q.Target))}
	case Programs:
		return []Verdict{s.starts(q.Target)}
	case Variables, Limits, Names:
	}
	return []Verdict{s.launch.answer(q)}
}

// files says what may be done at a place.
func (s *profileText) files(at string) Verdict {
	var v Verdict
	may := func(op string) bool {
		ok, err := s.allows(op, at, false)
		if err != nil {
			v |= Odd
		}
		return ok
	}
	give := func(ok bool, acts Verdict) {
		if ok {
			v |= acts
		}
	}
	give(may("file-read-data") || s.cloned(at), Read|List)
	give(may("file-write-data"), Write|Truncate)
	give(may("file-write-create"), Create|Mkdir|Symlink|Fifo)
	give(may("file-write-create") && may("file-write-data"), Fill)
	give(may("file-write-unlink"), Delete|Rmdir)
	give(may("process-exec*"), Execute)
	// What follows is either more of a capability than the operation that was asked for above, or a part of it.
	some, all := may("file-write*") || may("file-write-setugid"), true
	for _, op := range sbMetadata {
		some, all = some || may(op), all && may(op)
	}
	give(some, Metadata)
	give(some && !all || some && !may("file-write-data") || may("file-read-data") && !may("file-read-metadata") ||
		may("process-exec*") && !may("process-exec-interpreter"), Odd)
	return v
}

// cloned says whether clonefile copies a file, with a directory around it or by itself, to where it could be read.
func (s *profileText) cloned(at string) bool {
	return slices.ContainsFunc(prefixes(at), func(up string) bool {
		ok, err := s.allows("file-clone", up, up != at)
		return ok || err != nil
	})
}

func (s *profileText) moves(from, to string) Verdict {
	unlink, err1 := s.allows("file-write-unlink", from, false)
	link, err2 := s.allows("file-link", from, false)
	create, err3 := s.allows("file-write-create", to, false)
	switch {
	case err1 != nil || err2 != nil || err3 != nil:
		return Odd
	case !create:
		return 0
	}
	var v Verdict
	if unlink {
		v |= RenameFile | RenameDir | ReplaceFile
	}
	if link && from != root(from) {
		v |= Link
	}
	return v
}

// reaches says whether a connection or a listener is possible: by a filter, or by the proxy, which asks the policy.
func (s *profileText) reaches(e endpoint) Verdict {
	host := e.host
	if addr := strings.Trim(host, "[]"); addr == "127.0.0.1" || addr == "::1" {
		host = "localhost"
	}
	may := func(op, at string) bool {
		ok, err := s.allows(op, at, false)
		return ok || err != nil
	}
	policy, _ := s.policy.reaches(e)
	to := " tcp " + strings.ReplaceAll(host, ":", "") + ":" + itoa(int(e.port))
	if e.listen && may("network-bind", "local"+to) && may("network-inbound", "local"+to) || !e.listen &&
		(may("network-outbound", "remote"+to) || policy && may("network-outbound", "remote tcp localhost:${proxy}")) {
		return Permit
	}
	return 0
}

// starts says whether a program starts: any, where the tool's own files do, or the file that the policy has for it.
func (s *profileText) starts(program string) Verdict {
	files := []string{child(temp, "x")}
	if c := s.policy.doc.Commands; c != nil {
		for _, r := range c.Rules {
			if r.Program == program && r.File != "" {
				files = append(files, r.File)
			}
		}
	}
	for _, at := range files {
		if ok, err := s.allows("process-exec*", at, false); ok || err != nil {
			return Permit
		}
	}
	return 0
}

// plainName is a name that a pattern matches, if it has no sets.
func plainName(glob string) string {
	return strings.NewReplacer("*", "x", "?", "x", "\\", "").Replace(glob)
}
