package main

import (
	"net"
	"sync"
)

// port is one port on the loopback for as long as the process lives, whichever server accepts from it. It knows
// the connections, so that they can be cut. Who connects while no server accepts waits, as behind a load balancer.
type port struct {
	tcp   *net.TCPListener
	mutex sync.Mutex
	open  map[*connection]struct{}
}

func openPort() (*port, error) {
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	return &port{tcp: tcp, open: map[*connection]struct{}{}}, nil
}

func (p *port) address() string { return p.tcp.Addr().String() }

// listener is for one server: the port stays open when that closes it.
func (p *port) listener() (net.Listener, error) {
	file, err := p.tcp.File()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	listener, err := net.FileListener(file)
	if err != nil {
		return nil, err
	}
	return &tracking{listener, p}, nil
}

// cut closes every connection at once and says how many there were.
func (p *port) cut() int {
	p.mutex.Lock()
	open := p.open
	p.open = map[*connection]struct{}{}
	p.mutex.Unlock()
	for c := range open {
		c.Conn.Close()
	}
	return len(open)
}

// tracking tells the port of each connection.
type tracking struct {
	net.Listener
	port *port
}

func (t *tracking) Accept() (net.Conn, error) {
	conn, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{conn, t.port}
	t.port.mutex.Lock()
	defer t.port.mutex.Unlock()
	t.port.open[c] = struct{}{}
	return c, nil
}

type connection struct {
	net.Conn
	port *port
}

func (c *connection) Close() error {
	c.port.mutex.Lock()
	delete(c.port.open, c)
	c.port.mutex.Unlock()
	return c.Conn.Close()
}
