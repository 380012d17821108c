// Command apiserver is the real kube-apiserver with an etcd inside, for tests: on the loopback, in a
// temporary folder, gone when its standard input ends. README.md says what it prints and which commands it takes.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/klog/v2"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "apiserver: %v\n", err)
		os.Exit(1)
	}
}

// run serves until standard input ends or a signal comes. The arguments are flags of kube-apiserver, which
// go behind those that this program sets.
func run(flags []string) (err error) {
	stopped, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()

	// A short name, for the path of a unix socket holds no more than 107 bytes.
	folder, err := os.MkdirTemp("", "apiserver.")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return err
	}
	if err := logTo(log); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			klog.Flush()
			err = errors.Join(err, lastLines(log.Name(), 4096))
		}
	}()

	etcd, err := startEtcd(folder)
	if err != nil {
		return err
	}
	defer etcd.Close()
	port, err := openPort()
	if err != nil {
		return err
	}
	files, err := writeFiles(folder, port.address())
	if err != nil {
		return err
	}
	server := &server{flags: append(files.flags(etcd.endpoint), flags...), port: port, files: files}
	if err := server.start(stopped); err != nil {
		return err
	}
	defer server.stop()

	ready, err := json.Marshal(files.ready(port.address()))
	if err != nil {
		return err
	}
	fmt.Println(string(ready))

	commands := &commands{server: server, etcd: etcd}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	for {
		select {
		case <-stopped.Done():
			return nil
		case err := <-server.ended:
			return fmt.Errorf("kube-apiserver ended by itself: %w", err)
		case line, more := <-lines:
			if !more {
				return nil
			}
			fmt.Println(commands.answer(stopped, line))
		}
	}
}

// logTo has everything logged to a file and nothing to standard error.
func logTo(file *os.File) error {
	flags := flag.NewFlagSet("log", flag.ContinueOnError)
	klog.InitFlags(flags)
	klog.SetOutput(file)
	return errors.Join(flags.Set("logtostderr", "false"), flags.Set("stderrthreshold", "FATAL"))
}

// lastLines gives the end of a file as an error, for the one who sees only standard error.
func lastLines(path string, size int) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(content) > size {
		content = content[len(content)-size:]
	}
	return fmt.Errorf("the end of its log:\n%s", content)
}
