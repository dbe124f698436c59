// Package egress is the proxy of one run: every connection that a tool with host rules makes
// passes it. The supervisor connects the tool's sockets to it and says for each which name the
// tool asked for; clients that read proxy variables may use it as an HTTP or SOCKS5 proxy.
//
// All forms of a request meet one decision: the name is judged, then resolved once, then its
// addresses are filtered, and one of these addresses is dialled. In a tunnel the first bytes
// must be TLS for the judged name, or plain HTTP for it, unless the rule allows a stream.
//
// A stub resolver answers the tool's questions for granted names with addresses of a private
// pool. These addresses stand for names: a connection to such an address is a connection to its
// name.
//
// The command runs the proxy in a process of its own beside a tool; package start describes it and the supervisor
// speaks to it (package wire). Nothing else calls it.
package egress
