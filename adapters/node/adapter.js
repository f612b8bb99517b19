#!/usr/bin/env node
// Node's net.Socket and net.Server as an adapter of pollmatrix (docs/adapters.md). It makes its sockets itself,
// because a net.Socket reads ahead and closes its descriptor. A registration is a set of listeners, and an event
// has the names of the events that Node has emitted.
//
// - `readable` and `end` are for reading, `end` for the peer's shut, `connect` and `drain` for writing, `connection`
//   for a server; `error` and `close` always. A modification adds and removes the listeners in which the interests
//   differ. Several events of one socket before the end of a wait are one event with several words.
// - Node emits each event once, even without a listener, so the only mode is `edge`. What happened before the
//   registration is lost, except unread data.
// - Node accepts ahead, and reads ahead until 16 KiB (64 KiB from Node 22 on) or more are unread. Its loop runs between
//   waits, too: data that the program has read before the wait is still reported as `readable` (E13).
// - There is no event for a connected socket with room: interest in writing alone is unsupported there. A write takes
//   all bytes, in the memory of the process if need be, and is refused (EAGAIN) while that buffer is full. `drain`
//   comes when the kernel has taken all of it (V30).
// - `end` is emitted when all data has been read. If the own side is shut, Node then closes the descriptor:
//   `readable|end|close`. Without `allowHalfOpen`, which the adapter sets, Node also shuts its own side at the end.
// - `connect` has no result. The error of the system is an event, even that of a refusal at once.
// - There is no call for a bind before the connect, nor for a shut of the reading side.
// - The adapter runs Node's loop before each answer, until nothing more is emitted: an immediate runs after the loop's
//   poll, and between two of them there is a whole poll.
'use strict';

const { once } = require('node:events');
const net = require('node:net');
const { setImmediate: check } = require('node:timers/promises');

const OK = { ok: {} };

/** What Node has no means for. */
class Unsupported extends Error {}

/** An error by its name: EBADF. */
class Errno extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

/** Returns the name of a system call's error, or its number if Node has no name; null for another error. */
function nameOf({ code, errno }) {
  if (/^E[A-Z0-9]+$/.test(code)) return code;
  return errno < 0 ? String(-errno) : null;
}

/** The sockets and servers by their names. */
const ends = new Map();

/** The sockets and servers with events since the last wait, each with its words. Both have the order of Node. */
const reported = new Map();
/** The number of events so far. */
let emitted = 0;

/** Ends the sleep of a wait. */
let arouse = () => {};

/** A socket or a server. `closed` is fulfilled when Node emits `close`. */
class End {
  listeners = null;

  constructor(emitter) {
    this.emitter = emitter;
    this.closed = new Promise((resolve) => emitter.once('close', resolve));
    // An error without a listener would end the program.
    emitter.on('error', () => {});
  }

  /** Changes the registration. Listeners of events that stay in the interest stay, too. */
  register(token, events) {
    this.token = token;
    this.listeners ??= new Map();
    for (const [event, listener] of this.listeners) {
      if (events.includes(event)) continue;
      this.emitter.off(event, listener);
      this.listeners.delete(event);
      const words = reported.get(this);
      if (words?.delete(event) && words.size === 0) reported.delete(this);
    }
    for (const event of events) {
      if (this.listeners.has(event)) continue;
      const words = (value) => (event === 'error' ? [event, nameOf(value) ?? value.code ?? value.name] : [event]);
      const listener = (value) => this.#report(words(value));
      this.listeners.set(event, listener);
      this.emitter.on(event, listener);
    }
  }

  unregister() {
    this.register(this.token, []);
    this.listeners = null;
    reported.delete(this);
  }

  #report(words) {
    if (!reported.has(this)) reported.set(this, new Set());
    for (const word of words) reported.get(this).add(word);
    emitted += 1;
    arouse();
  }
}

class Connection extends End {
  static open() {
    return new Connection(new net.Socket({ allowHalfOpen: true }));
  }

  /** Node has events for the end of a connect and for the end of a full buffer, but none for room. */
  events(interest) {
    const { writable, pending, writableNeedDrain } = this.emitter;
    const events = [];
    if (interest.includes('read')) events.push('readable');
    if (interest.includes('read') || interest.includes('peer_shut')) events.push('end');
    if (interest.includes('write')) {
      if (events.length === 0 && writable && !pending && !writableNeedDrain) {
        throw new Unsupported('net.Socket has no event for a connected socket with room');
      }
      events.push('connect', 'drain');
    }
    return events;
  }

  async connect(address) {
    this.emitter.connect(target(address));
    await settle();
    throw new Errno('EINPROGRESS'); // The result is an event, even if the system refuses at once.
  }

  /** Data that Node had received before an error can be read after it. */
  async read(room) {
    await settle();
    const socket = this.emitter;
    const data = socket.read(room < socket.readableLength ? room : undefined);
    if (data !== null) return { count: data.length };
    await check(); // A read at the end makes Node emit `end`.
    if (socket.readableEnded) return { count: 0 };
    throw socket.errored ?? new Errno('EAGAIN');
  }

  /** A write takes all bytes, unless the buffer is full. An error comes through the callback. */
  async write(bytes) {
    await settle();
    const socket = this.emitter;
    if (bytes === 0) throw new Unsupported('a write of no bytes makes no system call');
    if (socket.pending && !socket.destroyed) throw new Unsupported('net.Socket keeps a write until it is connected');
    if (socket.errored) throw socket.errored;
    if (socket.writableNeedDrain) throw new Errno('EAGAIN');
    let failure = null;
    socket.write(Buffer.alloc(bytes, '.'), (error) => (failure = error));
    await settle();
    if (failure) throw failure;
    return { count: bytes };
  }

  async shut(how) {
    if (how !== 'write') throw new Unsupported('net.Socket has no call that shuts the reading side');
    await settle();
    if (this.emitter.errored) throw this.emitter.errored;
    this.emitter.end();
    await settle();
  }

  async close() {
    this.emitter.destroy();
    await this.closed;
  }
}

/** Node accepts each connection as soon as it can: `accept` takes those that it has accepted. */
class Listener extends End {
  connections = [];

  constructor(server) {
    super(server);
    server.on('connection', (socket) => this.connections.push(new Connection(socket)));
  }

  static async listen({ address, backlog }) {
    if (backlog === 0) throw new Unsupported('to net.Server, a backlog of 0 is its default of 511');
    const server = net.createServer({ allowHalfOpen: true, noDelay: true });
    server.listen({ ...target(address), backlog });
    await once(server, 'listening');
    return new Listener(server);
  }

  get address() {
    const at = this.emitter.address();
    return typeof at === 'string' ? at : `${at.address}:${at.port}`;
  }

  events(interest) {
    if (interest.includes('read')) return ['connection'];
    if (interest.length === 0) return [];
    throw new Unsupported(`net.Server has no event for ${interest}`);
  }

  async accept() {
    await settle();
    if (this.connections.length === 0) throw new Errno('EAGAIN');
    return this.connections.shift();
  }

  /** The descriptor is closed at once, but `close` comes after the last connection. */
  async close() {
    this.emitter.close();
    await settle();
  }
}

/** Converts an address of the protocol. */
function target(address) {
  if (address.includes('/')) return { path: address };
  const [host, port] = address.split(':');
  return { host, port: Number(port) };
}

/**
 * Runs the event loop until it emits nothing more. The first immediate may run in the current iteration, after
 * its poll. The second one runs in the next iteration, whose poll sees all that has happened before this call.
 */
async function settle() {
  let before;
  do {
    before = emitted;
    await check();
    await check();
  } while (emitted !== before);
}

/** The lines that have arrived and were not read; `null` is the end of the input. */
const lines = [];
let arrived = () => {};

process.stdin.setEncoding('utf8');
let partial = '';
process.stdin.on('data', (text) => {
  const whole = (partial + text).split('\n');
  partial = whole.pop();
  push(...whole);
});
process.stdin.on('end', () => push(null));
process.stdin.on('error', () => push(null));

function push(...more) {
  lines.push(...more);
  arrived();
  arouse();
}

/** Waits for an event, a line, or the timeout. Node's timers may be early. */
async function wait(timeout) {
  const end = timeout === null ? Infinity : performance.now() + timeout;
  await settle();
  while (reported.size === 0 && lines.length === 0) {
    const left = end - performance.now();
    if (left <= 0) break;
    let timer;
    await new Promise((resolve) => {
      arouse = resolve;
      if (left !== Infinity) timer = setTimeout(resolve, Math.ceil(left));
    });
    clearTimeout(timer);
    arouse = () => {};
  }
  await settle();
  const events = [...reported].map(([{ token }, words]) => ({ token, says: [...words] }));
  reported.clear();
  return { events };
}

/** Returns what has this name. */
function named(fd, kind = End) {
  const end = ends.get(fd);
  if (!end) throw new Errno('EBADF');
  if (!(end instanceof kind)) throw new Unsupported(`a ${end.emitter.constructor.name} has no such call`);
  return end;
}

function registered(fd) {
  const end = named(fd);
  if (!end.listeners) throw new Errno('ENOENT');
  return end;
}

function change(end, { token, interest, mode }) {
  if (mode !== 'edge') throw new Unsupported('net.Socket emits an event when something changes: edge mode');
  const known = interest.filter((one) => one !== 'urgent');
  if (known.length === 0 && interest.length > 0) throw new Unsupported('net.Socket has no event for urgent data');
  end.register(token, [...end.events(known), 'error', 'close']);
  return OK;
}

// What the events mean. Node emits `close` after it has closed the descriptor: neither direction works any more.
const WORDS = {
  readable: 'readable', connection: 'readable', connect: 'writable', drain: 'writable', end: 'end', error: 'error',
  close: 'hang-up',
};

const COMMANDS = {
  hello() {
    const { node } = process.versions;
    if (Number.parseInt(node) < 18) throw new Unsupported(`Node ${node} is older than 18`);
    const features = { reset: true, room: false, wake: true, acts: ['tcp', 'unix'] };
    const over = process.platform === 'linux' ? 'epoll' : 'kqueue';
    return { hello: { protocol: 1, name: 'node-net', version: node, modes: ['edge'], words: WORDS, over, ...features } };
  },
  add({ fd, ...registration }) {
    if (named(fd).listeners) throw new Errno('EEXIST');
    return change(named(fd), registration);
  },
  modify: ({ fd, ...registration }) => change(registered(fd), registration),
  remove: ({ fd }) => (registered(fd).unregister(), OK),
  wait: ({ timeout_ms: timeout }) => wait(timeout),
  wake: () => OK, // which has ended the wait by being there
  open: ({ fd }) => (ends.set(fd, Connection.open()), OK),
  bind() {
    throw new Unsupported('net.Socket binds when it connects');
  },
  async listen({ fd, ...where }) {
    const listener = await Listener.listen(where);
    ends.set(fd, listener);
    return { address: listener.address };
  },
  connect: ({ fd, address }) => named(fd, Connection).connect(address),
  async accept({ fd, from }) {
    ends.set(fd, await named(from, Listener).accept());
    return OK;
  },
  read: ({ fd, room }) => named(fd, Connection).read(room),
  write: ({ fd, bytes }) => named(fd, Connection).write(bytes),
  async shut({ fd, how }) {
    await named(fd, Connection).shut(how);
    return OK;
  },
  async close({ fd }) {
    if (fd === undefined) throw new Unsupported("Node's event loop cannot be closed");
    await named(fd).close();
    ends.delete(fd);
    return OK;
  },
  async reset() {
    const all = [...ends.values()].flatMap((end) => [end, ...(end.connections ?? [])]);
    await Promise.all(all.map((end) => end.close()));
    ends.clear();
    reported.clear();
    return OK;
  },
};

/** Returns the name of a command and its fields. */
function parse(line) {
  try {
    return Object.entries(JSON.parse(line))[0] ?? [];
  } catch {
    return [];
  }
}

async function answer(line) {
  const [name = line, fields] = parse(line);
  if (!Object.hasOwn(COMMANDS, name)) return { unknown: name };
  try {
    return await COMMANDS[name](fields);
  } catch (error) {
    if (error instanceof Unsupported) return { unsupported: error.message };
    // Errors of Node itself have a code, or none.
    const errno = nameOf(error);
    return errno ? { errno } : { unsupported: `${name}: ${error.code ?? error}` };
  }
}

async function main() {
  for (;;) {
    while (lines.length === 0) await new Promise((resolve) => (arrived = resolve));
    const line = lines.shift();
    if (line === null) process.exit(0);
    process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
  }
}

main();
