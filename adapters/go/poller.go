package main

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	_ "unsafe" // for go:linkname
)

// The functions by which internal/poll, and so os and net, use the poller (runtime/netpoll.go). A
// descriptor's state is a number here. The mode is 'r' or 'w'. Above them, each operation of os.File and
// net.Conn forgets the poller's report before it tries its system call. An adapter that tries none would
// lose the report that arrives between the registration and the first wait.

//go:linkname pollServerInit internal/poll.runtime_pollServerInit
func pollServerInit()

//go:linkname pollOpen internal/poll.runtime_pollOpen
func pollOpen(fd uintptr) (uintptr, int)

//go:linkname pollReset internal/poll.runtime_pollReset
func pollReset(state uintptr, mode int) int

//go:linkname pollWait internal/poll.runtime_pollWait
func pollWait(state uintptr, mode int) int

//go:linkname pollUnblock internal/poll.runtime_pollUnblock
func pollUnblock(state uintptr)

//go:linkname pollClose internal/poll.runtime_pollClose
func pollClose(state uintptr)

// What pollWait returns (runtime/netpoll.go).
const (
	reported    = 0
	notPollable = 3
)

// A registration. Two goroutines wait for its reports, one for each direction, because the poller always
// watches both.
type registration struct {
	name          int // that of the descriptor; -1 after another one has taken it
	token         string
	wanted        map[int]bool // the directions whose reports are events
	state         uintptr
	lock          sync.Mutex
	ready         map[int]bool // the directions that were reported since the last wait that answered them
	isNotPollable bool
	waiting       sync.WaitGroup
}

// Something was reported since the last look.
var changed = make(chan struct{}, 1)

func register(fd int) (*registration, syscall.Errno) {
	state, errno := pollOpen(uintptr(fd))
	if errno != 0 {
		return nil, syscall.Errno(errno)
	}
	it := &registration{state: state, ready: map[int]bool{}}
	it.watch('r')
	it.watch('w')
	return it, 0
}

// watch starts a goroutine that waits for the reports of a direction until the registration ends, or until
// the poller says that it cannot poll.
func (it *registration) watch(mode int) {
	it.waiting.Add(1)
	go func() {
		defer it.waiting.Done()
		for {
			result := pollWait(it.state, mode)
			if result != reported && result != notPollable {
				return
			}
			it.lock.Lock()
			it.ready[mode] = it.ready[mode] || result == reported
			it.isNotPollable = it.isNotPollable || result == notPollable
			it.lock.Unlock()
			select {
			case changed <- struct{}{}:
			default:
			}
			if result == notPollable {
				return
			}
		}
	}()
}

// says returns the words of the registration's event, and forgets them. The poller answers "not pollable"
// to each read that begins, so that another one begins.
func (it *registration) says() []string {
	it.lock.Lock()
	defer it.lock.Unlock()
	var words []string
	for _, mode := range []int{'r', 'w'} {
		if it.wanted[mode] && it.ready[mode] {
			words = append(words, string(rune(mode)))
			it.ready[mode] = false
		}
	}
	if it.isNotPollable {
		if it.wanted['r'] {
			words = append(words, "ErrNotPollable")
		}
		it.isNotPollable = false
		it.watch('r')
	}
	return words
}

// isSilent returns whether there is nothing to say.
func (it *registration) isSilent() bool {
	it.lock.Lock()
	defer it.lock.Unlock()
	return !(it.wanted['r'] && (it.ready['r'] || it.isNotPollable)) && !(it.wanted['w'] && it.ready['w'])
}

func (it *registration) end() {
	pollUnblock(it.state)
	it.waiting.Wait()
	pollClose(it.state)
}

// The fence is a pipe of our own, registered with the poller.
type fence struct {
	ends  [2]int
	state uintptr
}

func newFence() *fence {
	f := &fence{}
	must(syscall.Pipe(f.ends[:]))
	for _, end := range f.ends {
		syscall.CloseOnExec(end)
		must(syscall.SetNonblock(end, true))
	}
	pollServerInit()
	state, errno := pollOpen(uintptr(f.ends[0]))
	if errno != 0 {
		panic(syscall.Errno(errno))
	}
	f.state = state
	return f
}

// settle returns when the adapter knows all that the kernel had for the poller at the time of the call:
//   - The kernel's queue is in the order in which descriptors became ready. When a thread of the runtime has
//     taken the fence's report, it has taken those before it, or another thread has.
//   - The other thread can have been interrupted between its epoll_wait and the delivery. It does not sleep
//     between the two: once it has been seen asleep, it has delivered. (This is seen on Linux only.)
//   - A delivery makes a goroutine runnable. When none is, each has written down its report and waits again.
func (f *fence) settle() {
	pollReset(f.state, 'r')
	_, err := syscall.Write(f.ends[1], []byte{0})
	must(err)
	if result := pollWait(f.state, 'r'); result != reported {
		panic("the fence cannot be polled: " + strconv.Itoa(result))
	}
	_, err = syscall.Read(f.ends[0], make([]byte, 1))
	must(err)
	letThreadsSleep()
	for hasRunnable() {
		runtime.Gosched()
	}
}

var stacks = make([]byte, 1<<16)

// hasRunnable returns whether a goroutine can run, besides this one.
func hasRunnable() bool {
	size := runtime.Stack(stacks, true)
	for size == len(stacks) {
		stacks = make([]byte, 2*len(stacks))
		size = runtime.Stack(stacks, true)
	}
	_, others, _ := bytes.Cut(stacks[:size], []byte("\n\n"))
	return bytes.Contains(others, []byte(" [runnable")) || bytes.Contains(others, []byte(" [running"))
}
