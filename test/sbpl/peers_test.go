package sbpl

import (
	"errors"
	"net/netip"
	"testing"
)

// The profiles below are the constructs of other projects' in this project's words, each as
// short as its case permits.

// runtimeProfile is the shape of github.com/anthropic-experimental/sandbox-runtime: a
// message on every denial, reading allowed and then denied by place, writing denied and
// then allowed by place, pins as denials of unlink, and a family for the network.
const runtimeProfile = `
(version 1)
(deny default (with message "tag_1_SBX"))
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow mach-priv-task-port (target same-sandbox))
(allow mach-lookup (global-name "com.apple.logd") (global-name "com.apple.system.notification_center"))
(allow ipc-posix-shm)
(allow ipc-posix-sem)
(allow iokit-open (iokit-registry-entry-class "IOSurfaceRootUserClient") (iokit-user-client-class "IOSurfaceSendRight"))
(allow system-socket (require-all (socket-domain AF_SYSTEM) (socket-protocol 2)))
(allow sysctl-read (sysctl-name "hw.activecpu") (sysctl-name-prefix "kern.proc.pid."))
(allow sysctl-write (sysctl-name "kern.tcsm_enable"))
(allow file-ioctl (literal "/dev/null") (literal "/dev/tty"))
(allow file-ioctl file-read-data file-write-data
  (require-all (literal "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow network-outbound (remote unix-socket (path-literal "/private/var/run/mDNSResponder")))
(allow network-bind (local ip "localhost:*"))
(allow network-outbound (remote ip "localhost:3128"))
(allow file-read*)
(deny file-read* (subpath "/Users/u/.ssh") (with message "tag_1_SBX"))
(deny file-write-unlink (literal "/Users/u") (with message "tag_1_SBX"))
(allow file-write* (subpath "/Users/u/w") (with no-log))
(deny file-write* (literal "/Users/u/w/.git/config") (with message "tag_1_SBX"))
(deny file-write* (regex "^/Users/u/w/(.*/)?\\.env$") (with message "tag_1_SBX"))
(deny file-write-unlink (literal "/Users/u/w/.git") (with message "tag_1_SBX"))
`

// agentProfile is the shape of github.com/openai/codex: places by parameters, exceptions by
// require-not inside of require-all, and some of the denials by version 1 in it and in WebKit.
const agentProfile = `
(version 1)
(deny default)
(allow process-exec) (allow process-fork)
(allow signal (target same-sandbox))
(allow process-exec (literal "/bin/ps") (with no-sandbox))
(allow file-read*)
(allow file-write*
  (require-all (subpath (param "WRITABLE_ROOT_0"))
    (require-not (subpath (param "WRITABLE_ROOT_0_RO_0")))
    (require-not (literal (param "WRITABLE_ROOT_0_RO_0")))))
(allow file-read-metadata (literal "/private/tmp") (vnode-type DIRECTORY))
(allow ipc-posix-shm-read* (ipc-posix-name-regex #"^/tmp/com\.apple\.csseed\."))
(when (param "PROXY") (allow network-outbound (remote tcp (string-append "localhost:" (param "PROXY")))))
(unless (param "PROXY") (deny network*))
(deny file-ioctl (ioctl-command #x80017472))
(deny syscall-unix (syscall-number SYS_swapon SYS_swapoff))
`

// browserProfile is the shape of Firefox's and Chromium's: functions that write rules,
// names for strings, and choices by parameters.
const browserProfile = `
(version 1)
(define should-log (param "SHOULD_LOG"))
(define app-path (param "APP_PATH"))
(define (param-true? str) (string=? (param str) "TRUE"))
(define (tell feature)
  (if (string=? should-log "TRUE") (deny feature) (deny feature (with no-log))))
(tell default)
(tell process-info*)
(if (defined? 'nvram*) (tell nvram*))
(define (below dir) (subpath (string-append app-path dir)))
(let* ((lib "/lib") (own (below lib)))
  (allow file-map-executable file-read* own (subpath "/usr/lib")))
(define (home-literal rest) (literal (string-append (param "HOME") rest)))
(cond ((param-true? "PRINT") (allow mach-lookup (global-name "print")))
      ((param-true? "FONTS") (allow mach-lookup (global-name "fonts")))
      (else (allow mach-lookup (global-name "none"))))
(if (and (param-true? "FONTS") (not (param-true? "PRINT")) (string? app-path))
  (begin (allow file-read* (home-literal "/Library/Fonts")) (allow sysctl-read))
  (allow default))
(with-filter (require-not (process-path "/bin/sh"))
  (allow process-exec (literal "/bin/ls")))
`

// permissive is the shape of google-gemini/gemini-cli: everything allowed but writing
// outside of some places, which leaves the rest open (CVE-2023-32364 is of that kind).
const permissive = `
(version 1)
(allow default)
(deny file-write*)
(allow file-write* (subpath (param "TARGET_DIR")) (regex (string-append "^" (param "HOME_DIR") "/\\.gemini")) (literal "/dev/stdout"))
`

// TestPeers compares the answers for profiles of others with the measurements of their authors,
// or of reporters of their bugs.
func TestPeers(t *testing.T) {
	params := map[string]string{
		"WRITABLE_ROOT_0": "/w", "WRITABLE_ROOT_0_RO_0": "/w/.git", "PROXY": "3128", "SHOULD_LOG": "FALSE", "APP_PATH": "/Applications/B.app",
		"FONTS": "TRUE", "HOME": "/Users/u", "TARGET_DIR": "/w", "HOME_DIR": "/Users/u",
	}
	file := func(path string) Request { return Request{Path: path} }
	value := func(name, v string) Request { return Request{Values: map[string]string{name: v}} }
	tcp := func(addr string, port uint16) Request {
		return Request{Remote: &Address{Protocol: "tcp", Addr: netip.MustParseAddr(addr), Port: port}}
	}
	for _, c := range []struct {
		name, profile, op string
		r                 Request
		want              bool
		// unsure is true where the two readings differ: the profile relies on the
		// measured precedence.
		unsure bool
	}{
		{"runtime: a secret below what may be read", runtimeProfile, "file-read-data", file("/Users/u/.ssh/id"), false, false},
		{"runtime: anything else may be read", runtimeProfile, "file-read-data", file("/etc/passwd"), true, false},
		{"runtime: a denied file in a writable place", runtimeProfile, "file-write-data", file("/Users/u/w/.git/config"), false, false},
		{"runtime: by expression, at any depth", runtimeProfile, "file-write-create", file("/Users/u/w/a/b/.env"), false, false},
		{"runtime: not what only begins so", runtimeProfile, "file-write-create", file("/Users/u/w/a/.envrc"), true, false},
		{"runtime 8, 171: the directory of a denied file is not moved away", runtimeProfile, "file-write-unlink", file("/Users/u/w/.git"), false, false},
		{"runtime: nor one above the writable place", runtimeProfile, "file-write-unlink", file("/Users/u"), false, false},
		{"runtime: its proxy and nothing else", runtimeProfile, "network-outbound", tcp("127.0.0.1", 3128), true, false},
		{"runtime: no other host", runtimeProfile, "network-outbound", tcp("10.1.2.3", 3128), false, false},
		{"runtime: names are resolved", runtimeProfile, "network-outbound", file("/private/var/run/mDNSResponder"), true, false},
		{"runtime: an alias of a family", runtimeProfile, "ipc-posix-sem-open", Request{}, true, false},
		{"runtime: a device alone is written", runtimeProfile, "file-write-data", Request{Path: "/dev/null", Kind: "CHARACTER-DEVICE"}, true, false},
		{"runtime: a file of that name is not", runtimeProfile, "file-write-data", Request{Path: "/dev/null", Kind: "REGULAR-FILE"}, false, false},
		{"runtime: what version 1 allows stays open", runtimeProfile, "file-link", file("/Users/u/.ssh/id"), true, true},
		{"agent: an exception inside of a place", agentProfile, "file-write-create", file("/w/.git"), false, false},
		{"agent: and below it", agentProfile, "file-write-data", file("/w/.git/hooks/x"), false, false},
		{"agent: the place itself", agentProfile, "file-write-data", file("/w/a"), true, false},
		{"agent: filters are alternatives, so this is every directory", agentProfile, "file-read-metadata", Request{Path: "/Users/v", Kind: "DIRECTORY"}, true, false},
		{"agent: a parameter builds an address", agentProfile, "network-outbound", tcp("127.0.0.1", 3128), true, false},
		{"agent: typing into the terminal by number", agentProfile, "file-ioctl", value("ioctl-command", "2147578994"), false, false},
		{"agent: a set-ID program by escape", agentProfile, "process-exec", file("/bin/ps"), true, false},
		{"agent: one of several values", agentProfile, "syscall-unix", value("syscall-number", "SYS_swapoff"), false, false},
		{"agent: none of them", agentProfile, "syscall-unix", value("syscall-number", "SYS_open"), true, true},
		{"browser: a function writes a rule", browserProfile, "process-info-pidinfo", Request{Target: "self"}, false, false},
		{"browser: a name stands for a place", browserProfile, "file-read-data", file("/Applications/B.app/lib/x"), true, false},
		{"browser: of the place alone", browserProfile, "file-read-data", file("/Applications/B.app/x"), false, false},
		{"browser: cond takes the first that holds", browserProfile, "mach-lookup", value("global-name", "fonts"), true, false},
		{"browser: and no other", browserProfile, "mach-lookup", value("global-name", "none"), false, false},
		{"browser: a path from a function", browserProfile, "file-read-xattr", file("/Users/u/Library/Fonts"), true, false},
		{"browser: with-filter limits what is inside", browserProfile, "process-exec", Request{Path: "/bin/ls", Process: "/bin/zsh"}, true, false},
		{"browser: by the acting program", browserProfile, "process-exec", Request{Path: "/bin/ls", Process: "/bin/sh"}, false, false},
		{"permissive: writing in the place", permissive, "file-write-data", file("/w/x"), true, false},
		{"permissive: a place by expression", permissive, "file-write-data", file("/Users/u/.gemini/x"), true, false},
		{"permissive: nowhere else", permissive, "file-write-data", file("/Users/u/x"), false, false},
		{"permissive: what is not writing is open", permissive, "file-mount", file("/Users/u/x"), true, false},
	} {
		p, err := Parse(c.profile, params)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, err := p.Allows(c.op, c.r)
		if c.unsure {
			r := c.r
			if !errors.Is(err, ErrDisagree) || p.measured(c.op, &r) != c.want {
				t.Errorf("%s: got %v, %v", c.name, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
	}
	// sandbox-runtime 88, 131, 225: the local end of any connection is this machine.
	leak, err := Parse(`(version 1)(deny default)(allow network-outbound (local ip "localhost:*"))`, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := Request{
		Remote: &Address{Protocol: "tcp", Addr: netip.MustParseAddr("203.0.113.9"), Port: 443},
		Local:  &Address{Protocol: "tcp", Addr: netip.MustParseAddr("192.168.1.2"), Port: 50000},
	}
	if allowed, err := leak.Allows("network-outbound", out); err != nil || !allowed {
		t.Errorf("a filter on the local end: got %v, %v", allowed, err)
	}
}

// TestSchemeRefuses checks that the computation of a profile is bounded, and that nothing of it
// is skipped.
func TestSchemeRefuses(t *testing.T) {
	for _, in := range []string{
		"(define (f) (f)) (f)", "(define (f x) (f (string-append x x))) (f \"a\")", `(define (f x) (deny signal)) (f)`, "(define x)", "(define (1) 2)",
		"(define () 2)", "(let ((a)) (deny signal))", "(let x (deny signal))", "(let ((a 1)))", "(set! x 1)", "(lambda (x) x)", "(cond (#t))", "(if unbound (deny signal))", "(when (not nope) (deny signal))", "(if (or (nope) #t) (deny signal))", "(if (not) (deny signal))",
		`(allow file-read-data (subpath (param "NO")))`, `(allow file-read-data (subpath unbound))`, "(allow unbound)", "(deny signal (with message #f))",
		`(allow file-read-data (subpath (string-append "/a" (param "NO"))))`, "(if)", "(when #t)", `(import "system.sb")`, `(string=? "a")`,
		`(if (string=? "a") (deny signal))`, "(if (param 1) (deny signal))", "(define (f x) x) (f (f (nope 1)))", "(allow mach-lookup (global-name))",
	} {
		if _, err := Parse("(version 1)"+in, nil); !errors.Is(err, ErrProfile) {
			t.Errorf("%s: got %v, want a refusal", in, err)
		}
	}
}
