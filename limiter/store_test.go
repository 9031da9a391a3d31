// These tests hold the Store against a plain map of buckets: who is who, whatever the names, and what is forgotten.
package limiter_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tokenbucket/limiter"
)

var threeAt60 = limiter.Policy{Capacity: 3, PerMinute: 60}

// wantBucket holds a bucket of a client against the one that it should have.
func wantBucket(t *testing.T, what string, client []byte, got limiter.Bucket, ticks, last int64) {
	t.Helper()
	if want := (limiter.Bucket{Ticks: ticks, Last: last}); got != want {
		t.Fatalf("%s of %.60q (%d bytes)\ncame:   %+v\nwanted: %+v", what, client, len(client), got, want)
	}
}

// TestStoreNewClient: a client seen for the first time has a full bucket at that time, before time zero as well; and an
// answer of Take is that of Policy.Take on it.
func TestStoreNewClient(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	if s.Policy() != threeAt60 {
		t.Errorf("came:   %+v\nwanted: %+v", s.Policy(), threeAt60)
	}
	wantBucket(t, "TopUp", []byte("a"), s.TopUp([]byte("a"), 7000), 180_000, 7000)
	b, o := s.Take([]byte("b"), -5000, 2, 0)
	wantBucket(t, "Take", []byte("b"), b, 60_000, -5000)
	if want := granted(-5000); o != want {
		t.Errorf("a new client takes 2\ncame:   %+v\nwanted: %+v", o, want)
	}
	b, o = s.Take([]byte("b"), -5000, 2, 0)
	wantBucket(t, "Take", []byte("b"), b, 60_000, -5000)
	if want := retryAfter(1, 1000); o != want {
		t.Errorf("and takes 2 again\ncame:   %+v\nwanted: %+v", o, want)
	}
	b, o = s.Take([]byte("c"), 5, 4, 0) // refused, and known from then on
	wantBucket(t, "Take", []byte("c"), b, 180_000, 5)
	if o != refused {
		t.Errorf("a new client takes 4\ncame:   %+v\nwanted: %+v", o, refused)
	}
	wantBucket(t, "TopUp", []byte("c"), s.TopUp([]byte("c"), 0), 180_000, 5)
	wantBucket(t, "TopUp", []byte("a"), s.TopUp([]byte("a"), 0), 180_000, 7000)
}

// TestStorePeek: Peek tells of a bucket as it stands, of that of an unknown client as it would be, and neither tops it up
// nor makes a client.
func TestStorePeek(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	a := []byte("a")
	wantBucket(t, "Peek before all", a, s.Peek(a, 100), 180_000, 100)
	wantBucket(t, "Peek before all, earlier", a, s.Peek(a, 50), 180_000, 50)
	b, _ := s.Take(a, 20, 3, 0)
	wantBucket(t, "Take, earlier still", a, b, 0, 20)
	wantBucket(t, "Peek later", a, s.Peek(a, 1000), 0, 20)
	wantBucket(t, "TopUp after Peek", a, s.TopUp(a, 30), 600, 30)
	wantBucket(t, "Peek after TopUp", a, s.Peek(a, 0), 600, 30)
	wantBucket(t, "Peek", []byte("b"), s.Peek([]byte("b"), 0), 180_000, 0)
}

// TestStoreReset: Reset sets the policy and forgets everyone, however many there were and however often it is done.
func TestStoreReset(t *testing.T) {
	s := limiter.NewStore(threeAt60)
	a, b := []byte("a"), []byte("b")
	for i := range int64(70_000) { // more often than 16 bits can count
		p := limiter.Policy{Capacity: 1 + i%5, PerMinute: 60}
		s.Reset(p)
		if s.Policy() != p {
			t.Fatalf("Reset %d\ncame:   %+v\nwanted: %+v", i, s.Policy(), p)
		}
		if i%1000 != 999 {
			wantBucket(t, fmt.Sprint("Peek after Reset ", i), a, s.Peek(a, i), p.Capacity*60_000, i)
			after, _ := s.Take(a, i, 1, 0)
			wantBucket(t, fmt.Sprint("Take after Reset ", i), a, after, p.Capacity*60_000-60_000, i)
		}
		if i%3 == 0 { // seen now and then
			after, _ := s.Take(b, i, 1, 0)
			wantBucket(t, fmt.Sprint("Take after Reset ", i), b, after, p.Capacity*60_000-60_000, i)
		}
	}
	for round := range int64(3) {
		s.Reset(limiter.Policy{Capacity: 1 + round, PerMinute: 1})
		for i := range 50_000 {
			name := fmt.Append(nil, "client", i)
			after, _ := s.Take(name, round, 1, 0)
			wantBucket(t, fmt.Sprint("Take in round ", round), name, after, round*60_000, round)
		}
	}
}

// TestStoreNames: a name is any bytes, none, or 65,536 of them; it is known by all its bytes; and the store keeps its own
// copy of it.
func TestStoreNames(t *testing.T) {
	long := strings.Repeat("x", 65_535)
	names := []string{"", "\x00", "\x00\x00", "a", "A", "a\x00", "\x00a", "aa", " a", "a ", "\n", "\xff", "\xff\xfe", "é", "e\u0301",
		"0", "00", "+0", "#", "a\r", long, long + "x", long + "y", "y" + long, long[:65_534] + "\x00", long[:65_534]}
	for length := range 70 { // each a prefix of the next, two beside each that differ at an end, and one of zeros
		p := strings.Repeat("p", length)
		names = append(names, p+"p", p+"q", "q"+p, strings.Repeat("\x00", length+3))
	}
	// Names that differ in one bit, at each place of a word and more.
	for place := range 24 {
		for bit := range 8 {
			name := []byte("0123456789abcdefghijklmn")
			name[place] ^= 1 << bit
			names = append(names, string(name))
		}
	}
	seen := make(map[string]bool)
	for _, name := range names {
		seen[name] = true
	}
	s := limiter.NewStore(limiter.Policy{Capacity: most, PerMinute: 0})
	buffer := make([]byte, 0, 1<<17)
	say := func(name string) []byte { // in the same memory each time, among other bytes
		buffer = append(append(append(buffer[:0], "REQUEST "...), name...), " 1\n"...)
		return buffer[len("REQUEST ") : len(buffer)-3]
	}
	cost := int64(0)
	costs := make(map[string]int64)
	for name := range seen { // each takes as much as no other
		cost++
		costs[name] = cost
		b, _ := s.Take(say(name), 0, cost, 0)
		wantBucket(t, "Take", []byte(name), b, brim-cost*60_000, 0)
	}
	for range 2 {
		for name, cost := range costs {
			wantBucket(t, "TopUp", []byte(name), s.TopUp(say(name), 0), brim-cost*60_000, 0)
			wantBucket(t, "Peek", []byte(name), s.Peek(say(name), 0), brim-cost*60_000, 0)
			if !bytes.Equal(buffer, []byte("REQUEST "+name+" 1\n")) {
				t.Fatalf("the name was written to\ncame:   %.60q\nwanted: %.60q", buffer, "REQUEST "+name+" 1\n")
			}
		}
	}
}

// TestStoreKeepsManyApart: 200,000 clients of names of several kinds, called in any order at any time, each have the bucket
// that a plain map of buckets has for them.
func TestStoreKeepsManyApart(t *testing.T) {
	const clients, calls, seed = 200_000, 600_000, 1
	p := limiter.Policy{Capacity: 5, PerMinute: 7}
	s := limiter.NewStore(p)
	plain := make(map[string]limiter.Bucket)
	r := rand.New(rand.NewPCG(seed, 0))
	var buffer []byte
	name := func(i int) []byte {
		switch buffer = buffer[:0]; i % 4 {
		case 0:
			buffer = fmt.Append(buffer, "client", i)
		case 1:
			buffer = binary.LittleEndian.AppendUint64(buffer, uint64(i))
		case 2:
			buffer = binary.BigEndian.AppendUint32(buffer, uint32(i))
		case 3:
			buffer = fmt.Appendf(buffer, "10.0.%d.%d", i>>8, i&0xFF)
		}
		return buffer
	}
	now := int64(0)
	check := func(i, call int, what string, got limiter.Bucket, o, wantO limiter.Outcome) {
		if want := plain[string(name(i))]; got != want || o != wantO {
			t.Fatalf("seed %d, call %d: %s of %q at %d\ncame:   %+v, %+v\nwanted: %+v, %+v",
				seed, call, what, name(i), now, got, o, want, wantO)
		}
	}
	for call := range calls {
		i := r.IntN(clients)
		if call < clients {
			i = call // so that all of them are there
		}
		now += r.Int64N(5) - 1
		b, known := plain[string(name(i))]
		if !known {
			b = p.Full(now)
		}
		cost, maxWait := 1+r.Int64N(6), r.Int64N(4)*8000
		switch r.IntN(4) {
		case 0:
			plain[string(name(i))] = p.TopUp(b, now)
			check(i, call, "TopUp", s.TopUp(name(i), now), limiter.Outcome{}, limiter.Outcome{})
		case 1:
			if known {
				check(i, call, "Peek", s.Peek(name(i), now), limiter.Outcome{}, limiter.Outcome{})
			} else if got := s.Peek(name(i), now); got != b {
				t.Fatalf("seed %d, call %d: Peek of the unknown %q at %d\ncame:   %+v\nwanted: %+v", seed, call, name(i), now, got, b)
			}
		default:
			after, wantO := p.Take(b, now, cost, maxWait)
			plain[string(name(i))] = after
			got, o := s.Take(name(i), now, cost, maxWait)
			check(i, call, fmt.Sprintf("Take of %d within %d", cost, maxWait), got, o, wantO)
		}
	}
	for i := range clients {
		if _, known := plain[string(name(i))]; known {
			check(i, calls, "Peek", s.Peek(name(i), now), limiter.Outcome{}, limiter.Outcome{})
		}
	}
}
