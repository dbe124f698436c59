// Package process is the room of what a process of ours does about itself: it prepares a value when it is first asked
// for (once), reaps children that are not trusted (reap), and stops at named places where a test holds it (points).
//
// Every room may call it. In the program that is released, points does nothing.
package process
