// Package serving is the server of accessc serve: it starts tools by package sandbox and answers by package
// answering, for clients of the protocol of package serve, by the configuration as it is when they ask. It is for
// Linux.
package serving
