// node node-reset-is-end.js
// Half of an answer and a reset look like a clean end. Exit code: 0 shown, 1 not, 77 with libuv 1.52 or later.
const net = require('node:net');

const seen = {};

function ask(data) {
  const name = data ? 'data and a reset' : 'a reset';
  const server = net.createServer((socket) => {
    const events = [];
    socket.on('data', () => events.push('data'));
    socket.on('end', () => events.push('end'));
    socket.on('error', ({ code }) => events.push(code));
    socket.on('close', () => {
      seen[name] = events.join(', ');
      console.log(`${name}: ${seen[name]}`);
      server.close();
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const peer = net.connect(server.address().port, '127.0.0.1', () => {
      if (data) peer.write(data);
      peer.resetAndDestroy();
    });
  });
}

ask('');
ask('half of an answer');

process.on('exit', () => {
  const [major, minor] = process.versions.uv.split('.').map(Number);
  const is_shown = seen['a reset'] === 'ECONNRESET' && seen['data and a reset'] === 'data, end';
  process.exitCode = is_shown ? 0 : major * 100 + minor >= 152 ? 77 : 1;
});
