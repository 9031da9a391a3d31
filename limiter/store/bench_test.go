// These benchmarks measure one decision, the store's growth, its speed and memory by the number of clients, names chosen to
// collide, and Reset. Mcmd/s is millions of decisions a second, on one core, hashes included; B/client is what the heap
// holds for each client once garbage is freed, the name included.
package store_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"tokenbucket/limiter"
	"tokenbucket/limiter/store"
)

var tenAt60 = limiter.Policy{Capacity: 10, PerMinute: 60}

// clientName appends the name of a client as most of the benchmarks have them.
func clientName(dst []byte, i int) []byte {
	return strconv.AppendInt(append(dst, "10.0.0.client-"...), int64(i), 10)
}

// newStore returns a store that knows clients 0 to clients-1.
func newStore(clients int, name func(dst []byte, i int) []byte) *store.Store {
	s := store.New(tenAt60.Full())
	fill(s, clients, name)
	return s
}

func fill(s *store.Store, clients int, name func(dst []byte, i int) []byte) {
	var b batch
	var buffer []byte
	for i := 0; i < clients; {
		for ; i < clients && len(b.keys) < store.MaxBatch; i++ {
			buffer = name(buffer[:0], i)
			b.add(s.Hasher(), buffer)
		}
		b.find(s)
	}
}

// randomCalls is how many calls a benchmark repeats, a multiple of MaxBatch.
const randomCalls = 1 << 20

// measure answers calls of known clients at random, for as long as the benchmark goes on, and returns decisions a second.
// Their names lie one after the other, as in a script, and are hashed each time.
func measure(b *testing.B, s *store.Store, clients int, name func(dst []byte, i int) []byte) float64 {
	r := rand.New(rand.NewPCG(1, 0))
	var text []byte
	starts := make([]int, 1, randomCalls+1)
	for range randomCalls {
		text = name(text, r.IntN(clients))
		starts = append(starts, len(text))
	}
	h, keys := s.Hasher(), make([]store.Key, store.MaxBatch)
	now, first := int64(0), 0
	for b.Loop() {
		now += 10
		places := starts[first:][:store.MaxBatch+1]
		for i := range keys {
			keys[i] = h.Key(text, places[i], places[i+1])
		}
		for _, bucket := range s.Find(text, keys) {
			*bucket, outcome = tenAt60.Take(*bucket, now, 1, 0)
		}
		first = (first + store.MaxBatch) % randomCalls
	}
	if s.Clients() != clients {
		b.Fatalf("clients\ngot:  %d\nwant: %d", s.Clients(), clients)
	}
	b.ReportMetric(0, "ns/op") // which would be that of 64
	return float64(b.N) * store.MaxBatch / b.Elapsed().Seconds()
}

var outcome limiter.Outcome // kept, so that it has to be computed

// BenchmarkTake is one decision: the arithmetic alone, and with the store in batches of 64 among 1,000 clients.
func BenchmarkTake(b *testing.B) {
	b.Run("policy", func(b *testing.B) {
		b.ReportAllocs()
		bucket, now := tenAt60.Full(), int64(0)
		for b.Loop() {
			now += 500
			bucket, outcome = tenAt60.Take(bucket, now, 1, 0)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N), "ns/decision")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("store", func(b *testing.B) {
		b.ReportAllocs()
		const clients = 1000
		perSecond := measure(b, newStore(clients, clientName), clients, clientName)
		b.ReportMetric(1e9/perSecond, "ns/decision")
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
	b.Run("store", growth(func() any { return newStore(clients, clientName) }))
	b.Run("map", growth(func() any {
		m := make(map[string]*limiter.Bucket)
		var buffer []byte
		for i := range clients {
			buffer = clientName(buffer[:0], i)
			if m[string(buffer)] == nil {
				bucket := tenAt60.Full()
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
			s := newStore(clients, clientName)
			used := heap() - before
			b.ReportMetric(measure(b, s, clients, clientName)/1e6, "Mcmd/s")
			b.ReportMetric(float64(used)/float64(clients), "B/client")
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
		{"random", randomNames},
	} {
		b.Run(kind.name, func(b *testing.B) {
			names := kind.names(clients)
			name := func(dst []byte, i int) []byte { return append(dst, names[i]...) }
			s := newStore(clients, name)
			b.ReportMetric(measure(b, s, clients, name)/1e6, "Mcmd/s")
			probes, _ := s.Probes()
			b.ReportMetric(float64(probes)/clients, "slots/find")
		})
	}
}

// BenchmarkReset is Reset of a small store, with and without a client between, and one Reset of a store of ten million
// clients until the first new client is answered.
func BenchmarkReset(b *testing.B) {
	full := tenAt60.Full()
	var one batch
	answer := func(s *store.Store) {
		one.add(s.Hasher(), []byte("10.0.0.client-1"))
		bucket := one.find(s)[0]
		*bucket, outcome = tenAt60.Take(*bucket, 0, 1, 0)
	}
	b.Run("small", func(b *testing.B) {
		b.ReportAllocs()
		s := store.New(full)
		for b.Loop() {
			s.Reset(full)
		}
	})
	b.Run("small-and-a-client", func(b *testing.B) {
		b.ReportAllocs()
		s := store.New(full)
		for b.Loop() {
			answer(s)
			s.Reset(full)
		}
	})
	b.Run("1e7", func(b *testing.B) {
		s := store.New(full)
		var spent time.Duration
		for b.Loop() { // most of it is filling the store again
			fill(s, 10_000_000, clientName)
			start := time.Now()
			s.Reset(full)
			answer(s)
			spent += time.Since(start)
		}
		b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N), "ms/reset")
		b.ReportMetric(0, "ns/op")
		left := heap()
		runtime.KeepAlive(s)
		b.ReportMetric(float64(left)/(1<<20), "MiB-left")
	})
}
