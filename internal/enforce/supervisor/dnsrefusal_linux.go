package supervisor

import (
	"encoding/binary"
	"strings"
)

// maxQuestion is the largest DNS message that is read.
const maxQuestion = 4096

// Sizes and bits of a DNS message (RFC 1035, 4.1).
const (
	dnsHeader = 12
	dnsLabel  = 63
	dnsName   = 255
	// dnsReply is the bit of answers, dnsKept are the bits of a question that an answer repeats: the kind, and whether
	// recursion is desired.
	dnsReply, dnsKept = 0x8000, 0x7900
	// dnsRefused is the answer of a server that may not answer, with recursion available.
	dnsRefused = 0x0085
)

// refused is the answer that refuses a question to a name server, nil where the message is none, and the name that it
// asks for, empty where that is no name of a host.
func refused(query []byte) (reply []byte, name string) {
	if len(query) < dnsHeader {
		return nil, ""
	}
	flags, count := binary.BigEndian.Uint16(query[2:]), binary.BigEndian.Uint16(query[4:])
	if flags&dnsReply != 0 || count != 1 {
		return nil, ""
	}
	labels, rest, ok := dnsLabels(query[dnsHeader:])
	const kind = 4 // type and class
	if !ok || len(rest) < kind {
		return nil, ""
	}
	reply = append(reply, query[:2]...)
	reply = binary.BigEndian.AppendUint16(reply, flags&dnsKept|dnsReply|dnsRefused)
	reply = append(reply, 0, 1, 0, 0, 0, 0, 0, 0)
	reply = append(reply, query[dnsHeader:len(query)-len(rest)+kind]...)
	name = strings.ToLower(strings.Join(labels, "."))
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		return reply, ""
	}
	return reply, name
}

// dnsLabels reads a name that is not compressed, such as the name of a question.
func dnsLabels(b []byte) (labels []string, rest []byte, ok bool) {
	for total := 0; len(b) > 0; {
		n := int(b[0])
		total += n + 1
		switch {
		case n == 0:
			return labels, b[1:], true
		case n > dnsLabel || total > dnsName || len(b) < n+1:
			return nil, nil, false
		}
		labels = append(labels, string(b[1:n+1]))
		b = b[n+1:]
	}
	return nil, nil, false
}
