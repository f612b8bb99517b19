package main

import (
	"bytes"
	"runtime"
	"strconv"
	"syscall"
)

// The files are read by system calls, because os would register them with the poller.
func contents(path string, read func(int, []byte) (int, error), each func([]byte)) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil { // the thread has ended
		return
	}
	defer syscall.Close(fd)
	buffer := make([]byte, 8192)
	for {
		size, err := read(fd, buffer)
		if size <= 0 || err != nil {
			return
		}
		each(buffer[:size])
	}
}

// letThreadsSleep returns when each other thread has been seen asleep.
func letThreadsSleep() {
	for _, thread := range threads() {
		for thread != syscall.Gettid() && !isAsleep(thread) {
			runtime.Gosched()
		}
	}
}

// threads returns the ids of this process's threads.
func threads() (ids []int) {
	contents("/proc/self/task", syscall.ReadDirent, func(part []byte) {
		_, _, names := syscall.ParseDirent(part, -1, nil)
		for _, name := range names {
			id, err := strconv.Atoi(name)
			must(err)
			ids = append(ids, id)
		}
	})
	return ids
}

// isAsleep returns whether a thread sleeps, or has ended.
func isAsleep(thread int) bool {
	asleep := true
	contents("/proc/self/task/"+strconv.Itoa(thread)+"/stat", syscall.Read, func(part []byte) {
		if _, state, found := bytes.Cut(part, []byte(") ")); found {
			asleep = state[0] == 'S'
		}
	})
	return asleep
}

func duplicate(fd, at int) error {
	return syscall.Dup3(fd, at, 0)
}
