package ir

import (
	"slices"
	"strings"
)

// envIndex finds the rules of a name by its prefixes.
type envIndex struct {
	rules []EnvRule
	// private is true when the home directory is the tool's own.
	private  bool
	platform Platform
	exact    map[string]int
	prefix   map[string]int
}

// indexEnv keeps the last rule of each spelling: equal names tie, the last wins.
func indexEnv(rules []EnvRule, private bool, p Platform) envIndex {
	x := envIndex{rules: rules, private: private, platform: p, exact: map[string]int{}, prefix: map[string]int{}}
	for i := range rules {
		if name := x.key(rules[i].Name); rules[i].Prefix {
			x.prefix[name] = i
		} else {
			x.exact[name] = i
		}
	}
	return x
}

// key returns the form by which names are compared: Windows does not tell upper from lower
// case.
func (x *envIndex) key(name string) string {
	if x.platform == Windows {
		return strings.ToUpper(name)
	}
	return name
}

// decide prefers the exact name, then the longest prefix. A name that changes how code is
// loaded is matched by its exact name only. A variable that accessc sets itself is present
// unless a rule with its exact name denies it: the value is not the user's.
func (x *envIndex) decide(name string) Verdict {
	name = x.key(name)
	if i, ok := x.exact[name]; ok {
		return x.verdict(i)
	}
	if OwnVariable(name, x.private, x.platform) {
		return Verdict{Effect: Allow, Reason: ReasonOwn}
	}
	for n := len(name); n >= 0; n-- {
		i, ok := x.prefix[name[:n]]
		if !ok {
			continue
		}
		out := x.verdict(i)
		if out.Allowed() && LoaderVariable(name) {
			out.Effect, out.Reason = Deny, ReasonLoader
		}
		return out
	}
	return refuse(ReasonDefault)
}

func (x *envIndex) verdict(i int) Verdict {
	out := Verdict{Reason: ReasonRule, Rule: &x.rules[i]}
	if x.rules[i].Read {
		out.Effect = Allow
	}
	return out
}

// NewEnvView returns a view of environment rules only, for a loader that applies no other part of
// a policy.
func NewEnvView(rules []EnvRule, home HomeKind, p Platform) *View {
	return &View{Platform: p, env: indexEnv(rules, home == HomePrivate, p)}
}

// ContextVariable is the variable that gives a tool the path of its context file.
const ContextVariable = "ACCESSC_CONTEXT"

// DarwinSuffix is the variable by which macOS moves the user's temporary directory for a process
// and its children.
const DarwinSuffix = "DIRHELPER_USER_DIR_SUFFIX"

// OwnVariable reports whether accessc sets a variable itself, to a directory or
// file of the tool's own: the temporary directory always, the home directory when
// it is private. On Windows the home has three more names, which programs ask
// before HOME (learn.microsoft.com, "Recognized environment variables"). There, name
// is in upper case.
// See decision D376.
func OwnVariable(name string, privateHome bool, p Platform) bool {
	switch name {
	case "TMPDIR", "TEMP", "TMP", ContextVariable:
		return true
	case "HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR":
		return privateHome
	case DarwinSuffix:
		return p == Darwin
	case "APPDATA", "LOCALAPPDATA", "USERPROFILE":
		return privateHome && p == Windows
	default:
		return false
	}
}

// LoaderVariable reports whether a variable changes how the dynamic loader, a
// shell or an interpreter loads code, or which program a tool starts in its place.
func LoaderVariable(name string) bool {
	upper := strings.ToUpper(name)
	for _, p := range loaderPrefixes {
		if strings.HasPrefix(upper, p) {
			return true
		}
	}
	_, ok := slices.BinarySearch(loaderNames[:], upper)
	return ok
}

var loaderPrefixes = [...]string{
	"LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG_", "NPM_CONFIG_", "PIP_CONFIG_", "CARGO_BUILD_RUSTC", "GLIBC_TUNABLES",
}

// loaderNames is sorted. It lists variables that name files which shells source at start,
// search paths of the C library, options and module paths of interpreters, and programs that
// build tools and others start in place of something else.
var loaderNames = [...]string{
	"AWKLIBPATH", "AWKPATH", "BASHOPTS", "BASH_ENV", "BROWSER", "BUN_OPTIONS", "CARGO_ENCODED_RUSTFLAGS", "CC",
	"CDPATH", "CLASSPATH", "CMAKE_TOOLCHAIN_FILE", "CORECLR_PROFILER", "CORECLR_PROFILER_PATH", "COR_PROFILER",
	"COR_PROFILER_PATH", "CVS_RSH", "CXX", "DENO_DIR", "DOTNET_STARTUP_HOOKS", "EDITOR", "ELECTRON_RUN_AS_NODE",
	"EMACSLOADPATH", "ENV", "ERL_AFLAGS", "ERL_FLAGS", "EXINIT", "FPATH", "GCONV_PATH", "GEM_HOME", "GEM_PATH",
	"GETCONF_DIR", "GHC_PACKAGE_PATH", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
	"GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR", "GLOBIGNORE",
	"GNUMAKEFLAGS", "GOFLAGS", "GOTOOLCHAIN", "GRADLE_OPTS", "GUILE_LOAD_PATH", "HG", "HOSTALIASES", "IFS",
	"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "LESSCLOSE", "LESSOPEN", "LOCALDOMAIN", "LOCPATH", "LUA_CPATH", "LUA_INIT",
	"LUA_PATH", "MAKEFILES", "MAKEFLAGS", "MALLOC_TRACE", "MANPAGER", "MAVEN_OPTS", "MYVIMRC", "NIS_PATH", "NLSPATH",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
	"PAGER", "PERL5DB", "PERL5LIB", "PERL5OPT", "PERL5SHELL", "PERLLIB", "PHPRC", "PHP_INI_SCAN_DIR", "PROMPT_COMMAND",
	"PS4", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONINSPECT", "PYTHONPATH", "PYTHONSTARTUP", "PYTHONUSERBASE",
	"PYTHONWARNINGS", "RESOLV_HOST_CONF", "RES_OPTIONS", "RSYNC_RSH", "RUBYLIB", "RUBYOPT", "RUSTC", "RUSTC_WRAPPER",
	"RUSTDOC", "RUSTFLAGS", "R_ENVIRON", "R_PROFILE", "R_PROFILE_USER", "SBT_OPTS", "SHELL", "SHELLOPTS", "SSH_ASKPASS",
	"SSLKEYLOGFILE", "SUDO_ASKPASS", "SVN_SSH", "TCLLIBPATH", "TERMCAP", "TERMINFO", "TERMINFO_DIRS", "TZDIR",
	"VIMINIT", "VISUAL", "ZDOTDIR", "_JAVA_OPTIONS",
}
