package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/accessc/accessc/internal/enforce/live"
	"github.com/accessc/accessc/internal/enforce/start"
	"github.com/accessc/accessc/test/irtest"
	"github.com/accessc/accessc/test/irtest/epoch"
)

// hostAt is the i-th host of a race: an address of the loopback network, where one listener has them all.
func hostAt(i int) string { return fmt.Sprintf("127.0.%d.%d", 1+i/200, 1+i%200) }

// hostRacer connects to hosts in several threads, by sockets that wait and by others, and talks to them for as long as
// they answer, each time when there is a byte of standard input. It prints the begin, the end, the host and the connection of each answer. The argument is a port, the
// number of hosts and that of threads.
func hostRacer(arg string) {
	const tries = 4
	var port, hosts, threads int
	_, _ = fmt.Sscanf(arg, "%d,%d,%d", &port, &hosts, &threads)
	var next, conns atomic.Int64
	var lines bytes.Buffer
	var mu sync.Mutex
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for i := int(next.Add(1)); i <= hosts; i = int(next.Add(1)) {
				for try := range tries {
					begun := monotonic()
					c, err := connectTo(hostAt(i), port, try%2 == 0)
					if err != nil {
						continue
					}
					number := conns.Add(1)
					for range 12 {
						text, err := exchange(c)
						if err != nil {
							break
						}
						mu.Lock()
						fmt.Fprintf(&lines, "%d %d %s %d\n", begun, monotonic(), text, number)
						mu.Unlock()
						_, _ = os.Stdin.Read(make([]byte, 1))
						begun = monotonic()
					}
					_ = c.Close()
				}
			}
		})
	}
	all.Wait()
	_, _ = os.Stdout.Write(lines.Bytes())
}

// connectTo connects by a socket that waits, or by one that does not.
func connectTo(host string, port int, waits bool) (net.Conn, error) {
	if !waits {
		return net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: port, Addr: [4]byte(net.ParseIP(host).To4())}); err != nil {
		return nil, err
	}
	return net.FileConn(f)
}

// exchange sends a line and reads the host's answer, its own address.
func exchange(c net.Conn) (string, error) {
	if _, err := io.WriteString(c, "who?\n"); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}

// answering is the server of all hosts.
func answering(t *testing.T) (port int) {
	t.Helper()
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go answers(l)
	return l.Addr().(*net.TCPAddr).Port
}

// answers tells clients of a listener which address they have reached, once for each line of theirs.
func answers(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			host, _, _ := net.SplitHostPort(c.LocalAddr().String())
			for in := bufio.NewScanner(c); in.Scan(); {
				_, _ = io.WriteString(c, host+"\n")
			}
		}()
	}
}

// serveHosts answers on all addresses of this host, until it is killed, and writes its port to a file.
func serveHosts(file string) {
	l, err := net.Listen("tcp4", "0.0.0.0:0")
	if err == nil {
		err = os.WriteFile(file, []byte(strconv.Itoa(l.Addr().(*net.TCPAddr).Port)), 0o644)
	}
	if err == nil {
		answers(l)
	}
	fmt.Println(err)
}

// who asks a host for its address, and once more on the same connection when a writer has closed a FIFO: HOST:PORT[,FIFO].
func who(arg string) string {
	at, file, again := strings.Cut(arg, ",")
	host, port, _ := net.SplitHostPort(at)
	n, _ := strconv.Atoi(port)
	c, err := connectTo(host, n, true)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	text, err := exchange(c)
	if again && err == nil {
		if _, err := os.ReadFile(file); err != nil {
			return err.Error()
		}
		var second string
		second, err = exchange(c)
		text += " " + second
	}
	if err != nil {
		return text + "ended"
	}
	return text
}

// hostUser answers the questions about hosts, each host always alike, and revokes grants.
type hostUser struct{ *user }

// hostAnswer is the user's answer about a host, empty for none: that host is not in the list.
func hostAnswer(i int) live.Answer {
	return []live.Answer{live.Run, live.Once, live.Run, live.No, ""}[i%5]
}

func (u *hostUser) round(index map[string]int) {
	reply, err := live.Talk(u.socket, live.Request{Command: "list"})
	if err != nil {
		return
	}
	for _, q := range reply.Pending {
		host := hostIn(q.Operation)
		a, v := hostAnswer(index[host]), u.of(host)
		if a == "" {
			u.t.Errorf("asked about %s", q.Operation)
			a = live.No
		}
		before := monotonic()
		got, err := live.Talk(u.socket, live.Request{Command: "answer", ID: q.ID, Answer: a})
		if err != nil || got.Error != "" {
			continue
		}
		u.answers++
		switch {
		case a == live.No:
			v.replied = monotonic()
		case v.sent == 0:
			v.sent = before
		}
		if a == live.Once {
			v.once++
		}
		v.run = v.run || a == live.Run
	}
	for _, g := range reply.Grants {
		if u.r.IntN(3) > 0 {
			continue
		}
		host := hostIn(g.Rules[0])
		got, err := live.Talk(u.socket, live.Request{Command: "revoke", ID: g.ID})
		if err == nil && got.Error == "" {
			u.of(host).replied = monotonic()
			u.revoked++
		}
	}
}

// hostIn is the host in the words of a question or grant.
func hostIn(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	host, _, _ := strings.Cut(rest, ":")
	return host
}

// check compares what hosts answered with the user's answers. The connections that were permitted once are counted.
func (u *hostUser) check(lines []byte) (answers int) {
	once := map[string]map[string]bool{}
	for s := bufio.NewScanner(bytes.NewReader(lines)); s.Scan(); {
		var begun, ended int64
		var host, conn string
		if _, err := fmt.Sscan(s.Text(), &begun, &ended, &host, &conn); err != nil {
			u.t.Fatalf("%q: %v", s.Text(), err)
		}
		answers++
		v := u.by[host]
		switch {
		case v == nil:
			u.t.Errorf("%s answered, about which nothing was asked", host)
		case v.sent == 0 || ended < v.sent:
			u.t.Errorf("%s answered before it was granted", host)
		case v.replied != 0 && begun > v.replied:
			u.t.Errorf("%s answered a line begun %d ns after the revocation or refusal was answered", host, begun-v.replied)
		case !v.run:
			if once[host] == nil {
				once[host] = map[string]bool{}
			}
			if once[host][conn] = true; len(once[host]) > v.once {
				u.t.Errorf("%s answered by %d connections and %d answers of once", host, len(once[host]), v.once)
			}
		}
	}
	return answers
}

// TestLiveHostRaces has a tool connect to hosts and talk to them while the user grants, refuses and revokes: nothing
// beyond the list answers, nothing before a grant, and no line that is sent after a revocation was
// answered, by an open connection neither.
func TestLiveHostRaces(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("needs user notification")
	}
	t.Parallel()
	const each = 100 // fewer than a run has questions
	users := racers()
	rounds := max(irtest.Times(2500)/each, len(users))
	answers, revoked, lines := 0, 0, 0
	irtest.Race(t, rounds, rounds, func(i int) bool {
		a, r, n := hostRace(t, epoch.Source(epoch.Seed(t), uint64(i)), each, users[i%len(users)])
		answers, revoked, lines = answers+a, revoked+r, lines+n
		return r > 0 && n > 0
	})
	t.Logf("%d hosts: %d answers, %d revocations, %d lines of hosts", rounds*each, answers, revoked, lines)
}

func hostRace(t *testing.T, r *rand.Rand, hosts, uid int) (answers, revoked, lines int) {
	t.Helper()
	index := map[string]int{}
	for i := 1; i <= hosts; i++ {
		index[hostAt(i)] = i
	}
	u := &hostUser{&user{t: t, by: map[string]*verdict{}, r: r}}
	out := u.runs(hosts, 6, uid, func(i int) bool { return hostAnswer(i) != "" }, func() { u.round(index) })
	return u.answers, u.revoked, u.check(out)
}

// runs has the tool connect to hosts, those in the list of which are told by may, and calls round until it ends.
func (u *hostUser) runs(hosts, threads, uid int, may func(int) bool, round func()) []byte {
	u.t.Helper()
	port, rules := answering(u.t), ""
	for i := 1; i <= hosts; i++ {
		if may(i) {
			rules += fmt.Sprintf("  { host = %q, port = %d, scheme = \"tcp\", allow = true },\n", hostAt(i), port)
		}
	}
	policy := fmt.Sprintf("[tools.racer]\nsource = \"local\"\ncommand = \"probe hostrace=%d,%d,%d\"\naccess.may = [\n%s]\n", port, hosts, threads, rules)
	dir, cmd := world(u.t, policy, 0, uid)
	return u.during(dir, cmd, round)
}

// TestLiveHostFlood has a tool ask about hosts as fast as it can: the user sees at most 16 questions at once and 256 in the
// run, and the tool reaches nothing. As many threads as may ask at once are all heard, until the run has no questions left.
func TestLiveHostFlood(t *testing.T) {
	if !start.ThisHost().Supervises {
		t.Skip("needs user notification")
	}
	t.Parallel()
	const waiting, most = 16, 256
	many := 200 // each is tried four times
	if irtest.Full() {
		many = 2500
	}
	if n := flood(t, waiting, many, 48); n < waiting || n > most {
		t.Errorf("48 threads asked %d questions", n)
	}
	if n := flood(t, waiting, most+40, waiting); n != most {
		t.Errorf("%d threads asked %d questions", waiting, n)
	}
}

// flood returns how many questions the user has seen and refused.
func flood(t *testing.T, waiting, hosts, threads int) int {
	t.Helper()
	u := &hostUser{&user{t: t, by: map[string]*verdict{}, r: epoch.Rand(t)}}
	asked := map[int]bool{}
	out := u.runs(hosts, threads, racers()[0], func(int) bool { return true }, func() {
		reply, err := live.Talk(u.socket, live.Request{Command: "list"})
		if err != nil {
			return
		}
		if len(reply.Pending) > waiting {
			t.Errorf("%d questions at once", len(reply.Pending))
		}
		for _, q := range reply.Pending {
			asked[q.ID] = true
			_, _ = live.Talk(u.socket, live.Request{Command: "answer", ID: q.ID, Answer: live.No})
		}
	})
	t.Logf("%d hosts, %d threads: %d questions", hosts, threads, len(asked))
	if len(out) > 0 {
		t.Errorf("%q was reached", out)
	}
	return len(asked)
}
