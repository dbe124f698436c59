// Package jsonrpc reads messages of JSON-RPC 2.0 that stand in lines, as MCP and ACP have them
// on standard input and output, for a proxy that judges some of them and passes the others on
// byte by byte.
//
// A proxy and the program behind it read the same bytes with two parsers. So this package
// refuses what parsers are known to read differently: two members of one name, the known names
// in another case, bytes that are no UTF-8, and carriage returns within a line, at which some
// programs end lines. Lines of any length take bounded memory.
package jsonrpc
