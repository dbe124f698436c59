//go:build linux

package containers_test

import (
	"fmt"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
)

// TestFirstProcess: accessc is the first process of the container, so it takes over the processes that lose their
// parent, and its status is the container's.
func TestFirstProcess(t *testing.T) {
	each(t, func(t *testing.T, p *place) {
		p.project(`
i=0
while [ $i -lt 30 ]; do sh -c 'true & exec true'; i=$((i+1)); done
sleep 1
zombies=0
for f in /proc/[0-9]*/stat; do case "$(cat $f 2>/dev/null)" in *") Z "*) zombies=$((zombies+1));; esac; done
echo "zombies $zombies"
exit 7
`)
		p.write(p.ws+"/accessc.toml", strings.Replace(policy, "make -s", "sh ./attempts", 1))
		p.configure(nil)
		if out, err := p.describe("t"); err != nil {
			t.Fatal(err, out)
		}
		out, err := p.start()
		status, _ := err.(*exec.ExitError)
		if status == nil || status.ExitCode() != 7 {
			t.Errorf("the container ended with %v", err)
		}
		if !strings.Contains(out, "zombies 0\n") {
			t.Errorf("processes that have ended are still there:\n%s", out)
		}
	})
}

// TestNetwork: rules about addresses hold inside, where the bundle gives the container a network.
func TestNetwork(t *testing.T) {
	if _, err := exec.LookPath("perl"); err != nil {
		t.Skip("there is no perl to connect by")
	}
	var ports []int
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				c.Close()
			}
		}()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	each(t, func(t *testing.T, p *place) {
		connect := `perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(PeerAddr => shift, PeerPort => shift, Timeout => 5) or exit 1; print $s "GET / HTTP/1.1\r\nHost: x\r\n\r\n"; exit(<$s> =~ / 200 / ? 0 : 1)' `
		p.project(fmt.Sprintf("try granted %[1]s 127.0.0.1 %[2]d\ntry other %[1]s 127.0.0.1 %[3]d\ntry datagram perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or exit 1'\ntrue\n", connect, ports[0], ports[1]))
		// The rule about a name has a proxy of the run started, inside as well.
		p.write(p.ws+"/accessc.toml", policy+fmt.Sprintf("\n[[tools.t.access.net]]\nhost = \"127.0.0.1\"\nport = %d\nallow = true\n[[tools.t.access.net]]\nhost = \"a.test\"\nallow = true\n", ports[0]))
		p.configure(func(c *specs.Spec) {
			c.Linux.Namespaces = slices.DeleteFunc(c.Linux.Namespaces, func(n specs.LinuxNamespace) bool { return n.Type == specs.NetworkNamespace })
		})
		p.run(map[string]string{"granted": "did", "other": "refused", "datagram": "refused"}, "t")
	})
}
