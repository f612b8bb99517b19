// java java-late-close.java
// A closed channel lives until the next select. Exit code: 0 shown, 1 not, 77 not, with another Java than 17.
import java.net.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;

class Late {
  public static void main(String[] arguments) throws Exception {
    Selector selector = Selector.open();
    ServerSocketChannel listener = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
    SocketAddress address = listener.getLocalAddress();
    SocketChannel client = SocketChannel.open(address), own = listener.accept();
    Pipe pipe = Pipe.open();
    own.configureBlocking(false).register(selector, SelectionKey.OP_READ);
    listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
    pipe.source().configureBlocking(false).register(selector, SelectionKey.OP_READ);
    for (SelectableChannel channel : new SelectableChannel[] {own, listener, pipe.source()}) channel.close();
    System.out.println("the peer reads " + client.read(ByteBuffer.allocate(1)));
    String before = ask(client, address, pipe);
    System.out.println("closed: " + before);
    selector.selectNow();
    String after = ask(client, address, pipe);
    System.out.println("closed, and selectNow: " + after);
    boolean shown = before.equals("the peer writes 1, 1; connect: succeeds; the pipe's writer writes 1")
        && after.contains("Broken pipe; connect: Connection refused");
    int otherwise = Runtime.version().feature() == 17 ? 1 : 77; // measured with 17
    System.exit(shown ? 0 : otherwise);
  }

  static String ask(SocketChannel client, SocketAddress address, Pipe pipe) throws Exception {
    return "the peer writes " + written(client) + ", " + written(client) + "; connect: " + connected(address)
        + "; the pipe's writer writes " + written(pipe.sink());
  }

  static String written(WritableByteChannel to) throws InterruptedException {
    try {
      Thread.sleep(10); // for a reset
      return String.valueOf(to.write(ByteBuffer.allocate(1)));
    } catch (java.io.IOException error) {
      return error.getMessage();
    }
  }

  static String connected(SocketAddress address) {
    try (SocketChannel another = SocketChannel.open(address)) {
      return "succeeds";
    } catch (java.io.IOException error) {
      return error.getMessage();
    }
  }
}
