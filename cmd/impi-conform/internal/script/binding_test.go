package script

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/libimpi/libimpi/cmd/impi-conform/internal/conform"
	"github.com/libimpi/libimpi/cmd/impi-conform/internal/peer"
)

// plays wants statements to pass.
func plays(t *testing.T, body string) {
	t.Helper()
	if r := play(t, body, time.Minute); r.Outcome != conform.Pass {
		t.Error(r.Problems)
	}
}

func TestAPacketHasTheFieldsOfTable31(t *testing.T) {
	plays(t, `
name = process_name(unhex("00112233445566778899aabbccddeeff"), -2)
p = packet(type = DATASYNC, len = 3, src = name, dest = zeros(24), srqid = 1, drqid = 2, msglen = 4, lsrank = -1,
           tag = 5, cid = 6, seqnum = 7, count = -8, dtype = 9, reserved = (1 << 64) - 1, data = b"abc")
check(p.bytes() == unhex("00000001" + "00000003" + "00112233445566778899aabbccddeeff" + "fffffffffffffffe" +
    "00" * 24 + "0000000000000001" + "0000000000000002" + "0000000000000004" + "ffffffff" + "00000005" +
    "0000000000000006" + "0000000000000007" + "fffffffffffffff8" + "0000000000000009" + "f" * 16) + b"abc", "bytes")
check(p.src == name and p.dest == zeros(24) and p.lsrank == -1 and p.count == -8 and p.data == b"abc", "fields")
q = p.but(tag = 50, data = b"")
check((q.tag, q.data, q.cid, p.tag) == (50, b"", 6, 5), "another")
q.tag += 1
check(q.tag == 51 and type_name(q.type) == "DATASYNC", "changed")
`)
}

func TestWhatHasComeIsNotWhatIsOurs(t *testing.T) {
	for body, want := range map[string]string{
		"must(packet(), tag = 1)":    "must: is for a packet that has come",
		"must(tag = 1)":              "must(p, **fields) has one packet",
		"packet().but(3)":            "fields are given by name",
		"packet().colour = 3":        "a packet has no field colour",
		"print(packet().colour)":     "packet has no .colour field or method",
		"{packet(): 1}":              "unhashable: packet",
		"job().line(0, \"x\")":       "settings has no .line field or method",
		"sums([1, \"x\"], 1)":        "sums: ranks: element 1: got string, want int",
		"msg(0, 1, 2, data = \"x\")": "msg: data: got string, want bytes",
	} {
		if r := play(t, body, time.Minute); r.Outcome != conform.Indeterminate || !strings.Contains(says(r), want) {
			t.Errorf("%s: %q, must say %q", body, says(r), want)
		}
	}
}

func TestNumbersTravelWithTheHighestByteFirst(t *testing.T) {
	plays(t, `
check(u32(1, (1 << 32) - 1) == unhex("00000001ffffffff") and i32(-2) == unhex("fffffffe"), "as bytes")
check(u64(3) == zeros(7) + b"\x03", "as bytes")
check(get_u32(b"x" + u32(5), at = 1) == 5 and get_i32(i32(-5)) == -5 and get_u64(u64(1 << 63)) == 1 << 63, "read")
check(command(CMD_DONE) == b"DONE" + u32(0) and coll(7, b"x") == b"COLL" + u32(5, 7) + b"x", "commands")
check(broadcast(7, 3) == b"COLL" + u32(8, 7, 3) and impi(-1) == b"IMPI" + i32(4, -1), "commands")
check(auth() == b"AUTH" + u32(0) and auth(1) == b"AUTH" + u32(4, 1), "commands")
check(label_name(C_NHOSTS) == "C_NHOSTS" and LABELS[1] == C_NHOSTS and len(LABELS) == 14, "labels")
check(u32() == b"" and zeros(0) == b"" and row(0, -1) == b"" and repeat(b"ab", 2) == b"abab", "none is no bytes")
`)
}

func TestThePlayersValues(t *testing.T) {
	plays(t, `
check(pattern(3, 2) == b"\x03\x0a" and row(2, 2) == i32(2000, 2001) and cell(1, 2, 1) == i32(10200), "values")
check(sums(range(3), 2) == i32(3000, 3003) and affine(1, 1) == u32(5, 1000), "values")
check(composed(1, 1) == u32(15, 1000) and composed(0, 2) == u32(3, 0, 3, 1), "values")
check(minloc([0, 1], 2, 1) == u64(0) + i32(1), "values")
`)
}

// A case can be played in a job that somebody else has started.
func TestACaseIsPlayedInARunningJob(t *testing.T) {
	cases, err := Parse("f.star", "def f(j):\n    check(j.clients == 4, \"%d clients\", j.clients)\n\n"+
		"case(\"a/b\", \"1\", \"x\", job = job(others = [[1]]), play = f)")
	if err != nil {
		t.Fatal(err)
	}
	c := cases[0]
	c.Run = func(t *conform.T) { c.Within(t, &peer.Job{Clients: 3}) }
	conform.Run(context.Background(), []conform.Case{c}, conform.Options{Timeout: time.Minute}, func(r conform.Result) {
		if says(r) != "3 clients" {
			t.Error(r.Problems)
		}
	})
}

func TestJobsThatAreAlikeHaveOneText(t *testing.T) {
	cases, err := Parse("f.star", `
def one(name, j):
    case("a/" + name, "1", "x", job = j)

one("a", job(manual = True, others = [[1], (2, 3)], rank = 1))
one("b", job(rank = 1, procs = 1, others = ((1,), [2, 3]), xsize = None, env = None, manual = True, ipv6 = False))
one("c", job(rank = 1, others = [[1], [2]], manual = True))
`)
	if err != nil {
		t.Fatal(err)
	}
	if cases[0].Job == "" || cases[0].Job != cases[1].Job || cases[1].Job == cases[2].Job {
		t.Errorf("%q, %q, %q", cases[0].Job, cases[1].Job, cases[2].Job)
	}
}
