// Package action judges the commands of an agent: the programs that it runs itself, or has its
// client run.
package action
