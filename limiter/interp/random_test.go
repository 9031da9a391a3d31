// These tests compare the program with the reference on random input: the arithmetic by itself, then whole scripts. The
// fuzz targets look for more; the seeds of FuzzInterpreter are in testdata/fuzz/FuzzInterpreter.
package interp_test

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"
	"testing"
	"unicode/utf8"

	"tokenbucket/limiter"
	"tokenbucket/limiter/interp"
)

// compareTake calls Take, or Refill if cost is 0, and compares what it returns with the reference. It returns the bucket
// afterwards, the number of the rule that decided, and what differs, if anything.
func compareTake(p limiter.Policy, b limiter.Bucket, now, cost, maxWait int64) (after limiter.Bucket, rule int, fault string) {
	ref := refPolicy{num(p.Capacity), num(p.PerMinute)}
	want := refBucket{num(b.Ticks), num(b.Last)}
	if b == p.Full() {
		want = ref.full(num(now)) // a client seen for the first time
	}
	var o limiter.Outcome
	var wantO refOutcome
	if cost == 0 {
		after = p.Refill(b, now)
		want = ref.refill(want, num(now))
	} else {
		after, o = p.Take(b, now, cost, maxWait)
		want, wantO = ref.take(want, num(now), num(cost), num(maxWait))
	}
	if !isInt(want.ticks, after.Ticks) || !isInt(want.last, after.Last) || o.Granted != (wantO.at != nil) ||
		!isInt(wantO.at, o.At) || !isInt(wantO.retryAfter, o.RetryAfter) || !isUint(wantO.wait, o.Wait) {
		fault = fmt.Sprintf("%+v, %+v, now %d, cost %d, max wait %d\ngot:  %+v, %+v\nwant: {Ticks:%d Last:%d}, rule %d: at %d, retry after %d, wait %d",
			p, b, now, cost, maxWait, after, o, want.ticks, want.last, wantO.rule, wantO.at, wantO.retryAfter, wantO.wait)
	}
	return after, wantO.rule, fault
}

// isInt reports whether n is m; nil is 0.
func isInt(n *big.Int, m int64) bool {
	return n == nil && m == 0 || n != nil && n.IsInt64() && n.Int64() == m
}

func isUint(n *big.Int, m uint64) bool {
	return n == nil && m == 0 || n != nil && n.IsUint64() && n.Uint64() == m
}

// checkTake compares Refill and Take with the reference, with the arguments brought into their ranges, and returns the
// number of the rule that decided.
func checkTake(t *testing.T, capacity, perMinute, ticks, last, now, cost, maxWait int64) (rule int) {
	t.Helper()
	p := limiter.Policy{Capacity: (capacity & maxInt) % (maxCapacity + 1), PerMinute: perMinute & maxInt}
	b := limiter.Bucket{Ticks: min(ticks, p.Capacity*60_000), Last: last}
	_, _, fault := compareTake(p, b, now, 0, 0)
	if fault != "" {
		t.Fatal(fault)
	}
	_, rule, fault = compareTake(p, b, now, max(1, cost&maxInt), maxWait&maxInt)
	if fault != "" {
		t.Fatal(fault)
	}
	return rule
}

// checkRules checks that each rule decided at least so many times.
func checkRules(t *testing.T, decided [7]int, least int) {
	t.Helper()
	for rule := 1; rule <= 6; rule++ {
		if decided[rule] < least {
			t.Errorf("calls that rule %d decided\ngot:  %d\nwant: at least %d", rule, decided[rule], least)
		}
	}
}

// TestTakeIsExact: for arguments of any size Refill and Take return what the formulas give in integers without bounds.
func TestTakeIsExact(t *testing.T) {
	var decided [7]int // how many calls each rule decided
	eachSeed(t, 40, func(t *testing.T, s source) {
		value := func() int64 {
			small := s.Int64N(1_000_000) >> s.IntN(20)
			switch s.IntN(8) {
			case 0, 1, 2:
				return small
			case 3:
				return -small
			case 4:
				return minInt + small
			case 5:
				return maxInt - small
			case 6:
				return 1<<s.IntN(64) + small
			}
			return int64(s.Uint64()) >> s.IntN(64)
		}
		for range 1000 {
			capacity, cost := (value()&maxInt)%(maxCapacity+1), value()
			if s.IntN(2) == 0 {
				cost = capacity - s.Int64N(3)
			}
			decided[checkTake(t, capacity, value(), value(), value(), value(), cost, value())]++
		}
	})
	checkRules(t, decided, 300)
}

// FuzzTake looks for arguments for which Refill and Take do not return what the formulas give.
func FuzzTake(f *testing.F) {
	f.Add(int64(3), int64(60), int64(24_000), int64(400), int64(1000), int64(1), int64(0))
	f.Add(int64(1), int64(7), int64(-60_004), int64(0), int64(0), int64(1), int64(60_000))
	f.Add(int64(3), int64(60), int64(0), int64(1000), int64(0), int64(2), int64(5000))
	f.Add(int64(2), int64(120_001), int64(0), int64(0), int64(0), int64(1), int64(1))
	f.Add(int64(1), int64(60), int64(0), int64(maxInt-999), int64(0), int64(1), int64(maxInt))
	f.Add(int64(1), int64(3), int64(minInt+60_000), int64(0), int64(0), int64(1), int64(maxInt))
	f.Add(int64(maxCapacity), int64(1), int64(minInt), int64(minInt), int64(maxInt), int64(maxCapacity), int64(maxInt))
	f.Fuzz(func(t *testing.T, capacity, perMinute, ticks, last, now, cost, maxWait int64) {
		checkTake(t, capacity, perMinute, ticks, last, now, cost, maxWait)
	})
}

// TestScriptsAtTheEdges: the interpreter answers as the reference does also where values are near the ends of 64 bits.
func TestScriptsAtTheEdges(t *testing.T) {
	t.Parallel()
	var decided [7]int
	eachSeed(t, 5000, func(t *testing.T, s source) {
		script := []byte("NOW\n" + scriptOf(s.schedule(30, true, "a", "b", "ab")) + "NOW\n")
		r := run(t, bytes.NewReader(script), interp.Options{})
		world := newRefWorld()
		want, _ := world.run(script)
		if !bytes.Equal(r.out, want) || len(r.errs) > 0 {
			t.Fatalf("%s\nmessages: %q\n%s", script, r.errs, difference(r.out, want))
		}
		for _, o := range world.outcomes {
			decided[o.rule]++
		}
	})
	checkRules(t, decided, 150)
}

// FuzzInterpreter looks for bytes, however they are read, that are not answered as the reference does.
func FuzzInterpreter(f *testing.F) {
	f.Add([]byte(everyKind), uint16(10))
	f.Fuzz(func(t *testing.T, script []byte, size uint16) {
		script = stretch(script)
		r := verify(t, script)
		checkMessages(t, script, r.errs)
		inPieces := run(t, inParts(script, 1+int(size)), interp.Options{})
		if !bytes.Equal(inPieces.both, r.both) {
			t.Fatalf("%s, %d bytes a read: %s", excerpt(script), 1+int(size), difference(inPieces.both, r.both))
		}
	})
}

// stretch makes 16,382 letters of each of the first 12 bytes 0x0E, so that small inputs have lines at the limit of 65,536
// bytes and beyond: STATUS, a blank, a letter and four of them are a line at the limit. Large inputs are slow to fuzz.
func stretch(script []byte) []byte {
	return bytes.Replace(script, []byte{0x0E}, bytes.Repeat([]byte("x"), 16_382), 12)
}

// checkMessages looks for what no terminal should get: invalid UTF-8, control characters but the LF that ends a message,
// what else is not printable, and overlong messages.
func checkMessages(t *testing.T, script, messages []byte) {
	t.Helper()
	for m := range bytes.Lines(messages) {
		m = bytes.TrimSuffix(m, []byte("\n"))
		if !utf8.Valid(m) || len(m) > 1000 {
			t.Fatalf("%s: a message\ngot:  %q\nwant: valid UTF-8 of a sensible length", excerpt(script), m)
		}
		for _, r := range string(m) {
			if r < 0x20 || 0x7F <= r && r < 0xA0 || !strconv.IsPrint(r) {
				t.Fatalf("%s: a message\ngot:  %q, with %U\nwant: what is not printable escaped", excerpt(script), m, r)
			}
		}
	}
}
