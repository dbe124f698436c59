package egress

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// deny answers a request that is refused. The reason stands in the status line, too, where the
// protocol has a status line: clients show it.
func deny(w http.ResponseWriter, text string, code int) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2
		fail(w, text, code)
		return
	}
	answer(conn, code, text)
	linger(conn)
}

// fail answers a request that is not forwarded for another reason.
func fail(w http.ResponseWriter, text string, code int) {
	w.Header().Set("X-Proxy-Error", text)
	http.Error(w, text, code)
}

// answer writes the last answer of a connection.
func answer(conn net.Conn, code int, text string) {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, text)
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nX-Proxy-Error: %s\r\n"+
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n",
		code, line, line, len(text)+1, text)
}

// A client that still sends sees a broken connection instead of an answer if the connection is
// closed before it has read that.
const (
	lingerTime  = 500 * time.Millisecond
	lingerBytes = 256 << 10
)

// linger closes a connection after its last answer.
func linger(conn net.Conn) {
	defer conn.Close()
	w, ok := conn.(interface{ CloseWrite() error })
	if !ok || w.CloseWrite() != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(lingerTime))
	_, _ = io.Copy(io.Discard, io.LimitReader(conn, lingerBytes))
}
