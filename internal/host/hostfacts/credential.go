package hostfacts

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/internal/host/gitconfig"
	"github.com/accessc/accessc/internal/process/once/expression"
)

// mostConfigs bounds the configurations that are read for a repository.
const mostConfigs = 100

// credentialIn is the first of git's configurations, or of the files that they include, that may hold a credential or
// cannot be judged; empty for none. Conditions of includes may hold later.
// See decision D412.
func (r *Result) credentialIn(files []string) string {
	for i := 0; i < len(files); i++ {
		if i == mostConfigs {
			return files[i]
		}
		text, found := r.configText(files[i])
		if found == unread || found == present && holdsSecret(text) {
			return files[i]
		}
		for _, v := range settings(text) {
			if v.name == "include.path" || v.name == "includeif.path" {
				file := r.real(path.Dir(files[i]), v.value, func(string, string, bool) {})
				if !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
	}
	return ""
}

// Credential is the configuration of the workspace's repository that may hold a credential, where it lies in a
// directory; empty otherwise.
func (r *Result) Credential(dir string) string {
	if repo := r.Repository(); repo != nil && repo.Secret != "" {
		if _, in := resolve.Below(repo.Secret, filepath.ToSlash(dir)); in {
			return repo.Secret
		}
	}
	return ""
}

var (
	// inURL matches the user of a URL, and plainUser the name of a person rather than a token.
	inURL     = expression.Once{Text: `(?i)([a-z][a-z0-9+.-]*)://([^/@\s]*)@`}
	plainUser = expression.Once{Text: `^[A-Za-z][A-Za-z._-]{0,19}[0-9]{0,4}$`}
	// secretName matches the name of a variable whose value is a credential, or names the file with a
	// credential.
	secretName = expression.Once{Text: `(?i)pass|token|secret|extraheader|apikey|oauth|cookiefile|sslkey`}
	// secretValue matches a credential by the word before it, or by how tokens of known services begin.
	secretValue = expression.Once{Text: `(?i)` +
		`(\b|_)(token|passwd|password|pwd|secret|key|sig|signature|auth)[=:]\s*[^\s&%]|authorization:` +
		`|\b(bearer|basic)\s+\S{6}` +
		`|\b(gh[oprsu]_|github_pat_|gl[a-z]{1,5}-|xox[a-z]-|hf_|npm_|pypi-|dop_v1_|AT[AC]TT|AKIA|sk-|eyJ)[\w.-]{6}`}
	// namesKey matches a command of ssh that names a key, or a password.
	namesKey = expression.Once{Text: `(?i)(^|\s)-i|identityfile|sshpass|certificatefile`}
)

// holdsSecret reports whether a configuration of git's may hold a credential. A configuration that git does
// not read may.
func holdsSecret(text string) bool {
	all, err := gitconfig.Variables([]byte(text))
	if err != nil || secretURL(text) {
		return true
	}
	for _, v := range all {
		name, value := strings.ToLower(v.Key), v.Value
		switch {
		case secretName.Get().MatchString(name), v.Section == "credential" && strings.HasPrefix(value, "!"),
			name == "sshcommand" && namesKey.Get().MatchString(value),
			secretURL(value), secretURL(v.Sub), secretValue.Get().MatchString(v.Sub),
			name != "description" && secretValue.Get().MatchString(value):
			return true
		}
	}
	return false
}

// secretURL reports whether a text has a URL with a password, or with a token as its user. Users of ssh have keys.
func secretURL(text string) bool {
	for _, m := range inURL.Get().FindAllStringSubmatch(text, -1) {
		scheme, user := strings.ToLower(m[1]), m[2]
		ssh := strings.HasSuffix(scheme, "ssh")
		if strings.Contains(user, ":") || !ssh && !plainUser.Get().MatchString(user) {
			return true
		}
	}
	return false
}
