// Package editor is the language server of policies (https://microsoft.github.io/language-server-protocol, 3.17): what
// the command lsp says to an editor on standard input and output.
//
// Findings, rows and answers are those of check and explain, for texts that need not be saved. While somebody types,
// the compiler reads the changed texts and what it remembers of the disk; as soon as nobody does, everything is checked
// anew, as check does. The package starts no tool and, besides the copy of a preset that somebody asks to see, writes
// nothing. Text of editors and files of the workspace are hostile: messages, texts and their nesting are bounded, and
// no file is read that the compiler would not read.
package editor
