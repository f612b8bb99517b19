import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.Pipe;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * java.nio.channels.Selector as an adapter of pollmatrix (docs/adapters.md). It makes its channels itself, because
 * no public interface of Java takes a descriptor.
 *
 * The form of select() with an action keeps the order of the system; a set of selected keys has none.
 */
final class Nio {
    /** The words of an event, in the order of the documentation of SelectionKey's constants. */
    private static final Map<Integer, String> WORDS = new LinkedHashMap<>();

    static {
        WORDS.put(SelectionKey.OP_READ, "OP_READ");
        WORDS.put(SelectionKey.OP_WRITE, "OP_WRITE");
        WORDS.put(SelectionKey.OP_CONNECT, "OP_CONNECT");
        WORDS.put(SelectionKey.OP_ACCEPT, "OP_ACCEPT");
    }

    /** Exceptions have the text of strerror(3), or Java's own for the same error. */
    private static final String[][] ERRORS = {
        {"Address already in use", "EADDRINUSE"},
        {"Broken pipe", "EPIPE"},
        {"Connection refused", "ECONNREFUSED"},
        {"Connection reset", "ECONNRESET"},
        {"Connection timed out", "ETIMEDOUT"},
        {"Invalid argument", "EINVAL"},
        {"Message too long", "EMSGSIZE"},
        {"No buffer space available", "ENOBUFS"},
        {"No such file or directory", "ENOENT"},
        {"Permission denied", "EACCES"},
        {"Protocol wrong type for socket", "EPROTOTYPE"},
        {"Resource temporarily unavailable", "EAGAIN"},
        {"Socket not connected", "ENOTCONN"},
        {"Transport endpoint is not connected", "ENOTCONN"},
        {"Transport endpoint is already connected", "EISCONN"},
        {"Too many open files in system", "ENFILE"},
        {"Too many open files", "EMFILE"},
    };

    /** An act that Java has no means for. */
    private static final class Unsupported extends Exception {
        private static final long serialVersionUID = 1;

        Unsupported(String reason) {
            super(reason);
        }
    }

    /** A command: a name, and fields that are numbers, texts, or lists of words. */
    private static final class Command {
        private static final Pattern LINE = Pattern.compile("\\s*\\{\\s*\"([a-z_]+)\"\\s*:\\s*\\{(.*)\\}\\s*\\}\\s*");
        private static final Pattern WORD = Pattern.compile("\"([a-z_]*)\"");

        final String name;
        private final String fields;

        Command(String line) {
            Matcher found = LINE.matcher(line);
            boolean matches = found.matches();
            name = matches ? found.group(1) : "";
            fields = matches ? found.group(2) : "";
        }

        private String field(String key, String value) {
            Matcher found = Pattern.compile("\"" + key + "\"\\s*:\\s*" + value).matcher(fields);
            return found.find() ? found.group(1) : null;
        }

        boolean has(String key) {
            return field(key, "(.)") != null;
        }

        /** Returns a number, or null for null. */
        Double number(String key) {
            String text = field(key, "(-?[0-9][0-9.eE+-]*)");
            return text == null ? null : Double.valueOf(text);
        }

        int integer(String key) {
            Double number = number(key);
            return number == null ? -1 : number.intValue();
        }

        String text(String key) {
            return field(key, "\"((?:[^\"\\\\]|\\\\.)*)\"");
        }

        List<String> words(String key) {
            List<String> words = new ArrayList<>();
            Matcher found = WORD.matcher(field(key, "\\[([^\\]]*)\\]"));
            while (found.find()) words.add(found.group(1));
            return words;
        }
    }

    /** The lines that have arrived and were not read. A line that arrives during a wait ends it. */
    private final ArrayDeque<Command> lines = new ArrayDeque<>();
    private boolean ended, waiting, woken;

    private final PrintStream output = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
    private final Map<Integer, SelectableChannel> channels = new HashMap<>();
    private Selector selector = Selector.open();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 16);

    private Nio() throws IOException {}

    /** Reads standard input until it ends. */
    private void read() {
        try (var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line; (line = input.readLine()) != null; ) {
                arrived(new Command(line));
            }
        } catch (IOException error) {
            System.err.println(error);
        }
        arrived(null);
    }

    private synchronized void arrived(Command line) {
        if (line == null) ended = true;
        else lines.add(line);
        notifyAll();
        if (waiting) {
            woken = true;
            selector.wakeup();
        }
    }

    /** Returns the next line, or null at the end of the input. */
    private synchronized Command next() throws InterruptedException {
        while (lines.isEmpty() && !ended) wait();
        return lines.poll();
    }

    private synchronized boolean begins() {
        waiting = lines.isEmpty() && !ended;
        return waiting;
    }

    private synchronized boolean ends() {
        waiting = false;
        boolean was = woken;
        woken = false;
        return was;
    }

    private static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    private static String event(SelectionKey key) {
        List<String> says = new ArrayList<>();
        WORDS.forEach((op, word) -> {
            if ((key.readyOps() & op) != 0) says.add(quoted(word));
        });
        return "{\"token\":" + quoted((String) key.attachment()) + ",\"says\":[" + String.join(",", says) + "]}";
    }

    /** The selector has milliseconds, and 0 is no limit: a timeout is rounded up. */
    private String waits(Double timeout) throws IOException {
        List<String> events = new ArrayList<>();
        boolean sleeps = begins() && (timeout == null || timeout > 0);
        try {
            if (sleeps) {
                selector.select(key -> events.add(event(key)), timeout == null ? 0 : (long) Math.ceil(timeout));
            } else {
                selector.selectNow(key -> events.add(event(key)));
            }
        } finally {
            // A wakeup() that came after the end of the wait would end the next one.
            if (ends() && selector.isOpen()) selector.selectNow(key -> {});
        }
        return "{\"events\":[" + String.join(",", events) + "]}";
    }

    /** A channel that is not connected can only be connected, and a connected one cannot. */
    private static int operations(SelectableChannel channel, List<String> interest) throws Unsupported {
        boolean unconnected = channel instanceof SocketChannel socket && !socket.isConnected();
        int read = channel instanceof ServerSocketChannel ? SelectionKey.OP_ACCEPT : SelectionKey.OP_READ;
        int write = unconnected ? SelectionKey.OP_CONNECT : SelectionKey.OP_WRITE;
        int operations = (interest.contains("read") ? read : 0) | (interest.contains("write") ? write : 0);
        operations &= channel.validOps();
        if (operations == 0 && !interest.isEmpty()) {
            throw new Unsupported(channel.getClass().getSimpleName() + " has no operation for " + interest);
        }
        return operations;
    }

    private String change(Command line) throws IOException, Unsupported {
        SelectableChannel channel = channels.get(line.integer("fd"));
        if (!"level".equals(line.text("mode"))) throw new Unsupported("a Selector has level mode only");
        if (channel == null) return errno("EBADF");
        int operations = operations(channel, line.words("interest"));
        if (line.name.equals("add")) {
            channel.register(selector, operations, line.text("token"));
        } else {
            SelectionKey key = channel.keyFor(selector);
            if (key == null) return errno("ENOENT");
            key.interestOps(operations);
            key.attach(line.text("token"));
        }
        return ok();
    }

    private void keep(int name, SelectableChannel channel) throws IOException {
        channel.configureBlocking(false);
        channels.put(name, channel);
    }

    private static SocketAddress address(String text) {
        if (text.contains("/")) return UnixDomainSocketAddress.of(text);
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    private static String text(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet)) return address.toString();
        return inet.getAddress().getHostAddress() + ":" + inet.getPort();
    }

    private static ProtocolFamily family(Command line) {
        return line.text("kind").equals("unix") ? StandardProtocolFamily.UNIX : StandardProtocolFamily.INET;
    }

    private String open(Command line, int name) throws IOException {
        switch (line.text("kind")) {
            case "pipe" -> {
                Pipe pipe = Pipe.open();
                keep(name, pipe.source());
                keep(line.integer("peer"), pipe.sink());
            }
            case "udp" -> keep(name, DatagramChannel.open(family(line)));
            default -> keep(name, SocketChannel.open(family(line)));
        }
        return ok();
    }

    private String listen(Command line, int name) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open(family(line));
        keep(name, listener.bind(address(line.text("address")), line.integer("backlog")));
        return "{\"address\":" + quoted(text(listener.getLocalAddress())) + "}";
    }

    private static String connect(SelectableChannel channel, SocketAddress to) throws IOException {
        if (channel instanceof DatagramChannel datagrams) {
            datagrams.connect(to);
            return ok();
        }
        // `false` is how Java says that the connection is in progress.
        return ((SocketChannel) channel).connect(to) ? ok() : errno("EINPROGRESS");
    }

    private String accept(SelectableChannel listener, int name) throws IOException {
        SocketChannel accepted = ((ServerSocketChannel) listener).accept();
        if (accepted == null) return errno("EAGAIN");
        if (accepted.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }
        keep(name, accepted);
        return ok();
    }

    /** Returns room for this many bytes. */
    private ByteBuffer room(int bytes) {
        if (buffer.capacity() < bytes) buffer = ByteBuffer.allocateDirect(bytes);
        return buffer.clear().limit(bytes);
    }

    /** Java's 0 is `EAGAIN`, and its -1 is the end. */
    private String read(SelectableChannel channel, int room) throws IOException {
        ByteBuffer buffer = room(room);
        if (channel instanceof DatagramChannel datagrams) {
            // read() does not tell an empty datagram from none; receive() does.
            return datagrams.receive(buffer) == null ? errno("EAGAIN") : count(buffer.position());
        }
        int count = ((ReadableByteChannel) channel).read(buffer);
        return count == 0 ? errno("EAGAIN") : count(Math.max(count, 0));
    }

    private String write(SelectableChannel channel, int bytes) throws IOException, Unsupported {
        if (bytes == 0) throw new Unsupported("write() of no bytes, and send() to the connected address, make no system call");
        int count = ((WritableByteChannel) channel).write(room(bytes));
        return count == 0 ? errno("EAGAIN") : count(count);
    }

    private static String shut(SelectableChannel channel, String how) throws IOException, Unsupported {
        if (!(channel instanceof SocketChannel socket)) throw new Unsupported("only a SocketChannel can be shut");
        if (!how.equals("write")) socket.shutdownInput();
        if (!how.equals("read")) socket.shutdownOutput();
        return ok();
    }

    private String obey(Command line) throws IOException, Unsupported {
        int name = line.integer("fd");
        SelectableChannel channel = channels.get(line.name.equals("accept") ? line.integer("from") : name);
        switch (line.name) {
            case "hello":
                return "{\"hello\":{\"protocol\":1,\"name\":\"java-nio\",\"version\":" + quoted(Runtime.version().toString())
                    + ",\"over\":\"" + (System.getProperty("os.name").equals("Linux") ? "epoll" : "kqueue") + "\""
                    + ",\"words\":{\"OP_READ\":\"readable\",\"OP_ACCEPT\":\"readable\",\"OP_WRITE\":\"writable\""
                    + ",\"OP_CONNECT\":\"writable\"}"
                    + ",\"modes\":[\"level\"],\"wake\":true,\"reset\":true,\"room\":false"
                    + ",\"acts\":[\"pipe\",\"tcp\",\"udp\",\"unix\"]}}";
            case "wait":
                return waits(line.number("timeout_ms"));
            case "wake": // which has ended the wait by being there
                return ok();
            case "reset":
                selector.close();
                for (SelectableChannel open : channels.values()) open.close();
                channels.clear();
                selector = Selector.open();
                return ok();
            case "add", "modify":
                return change(line);
            case "remove":
                SelectionKey key = channel == null ? null : channel.keyFor(selector);
                if (key == null) return errno("ENOENT");
                key.cancel();
                return ok();
            case "close":
                if (!line.has("fd")) {
                    selector.close();
                    return ok();
                }
                break;
            case "open":
                return open(line, name);
            case "listen":
                return listen(line, name);
            case "bind", "connect", "accept", "read", "write", "shut":
                break;
            default:
                return "{\"unknown\":" + quoted(line.name) + "}";
        }
        if (channel == null) return errno("EBADF");
        switch (line.name) {
            case "bind":
                ((NetworkChannel) channel).bind(address(line.text("address")));
                return "{\"address\":" + quoted(text(((NetworkChannel) channel).getLocalAddress())) + "}";
            case "connect":
                return connect(channel, address(line.text("address")));
            case "accept":
                return accept(channel, name);
            case "read":
                return read(channel, line.integer("room"));
            case "write":
                return write(channel, line.integer("bytes"));
            case "shut":
                return shut(channel, line.text("how"));
            default:
                channel.close();
                return ok();
        }
    }

    private static String ok() {
        return "{\"ok\":{}}";
    }

    private static String errno(String name) {
        return "{\"errno\":" + quoted(name) + "}";
    }

    private static String count(int count) {
        return "{\"count\":" + count + "}";
    }

    /** Converts an exception: an errno if it comes from a system call, otherwise its name. */
    private String refused(Command line, Exception error) {
        String text = String.valueOf(error.getMessage());
        for (String[] known : ERRORS) {
            if (text.contains(known[0])) return errno(known[1]);
        }
        if (error instanceof PortUnreachableException) return errno("ECONNREFUSED");
        if (error instanceof ClosedSelectorException) return errno("EBADF");
        if (error instanceof Unsupported) return "{\"unsupported\":" + quoted(text) + "}";
        String reason = error.getClass().getName() + (error.getMessage() == null ? "" : ": " + text);
        return "{\"unsupported\":" + quoted(line.name + " throws " + reason) + "}";
    }

    public static void main(String[] arguments) throws Exception {
        Nio adapter = new Nio();
        Thread reader = new Thread(adapter::read, "standard input");
        reader.setDaemon(true);
        reader.start();
        for (Command line; (line = adapter.next()) != null; ) {
            String answer;
            try {
                answer = adapter.obey(line);
            } catch (IOException | Unsupported | RuntimeException error) {
                answer = adapter.refused(line, error);
            }
            adapter.output.println(answer);
        }
    }
}
