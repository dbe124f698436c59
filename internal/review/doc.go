// Package review is the room of what a person reads before he agrees: explain puts a policy, a change and an answer in
// words, fleet does so for the builds of many repositories. Package sides reads what is compared, asked answers single
// questions and streams of them, serving does so for programs, tested asks the tests of policies, and play answers a
// page that has no host.
//
// Commands call it. It decides nothing: every line is a view of values that the model has computed.
package review
