package supervisor

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/process/once"
)

// searched is how resolvers of this host complete names (resolv.conf(5)).
type searched struct {
	// domains are appended to names, dots is how many of them a name needs to be asked for as it stands first.
	domains []string
	dots    int
}

// resolverFile is read by resolvers of the tool, too.
const resolverFile = "/etc/resolv.conf"

var searchedOnce once.Value[searched]

func hostSearch() searched {
	return searchedOnce.Get(func() searched {
		text, _ := os.ReadFile(resolverFile) // resolvers go without it as well
		return readSearched(string(text))
	})
}

func readSearched(text string) searched {
	out := searched{dots: 1}
	for line := range strings.Lines(text) {
		words := strings.Fields(strings.ToLower(line))
		if len(words) < 2 {
			continue
		}
		switch words[0] {
		case "search", "domain":
			out.domains = nil
			for _, d := range words[1:] {
				if d = strings.Trim(d, "."); d != "" {
					out.domains = append(out.domains, d)
				}
			}
		case "options":
			for _, o := range words[1:] {
				if n, err := strconv.Atoi(strings.TrimPrefix(o, "ndots:")); err == nil {
					out.dots = n
				}
			}
		}
	}
	return out
}

// shorter are the names that a resolver may have made a name of.
func (s searched) shorter(name string) []string {
	var out []string
	for _, d := range s.domains {
		if short, ok := strings.CutSuffix(name, "."+d); ok {
			out = append(out, short)
		}
	}
	return out
}

// meant is the name that a process asked for: the resolver completes a name with few dots before it asks for it as
// it stands. A name of one label is left as it was completed, since rules name hosts in full.
func (s searched) meant(name string) string {
	all := s.shorter(name)
	if len(all) == 0 {
		return name
	}
	short := slices.MinFunc(all, func(a, b string) int { return len(a) - len(b) })
	if n := strings.Count(short, "."); n == 0 || n >= s.dots {
		return name
	}
	return short
}
