# The queues of a rank that is stopped in gdb, or of its core file:
#
#   (gdb) source PREFIX/share/libimpi/gdb/libimpi.py
#   (gdb) impi
#
# It reads the library's memory alone: nothing of the program goes on, and the library needs no debugging information, since
# it says where its fields are (libimpi/memory_unsafe.go).
import struct

import gdb

SYMBOL = "github.com/libimpi/libimpi/libimpi.debugged"
VERSION = 1
MOST = 64  # entries that are shown of each list, and LIMIT those that are looked at
LIMIT = 1 << 20
KINDS = {1: "send", 2: "receive", 3: "compound request", 4: "generalized request"}
POSTED = 1  # the state of a receive that C has posted


class Memory:
    """Numbers, texts and lists in the memory of the process."""

    def __init__(self):
        self.inferior = gdb.selected_inferior()

    def bytes(self, at, n):
        return bytes(self.inferior.read_memory(at, n))

    def number(self, at, form):
        return struct.unpack("=" + form, self.bytes(at, struct.calcsize("=" + form)))[0]

    def word(self, at):
        return self.number(at, "Q")

    def text(self, at):
        """A string of Go's."""
        first, n = self.word(at), self.word(at + 8)
        return self.bytes(first, min(n, 256)).decode("utf-8", "replace") if n else ""

    def c_text(self, at):
        """A string of C's."""
        return self.bytes(at, 64).split(b"\0")[0].decode("utf-8", "replace") if at else ""

    def slice(self, at, size=8):
        """The addresses of the elements of a slice."""
        first, n = self.word(at), self.word(at + 8)
        return range(first, first + size * min(n, LIMIT), size)


class Engine:
    """The engine of a process."""

    def __init__(self):
        symbol = gdb.lookup_minimal_symbol(SYMBOL) if hasattr(gdb, "lookup_minimal_symbol") else None
        try:
            at = int(symbol.value().address) if symbol else int(gdb.parse_and_eval("&'%s'" % SYMBOL))
        except gdb.error:
            raise gdb.GdbError("this process has not loaded libimpi, or one of another release")
        self.memory = m = Memory()
        if m.word(at) != VERSION:
            raise gdb.GdbError("libimpi is of another release than this script")
        self.at = m.word(at + 8)
        if self.at == 0:
            raise gdb.GdbError("the process has not called MPI_Init")
        self.fields = {m.text(f): m.word(f + 16) for f in m.slice(at + 16, 24)}

    def field(self, at, name, form="Q"):
        return self.memory.number(at + self.fields[name], form)

    def comm(self, at):
        """A communicator in words."""
        if at == 0:
            return ""
        name = self.memory.text(at + self.fields["comm.name"])
        if not name:
            name = "communicator %d" % self.field(self.field(at, "comm.messages"), "context.id")
        return " on " + name

    def context(self, number):
        """The communicator of a context."""
        for at in self.memory.slice(self.at + self.fields["engine.contexts"]):
            context = self.memory.word(at)
            if context and self.field(context, "context.id") == number:
                return self.comm(self.field(context, "context.comm"))
        return ""

    def request(self, at):
        """A request in words."""
        kind = self.field(at, "request.kind", "B")
        text = KINDS.get(kind, "request")
        if kind == 1:
            text += " to rank %d in MPI_COMM_WORLD" % self.field(at, "request.peer", "i")
        elif kind == 2:
            text += " from " + rank(self.field(at, "request.source", "i"))
        if kind in (1, 2):
            text += tag(self.field(at, "request.tag", "i")) + self.comm(self.field(at, "request.comm"))
            text += ", %d bytes" % self.field(at, "request.bytes", "q")
            comm = self.field(at, "request.comm")
            if comm and self.field(at, "request.context") != self.field(comm, "comm.messages"):
                text += ", of a collective operation or a window"
        return text

    def threads(self):
        """What blocked threads wait for."""
        for at in self.memory.slice(self.at + self.fields["engine.blocked"]):
            thread = self.memory.word(at)
            call = self.memory.c_text(self.field(thread, "blocked.call")) or "a call of MPI"
            request = self.field(thread, "blocked.request")
            if request:
                yield "%s waits for: %s" % (call, self.request(request))
            else:
                what = self.memory.text(thread + self.fields["blocked.what"])
                yield "%s waits for %s%s" % (call, what, self.comm(self.field(thread, "blocked.comm")))

    def requests(self):
        """Requests under way."""
        for at in self.memory.slice(self.at + self.fields["engine.slots"]):
            request = self.memory.word(at)
            if request == 0 or self.field(request, "request.kind", "B") == 0 or self.field(request, "request.done", "B"):
                continue
            if self.field(request, "request.active", "B") or not self.field(request, "request.persistent", "B"):
                yield self.request(request)
        quick = self.memory.word(self.at + self.fields["engine.quick"])
        for i in range(self.fields["slots"] if quick else 0):
            slot = quick + self.fields["quick.slots"] + i * self.fields["slot"]
            if self.field(slot, "slot.state", "I") == POSTED:
                yield "receive from %s%s%s, %d bytes" % (
                    rank(self.field(slot, "slot.source", "i")), tag(self.field(slot, "slot.tag", "i")),
                    self.context(self.field(slot, "slot.context")), self.field(slot, "slot.bytes", "I"))

    def messages(self):
        """Messages that nobody has received."""
        for at in self.memory.slice(self.at + self.fields["engine.contexts"]):
            context = self.memory.word(at)
            place = self.field(context, "context.arrived") if context else 0
            for _ in range(LIMIT):
                if place == 0:
                    break
                message = self.field(place, "place.of")
                yield "from rank %d%s%s, %d bytes" % (
                    self.field(message, "message.source", "i"), tag(self.field(message, "message.tag", "i")),
                    self.comm(self.field(context, "context.comm")), self.field(message, "message.bytes", "q"))
                place = self.field(place, "place.next")


def rank(n):
    return "any rank" if n == -1 else "rank %d" % n


def tag(n):
    return " any tag" if n == -2 else " tag %d" % n


class Impi(gdb.Command):
    """Show what this process waits for in MPI, its requests under way, and messages that nobody has received."""

    def __init__(self):
        super().__init__("impi", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        engine = Engine()
        print("rank %d in MPI_COMM_WORLD" % engine.field(engine.at, "engine.me", "i"))
        self.show("blocked threads", engine.threads())
        self.show("requests under way", engine.requests())
        self.show("messages not received", engine.messages())

    def show(self, title, lines):
        count = 0
        for line in lines:
            if count == 0:
                print(title + ":")
            count += 1
            if count <= MOST:
                print("  " + line)
        if count > MOST:
            print("  and %d more" % (count - MOST))


Impi()
