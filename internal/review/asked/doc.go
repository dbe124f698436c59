// Package asked answers the questions that can and decide take: once, line by line, and for the server of package
// serving. It decides nothing: ir.View and rulesets do, by the configuration as it is when a question is read.
package asked
