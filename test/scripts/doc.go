// Package scripts runs scripts of commands (testscript): lines with files, for each command of accessc and for what
// users do with several. The scripts in its own directory testdata start no tool and ask the kernel nothing; those of work
// start many, and the others are beside cmd/accessc.
package scripts
