package shell

import (
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

// atoms are the fields of refs and commits that git prints without another program. "signature" is none of them.
const atoms = " refname objecttype objectsize objectname deltabase tree parent numparent object type tag HEAD " +
	"author authorname authoremail authordate committer committername committeremail committerdate " +
	"tagger taggername taggeremail taggerdate creator creatordate subject body contents raw upstream push symref " +
	"flag worktreepath ahead-behind is-base describe trailers decorate align if then else end color rest "

// placeholder is the rest of a place in a format that git fills without another program (git-log(1), PRETTY FORMATS,
// and git-for-each-ref(1), FIELD NAMES): a modifier, then a name. Names in parentheses are atoms.
var placeholder = expression.Once{Text: `^[-+ ]?(%|n|m|[HhTtPpDdsfBbeNS]|x?[0-9A-Fa-f]{2}` +
	`|[ac][nNeElLdDrtiIsh]|g[dDnNeEs]|C(red|green|blue|reset|\()|w\(|[<>]\|?\(|>>\|?\(|><\|?\(|\(\*?([A-Za-z-]+)[:)])`}

// signs reports whether the value of an option may have git ask the program that checks signatures. Whatever has a
// percent sign is looked at, since git reads on behind a place that it does not know.
// See decision D131.
func signs(option, value string) bool {
	switch option {
	case "--sort":
		name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(value, "-"), "*"), ":")
		if name == "version" || name == "v" {
			return strings.Contains(value, "signature")
		}
		return !strings.Contains(atoms, " "+name+" ")
	case "--pretty", "--format", "--group":
	default:
		return false
	}
	for {
		_, rest, found := strings.Cut(value, "%")
		if !found {
			return false
		}
		m := placeholder.Get().FindStringSubmatch(rest)
		if m == nil || m[3] != "" && !strings.Contains(atoms, " "+m[3]+" ") {
			return true
		}
		value = rest
	}
}
