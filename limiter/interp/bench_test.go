// These benchmarks run whole scripts through the interpreter: the kinds of traffic that a limiter meets, and the shapes of
// lines that people write. The scripts are made here, in memory, and the answers are thrown away.
//
// Mcmd/s is millions of lines a second. B/cmd is the bytes allocated a line in the second half of a script, when all
// buffers are there: what is left is what a line costs, and where new clients come, the growth of the store.
package interp_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"

	"tokenbucket/limiter/interp"
)

// benchLines is how many lines a script of the benchmarks has.
const benchLines = 500_000

// A namer appends the name of the client of the next line.
type namer func(dst []byte) []byte

// hotClients names 1,000 clients that come again and again.
func hotClients(r *rand.Rand) namer { return numberedClients(r, 1000) }

func numberedClients(r *rand.Rand, clients int64) namer {
	return func(dst []byte) []byte {
		return strconv.AppendInt(append(dst, "10.0.0.client-"...), r.Int64N(clients), 10)
	}
}

// trafficScript returns a script: one line in 16 moves the clock, one in ten of the others is a STATUS, and the rest are
// REQUESTs.
func trafficScript(r *rand.Rand, name namer) []byte {
	script := []byte("LIMIT 10 60\n")
	now := int64(0)
	for i := 1; i < benchLines; i++ {
		switch {
		case i%16 == 0:
			now += r.Int64N(200)
			script = strconv.AppendInt(append(script, "NOW "...), now, 10)
		case r.IntN(10) == 0:
			script = name(append(script, "STATUS "...))
		default:
			script = name(append(script, "REQUEST "...))
		}
		script = append(script, '\n')
	}
	return script
}

// shapedScript returns the traffic of 1,000 clients with each line changed.
func shapedScript(r *rand.Rand, change func(dst, line []byte) []byte) []byte {
	var script []byte
	for line := range bytes.Lines(trafficScript(r, hotClients(r))) {
		script = append(change(script, line[:len(line)-1]), '\n')
	}
	return script
}

// allocatedBy returns how many bytes are allocated to run a script.
func allocatedBy(b *testing.B, script []byte) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runDiscarding(b, script)
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}

func runDiscarding(b *testing.B, script []byte) (bad bool) {
	bad, err := interp.Run(bytes.NewReader(script), io.Discard, io.Discard, interp.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return bad
}

// bench measures a script, which has invalid lines or not.
func bench(b *testing.B, script []byte, wantBad bool) {
	half := 0 // where the first half of the lines ends
	for range benchLines / 2 {
		half += bytes.IndexByte(script[half:], '\n') + 1
	}
	allocated := allocatedBy(b, script) - allocatedBy(b, script[:half])
	b.SetBytes(int64(len(script)))
	for b.Loop() {
		if bad := runDiscarding(b, script); bad != wantBad {
			b.Fatalf("whether any line was invalid\ngot:  %t\nwant: %t", bad, wantBad)
		}
	}
	b.ReportMetric(benchLines*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mcmd/s")
	b.ReportMetric(math.Round(max(0, allocated)/(benchLines/2)), "B/cmd")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkRun runs traffic of four kinds.
func BenchmarkRun(b *testing.B) {
	for _, kind := range []struct {
		name    string
		clients func(r *rand.Rand) namer
	}{
		{"hot", hotClients},
		// As many clients as four lines in five: most are new, or seen once before.
		{"cold", func(r *rand.Rand) namer { return numberedClients(r, benchLines*4/5) }},
		// 100,000 API keys of 40 bytes.
		{"keys", func(r *rand.Rand) namer {
			return func(dst []byte) []byte {
				return fmt.Appendf(dst, "sk_test_%032x", uint64(1+r.IntN(100_000))*0xD1B5_4A32_D192_ED03)
			}
		}},
		// A million, of which a few make most of the traffic.
		{"zipf", func(r *rand.Rand) namer {
			zipf := rand.NewZipf(r, 1.1, 1, 999_999)
			return func(dst []byte) []byte { return strconv.AppendUint(append(dst, "user:"...), zipf.Uint64(), 10) }
		}},
	} {
		b.Run(kind.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 0))
			bench(b, trafficScript(r, kind.clients(r)), false)
		})
	}
}

// BenchmarkShapes runs the traffic of 1,000 clients in lines of other shapes.
func BenchmarkShapes(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 0))
	isRequest := func(line []byte) bool { return bytes.HasPrefix(line, []byte("REQUEST ")) }
	for _, shape := range []struct {
		name   string
		bad    bool
		change func(dst, line []byte) []byte
	}{
		{"lower-case", false, func(dst, line []byte) []byte {
			return append(dst, bytes.ToLower(line)...) // the names are so already
		}},
		{"cost", false, func(dst, line []byte) []byte {
			dst = append(dst, line...)
			if isRequest(line) {
				dst = strconv.AppendInt(append(dst, ' '), 1+r.Int64N(5), 10)
			}
			return dst
		}},
		{"reserve", false, func(dst, line []byte) []byte {
			if client, ok := bytes.CutPrefix(line, []byte("REQUEST ")); ok {
				dst = append(append(append(dst, "RESERVE "...), client...), ' ')
				return strconv.AppendInt(dst, r.Int64N(60_000), 10)
			}
			return append(dst, line...)
		}},
		{"crlf", false, func(dst, line []byte) []byte { return append(append(dst, line...), '\r') }},
		{"blanks", false, func(dst, line []byte) []byte {
			return append(append(append(dst, "  "...), bytes.ReplaceAll(line, []byte(" "), []byte("\t "))...), ' ')
		}},
		{"comments", false, func(dst, line []byte) []byte { return append(append(dst, "# "...), line...) }},
		{"status", false, func(dst, line []byte) []byte {
			return append(dst, bytes.Replace(line, []byte("REQUEST"), []byte("STATUS"), 1)...)
		}},
		{"bad-verb", true, func(dst, line []byte) []byte { return append(append(dst, 'X'), line...) }},
		{"bad-number", true, func(dst, line []byte) []byte {
			return append(append(append(dst, "REQUEST a "...), line[len(line)-1]), "th"...)
		}},
		{"bad-and-good", true, func(dst, line []byte) []byte { // by turns, each to its own output
			if r.IntN(2) == 0 {
				dst = append(dst, 'X')
			}
			return append(dst, line...)
		}},
	} {
		b.Run(shape.name, func(b *testing.B) {
			bench(b, shapedScript(r, shape.change), shape.bad)
		})
	}
}
