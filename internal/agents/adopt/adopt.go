package adopt

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/accessc/accessc/compiler"
	"github.com/accessc/accessc/internal/text/jsonc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// ErrServers is the error about a document that names no servers.
var ErrServers = errors.New("the file has no table of servers: mcpServers, servers, mcp.servers or mcp_servers")

// Server is one server of a file.
type Server struct {
	// Name is its name there, Policy the one that accessc knows it by.
	Name, Policy string
	// Table is the member that it stands in, if it is not the only one of the file.
	Table string
	// Project is the directory that alone has it, empty for a server of all.
	Project string
	// Changed is true for a server that was rewritten; otherwise Why is the reason.
	Changed bool
	// Adopted is true for a server that starts through accessc as Wrap has it.
	Adopted bool
	Why     string
	// Shares is the name of a server before it that has the same Policy.
	Shares string
	// Env are the variables that the file sets for the server, which its policy has to grant.
	Env []string
	// Command is the server's own command, and Set are the variables with their values, as NAME=value.
	Command, Set []string
}

// Client is how the client of a file starts its servers.
type Client struct {
	// Program starts accessc.
	Program string
	// Own reports whether a command starts this program, too.
	Own func(command string) bool
	// Workspace reports whether a directory, as a file names it, is the workspace in which the client
	// starts its servers anyway.
	Workspace func(dir string) bool
	// Elsewhere is the reason to leave the servers of a project, empty for those of the workspace; nil leaves none.
	Elsewhere func(project string) string
	// First is called before a file is rewritten, nil for nothing. Without an error back undoes it, if the file
	// cannot be written.
	First func([]Server) (back func() error, err error)
}

// seat are the words between the program and a server's own command.
const (
	seat   = "mcp"
	flag   = "--server"
	behind = "--"
)

// Wrap has the servers of a file start through accessc. The file's name tells its form.
func Wrap(file string, doc []byte, client Client) ([]byte, []Server, error) {
	return rewrite(formOf(file), doc, func(doc, _ []byte, e *entry, s *Server) []byte {
		if s.Why = client.elsewhere(e); s.Why == "" {
			s.Why = e.moves(client.Workspace)
		}
		switch {
		case s.Why != "":
		case Daemon(s.Command) != "" && !e.exact():
			s.Why = Daemon(s.Command)
		case e.exact() && client.Own(e.command.Str):
			s.Why, s.Adopted = "starts through accessc already", true
		case e.ours():
			s.Why = "starts through another accessc or with flags of its own: look at it"
		default:
			s.Adopted = true
			return e.wrap(doc, client.Program, []string{seat, flag, s.Policy, behind})
		}
		return nil
	})
}

// Unwrap has the servers of a file start as before Wrap. Entries with other words than Wrap writes
// are the user's own, and stay.
func Unwrap(file string, doc []byte, client Client) ([]byte, []Server, error) {
	return rewrite(formOf(file), doc, func(doc, text []byte, e *entry, s *Server) []byte {
		s.Why = client.elsewhere(e)
		switch {
		case s.Why != "":
		case e.exact():
			return e.unwrap(doc, text)
		case e.ours():
			s.Why = "starts through accessc with flags of its own: look at it"
		default:
			s.Why = "does not start through accessc"
		}
		return nil
	})
}

func (c Client) elsewhere(e *entry) string {
	if c.Elsewhere == nil || e.project == "" {
		return ""
	}
	return c.Elsewhere(e.project)
}

// change rewrites one entry of a document, given also without its comments, or returns nil and sets Why.
type change func(doc, text []byte, e *entry, s *Server) []byte

// rewrite changes each server of a document.
func rewrite(read form, doc []byte, each change) ([]byte, []Server, error) {
	was, err := read(doc)
	if err != nil {
		return nil, nil, err
	}
	out := make([]Server, len(was.entries), len(was.entries)+len(was.others))
	// From the last to the first, so that the places of those before stay.
	for i, e := range lastFirst(was.entries) {
		s := &out[i]
		s.Name, s.Policy, s.Table, s.Project = e.name, compiler.ServerName(e.name), e.table, e.project
		if s.Why = e.why; s.Why != "" {
			continue
		}
		s.Env, s.Set, s.Command = slices.Concat(e.env, e.handed), e.set, e.inner()
		if now := each(doc, was.text, e, s); now != nil {
			s.Changed, doc = true, now
		}
	}
	if err := was.same(read, doc, out); err != nil {
		return nil, nil, err
	}
	shared(out)
	for _, name := range was.others {
		out = append(out, Server{Name: name, Why: "is a table of servers in a place that accessc does not know: look at it"})
	}
	return doc, out, nil
}

// lastFirst are entries with their numbers, in the reverse order of the document: tables of TOML stand in any.
func lastFirst(entries []*entry) iter.Seq2[int, *entry] {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(entries[b].command.Index, entries[a].command.Index) })
	return func(yield func(int, *entry) bool) {
		for _, i := range order {
			if !yield(i, entries[i]) {
				return
			}
		}
	}
}

// same reports a document whose servers are no longer the same commands, or that says something else besides.
func (was *reading) same(read form, doc []byte, servers []Server) error {
	now, err := read(doc)
	if err != nil {
		return fmt.Errorf("the file could not be read afterwards: %w", err)
	}
	starts := func(e *entry, command []string) bool {
		return slices.Equal(e.inner(), command) || slices.Equal(e.started(), command)
	}
	if now.rest != was.rest || !slices.EqualFunc(now.entries, servers, func(e *entry, s Server) bool {
		return e.name == s.Name && (e.why != "" || starts(e, s.Command))
	}) {
		return errAnother
	}
	return nil
}

// readJSON reads a document of JSON, which may have comments.
func readJSON(doc []byte) (*reading, error) {
	text, err := jsonc.Plain(doc)
	if err != nil {
		return nil, err
	}
	found, err := findTables(strictjson.Raw(text).Value())
	if err != nil {
		return nil, err
	}
	entries := found.entries()
	for _, e := range entries {
		e.quote, e.absent = quote, `, "args": [`
		e.why = e.read()
	}
	return &reading{entries: entries, text: text, others: found.others}, nil
}

// entries are the servers of all tables, in the order of the file.
func (t tables) entries() []*entry {
	var out []*entry
	for _, table := range t.known {
		name := table.name
		if len(t.known) == 1 {
			name = ""
		}
		table.value.ForEach(func(key, value strictjson.Value) bool {
			out = append(out, &entry{name: key.Str, table: name, project: table.project, value: value})
			return true
		})
	}
	return out
}

// shared notes the servers that have the policy of one before them.
func shared(servers []Server) {
	first := map[string]string{}
	for i := range servers {
		s := &servers[i]
		if before, taken := first[s.Policy]; s.Changed && taken {
			s.Shares = before
		} else if s.Changed {
			first[s.Policy] = s.Name
		}
	}
}
