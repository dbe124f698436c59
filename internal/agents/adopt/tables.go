package adopt

import (
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/text/jsonrpc"
	"github.com/accessc/accessc/internal/text/strictjson"
)

// ways are the places in which clients keep their servers, as names of members from the top of
// the file. A star stands for any name: Claude Code keeps servers by project.
var ways = [][]string{{"mcpServers"}, {"servers"}, {"mcp", "servers"}, {"projects", "*", "mcpServers"}}

// tables finds all tables of servers. Which of them a client reads is its own matter, and so is
// whether it tells upper from lower case. others are members with the name of such a table in a
// place that no client is known for.
type tables struct {
	known  []place
	others []string
}

// place is a value with the names that lead there.
type place struct {
	name string
	// project is the directory that the table is for, empty for all.
	project string
	value   strictjson.Value
}

func findTables(root strictjson.Value) (tables, error) {
	var t tables
	err := t.walk(root, nil)
	if err == nil && len(t.known) == 0 && len(t.others) == 0 {
		err = ErrServers
	}
	return t, err
}

// walk looks at every object of a value. It is an error for a name to stand twice in an object on
// the way to a table.
func (t *tables) walk(v strictjson.Value, at []string) error {
	if v.IsArray() {
		for _, item := range v.Array() {
			if err := t.walk(item, append(at, "[]")); err != nil {
				return err
			}
		}
		return nil
	}
	if !v.IsObject() {
		return nil
	}
	if leads(at) {
		if _, err := jsonrpc.Members(v); err != nil {
			return err
		}
	}
	var err error
	v.ForEach(func(key, value strictjson.Value) bool {
		way := append(at[:len(at):len(at)], key.Str)
		switch {
		case value.IsObject() && matches(way):
			t.known = append(t.known, place{strings.Join(way, "."), projectOf(way), value})
			_, err = jsonrpc.Members(value)
		case value.IsObject() && isTable(key.Str):
			t.others = append(t.others, strings.Join(way, "."))
		default:
			err = t.walk(value, way)
		}
		return err == nil
	})
	return err
}

// leads reports whether a table may stand below a place.
func leads(at []string) bool {
	for _, way := range ways {
		if len(at) < len(way) && fits(at, way[:len(at)]) {
			return true
		}
	}
	return false
}

func matches(at []string) bool {
	for _, way := range ways {
		if len(at) == len(way) && fits(at, way) {
			return true
		}
	}
	return false
}

// projectOf is the name in a way that stands for any: that of a project.
func projectOf(at []string) string {
	for _, way := range ways {
		if i := slices.Index(way, "*"); i >= 0 && len(at) == len(way) && fits(at, way) {
			return at[i]
		}
	}
	return ""
}

func fits(at, way []string) bool {
	for i, name := range way {
		if name != "*" && !strings.EqualFold(name, at[i]) {
			return false
		}
	}
	return true
}

// isTable reports whether a name is one that clients have for a table of servers, also behind a
// prefix with a dot, as settings of editors have it.
func isTable(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	return name == "mcpservers" || name == "mcp_servers" || name == "context_servers"
}
