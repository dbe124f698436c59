//go:build linux

package egress_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A client is a program that reaches a host by name.
type client struct {
	name string
	// label is the first label of the host's name, and so chooses the server.
	label string
	// needs are the programs without which it cannot run.
	needs string
	// rust is set for a client that needs a Rust toolchain.
	rust bool
	// run is a shell script. $1 is the host's name, $2 the workspace.
	run string
	// want is in the output of a client that has reached its host, and in no other.
	want string
	// shows is set for clients whose own output says why they were refused, if they know of the
	// proxy.
	shows bool
	// stream is set for clients that speak neither HTTP nor TLS.
	stream int
}

const sshOptions = `-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR`

var clients = []client{
	{name: "curl http", label: "a", needs: "curl", run: `curl -sSi --max-time 20 http://$1/x`, want: "hello from", shows: true},
	{name: "curl https", label: "a", needs: "curl", run: `curl -sSi --max-time 20 https://$1/x`, want: "hello from", shows: true},
	{name: "wget http", label: "a", needs: "wget", run: `wget -nv -t1 -T20 -O- http://$1/x`, want: "hello from", shows: true},
	{name: "wget https", label: "a", needs: "wget", run: `wget -nv -t1 -T20 -O- https://$1/x`, want: "hello from", shows: true},
	{name: "git https", label: "git", needs: "git", run: `git clone https://$1/repo.git c && cat c/file`, want: "content"},
	{name: "git ssh", label: "ssh", needs: "git ssh", stream: portSSH,
		run: `GIT_SSH_COMMAND="ssh ` + sshOptions + `" git clone ssh://t@$1/repo.git c && cat c/file`, want: "content"},
	{name: "ssh", label: "ssh", needs: "ssh", stream: portSSH, run: `ssh ` + sshOptions + ` t@$1 say`, want: "hello from"},
	{name: "npm", label: "npm", needs: "npm", want: "index.js", shows: true,
		run: `echo {} >package.json; npm --registry https://$1/ --cache ./cache --fetch-retries 0 --no-audit --no-fund --no-update-notifier install hello && ls node_modules/hello`},
	{name: "pip", label: "pypi", needs: "/usr/bin/python3", want: "hello-1.0-py3",
		run: `/usr/bin/python3 -m pip download -q --retries 0 --timeout 20 --no-deps --no-cache-dir --disable-pip-version-check -d out -i https://$1/simple/ hello && ls out`},
	{name: "go", label: "goproxy", needs: "go", want: "GoModSum", shows: true,
		run: `export GOPROXY=https://$1 GONOSUMDB=* GOTOOLCHAIN=local GOMODCACHE=$PWD/mod GOCACHE=$PWD/cache GOFLAGS=-modcacherw GOTELEMETRY=off; go mod init x && go mod download -json example.test/hello@v1.0.0`},
	{name: "cargo", label: "crates", rust: true, want: "hello-1.0.0.crate",
		run: `mkdir -p src .cargo; : >src/lib.rs; printf '[package]\nname="x"\nversion="1.0.0"\n[dependencies]\nhello={version="1",registry="w"}\n' >Cargo.toml
printf '[registries.w]\nindex="sparse+https://%s/"\n[net]\nretry=0\n' "$1" >.cargo/config.toml
PATH=$2/toolchain/bin:$PATH CARGO_HOME=$PWD/home cargo fetch && find home -name '*.crate'`},
	{name: "java HttpClient", label: "a", needs: "java javac", run: `java -XX:TieredStopAtLevel=1 -cp $2/java Client new http://$1/x`, want: "hello from"},
	{name: "java URLConnection", label: "a", needs: "java javac", run: `java -XX:TieredStopAtLevel=1 -cp $2/java Client old https://$1/x $2/ca.pem`, want: "hello from"},
	{name: "node fetch", label: "a", needs: "node", run: `node -e 'fetch(process.argv[1]).then(r => r.text()).then(console.log, e => {console.log(e, e.cause); process.exit(1)})' https://$1/x`, want: "hello from"},
	{name: "node http", label: "a", needs: "node", run: `node -e 'require("http").get(process.argv[1], r => r.pipe(process.stdout)).on("error", e => {console.log(e); process.exit(1)})' http://$1/x`, want: "hello from"},
	{name: "node, c-ares", label: "a", needs: "node", run: `node -e 'const h = process.argv[1]; require("dns").resolve4(h, (e, a) => {
if (e) { console.log(e); process.exit(1) }
require("http").get({host: a[0], headers: {Host: h}}, r => r.pipe(process.stdout)).on("error", e => {console.log(e); process.exit(1)})})' $1`, want: "hello from"},
	{name: "python urllib", label: "a", needs: "/usr/bin/python3", shows: true,
		run: `/usr/bin/python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1], timeout=20).read())' https://$1/x`, want: "hello from"},
	{name: "python requests", label: "a", needs: "/usr/bin/python3", shows: true,
		run: `/usr/bin/python3 -c 'import sys, pip._vendor.requests as r; print(r.get(sys.argv[1], timeout=20).text)' https://$1/x`, want: "hello from"},
	{name: "psql", label: "pg", needs: "psql", stream: portPostgres, run: `psql "host=$1 user=t dbname=t connect_timeout=10" -Atc "select 1"`, want: "hello from"},
	{name: "static C, getaddrinfo", label: "echo", needs: "cc", stream: portEcho, run: `$2/plain $1 7 word`, want: "echo word"},
	{name: "static C, server speaks first", label: "smtp", needs: "cc", stream: portSMTP, run: `$2/plain $1 25 ""`, want: "220 greeting"},
	{name: "raw system calls, DNS by sendto", label: "echo", needs: "cc", stream: portEcho, run: `$2/raw $1 7 sendto`, want: "echo word"},
	{name: "raw system calls, DNS by recvmsg", label: "echo", needs: "cc", stream: portEcho, run: `$2/raw $1 7 recvmsg`, want: "echo word"},
	{name: "raw system calls, DNS by connect", label: "echo", needs: "cc", stream: portEcho, run: `$2/raw $1 7 connect`, want: "echo word"},
	{name: "raw system calls, DNS by TCP", label: "echo", needs: "cc", stream: portEcho, run: `$2/raw $1 7 tcp`, want: "echo word"},
}

// slow reports whether a client takes longer to start than all that a test is about. Such clients run at full count.
func (c *client) slow() bool {
	return slices.ContainsFunc([]string{"java ", "node ", "npm ", "-m pip", "pip._vendor"}, func(word string) bool {
		return strings.Contains(c.run, word)
	})
}

// lacks says which of a client's needs this host does not meet.
func (c *client) lacks() string {
	if c.rust && toolchain() == "" {
		return "a Rust toolchain"
	}
	missing := has(c.needs)
	if missing == "" && strings.Contains(c.run, "pip") && exec.Command("/usr/bin/python3", "-c", "import pip._vendor.requests").Run() != nil {
		return "pip"
	}
	return missing
}

// toolchain is the directory of Rust, empty if there is none: the cargo in PATH may be a program
// that chooses one.
var toolchain = sync.OnceValue(func() string {
	out, err := exec.Command("rustc", "--print", "sysroot").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// externals are the files that clients read outside of the base: Rust lies in a home directory,
// and pip names the distribution.
func externals() map[string]string {
	out := map[string]string{}
	if toolchain() != "" {
		out["toolchain"] = toolchain()
	}
	if _, err := os.Stat("/etc/debian_version"); err == nil {
		out["release"] = "/etc/debian_version"
	}
	return out
}

// programs builds the clients that this repository contains into a workspace.
func (p *place) programs() {
	if has("cc") == "" {
		p.cc("plain")
		p.cc("raw")
		p.cc("storm")
	}
	if has("javac") == "" {
		p.once("java", func(to string) *exec.Cmd { return exec.Command("javac", "-d", to, "testdata/Client.java") })
	}
	for name, to := range externals() {
		p.must(os.Symlink(to, filepath.Join(p.ws, name)))
	}
}

// cc compiles a program of testdata, or takes it from there where test/kernels has put it.
// The options are test/kernels's, too.
func (p *place) cc(name string) {
	p.once(name, func(to string) *exec.Cmd {
		if compiled(name) {
			return exec.Command("cp", "testdata/"+name, to)
		}
		return exec.Command("cc", "-O1", "-w", "-static", "-pthread", "-o", to, "testdata/"+name+".c")
	})
}

// compiled reports whether a program of testdata lies beside its source.
func compiled(name string) bool {
	_, err := os.Stat("testdata/" + name)
	return err == nil
}

// once builds a program for all places and copies it into this one.
func (p *place) once(name string, build func(to string) *exec.Cmd) {
	kept := p.w.file("built-" + name)
	if _, err := os.Stat(kept); err != nil {
		if out, err := build(kept).CombinedOutput(); err != nil {
			p.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	if out, err := exec.Command("cp", "-a", kept, filepath.Join(p.ws, name)).CombinedOutput(); err != nil {
		p.Fatalf("%v\n%s", err, out)
	}
}
