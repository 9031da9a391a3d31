// These benchmarks measure the store: one decision, its growth, its speed and memory by the number of clients, names
// chosen to collide, and Reset. Mcmd/s is millions of decisions a second, on one core, hashes included; B/client is what
// the heap holds for each client once garbage is freed, the name included.
package limiter_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"tokenbucket/limiter"
)

var tenAt60 = limiter.Policy{Capacity: 10, PerMinute: 60}

// clientName appends the name of a client as most of the benchmarks have them.
func clientName(dst []byte, i int) []byte {
	return strconv.AppendInt(append(dst, "10.0.0.client-"...), int64(i), 10)
}

// filled is a store that knows clients 0 to clients-1.
func filled(clients int, name func(dst []byte, i int) []byte) *limiter.Store {
	s := limiter.NewStore(tenAt60)
	fill(s, clients, name)
	return s
}

func fill(s *limiter.Store, clients int, name func(dst []byte, i int) []byte) {
	var b batch
	var buffer []byte
	for i := 0; i < clients; {
		for ; i < clients && len(b.calls) < limiter.MaxSeek; i++ {
			buffer = name(buffer[:0], i)
			b.add(buffer, hash(s, buffer), 0)
		}
		b.find(s)
	}
}

// traffic is calls of known clients at random, with their names one behind the other, as the lines of a script have them.
func traffic(s *limiter.Store, clients int, name func(dst []byte, i int) []byte) *batch {
	const calls = 1 << 20 // a multiple of MaxSeek
	r := rand.New(rand.NewPCG(1, 0))
	b := new(batch)
	var buffer []byte
	for range calls {
		buffer = name(buffer[:0], r.IntN(clients))
		b.add(buffer, 0, 0)
	}
	b.text = append(b.text, "\n behind"...)
	return b
}

// decide answers the next 64 calls of the traffic at now: the hashes, Seek, Bucket and Take for each.
func decide(s *limiter.Store, b *batch, first int, now int64) {
	calls, p := b.calls[first:][:limiter.MaxSeek], s.Policy()
	for i := range calls {
		c := &calls[i]
		c.Hash = hash(s, b.text[c.At:][:c.Size])
		c.Now = now
	}
	s.Seek(calls)
	for i := range calls {
		bucket := s.Bucket(b.text, &calls[i], i)
		*bucket, outcome = p.Take(*bucket, now, 1, 0)
	}
}

var outcome limiter.Outcome // kept, so that it has to be computed

// run answers calls of the traffic, round and round, for as long as the benchmark goes on, and returns decisions a second.
func run(b *testing.B, s *limiter.Store, calls *batch) float64 {
	now, first, clients := int64(0), 0, s.Clients()
	for b.Loop() {
		now += 10
		decide(s, calls, first, now)
		first = (first + limiter.MaxSeek) % len(calls.calls)
	}
	if s.Clients() != clients {
		b.Fatalf("%d clients have become %d", clients, s.Clients())
	}
	b.ReportMetric(0, "ns/op") // which would be that of 64
	return float64(b.N) * limiter.MaxSeek / b.Elapsed().Seconds()
}

// BenchmarkTake is one decision: the arithmetic alone, by the store in batches of 64 among 1,000 clients, and by the store
// one at a time.
func BenchmarkTake(b *testing.B) {
	const clients = 1000
	b.Run("policy", func(b *testing.B) {
		b.ReportAllocs()
		bucket, now := tenAt60.Full(0), int64(0)
		for b.Loop() {
			now += 500
			bucket, outcome = tenAt60.Take(bucket, now, 1, 0)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/decision")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		s := filled(clients, clientName)
		perSecond := run(b, s, traffic(s, clients, clientName))
		b.ReportMetric(1e9/perSecond, "ns/decision")
	})
	b.Run("one-by-one", func(b *testing.B) {
		b.ReportAllocs()
		s := filled(clients, clientName)
		calls := traffic(s, clients, clientName)
		now, at := int64(0), 0
		for b.Loop() {
			now++
			c := &calls.calls[at]
			_, outcome = s.Take(calls.text[c.At:][:c.Size], now, 1, 0)
			at = (at + 1) % len(calls.calls)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/decision")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkGrowth fills a new store with a million clients, beside a plain map of pointers to buckets.
func BenchmarkGrowth(b *testing.B) {
	const clients = 1_000_000
	growth := func(fill func() any) func(b *testing.B) {
		return func(b *testing.B) {
			before := heap()
			kept := fill()
			used := heap() - before
			runtime.KeepAlive(kept)
			kept = nil
			runtime.GC()
			for b.Loop() {
				fill()
			}
			b.ReportMetric(float64(used)/clients, "B/client")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/clients, "ns/client")
			b.ReportMetric(0, "ns/op")
		}
	}
	b.Run("store", growth(func() any { return filled(clients, clientName) }))
	b.Run("map", growth(func() any {
		m := make(map[string]*limiter.Bucket)
		var buffer []byte
		for i := range clients {
			buffer = clientName(buffer[:0], i)
			if m[string(buffer)] == nil {
				bucket := tenAt60.Full(0)
				m[string(buffer)] = &bucket
			}
		}
		return m
	}))
}

// BenchmarkClients is the speed and the memory of a store by the number of its clients, all known, called at random.
func BenchmarkClients(b *testing.B) {
	for exponent, clients := 3, 1000; exponent <= 7; exponent, clients = exponent+1, 10*clients {
		b.Run(fmt.Sprint("1e", exponent), func(b *testing.B) {
			before := heap()
			s := filled(clients, clientName)
			bytes := heap() - before
			perSecond := run(b, s, traffic(s, clients, clientName))
			b.ReportMetric(perSecond/1e6, "Mcmd/s")
			b.ReportMetric(float64(bytes)/float64(clients), "B/client")
		})
	}
}

// BenchmarkHostile is the speed with a million clients whose names collide under FNV-1a in the low 20 bits, and with a
// million of random names of the same length. Beside it is how many slots are looked at to find one, a count that no
// noise of the machine touches.
func BenchmarkHostile(b *testing.B) {
	const clients = 1_000_000
	for _, kind := range []struct {
		name  string
		names func(count int) [][]byte
	}{
		{"hostile", hostileNames},
		{"random", harmlessNames},
	} {
		b.Run(kind.name, func(b *testing.B) {
			names := kind.names(clients)
			name := func(dst []byte, i int) []byte { return append(dst, names[i]...) }
			s := filled(clients, name)
			calls := traffic(s, clients, name)
			b.ReportMetric(run(b, s, calls)/1e6, "Mcmd/s")
			looked, _ := s.Probes()
			b.ReportMetric(float64(looked)/clients, "slots/find")
		})
	}
}

// BenchmarkReset is Reset of a small store, with and without a client between, and one Reset of a store of ten million
// clients until the first new client is answered.
func BenchmarkReset(b *testing.B) {
	b.Run("small", func(b *testing.B) {
		b.ReportAllocs()
		s := limiter.NewStore(tenAt60)
		for b.Loop() {
			s.Reset(tenAt60)
		}
	})
	b.Run("small-and-a-client", func(b *testing.B) {
		b.ReportAllocs()
		s := limiter.NewStore(tenAt60)
		name := []byte("10.0.0.client-1")
		for b.Loop() {
			_, outcome = s.Take(name, 0, 1, 0)
			s.Reset(tenAt60)
		}
	})
	b.Run("1e7", func(b *testing.B) {
		s := limiter.NewStore(tenAt60)
		name := []byte("10.0.0.client-1")
		var spent time.Duration
		for b.Loop() { // most of it is filling the store again
			fill(s, 10_000_000, clientName)
			start := time.Now()
			s.Reset(tenAt60)
			_, outcome = s.Take(name, 0, 1, 0)
			spent += time.Since(start)
		}
		b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "ms/reset")
		b.ReportMetric(0, "ns/op")
		before := heap()
		runtime.KeepAlive(s)
		b.ReportMetric(float64(before)/(1<<20), "MiB-left")
	})
}
