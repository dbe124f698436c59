package importer

import (
	"strconv"
	"strings"

	"github.com/accessc/accessc/internal/process/once/expression"
)

var (
	// Variable is the form of the names of variables.
	Variable = expression.Once{Text: `^[A-Za-z_][A-Za-z0-9_]*$`}
	// secretForm are keys and tokens as services make them, and words that announce one.
	secretForm = expression.Once{Text: `(?i)(^|[=:/ ])(sk-|pk-|gh[opsu]_|github_pat_|glpat-|xox[abp]-|AKIA|AIza|eyJ)[A-Za-z0-9_-]{8,}|bearer |(password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key)[=:].|hooks\.slack\.com/services/|://[^/@ ]*:[^/@ ]+@`}
	// announcing are options behind which a secret stands.
	announcing = expression.Once{Text: `(?i)^--?([a-z]+[-_])*(p|pw|pwd|pass|passwd|password|passphrase|pat|auth|authorization|token|secret|credentials?|key|connection[-_]?string)(=.|$)`}
	// account is a name with a password, and attached a password behind its option's letter.
	account  = expression.Once{Text: `^[^:/]+:[^:/]+$`}
	attached = expression.Once{Text: `^-p[^0-9=]`}
	longForm = expression.Once{Text: `[A-Za-z0-9+/_-]{32,}`}
)

// secrets reports whether one of some words may be a secret: by itself, or behind an option that announces
// one. No list of such options is complete.
func secrets(words []string) bool {
	for i, w := range words {
		next := ""
		if i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			next = words[i+1]
		}
		_, number := strconv.Atoi(next)
		switch {
		case secret(w), attached.Get().MatchString(w), w == "-u" && account.Get().MatchString(next):
			return true
		case announcing.Get().MatchString(w) && (strings.Contains(w, "=") || next != "" && number != nil):
			return true
		}
	}
	return false
}

// secret reports whether a word may be one: a known form, or a long run of letters and digits that is no
// path.
func secret(word string) bool {
	if secretForm.Get().MatchString(word) {
		return true
	}
	for _, run := range longForm.Get().FindAllString(word, -1) {
		if strings.ContainsAny(run, "0123456789") &&
			strings.ContainsAny(run, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
			strings.Count(run, "/") < 2 {
			return true
		}
	}
	return false
}
