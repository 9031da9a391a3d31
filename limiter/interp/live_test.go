// These tests run the interpreter with a clock of its own, as -live does, and check when it forgets clients.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"tokenbucket/limiter/interp"
)

// TestLiveClock: the clock is asked for each command, and NOW can't set it.
func TestLiveClock(t *testing.T) {
	ms := int64(1_000_000)
	clock := func() int64 { ms += 1000; return ms }
	const script = "NOW\nREQUEST a 10\nREQUEST a\nNOW 1 x\nRESERVE a 0\nRESERVE a 9000\nRESERVE a 9000 2\nNOW\nNOW 5\n"
	const want = "1001000\n" + // the first reading
		"200 X-RateLimit-Remaining: 0\n" + // 1002000
		"200 X-RateLimit-Remaining: 0\n" + // 1003000, one second and so one token later
		"stdin:4: with -live there is no \"NOW 1 x\": want NOW alone, the clock is the real one\n" +
		"200 Send-At: 1004000\n" +
		"200 Send-At: 1005000\n" +
		"200 Send-At: 1007000\n" + // 1006000, and one token more than the one that flowed in
		"1007000\n" +
		"stdin:9: with -live there is no \"NOW 5\": want NOW alone, the clock is the real one\n"
	if r := run(t, strings.NewReader(script), interp.Options{Clock: clock}); string(r.both) != want {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", script, r.both, want)
	}
}

// TestLiveReference: with a clock of its own the interpreter answers as the reference does where NOW sets the clock to the
// same times, though it forgets clients whose buckets are full, of which there are thousands.
func TestLiveReference(t *testing.T) {
	eachSeed(t, 20, func(t *testing.T, s source) {
		capacity, perMinute := 1+s.Int64N(3), s.oneOf(1, 7, 60, 6000)
		script := []byte(setLimit(capacity, perMinute).String())
		in := &partsReader{parts: [][]byte{bytes.Clone(script)}, end: io.EOF}
		times := []int64{0, 0}
		for range 100 {
			var calls []byte
			for range 100 {
				client := fmt.Sprint("client-", s.Int64N(s.oneOf(10, 1000, 5000)))
				switch s.IntN(4) {
				case 0:
					calls = append(calls, status(client).String()...)
				case 1:
					calls = append(calls, reserve(client, s.Int64N(5*tokenTime(perMinute)), 1+s.Int64N(capacity)).String()...)
				default:
					calls = append(calls, request(client, 1+s.Int64N(capacity)).String()...)
				}
			}
			now := times[len(times)-1]
			script = append(append(script, setNow(now).String()...), calls...)
			in.parts = append(in.parts, calls)
			times = append(times, now+s.Int64N(tokenTime(perMinute)/10))
		}
		ms := int64(0)
		in.before = func(part int) { ms = times[part] }
		r := run(t, in, interp.Options{Clock: func() int64 { return ms }})
		if want, _ := newRefWorld().run(script); !bytes.Equal(r.out, want) || len(r.errs) > 0 {
			t.Fatalf("%s\nmessages: %q\n%s", excerpt(script), r.errs, difference(r.out, want))
		}
	})
}

// TestForgetting: where NOW sets the clock no client is forgotten, because the clock may be set back. With a clock that
// can't be, those whose buckets are full again are forgotten, and memory is bounded.
func TestForgetting(t *testing.T) {
	var script, want strings.Builder
	script.WriteString("LIMIT 1 60\nREQUEST a\nNOW 1000000\n")
	want.WriteString("200 X-RateLimit-Remaining: 0\n")
	for i := range 5000 {
		fmt.Fprintf(&script, "STATUS c%d\n", i)
		want.WriteString("1.000\n")
	}
	script.WriteString("NOW 0\nSTATUS a\n")
	want.WriteString("0.000\n")
	if r := run(t, strings.NewReader(script.String()), interp.Options{}); string(r.both) != want.String() {
		t.Errorf("%s: %s", excerpt([]byte(script.String())), difference(r.both, []byte(want.String())))
	}

	const clients = 300_000
	script.Reset()
	for i := range clients {
		fmt.Fprintf(&script, "REQUEST c%d\n", i)
	}
	ms := int64(0)
	clock := func() int64 { ms += 1000; return ms }
	in := strings.NewReader(script.String())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := interp.Run(in, io.Discard, io.Discard, interp.Options{Clock: clock}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 30*clients { // they are 32 bytes each, and more with the index
		t.Errorf("memory for %d clients seen once\ngot:  %d bytes\nwant: at most %d", clients, used, 30*clients)
	}
}
