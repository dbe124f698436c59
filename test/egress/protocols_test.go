//go:build linux

package egress_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"io"
	"net"
	"os/exec"
	"strings"

	"golang.org/x/crypto/ssh"
)

// hostKey makes the key of the SSH server.
func hostKey() (ssh.Signer, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, err
	}
	return ssh.NewSignerFromKey(key)
}

// shell serves SSH: it runs git's server, and answers any other command with a line.
func (w *world) shell(c net.Conn, key ssh.Signer) {
	w.arrive(arrival{server: "ssh", to: local(c)})
	config := &ssh.ServerConfig{NoClientAuth: true}
	config.AddHostKey(key)
	_, channels, requests, err := ssh.NewServerConn(c, config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for n := range channels {
		channel, asked, err := n.Accept()
		if err != nil {
			return
		}
		go func() {
			for r := range asked {
				_ = r.Reply(r.Type == "exec", nil)
				if r.Type == "exec" {
					w.execute(channel, string(r.Payload[4:]))
				}
			}
		}()
	}
}

func (w *world) execute(c ssh.Channel, command string) {
	defer c.Close()
	name, argument, _ := strings.Cut(command, " ")
	if name != "git-upload-pack" {
		_, _ = io.WriteString(c, "hello from ssh: "+command+"\n")
	} else {
		cmd := exec.Command("git", "upload-pack", w.file("git")+strings.Trim(argument, "'"))
		cmd.Env = []string{"GIT_CONFIG_GLOBAL=/dev/null", "PATH=/usr/bin:/bin"}
		in, err := cmd.StdinPipe()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(in, c); _ = in.Close() }()
		cmd.Stdout, cmd.Stderr = c, c.Stderr()
		_ = cmd.Run()
	}
	_, _ = c.SendRequest("exit-status", false, make([]byte, 4))
}

// postgres speaks the protocol far enough that psql prints a row
// (https://www.postgresql.org/docs/current/protocol-message-formats.html).
func (w *world) postgres(c net.Conn) {
	w.arrive(arrival{server: "postgres", to: local(c)})
	const requestSSL, requestGSS = 80877103, 80877104
	for {
		b, err := message(c)
		if err != nil || len(b) < 4 {
			return
		}
		if code := binary.BigEndian.Uint32(b); code != requestSSL && code != requestGSS {
			break
		}
		_, _ = io.WriteString(c, "N")
	}
	reply := func(kind byte, body string) {
		_, _ = c.Write(append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)+4)), body...))
	}
	reply('R', "\x00\x00\x00\x00")
	reply('S', "server_version\x0015.0\x00")
	reply('S', "client_encoding\x00UTF8\x00")
	reply('Z', "I")
	for {
		var kind [1]byte
		if _, err := io.ReadFull(c, kind[:]); err != nil || kind[0] == 'X' {
			return
		}
		if _, err := message(c); err != nil {
			return
		}
		const row = "hello from postgres"
		reply('T', "\x00\x01answer\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x19\xff\xff\xff\xff\xff\xff\x00\x00")
		reply('D', "\x00\x01\x00\x00\x00"+string(rune(len(row)))+row)
		reply('C', "SELECT 1\x00")
		reply('Z', "I")
	}
}

// message reads a body behind its length, which counts itself.
func message(c net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n < 4 || n > 1<<16 {
		return nil, io.ErrUnexpectedEOF
	}
	b := make([]byte, n-4)
	_, err := io.ReadFull(c, b)
	return b, err
}
