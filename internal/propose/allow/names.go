package allow

import (
	"strings"
	"unicode/utf8"

	"github.com/accessc/accessc/internal/process/once/expression"
	"github.com/accessc/accessc/internal/text/visible"
)

// temporary reports whether a program has probably made up a name.
func temporary(name string) bool {
	if madeUp.Get().MatchString(name) || fixed.Get().MatchString(name) {
		return true
	}
	if varying.Get().MatchString(name) {
		return true
	}
	const made = 6 // as mkstemp(3) makes them
	i := strings.LastIndexAny(name, "._-")
	return i >= 0 && len(name)-i > made && random.Get().MatchString(name[i+1:]) && strings.ContainsAny(name[i+1:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

var random = expression.Once{Text: `^[A-Za-z0-9]+$`}

// madeUp are names as mkstemp(3) makes them, fixed those that editors and databases derive from another file's.
var (
	madeUp = expression.Once{Text: `^(sed|tmp|\.tmp)[A-Za-z0-9_]{6,8}$`}
	fixed  = expression.Once{Text: `^4913$|~$|^\.?#|\.sw[a-px]$|-(journal|wal|shm)$|\.(tmp|lock)$`}
)

// varying are names with the number of a process, a hash or a version.
var varying = expression.Once{Text: `[._-](pid)?[0-9]{3,10}(\.[a-z]+)?$|(^|[._-])([0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}([._-]|$)|[-_@]v?[0-9]+\.[0-9]+(\.[0-9]+)?([.-]|$)`}

// unsayable is why no command can name something, empty if one can. The JSON in which refusals are kept has
// the replacement character for bytes that are no UTF-8.
func unsayable(name string) string {
	switch {
	case !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError):
		return "its name is no UTF-8, so no rule can spell it"
	case visible.Text(name) != name:
		return "its name has invisible characters, so a command that you see would not be the one that runs"
	}
	return ""
}
