// The network poller of Go's runtime as an adapter of pollmatrix (docs/adapters.md).
//
// The poller has one mode: each registration is edge-triggered, and for both directions. It keeps one report for each
// direction until a goroutine takes it. The interest and a modification only decide which of the two are answered; the
// kernel does not learn of them. A hang-up and an error are `r` and `w`.
//
//   - The adapter calls the functions by which internal/poll uses the poller (go:linkname), and registers the number of
//     its copy. An os.File would set O_NONBLOCK, hide the errno of a refused registration, and forget at the beginning
//     of each read what was reported before it.
//   - The runtime polls whenever a thread of it is idle, not only during a wait. Data that another process reads at once
//     may have been reported or not (E13).
//   - Goroutines wake in no order: events are in the order of their registrations. A wait has no call whose time could
//     be told, so there is no `times`.
//   - The runtime has one poller and never closes it: for `reset`, the program executes itself. Before it answers
//     silence, it writes to a pipe of its own and waits until the poller reports that.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const name = "go-netpoll"

// The argument of the program that a reset starts.
const afterReset = "after-reset"

type arguments struct {
	Fd        *int     `json:"fd"`
	At        *int     `json:"at"`
	Token     string   `json:"token"`
	Interest  []string `json:"interest"`
	Mode      string   `json:"mode"`
	TimeoutMs *float64 `json:"timeout_ms"`
}

type object map[string]any

type event struct {
	Token string   `json:"token"`
	Says  []string `json:"says"`
}

// A line of standard input, with the descriptors that came with it or before it.
type line struct {
	text        []byte
	descriptors []int
}

type adapter struct {
	lines         chan line
	unread        *line
	fence         *fence
	numbers       map[int]int // ours by the other side's
	registrations []*registration
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

var ok = object{"ok": object{}}

func refused(err error) object {
	errno, isErrno := err.(syscall.Errno)
	if !isErrno {
		return unsupported(err.Error())
	}
	names := map[syscall.Errno]string{
		syscall.EBADF: "EBADF", syscall.EBUSY: "EBUSY", syscall.EEXIST: "EEXIST", syscall.EINVAL: "EINVAL",
		syscall.ELOOP: "ELOOP", syscall.EMFILE: "EMFILE", syscall.ENOENT: "ENOENT", syscall.ENOMEM: "ENOMEM",
		syscall.ENOSPC: "ENOSPC", syscall.EPERM: "EPERM", syscall.ENODEV: "ENODEV",
	}
	if names[errno] == "" {
		return object{"errno": strconv.Itoa(int(errno))}
	}
	return object{"errno": names[errno]}
}

func unsupported(reason string) object {
	return object{"unsupported": reason}
}

// read sends the lines of standard input to the channel, and closes it at their end.
func (a *adapter) read() {
	defer close(a.lines)
	var text []byte
	var descriptors []int
	buffer, control := make([]byte, 1<<16), make([]byte, syscall.CmsgSpace(64*4))
	for {
		size, controlSize, _, _, err := syscall.Recvmsg(0, buffer, control, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || size == 0 {
			return
		}
		messages, err := syscall.ParseSocketControlMessage(control[:controlSize])
		must(err)
		for _, message := range messages {
			arrived, err := syscall.ParseUnixRights(&message)
			must(err)
			for _, fd := range arrived {
				syscall.CloseOnExec(fd)
			}
			descriptors = append(descriptors, arrived...)
		}
		text = append(text, buffer[:size]...)
		for {
			first, rest, found := bytes.Cut(text, []byte("\n"))
			if !found {
				break
			}
			a.lines <- line{append([]byte(nil), first...), descriptors}
			text, descriptors = rest, nil
		}
	}
}

// next returns the next line. The program ends with the input.
func (a *adapter) next() line {
	if a.unread != nil {
		next := *a.unread
		a.unread = nil
		return next
	}
	next, isOpen := <-a.lines
	if !isOpen {
		os.Exit(0)
	}
	return next
}

func hello() object {
	over := "kqueue"
	if runtime.GOOS == "linux" {
		over = "epoll"
	}
	return object{"hello": object{"protocol": 1, "name": name, "version": strings.TrimPrefix(runtime.Version(), "go"),
		"modes": []string{"edge"}, "words": object{"r": "readable", "w": "writable", "ErrNotPollable": "error"},
		"over": over, "wake": true, "reset": true, "room": false, "numbers": true}}
}

func (a *adapter) take(name int, fd int, at *int) object {
	if at != nil {
		defer syscall.Close(fd)
		var status syscall.Stat_t
		if syscall.Fstat(*at, &status) == nil {
			return refused(syscall.EBUSY)
		}
		if err := duplicate(fd, *at); err != nil {
			return refused(err)
		}
		syscall.CloseOnExec(*at)
		fd = *at
	}
	// Registrations of an earlier descriptor of this name stay, and have no name any more.
	for _, one := range a.registrations {
		if one.name == name {
			one.name = -1
		}
	}
	a.numbers[name] = fd
	return ok
}

// closed closes our copy, whose number is the registered one, behind the poller's back.
func closed(fd int) object {
	if err := syscall.Close(fd); err != nil {
		return refused(err)
	}
	return ok
}

func wanted(asked arguments) (map[int]bool, string) {
	modes := map[int]bool{}
	for _, interest := range asked.Interest {
		switch interest {
		case "read":
			modes['r'] = true
		case "write":
			modes['w'] = true
		}
	}
	if asked.Mode != "edge" {
		return nil, "Go's poller has no mode " + asked.Mode
	}
	if len(asked.Interest) > 0 && len(modes) == 0 {
		return nil, "Go's poller has no word for " + strings.Join(asked.Interest, " and ")
	}
	return modes, ""
}

func (a *adapter) add(name int, asked arguments) object {
	modes, reason := wanted(asked)
	if reason != "" {
		return unsupported(reason)
	}
	fd, isKnown := a.numbers[name]
	if !isKnown {
		return refused(syscall.EBADF)
	}
	it, errno := register(fd)
	if errno != 0 {
		return refused(errno)
	}
	it.name, it.token, it.wanted = name, asked.Token, modes
	a.registrations = append(a.registrations, it)
	return ok
}

// modify changes the directions whose reports are events. The poller knows nothing of it.
func (a *adapter) modify(name int, asked arguments) object {
	modes, reason := wanted(asked)
	if reason != "" {
		return unsupported(reason)
	}
	var found *registration
	for _, one := range a.registrations {
		if one.name == name && (found == nil || one.token == asked.Token) {
			found = one
		}
	}
	if found == nil {
		return a.noRegistration(name)
	}
	found.token, found.wanted = asked.Token, modes
	return ok
}

func (a *adapter) noRegistration(name int) object {
	if _, isKnown := a.numbers[name]; !isKnown {
		return refused(syscall.EBADF)
	}
	return refused(syscall.ENOENT)
}

func (a *adapter) remove(name int) object {
	var kept []*registration
	for _, one := range a.registrations {
		if one.name == name {
			one.end()
		} else {
			kept = append(kept, one)
		}
	}
	if len(kept) == len(a.registrations) {
		return a.noRegistration(name)
	}
	a.registrations = kept
	return ok
}

// wait returns the events in the order of the registrations: the poller wakes goroutines, which have no
// order.
func (a *adapter) wait(asked arguments) object {
	var timer <-chan time.Time
	if asked.TimeoutMs != nil {
		timer = time.After(time.Duration(*asked.TimeoutMs * float64(time.Millisecond)))
	}
	for isOver := asked.TimeoutMs != nil && *asked.TimeoutMs == 0; ; {
		a.fence.settle()
		if isOver || a.hasEvent() {
			break
		}
		select {
		case <-changed:
		case <-timer:
			isOver = true
		case next, isOpen := <-a.lines:
			if !isOpen {
				os.Exit(0)
			}
			a.unread = &next
			isOver = true
		}
	}
	events := []event{}
	for _, one := range a.registrations {
		if says := one.says(); says != nil {
			events = append(events, event{one.token, says})
		}
	}
	return object{"events": events}
}

func (a *adapter) hasEvent() bool {
	for _, one := range a.registrations {
		if !one.isSilent() {
			return true
		}
	}
	return false
}

// reset starts the program again in this process, because the runtime has one poller and never closes it.
// That closes everything but the standard descriptors.
func (a *adapter) reset() {
	own, err := os.Executable()
	must(err)
	must(syscall.Exec(own, []string{own, afterReset}, os.Environ()))
}

func (a *adapter) obey(command string, asked arguments, descriptors []int) object {
	number := -1
	if asked.Fd != nil {
		number = *asked.Fd
	}
	switch command {
	case "hello":
		return hello()
	case "take":
		if len(descriptors) == 1 {
			return a.take(number, descriptors[0], asked.At)
		}
	case "add":
		return a.add(number, asked)
	case "modify":
		return a.modify(number, asked)
	case "remove":
		return a.remove(number)
	case "closed":
		if fd, isKnown := a.numbers[number]; isKnown {
			return closed(fd)
		}
	case "wait":
		return a.wait(asked)
	case "wake": // which has ended the wait by being there
		return ok
	case "close":
		return unsupported("Go's runtime never closes its poller")
	case "reset":
		a.reset()
	}
	return object{"unknown": command}
}

func (a *adapter) answer(next line) object {
	var commands map[string]arguments
	if err := json.Unmarshal(next.text, &commands); err != nil || len(commands) != 1 {
		return object{"unknown": string(next.text)}
	}
	for command, asked := range commands {
		return a.obey(command, asked, next.descriptors)
	}
	panic("a map of one entry has one")
}

func write(answer object) {
	text, err := json.Marshal(answer)
	must(err)
	for text = append(text, '\n'); len(text) > 0; {
		size, err := syscall.Write(1, text)
		if err == syscall.EINTR {
			continue
		}
		must(err)
		text = text[size:]
	}
}

func main() {
	runtime.GOMAXPROCS(1) // one goroutine at a time
	a := &adapter{lines: make(chan line, 64), fence: newFence(), numbers: map[int]int{}}
	if len(os.Args) == 2 && os.Args[1] == afterReset {
		write(ok)
	}
	go a.read()
	for {
		write(a.answer(a.next()))
	}
}
