// go run go-inherited-state.go
// A number closed behind Go's back makes a later, healthy file fail. Exit code: 0 shown, 1 not, 77 not, with another Go than 1.19.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// pipe returns one end as a file of the poller, a copy of it, and the other end.
func pipe(own int) (*os.File, int, int) {
	var ends [2]int
	syscall.Pipe2(ends[:], syscall.O_NONBLOCK)
	copied, _ := syscall.Dup(ends[own])
	return os.NewFile(uintptr(ends[own]), "pipe"), copied, ends[1-own]
}

func main() {
	first, copied, reader := pipe(1)
	for err := error(nil); err == nil; {
		_, err = syscall.Write(copied, make([]byte, 4096))
	}
	conn, _ := first.SyscallConn()
	conn.Control(func(fd uintptr) { syscall.Close(int(fd)) }) // the mistake
	fmt.Println("close of the first:", first.Close())

	second, _, writer := pipe(0)
	go func() {
		time.Sleep(time.Second)
		syscall.Close(reader) // of the first
	}()
	failed := 0
	for i := 0; i < 3; i++ {
		n, err := second.Read(make([]byte, 8))
		fmt.Println("read of the second:", n, err)
		if err != nil && strings.Contains(err.Error(), "not pollable") {
			failed++
		}
	}
	syscall.Write(writer, []byte("x"))
	time.Sleep(time.Second)
	n, err := second.Read(make([]byte, 8))
	fmt.Println("read of the second, with a byte:", n, err)
	if failed == 3 && n == 1 {
		os.Exit(0)
	}
	if strings.HasPrefix(runtime.Version(), "go1.19") { // measured with 1.19.8
		os.Exit(1)
	}
	os.Exit(77)
}
