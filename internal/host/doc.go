// Package host is the room of what is known of this machine and its user: the workspace of a command, the user's
// directories, approvals, kept compilations, revisions of a repository, facts that only a host has, and the terminal
// at which the user answers. Package config reads the configuration that a call is about, and consent asks for what only
// the user can decide.
//
// Commands and the rooms above call it; the model and the backends never do, and get its answers as values. Whatever a
// repository can write is foreign here: a store that cannot be read permits nothing.
package host
