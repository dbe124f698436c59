// Package play answers the playground: one request has a policy as text and what to show of it, and the reply has the
// bytes that the commands explain, can, test and build print. It is a function of the request: there is no host, so
// the places that a host would have are constants, which the page names.
package play
