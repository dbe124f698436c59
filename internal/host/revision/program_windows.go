package revision

var programNames = []string{"git.exe", "git.com"}
