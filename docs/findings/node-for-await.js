// node node-for-await.js
// The data before a reset is left unread. Exit code: 0 shown, 1 not, 77 not, with a Node that was not measured.
const net = require('node:net');
const { setTimeout: sleep } = require('node:timers/promises');

process.exitCode = 1;
const server = net.createServer(async (socket) => {
  try {
    for await (const data of socket) {
      console.log(`read ${data}`);
      await sleep(400); // meanwhile, `two` and the reset arrive
    }
  } catch (error) {
    const left = socket.readableLength;
    const data = socket.read();
    console.log(`${error.code}, and ${left} bytes are unread: ${data}`);
    const is_measured = [18, 20, 22, 25, 26].includes(parseInt(process.versions.node));
    process.exitCode = String(data) === 'two' ? 0 : is_measured ? 1 : 77;
  }
  server.close();
});
server.listen(0, '127.0.0.1', () => {
  const peer = net.connect(server.address().port, '127.0.0.1', async () => {
    peer.write('one');
    await sleep(100);
    peer.write('two');
    await sleep(100);
    peer.resetAndDestroy();
  });
});
