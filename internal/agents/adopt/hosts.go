package adopt

import (
	"net/url"
	"slices"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// hostName is the name of a host on the internet, which no address and no name of this machine is.
var hostName = expression.Once{Text: `^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`}

// endpoint is a host that a command names.
type endpoint struct{ scheme, host, port string }

// hosts are those of the addresses among the words of a command: a server elsewhere that it relays to, a repository
// that the launcher downloads from. Other hosts that a server calls are not known.
func hosts(words []string) []endpoint {
	var out []endpoint
	for _, word := range words {
		if _, value, ok := strings.Cut(word, "="); ok && strings.HasPrefix(word, "-") {
			word = value
		}
		if repository, ok := strings.CutPrefix(word, "github:"); ok && repository != "" {
			// npm gets the archive from the second one.
			out = append(out, endpoint{"https", "github.com", ""}, endpoint{"https", "codeload.github.com", ""})
			continue
		}
		u, err := url.Parse(strings.TrimPrefix(word, "git+"))
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || !hostName.Get().MatchString(u.Hostname()) {
			continue
		}
		out = append(out, endpoint{u.Scheme, u.Hostname(), u.Port()})
	}
	slices.SortFunc(out, func(a, b endpoint) int {
		return strings.Compare(a.host+" "+a.scheme+" "+a.port, b.host+" "+b.scheme+" "+b.port)
	})
	return slices.Compact(out)
}
