// Package relay stands between a client and a program that speak lines of JSON-RPC over
// standard input and output. It starts the program, carries the lines both ways, asks about each
// of them, and ends the one side when the other has ended.
//
// It fails closed: a line that could not be judged or recorded is not passed on.
package relay
