package egress

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/accessc/accessc/compiler/resolve"
	"github.com/accessc/accessc/ir"
)

// answerTTL is the time in seconds that clients may keep an answer. The addresses are valid for
// the whole run.
const answerTTL = 60

// blocked is the extended error code for answers that a policy withholds (RFC 8914, 4.16).
const blocked = 15

// optionError is the option of extended errors (RFC 8914, 2).
const optionError = 15

// typeHTTPS and typeSVCB would tell a client of other ports, addresses and encrypted names
// (RFC 9460).
const (
	typeSVCB  dnsmessage.Type = 64
	typeHTTPS dnsmessage.Type = 65
)

// stub is the resolver of the tool: it answers questions for granted names with addresses that stand for them.
type stub struct {
	*run
	judge     *judge
	dialer    *dialer
	listeners *listeners
	questions chan struct{} // bounds those that wait for the host's resolver
}

// answerTo answers a DNS message of a process of the tool by its number, nil if it is none.
func (s *stub) answerTo(ctx context.Context, query []byte, by uint64) []byte {
	var parser dnsmessage.Parser
	head, err := parser.Start(query)
	if err != nil || head.Response {
		return nil
	}
	reply := dnsmessage.Header{ID: head.ID, Response: true, OpCode: head.OpCode,
		RecursionDesired: head.RecursionDesired, RecursionAvailable: true}
	q, err := parser.Question()
	if _, more := parser.Question(); err != nil || !errors.Is(more, dnsmessage.ErrSectionDone) {
		reply.RCode = dnsmessage.RCodeFormatError
		return pack(reply, nil, nil, "")
	}
	if head.OpCode != 0 || q.Class != dnsmessage.ClassINET {
		reply.RCode = dnsmessage.RCodeRefused
		return pack(reply, &q, nil, "")
	}
	host, err := resolve.Host(q.Name.String())
	if err != nil || host.Kind != ir.HostName {
		reply.RCode = dnsmessage.RCodeRefused
		return pack(reply, &q, nil, "not a host name")
	}
	v := s.judge.policy(nil).Named(host)
	asked := !v.Allowed() && s.judge.nameable(host)
	if !v.Allowed() && !asked {
		// A denied name is never looked up: the question itself could carry data away.
		refusal := Refusal{Op: ir.Connect{To: ir.Endpoint{Host: host}}, Verdict: v, By: by}
		s.refused(refusal)
		reply.RCode = dnsmessage.RCodeRefused
		if !extended(&parser) {
			return pack(reply, &q, nil, "")
		}
		return pack(reply, &q, nil, s.sentence(refusal))
	}
	var body dnsmessage.ResourceBody
	reply.RCode, body = s.lookup(ctx, q.Type, host, by, asked)
	return pack(reply, &q, body, "")
}

// extended reports whether a question has the record that its answer may have then (RFC 6891,
// 6.1.1).
func extended(p *dnsmessage.Parser) bool {
	if p.SkipAllAnswers() != nil || p.SkipAllAuthorities() != nil {
		return false
	}
	for {
		h, err := p.AdditionalHeader()
		if err != nil || h.Type == dnsmessage.TypeOPT {
			return err == nil
		}
		if p.SkipAdditional() != nil {
			return false
		}
	}
}

// nameable reports whether a connection to a name can be granted. The question about it comes with the
// connection, and the name is not looked up before.
func (j *judge) nameable(host ir.Host) bool {
	if j.lent == nil || j.config.Ask == nil {
		return false
	}
	r := rule(j.lent.live.MayName(host))
	return r != nil && r.Allow && j.wild.take("may "+r.Host.String(), host.Name)
}

// lookup answers for a name. It asks the host's resolver only whether the name exists, and of a name that
// the user is asked about nothing.
func (s *stub) lookup(ctx context.Context, t dnsmessage.Type, host ir.Host, by uint64,
	asked bool) (dnsmessage.RCode, dnsmessage.ResourceBody) {
	//exhaustive:ignore
	switch t {
	case dnsmessage.TypeA, dnsmessage.TypeAAAA:
	case typeHTTPS, typeSVCB:
		return dnsmessage.RCodeSuccess, nil
	default:
		return dnsmessage.RCodeRefused, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.Limits.Dial)
	defer cancel()
	var err error
	to := ir.Endpoint{Scheme: schemeHTTPS, Host: host, Port: ir.DefaultPort(schemeHTTPS)}
	if via, _ := s.dialer.via(to); via == nil && !asked {
		_, err = s.dialer.resolve(ctx, host.Name)
	}
	var missing *net.DNSError
	switch {
	case errors.As(err, &missing) && missing.IsNotFound:
		return dnsmessage.RCodeNameError, nil
	case errors.Is(err, errInternal):
		s.refused(Refusal{Op: ir.Connect{To: ir.Endpoint{Host: host}}, Why: err.Error(), By: by})
		return dnsmessage.RCodeRefused, nil
	case err != nil:
		return dnsmessage.RCodeServerFailure, nil
	}
	v4, v6, ok := s.pool.Addresses(host.Name)
	switch {
	case !ok:
		return dnsmessage.RCodeRefused, nil
	case t == dnsmessage.TypeA:
		return dnsmessage.RCodeSuccess, &dnsmessage.AResource{A: v4.As4()}
	case !s.listeners.listens6():
		return dnsmessage.RCodeSuccess, nil
	default:
		return dnsmessage.RCodeSuccess, &dnsmessage.AAAAResource{AAAA: v6.As16()}
	}
}

// pack writes an answer. Errors cannot occur: all parts were parsed or are constants.
func pack(h dnsmessage.Header, q *dnsmessage.Question, body dnsmessage.ResourceBody, why string) []byte {
	m := dnsmessage.Message{Header: h}
	if q != nil {
		m.Questions = []dnsmessage.Question{*q}
	}
	if body != nil {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: answerTTL}, Body: body,
		}}
	}
	if why != "" {
		const most = 300 // below the smallest size that resolvers take, with the name
		data := append([]byte{0, blocked}, strings.ToValidUTF8(why[:min(len(why), most)], "")...)
		var opt dnsmessage.ResourceHeader
		if opt.SetEDNS0(1232, dnsmessage.RCodeSuccess, false) == nil {
			m.Additionals = []dnsmessage.Resource{{Header: opt, Body: &dnsmessage.OPTResource{
				Options: []dnsmessage.Option{{Code: optionError, Data: data}},
			}}}
		}
	}
	out, err := m.Pack()
	if err != nil {
		return nil
	}
	return out
}

// serveResolver answers the messages that come by one socket of the tool, until it closes.
// Questions that wait for the host's resolver do not hold up others.
func (s *stub) serveResolver(conn net.PacketConn, by uint64) {
	if !s.listeners.admit(conn) {
		_ = conn.Close()
		return
	}
	go func() {
		defer s.listeners.running.Done()
		defer s.listeners.drop(conn)
		defer conn.Close()
		buf := make([]byte, maxQuestion)
		for {
			n, _, err := conn.ReadFrom(buf)
			if err != nil || n == 0 {
				return // an end of a pair reads nothing when the other is closed
			}
			query := append([]byte{}, buf[:n]...)
			select {
			case s.questions <- struct{}{}:
			default:
				continue // the client asks again
			}
			s.listeners.running.Add(1)
			go func() {
				defer s.listeners.running.Done()
				defer func() { <-s.questions }()
				if answer := s.answerTo(s.ctx, query, by); answer != nil {
					_, _ = conn.(interface{ Write([]byte) (int, error) }).Write(answer)
				}
			}()
		}
	}()
}

// maxQuestion is the largest DNS message that the stub reads.
const maxQuestion = 4096

// serveStream answers questions over TCP (RFC 7766), of which each is behind its length.
func (s *stub) serveStream(conn *client) {
	for {
		_ = conn.SetDeadline(time.Now().Add(s.config.Limits.Handshake))
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		query := make([]byte, int(size[0])<<8|int(size[1]))
		if len(query) > maxQuestion {
			return
		}
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		select {
		case s.questions <- struct{}{}:
		case <-s.ctx.Done():
			return
		}
		answer := s.answerTo(s.ctx, query, conn.by)
		<-s.questions
		if answer == nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(s.config.Limits.Handshake))
		if _, err := conn.Write(append([]byte{byte(len(answer) >> 8), byte(len(answer))}, answer...)); err != nil {
			return
		}
	}
}
