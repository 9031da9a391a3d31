// The golden files of the exercise, testdata/exercise, checked against a right solution and against wrong ones: every mistake
// that a file is named after fails that file. `go test -v -run Mistakes` logs which files each mistake fails.
//
// Floating point occurs only in mistakes that consist in using it.

package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const mistakeDir = "../../testdata/exercise"

// A solution of the exercise as a student writes it. Its steps are variables, so that a mistake can replace one.
type solution struct {
	capacity, rate, now int64
	buckets             map[string]*solutionBucket

	limit      func(capacity, rate int64)
	clock      func(ms int64)
	key        func(client string) string // the key of the client in buckets
	fresh      func() *solutionBucket     // the bucket of a new client
	full       func() int64               // the capacity in ticks
	elapsed    func(last int64) int64     // the time since last in ms
	refill     func(b *solutionBucket)
	take       func(b *solutionBucket) bool   // reports whether there was a token
	request    func(b *solutionBucket) string // the answer to REQUEST
	status     func(b *solutionBucket) string // the answer to STATUS
	remaining  func(ticks int64) int64        // the whole tokens
	retryAfter func(short int64) int64        // the seconds until short ticks have flowed in
	toShow     func(ticks int64) int64        // the thousandths of a token
	show       func(thousandths int64) string
}

type solutionBucket struct{ ticks, last int64 }

// newSolution returns a solution without mistakes.
func newSolution() *solution {
	s := &solution{capacity: 10, rate: 60, buckets: map[string]*solutionBucket{}}
	s.limit = func(capacity, rate int64) { s.capacity, s.rate = capacity, rate; clear(s.buckets) }
	s.clock = func(ms int64) { s.now = ms }
	s.key = func(client string) string { return client }
	s.full = func() int64 { return s.capacity * 60000 }
	s.fresh = func() *solutionBucket { return &solutionBucket{s.full(), s.now} }
	s.elapsed = func(last int64) int64 { return max(0, s.now-last) }
	s.refill = func(b *solutionBucket) {
		b.ticks = min(s.full(), b.ticks+s.elapsed(b.last)*s.rate)
		b.last = max(b.last, s.now)
	}
	s.take = func(b *solutionBucket) bool {
		if b.ticks < 60000 {
			return false
		}
		b.ticks -= 60000
		return true
	}
	s.request = func(b *solutionBucket) string {
		s.refill(b)
		if s.take(b) {
			return solutionGrant(s.remaining(b.ticks))
		}
		return solutionRefusal(s.retryAfter(60000 - b.ticks))
	}
	s.status = func(b *solutionBucket) string { s.refill(b); return s.show(s.toShow(b.ticks)) }
	s.remaining = func(ticks int64) int64 { return ticks / 60000 }
	s.retryAfter = func(short int64) int64 { return max(1, solutionCeil(solutionCeil(short, s.rate), 1000)) }
	s.toShow = func(ticks int64) int64 { return ticks / 60 }
	s.show = func(thousandths int64) string { return fmt.Sprintf("%d.%03d", thousandths/1000, thousandths%1000) }
	return s
}

func solutionCeil(a, b int64) int64 { return (a + b - 1) / b }
func solutionGrant(remaining int64) string {
	return fmt.Sprint("200 X-RateLimit-Remaining: ", remaining)
}
func solutionRefusal(retryAfter int64) string { return fmt.Sprint("429 Retry-After: ", retryAfter) }

// answers runs a script, which has the form that TestExerciseFiles checks.
func (s *solution) answers(script string) string {
	var out strings.Builder
	for text := range strings.Lines(script) {
		words := strings.Fields(text)
		first, _ := strconv.ParseInt(words[1], 10, 64)
		switch words[0] {
		case "LIMIT":
			rate, _ := strconv.ParseInt(words[2], 10, 64)
			s.limit(first, rate)
			continue
		case "NOW":
			s.clock(first)
			continue
		}
		key := s.key(words[1])
		b, ok := s.buckets[key]
		if !ok {
			b = s.fresh()
			s.buckets[key] = b
		}
		if words[0] == "REQUEST" {
			fmt.Fprintln(&out, s.request(b))
		} else {
			fmt.Fprintln(&out, s.status(b))
		}
	}
	return out.String()
}

// A mistake changes a right solution into a wrong one.
type mistake func(s *solution)

// mistakeReadings are no mistakes: the exercise leaves them open, so they fail no file.
var mistakeReadings = map[string]mistake{
	"none":                                func(*solution) {},
	"STATUS does not store the refill":    func(s *solution) { s.status = mistakeUnstored(s.status) },
	"a refusal does not store the refill": func(s *solution) { s.request = mistakeUnstoredIfRefused(s.request) },
	"neither stores the refill": func(s *solution) {
		s.status, s.request = mistakeUnstored(s.status), mistakeUnstoredIfRefused(s.request)
	},
	"the clock does not start at 0":          func(s *solution) { s.now = 1767225600000 },
	"a bucket that is full is not stored":    func(s *solution) { s.request = mistakeFullForgotten(s, s.request) },
	"LIMIT fills the buckets that there are": func(s *solution) { s.limit = mistakeLimitFills(s) },
}

func mistakeUnstored(answer func(*solutionBucket) string) func(*solutionBucket) string {
	return func(b *solutionBucket) string { old := *b; defer func() { *b = old }(); return answer(b) }
}

func mistakeUnstoredIfRefused(answer func(*solutionBucket) string) func(*solutionBucket) string {
	return func(b *solutionBucket) string {
		old := *b
		text := answer(b)
		if strings.HasPrefix(text, "429") {
			*b = old
		}
		return text
	}
}

func mistakeFullForgotten(s *solution, answer func(*solutionBucket) string) func(*solutionBucket) string {
	return func(b *solutionBucket) string {
		if b.ticks+s.elapsed(b.last)*s.rate >= s.full() {
			*b = solutionBucket{s.full(), max(b.last, s.now)}
		}
		return answer(b)
	}
}

func mistakeLimitFills(s *solution) func(capacity, rate int64) {
	return func(capacity, rate int64) {
		s.capacity, s.rate = capacity, rate
		for _, b := range s.buckets {
			*b = solutionBucket{s.full(), s.now}
		}
	}
}

// mistakeNamed holds the mistakes that the golden files are named after.
var mistakeNamed = map[string]mistake{
	"answer-remaining-before-call":     func(s *solution) { s.remaining = func(ticks int64) int64 { return ticks/60000 + 1 } },
	"bucket-capacity-and-rate-swapped": func(s *solution) { limit := s.limit; s.limit = func(c, r int64) { limit(r, c) } },
	"bucket-exactly-one-token-refused": func(s *solution) { mistakeTakeIf(s, func(ticks int64) bool { return ticks > 60000 }) },
	"bucket-new-client-empty":          func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{} } },
	"bucket-new-client-one-token":      func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{60000, 0} } },
	"bucket-not-refilled":              func(s *solution) { s.elapsed = func(int64) int64 { return 0 } },
	"bucket-one-for-all-clients":       func(s *solution) { s.key = func(string) string { return "" } },
	"bucket-rate-per-second":           func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms * 60 }) },
	"bucket-remaining-rounded-up":      func(s *solution) { s.remaining = func(ticks int64) int64 { return solutionCeil(ticks, 60000) } },
	"bucket-time-shared": func(s *solution) {
		var shared int64
		s.refill = func(b *solutionBucket) {
			b.ticks = min(s.full(), b.ticks+s.elapsed(shared)*s.rate)
			shared = max(shared, s.now)
		}
	},
	"bucket-truncated-refill": func(s *solution) { mistakeRefill(s, func(ticks int64) int64 { return ticks / 60000 * 60000 }) },
	"bucket-seconds-only":     func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms / 1000 * 1000 }) },
	"clock-added-up":          func(s *solution) { s.clock = func(ms int64) { s.now += ms } },
	"clock-back-ignored":      func(s *solution) { s.clock = func(ms int64) { s.now = max(s.now, ms) } },
	"clock-back-loses-tokens": func(s *solution) { s.elapsed = func(last int64) int64 { return s.now - last } },
	"clock-back-moves-last": func(s *solution) {
		refill := s.refill
		s.refill = func(b *solutionBucket) { refill(b); b.last = s.now }
	},
	"clock-in-32-bits-signed":   func(s *solution) { s.clock = func(ms int64) { s.now = int64(int32(ms)) } },
	"clock-in-32-bits-unsigned": func(s *solution) { s.clock = func(ms int64) { s.now = int64(uint32(ms)) } },
	"default-capacity":          func(s *solution) { s.capacity = 0 },
	"default-rate":              func(s *solution) { s.rate = 10 },
	"float-tokens": func(s *solution) {
		mistakeFloat(s, func(elapsed, rate float64) float64 { return elapsed * rate / 60000 })
	},
	"limit-keeps-buckets": func(s *solution) { s.limit = func(c, r int64) { s.capacity, s.rate = c, r } },
	"limit-keeps-old-capacity": func(s *solution) {
		limit, old := s.limit, int64(0)
		s.limit = func(c, r int64) { old = cmp.Or(old, c); limit(old, r) }
	},
	"limit-keeps-old-rate": func(s *solution) {
		limit, old := s.limit, int64(0)
		s.limit = func(c, r int64) { old = cmp.Or(old, r); limit(c, old) }
	},
	"limit-resets-clock": func(s *solution) { limit := s.limit; s.limit = func(c, r int64) { limit(c, r); s.now = 0 } },
	"name-as-number":     func(s *solution) { s.key = func(name string) string { return strings.TrimLeft(name, "0") } },
	"name-case-lost":     func(s *solution) { s.key = strings.ToLower },
	"name-cut":           func(s *solution) { s.key = func(name string) string { return name[:min(len(name), 8)] } },
	"name-letters-in-any-order": func(s *solution) {
		s.key = func(name string) string { letters := []byte(name); slices.Sort(letters); return string(letters) }
	},
	"refill-beyond-capacity": mistakeUncapped,
	"refill-capped-in-status-only": func(s *solution) {
		mistakeUncapped(s)
		s.toShow = func(ticks int64) int64 { return min(ticks, s.full()) / 60 }
	},
	"status-without-capacity": func(s *solution) {
		take := s.take
		mistakeUncapped(s)
		s.take = func(b *solutionBucket) bool { b.ticks = min(b.ticks, s.full()); return take(b) }
	},
	"refill-after-decision": func(s *solution) {
		s.request = func(b *solutionBucket) string {
			ok := s.take(b)
			s.refill(b)
			if ok {
				return solutionGrant(s.remaining(b.ticks))
			}
			return solutionRefusal(s.retryAfter(60000 - b.ticks))
		}
	},
	"refill-counted-again": func(s *solution) {
		s.refill = func(b *solutionBucket) { b.ticks = min(s.full(), b.ticks+s.elapsed(b.last)*s.rate) }
	},
	"refill-in-thousandths": func(s *solution) { mistakeRefill(s, func(ticks int64) int64 { return ticks / 60 * 60 }) },
	"refill-interval-rounded": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			interval := max(1, 60000/s.rate)
			n := s.elapsed(b.last) / interval
			b.ticks = min(s.full(), b.ticks+n*60000)
			b.last += n * interval
		}
	},
	"bucket-refill-one-token-at-most": func(s *solution) { mistakeRefill(s, func(ticks int64) int64 { return min(ticks, 60000) }) },
	"bucket-refill-whole-tokens-a-second": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			b.ticks = min(s.full(), b.ticks+s.elapsed(b.last)*(max(60, s.rate)/60*60))
			b.last = max(b.last, s.now)
		}
	},
	"retry-after-in-milliseconds": func(s *solution) { s.retryAfter = func(short int64) int64 { return solutionCeil(short, s.rate) } },
	"retry-after-one-too-many":    func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return ms/1000 + 1 }) },
	"retry-after-rounded-down":    func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return max(1, ms/1000) }) },
	"retry-after-rounded-to-nearest": func(s *solution) {
		mistakeSeconds(s, func(ms int64) int64 { return max(1, (ms+500)/1000) })
	},
	"retry-after-since-0": func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return solutionCeil(s.now+ms, 1000) }) },
	"retry-after-until-full": func(s *solution) {
		right := s.retryAfter
		s.retryAfter = func(short int64) int64 { return right(short + s.full() - 60000) }
	},
	"retry-after-zero": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return solutionCeil(short/s.rate, 1000) }
	},
	"status-before-refill": func(s *solution) { s.status = func(b *solutionBucket) string { return s.show(s.toShow(b.ticks)) } },
	"status-counts-as-request": func(s *solution) {
		status := s.status
		s.status = func(b *solutionBucket) string { text := status(b); s.take(b); return text }
	},
	"status-leading-zeros-lost": func(s *solution) {
		s.show = func(t int64) string { return fmt.Sprintf("%d.%d", t/1000, t%1000) }
	},
	"status-refill-lost": func(s *solution) {
		status := s.status
		s.status = func(b *solutionBucket) string { old := b.ticks; text := status(b); b.ticks = old; return text }
	},
	"status-moves-last-back": func(s *solution) {
		status := s.status
		s.status = func(b *solutionBucket) string { text := status(b); b.last = s.now; return text }
	},
	"status-refill-counted-again": func(s *solution) {
		status := s.status
		s.status = func(b *solutionBucket) string { old := b.last; text := status(b); b.last = old; return text }
	},
	"status-rounded": func(s *solution) { s.toShow = func(ticks int64) int64 { return (ticks + 30) / 60 } },
	"status-trailing-zeros-lost": func(s *solution) {
		show := s.show
		s.show = func(t int64) string { return strings.TrimRight(strings.TrimRight(show(t), "0"), ".") }
	},
	"status-whole-number-bare": func(s *solution) {
		show := s.show
		s.show = func(t int64) string { return strings.TrimSuffix(show(t), ".000") }
	},
	"status-zero-before-point-lost": func(s *solution) {
		show := s.show
		s.show = func(t int64) string { return strings.TrimPrefix(show(t), "0") }
	},
	"status-zero-for-new-client": func(s *solution) {
		fresh, isNew := s.fresh, false
		s.fresh = func() *solutionBucket { isNew = true; return fresh() }
		request, status := s.request, s.status
		s.request = func(b *solutionBucket) string { isNew = false; return request(b) }
		s.status = func(b *solutionBucket) string {
			if isNew {
				return "0.000"
			}
			return status(b)
		}
	},
	"store-hundred-and-first-client": func(s *solution) { mistakeStore(s, 100) },
	"store-eleventh-client":          func(s *solution) { mistakeStore(s, 10) },
	"take-part-of-a-token":           func(s *solution) { mistakeTakeIf(s, func(ticks int64) bool { return ticks > 0 }) },
	"take-refused-loses-refill": func(s *solution) {
		mistakeRefused(s, func(b *solutionBucket, old solutionBucket) { b.ticks = old.ticks })
	},
	"take-refused-moves-last-back": func(s *solution) {
		mistakeRefused(s, func(b *solutionBucket, _ solutionBucket) { b.last = s.now })
	},
	"take-refused-refill-counted-again": func(s *solution) {
		mistakeRefused(s, func(b *solutionBucket, old solutionBucket) { b.last = old.last })
	},
	"take-below-zero":              func(s *solution) { mistakeRefused(s, func(b *solutionBucket, _ solutionBucket) { b.ticks -= 60000 }) },
	"ticks-in-32-bits":             func(s *solution) { mistakeRefill(s, func(ticks int64) int64 { return int64(int32(ticks)) }) },
	"ticks-over-53-bits":           mistakeTakeFloat[float64],
	"ticks-of-capacity-in-32-bits": func(s *solution) { s.full = func() int64 { return int64(int32(s.capacity * 60000)) } },
	"time-elapsed-in-32-bits":      func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return int64(int32(ms)) }) },
	"take-tick-short":              func(s *solution) { mistakeTakeIf(s, func(ticks int64) bool { return ticks >= 59999 }) },
	"ticks-one-above-capacity":     func(s *solution) { mistakeBrim(s, func() int64 { return s.full() + 1 }) },
	"take-refused-waits-for-whole-token": func(s *solution) {
		right := s.retryAfter
		s.retryAfter = func(int64) int64 { return right(60000) }
	},
	"wait-rounded-down-first": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return max(1, solutionCeil(short/s.rate, 1000)) }
	},
}

// mistakeFurther holds mistakes that no file is named after; at least one file catches each.
var mistakeFurther = map[string]mistake{
	"float32 tokens": func(s *solution) { mistakeFloat(s, func(ms, rate float32) float32 { return ms * rate / 60000 }) },
	"float32 tokens, seconds": func(s *solution) {
		mistakeFloat(s, func(ms, rate float32) float32 { return ms / 1000 * rate / 60 })
	},
	"float tokens, seconds": func(s *solution) { mistakeFloat(s, func(ms, rate float64) float64 { return ms / 1000 * rate / 60 }) },
	"float tokens, rate a second": func(s *solution) {
		mistakeFloat(s, func(ms, rate float64) float64 { return ms / 1000 * (rate / 60) })
	},
	"float tokens, rate a millisecond": func(s *solution) { mistakeFloat(s, func(ms, rate float64) float64 { return ms * (rate / 60000) }) },
	"float tokens, minutes":            func(s *solution) { mistakeFloat(s, func(ms, rate float64) float64 { return ms / 60000 * rate }) },
	"float tokens, interval":           func(s *solution) { mistakeFloat(s, func(ms, rate float64) float64 { return ms / (60000 / rate) }) },
	"float32 clock":                    func(s *solution) { s.clock = func(ms int64) { s.now = int64(float32(ms)) } },
	"ticks in float32":                 func(s *solution) { mistakeTakeFloat[float32](s) },
	"ticks unsigned in 32 bits":        func(s *solution) { mistakeRefill(s, func(t int64) int64 { return int64(uint32(t)) }) },
	"capacity unsigned in 32 bits":     func(s *solution) { s.full = func() int64 { return int64(uint32(s.capacity * 60000)) } },
	"elapsed unsigned in 32 bits":      func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return int64(uint32(ms)) }) },
	"elapsed in 16 bits":               func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return int64(uint16(ms)) }) },
	"elapsed one too many":             func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms + 1 }) },
	"elapsed one too few":              func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return max(0, ms-1) }) },
	"elapsed in whole tenths":          func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms / 100 * 100 }) },
	"elapsed in whole minutes":         func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms / 60000 * 60000 }) },
	"elapsed rounded to seconds":       func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return (ms + 500) / 1000 * 1000 }) },
	"elapsed limited to a second":      func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return min(ms, 1000) }) },
	"elapsed without its sign": func(s *solution) {
		s.elapsed = func(last int64) int64 { return max(s.now-last, last-s.now) }
	},
	"neither elapsed nor last guarded": func(s *solution) {
		mistakeNamed["clock-back-loses-tokens"](s)
		mistakeNamed["clock-back-moves-last"](s)
	},
	"elapsed below zero fills the bucket": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			b.ticks = int64(min(uint64(s.full()), uint64(b.ticks)+uint64(s.now-b.last)*uint64(s.rate)))
			b.last = max(b.last, s.now)
		}
	},
	"the clock starts again for all when it goes back": func(s *solution) {
		s.clock = func(ms int64) {
			if ms < s.now {
				clear(s.buckets)
			}
			s.now = ms
		}
	},
	"a request before last is refused": func(s *solution) {
		request := s.request
		s.request = func(b *solutionBucket) string {
			if s.now < b.last {
				return solutionRefusal(1)
			}
			return request(b)
		}
	},
	"a new client starts at the highest clock": func(s *solution) {
		var highest int64
		s.fresh = func() *solutionBucket { highest = max(highest, s.now); return &solutionBucket{s.full(), highest} }
	},
	"a new client empty at NOW":     func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{0, s.now} } },
	"a new client one token at NOW": func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{60000, s.now} } },
	"a new client one short": func(s *solution) {
		s.fresh = func() *solutionBucket { return &solutionBucket{s.full() - 60000, s.now} }
	},
	"a new client one tick short":     func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{s.full() - 1, s.now} } },
	"a new client 10, whatever LIMIT": func(s *solution) { s.fresh = func() *solutionBucket { return &solutionBucket{600000, s.now} } },
	"the first request takes nothing": func(s *solution) {
		fresh, request, isNew := s.fresh, s.request, false
		s.fresh = func() *solutionBucket { isNew = true; return fresh() }
		s.request = func(b *solutionBucket) string {
			text := request(b)
			if isNew {
				b.ticks += 60000
			}
			isNew = false
			return text
		}
	},
	"the brim one tick low":   func(s *solution) { s.full = func() int64 { return s.capacity*60000 - 1 } },
	"the brim one token high": func(s *solution) { s.full = func() int64 { return s.capacity*60000 + 60000 } },
	"the brim one token low on refill": func(s *solution) {
		mistakeBrim(s, func() int64 { return max(60000, s.full()-60000) })
	},
	"the brim a thousandth high on refill": func(s *solution) { mistakeBrim(s, func() int64 { return s.full() + 60 }) },
	"the brim half a token high on refill": func(s *solution) { mistakeBrim(s, func() int64 { return s.full() + 30000 }) },
	"the brim is the rate":                 func(s *solution) { mistakeBrim(s, func() int64 { return s.rate * 60000 }) },
	"the brim is 10 tokens":                func(s *solution) { mistakeBrim(s, func() int64 { return 600000 }) },
	"min before the refill is added": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			b.ticks = min(s.full(), b.ticks) + s.elapsed(b.last)*s.rate
			b.last = max(b.last, s.now)
		}
	},
	"min after the token is taken": func(s *solution) {
		take := s.take
		mistakeUncapped(s)
		s.take = func(b *solutionBucket) bool { ok := take(b); b.ticks = min(b.ticks, s.full()); return ok }
	},
	"a refill past the capacity is left out": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			if sum := b.ticks + s.elapsed(b.last)*s.rate; sum <= s.full() {
				b.ticks = sum
			}
			b.last = max(b.last, s.now)
		}
	},
	"a refill only below one token": func(s *solution) {
		refill := s.refill
		s.refill = func(b *solutionBucket) {
			if b.ticks < 60000 {
				refill(b)
			}
		}
	},
	"a refill fills the bucket": func(s *solution) {
		mistakeRefill(s, func(ticks int64) int64 {
			if ticks >= 60000 {
				return s.full()
			}
			return ticks
		})
	},
	"a fixed window of a minute": func(s *solution) { mistakeWindow(s, 60000) },
	"a fixed window of a second": func(s *solution) { mistakeWindow(s, 1000) },
	"rate per hour":              func(s *solution) { mistakeElapsed(s, func(ms int64) int64 { return ms / 60 }) },
	"NOW in seconds":             func(s *solution) { s.clock = func(ms int64) { s.now = ms * 1000 } },
	"rate is milliseconds per token": func(s *solution) {
		s.elapsed = func(last int64) int64 { return max(0, s.now-last) * 60000 / s.rate / s.rate }
	},
	"rate one too many":  func(s *solution) { limit := s.limit; s.limit = func(c, r int64) { limit(c, r+1) } },
	"rate always 60":     func(s *solution) { limit := s.limit; s.limit = func(c, _ int64) { limit(c, 60) } },
	"capacity always 10": func(s *solution) { limit := s.limit; s.limit = func(_, r int64) { limit(10, r) } },
	"LIMIT takes what was used from the new": func(s *solution) {
		s.limit = func(c, r int64) {
			for _, b := range s.buckets {
				b.ticks += (c - s.capacity) * 60000
			}
			s.capacity, s.rate = c, r
		}
	},
	"LIMIT forgets only if something changes": func(s *solution) {
		limit := s.limit
		s.limit = func(c, r int64) {
			if c != s.capacity || r != s.rate {
				limit(c, r)
			}
		}
	},
	"LIMIT empties the buckets": func(s *solution) {
		limit := s.limit
		s.limit = func(c, r int64) {
			for _, b := range s.buckets {
				*b = solutionBucket{0, s.now}
			}
			old := maps.Clone(s.buckets)
			limit(c, r)
			s.buckets = old
		}
	},
	"the default is 60 at 60":  func(s *solution) { s.capacity = 60 },
	"the default is 9 at 60":   func(s *solution) { s.capacity = 9 },
	"the default is 10 at 100": func(s *solution) { s.rate = 100 },
	"the default is 10 at 1":   func(s *solution) { s.rate = 1 },
	"the default is 10 at 59":  func(s *solution) { s.rate = 59 },
	"whole tokens, last moved on by them": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			n := s.elapsed(b.last) * s.rate / 60000
			b.ticks = min(s.full(), b.ticks+n*60000)
			b.last += n * 60000 / s.rate
		}
	},
	"whole seconds, last moved on by them": func(s *solution) {
		s.refill = func(b *solutionBucket) {
			n := s.elapsed(b.last) / 1000
			b.ticks = min(s.full(), b.ticks+n*1000*s.rate)
			b.last += n * 1000
		}
	},
	"hundredths of a token":               func(s *solution) { mistakeRefill(s, func(t int64) int64 { return t / 600 * 600 }) },
	"millionths of a token":               func(s *solution) { mistakeRefill(s, func(t int64) int64 { return t / 6 * 6 }) },
	"a refill of less than a second lost": func(s *solution) { mistakeRefill(s, func(t int64) int64 { return t / s.rate / 1000 * 1000 * s.rate }) },
	"a grant drops the part of a token": func(s *solution) {
		take := s.take
		s.take = func(b *solutionBucket) bool {
			ok := take(b)
			if ok {
				b.ticks -= b.ticks % 60000
			}
			return ok
		}
	},
	"a grant takes all": func(s *solution) {
		take := s.take
		s.take = func(b *solutionBucket) bool {
			ok := take(b)
			if ok {
				b.ticks = 0
			}
			return ok
		}
	},
	"a grant takes 59999 ticks": func(s *solution) {
		take := s.take
		s.take = func(b *solutionBucket) bool {
			ok := take(b)
			if ok {
				b.ticks++
			}
			return ok
		}
	},
	"a grant from half a token":           func(s *solution) { mistakeTakeIf(s, func(t int64) bool { return t >= 30000 }) },
	"a grant from 59970 ticks":            func(s *solution) { mistakeTakeIf(s, func(t int64) bool { return t >= 59970 }) },
	"a grant always":                      func(s *solution) { mistakeTakeIf(s, func(int64) bool { return true }) },
	"a grant only above 60001":            func(s *solution) { mistakeTakeIf(s, func(t int64) bool { return t > 60001 }) },
	"a refusal empties the bucket":        func(s *solution) { mistakeRefused(s, func(b *solutionBucket, _ solutionBucket) { b.ticks = 0 }) },
	"a refusal fills the bucket":          func(s *solution) { mistakeRefused(s, func(b *solutionBucket, _ solutionBucket) { b.ticks = s.full() }) },
	"a refusal forgets the bucket's time": func(s *solution) { mistakeRefused(s, func(b *solutionBucket, _ solutionBucket) { b.last = 0 }) },
	"a refusal only moves last": func(s *solution) {
		mistakeRefused(s, func(b *solutionBucket, old solutionBucket) { *b = solutionBucket{old.ticks, s.now} })
	},
	"last moved only by a grant": func(s *solution) {
		mistakeNamed["take-refused-refill-counted-again"](s)
		mistakeNamed["status-refill-counted-again"](s)
	},
	"Retry-After as if the token was taken": func(s *solution) {
		right := s.retryAfter
		s.retryAfter = func(short int64) int64 { return right(short + 60000) }
	},
	"Retry-After down, 0 allowed":    func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return ms / 1000 }) },
	"Retry-After nearest, 0 allowed": func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return (ms + 500) / 1000 }) },
	"Retry-After at least 2":         func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return max(2, solutionCeil(ms, 1000)) }) },
	"Retry-After always 1":           func(s *solution) { mistakeSeconds(s, func(int64) int64 { return 1 }) },
	"Retry-After in minutes":         func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return solutionCeil(ms, 60000) }) },
	"Retry-After a second more":      func(s *solution) { mistakeSeconds(s, func(ms int64) int64 { return solutionCeil(ms, 1000) + 1 }) },
	"Retry-After from ms to the nearest": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return max(1, solutionCeil((short+s.rate/2)/s.rate, 1000)) }
	},
	"Retry-After from ms one too many": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return max(1, solutionCeil(short/s.rate+1, 1000)) }
	},
	"Retry-After by whole tokens a second": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return solutionCeil(short, max(1, s.rate/60)*60000) }
	},
	"Retry-After by whole milliseconds a token": func(s *solution) {
		s.retryAfter = func(short int64) int64 { return max(1, solutionCeil(60000/s.rate*short/60000, 1000)) }
	},
	"STATUS takes before it shows": func(s *solution) {
		s.status = func(b *solutionBucket) string { s.refill(b); s.take(b); return s.show(s.toShow(b.ticks)) }
	},
	"STATUS fills the bucket": func(s *solution) {
		status := s.status
		s.status = func(b *solutionBucket) string { text := status(b); b.ticks = s.full(); return text }
	},
	"STATUS shows whole tokens": func(s *solution) { s.show = func(t int64) string { return fmt.Sprint(t / 1000) } },
	"STATUS shows ticks":        func(s *solution) { s.toShow = func(ticks int64) int64 { return ticks } },
	"STATUS shows two digits":   func(s *solution) { s.show = func(t int64) string { return fmt.Sprintf("%d.%02d", t/1000, t%1000/10) } },
	"STATUS pads to two digits": func(s *solution) { s.show = func(t int64) string { return fmt.Sprintf("%d.%02d", t/1000, t%1000) } },
	"STATUS pads with blanks":   func(s *solution) { s.show = func(t int64) string { return fmt.Sprintf("%d.%3d", t/1000, t%1000) } },
	"STATUS pads on the right": func(s *solution) {
		s.show = func(t int64) string { return (fmt.Sprintf("%d.%d", t/1000, t%1000) + "00")[:5] }
	},
	"STATUS rounds up": func(s *solution) { s.toShow = func(ticks int64) int64 { return solutionCeil(ticks, 60) } },
	"STATUS with a comma": func(s *solution) {
		show := s.show
		s.show = func(t int64) string { return strings.Replace(show(t), ".", ",", 1) }
	},
	"remaining to the nearest": func(s *solution) { s.remaining = func(t int64) int64 { return (t + 30000) / 60000 } },
	"remaining to the nearest even": func(s *solution) {
		s.remaining = func(t int64) int64 { return int64(math.RoundToEven(float64(t) / 60000)) }
	},
	"remaining in ticks":     func(s *solution) { s.remaining = func(t int64) int64 { return t } },
	"remaining is the used":  func(s *solution) { s.remaining = func(t int64) int64 { return s.capacity - t/60000 } },
	"remaining in 32 bits":   func(s *solution) { s.remaining = func(t int64) int64 { return int64(int32(t / 60000)) } },
	"names cut to a letter":  func(s *solution) { s.key = func(name string) string { return name[:1] } },
	"names cut to 16":        func(s *solution) { s.key = func(name string) string { return name[:min(len(name), 16)] } },
	"names cut to 64":        func(s *solution) { s.key = func(name string) string { return name[:min(len(name), 64)] } },
	"names cut at the front": func(s *solution) { s.key = func(name string) string { return name[len(name)-1:] } },
	"names hashed into 64":   func(s *solution) { s.key = func(name string) string { return mistakeHash(name, 64) } },
	"names hashed into 256":  func(s *solution) { s.key = func(name string) string { return mistakeHash(name, 256) } },
	"names by their length":  func(s *solution) { s.key = func(name string) string { return strconv.Itoa(len(name)) } },
	"names without digits":   func(s *solution) { s.key = func(name string) string { return strings.TrimRight(name, "0123456789") } },
	"names in upper case":    func(s *solution) { s.key = strings.ToUpper },
	"names that are no numbers": func(s *solution) {
		s.key = func(name string) string { n, _ := strconv.Atoi(name); return strconv.Itoa(n) }
	},
	"the store holds one":        func(s *solution) { mistakeStore(s, 1) },
	"the store holds two":        func(s *solution) { mistakeStore(s, 2) },
	"the store holds 64":         func(s *solution) { mistakeStore(s, 64) },
	"the store is full with 100": func(s *solution) { mistakeStoreFull(s, 100) },
	"the store is full with 10":  func(s *solution) { mistakeStoreFull(s, 10) },
	"the store is cleared at 50": func(s *solution) {
		fresh := s.fresh
		s.fresh = func() *solutionBucket {
			if len(s.buckets) == 50 {
				clear(s.buckets)
			}
			return fresh()
		}
	},
}

// mistakeElapsed changes the elapsed milliseconds.
func mistakeElapsed(s *solution, change func(ms int64) int64) {
	right := s.elapsed
	s.elapsed = func(last int64) int64 { return change(right(last)) }
}

// mistakeRefill changes the ticks that flow in.
func mistakeRefill(s *solution, change func(ticks int64) int64) {
	s.refill = func(b *solutionBucket) {
		b.ticks = min(s.full(), b.ticks+change(s.elapsed(b.last)*s.rate))
		b.last = max(b.last, s.now)
	}
}

// mistakeUncapped refills past the capacity.
func mistakeUncapped(s *solution) {
	s.refill = func(b *solutionBucket) { b.ticks += s.elapsed(b.last) * s.rate; b.last = max(b.last, s.now) }
}

// mistakeBrim changes what a refill is limited to.
func mistakeBrim(s *solution, brim func() int64) {
	s.refill = func(b *solutionBucket) {
		b.ticks = min(max(b.ticks, brim()), b.ticks+s.elapsed(b.last)*s.rate)
		b.last = max(b.last, s.now)
	}
}

// mistakeWindow fills every bucket when a window of so many ms begins, and at no other time.
func mistakeWindow(s *solution, ms int64) {
	s.refill = func(b *solutionBucket) {
		if s.now/ms > b.last/ms {
			b.ticks = s.full()
		}
		b.last = max(b.last, s.now)
	}
}

// mistakeTakeIf changes when a request is granted.
func mistakeTakeIf(s *solution, enough func(ticks int64) bool) {
	s.take = func(b *solutionBucket) bool {
		ok := enough(b.ticks)
		if ok {
			b.ticks -= 60000
		}
		return ok
	}
}

// mistakeTakeFloat keeps the ticks in floating point.
func mistakeTakeFloat[F float32 | float64](s *solution) {
	s.take = func(b *solutionBucket) bool {
		ok := b.ticks >= 60000
		if ok {
			b.ticks = int64(F(b.ticks) - 60000)
		}
		return ok
	}
}

// mistakeRefused changes the bucket after a refusal; old is the bucket before the request.
func mistakeRefused(s *solution, change func(b *solutionBucket, old solutionBucket)) {
	request := s.request
	s.request = func(b *solutionBucket) string {
		old := *b
		text := request(b)
		if strings.HasPrefix(text, "429") {
			change(b, old)
		}
		return text
	}
}

// mistakeSeconds changes how the milliseconds to wait become seconds.
func mistakeSeconds(s *solution, seconds func(ms int64) int64) {
	s.retryAfter = func(short int64) int64 { return seconds(solutionCeil(short, s.rate)) }
}

// mistakeStore forgets the oldest client when there are more than most.
func mistakeStore(s *solution, most int) {
	var keys []string // oldest first
	key := s.key
	s.key = func(client string) string {
		client = key(client)
		if _, ok := s.buckets[client]; !ok {
			if keys = append(keys, client); len(keys) > most {
				delete(s.buckets, keys[0])
				keys = keys[1:]
			}
		}
		return client
	}
	limit := s.limit
	s.limit = func(c, r int64) { limit(c, r); keys = nil }
}

// mistakeStoreFull does not keep the bucket of a new client when there are most already.
func mistakeStoreFull(s *solution, most int) {
	key := s.key
	s.key = func(client string) string {
		client = key(client)
		if _, ok := s.buckets[client]; !ok && len(s.buckets) >= most {
			delete(s.buckets, "")
			return ""
		}
		return client
	}
}

func mistakeHash(name string, slots uint32) string {
	h := fnv.New32a()
	h.Write([]byte(name))
	return fmt.Sprint(h.Sum32() % slots)
}

// mistakeFloat keeps the tokens in floating point; flow is what flows in.
func mistakeFloat[F float32 | float64](s *solution, flow func(ms, rate F) F) {
	tokens := map[*solutionBucket]F{}
	s.refill = func(b *solutionBucket) {
		if _, ok := tokens[b]; !ok {
			tokens[b] = F(s.capacity)
		}
		tokens[b] = min(F(s.capacity), tokens[b]+flow(F(s.elapsed(b.last)), F(s.rate)))
		b.last = max(b.last, s.now)
	}
	s.request = func(b *solutionBucket) string {
		s.refill(b)
		if tokens[b] >= 1 {
			tokens[b]--
			return solutionGrant(int64(tokens[b]))
		}
		return solutionRefusal(max(1, int64(math.Ceil(float64((1-tokens[b])*60/F(s.rate))))))
	}
	s.status = func(b *solutionBucket) string { s.refill(b); return fmt.Sprintf("%.3f", tokens[b]) }
}

// exerciseFiles returns the names of the golden files in order, their scripts and their answers.
func exerciseFiles(t *testing.T) (names []string, scripts, answers map[string]string) {
	t.Helper()
	scripts, answers = map[string]string{}, map[string]string{}
	entries, err := os.ReadDir(mistakeDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(mistakeDir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		switch name, ext := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name())), filepath.Ext(e.Name()); ext {
		case ".in":
			names = append(names, name)
			scripts[name] = string(content)
		case ".out":
			answers[name] = string(content)
		default:
			if e.Name() != "README.md" {
				t.Errorf("%s: got a file that is none of NAME.in, NAME.out and README.md", e.Name())
			}
		}
	}
	slices.Sort(names)
	return names, scripts, answers
}

// mistakeFails returns the names of the files that a solution with mistake m fails, in order.
func mistakeFails(m mistake, names []string, scripts, answers map[string]string) (failed []string) {
	for _, name := range names {
		s := newSolution()
		m(s)
		if s.answers(scripts[name]) != answers[name] {
			failed = append(failed, name)
		}
	}
	return failed
}

// The scripts hold nothing that the exercise leaves open, and README.md explains every file.
func TestExerciseFiles(t *testing.T) {
	names, scripts, answers := exerciseFiles(t)
	number := `[1-9][0-9]{0,14}`
	script := regexp.MustCompile(`^(LIMIT ` + number + ` ` + number + `\n|NOW (0|` + number + `)\n|(REQUEST|STATUS) [0-9A-Za-z]+\n)+$`)
	answer := regexp.MustCompile(`^(200 X-RateLimit-Remaining: [0-9]+\n|429 Retry-After: ` + number + `\n|[0-9]+\.[0-9]{3}\n)+$`)
	for _, name := range names {
		text := scripts[name]
		if !script.MatchString(text) {
			t.Errorf("%s.in: got %q, want commands in capitals, single blanks, LF, positive numbers", name, text)
		}
		if !strings.HasPrefix(text, "LIMIT ") && !strings.HasPrefix(name, "default-") {
			t.Errorf("%s.in: got %q, want LIMIT first", name, text)
		}
		if !answer.MatchString(answers[name]) {
			t.Errorf("%s.out: got %q, want answers only", name, answers[name])
		}
		got, want := strings.Count(answers[name], "\n"), strings.Count(text, "REQUEST ")+strings.Count(text, "STATUS ")
		if got != want {
			t.Errorf("%s.out: got %d answers, want %d", name, got, want)
		}
		rate, clock := int64(60), int64(1)
		for text := range strings.Lines(text) {
			words := strings.Fields(text)
			n, _ := strconv.ParseInt(words[len(words)-1], 10, 64)
			switch words[0] {
			case "LIMIT":
				rate = max(rate, n)
			case "NOW":
				clock = max(clock, n)
			}
		}
		if clock > 1<<50/rate {
			t.Errorf("%s.in: got a clock of %d at %d a minute, want a product of at most 2^50", name, clock, rate)
		}
	}
	if got, want := slices.Sorted(maps.Keys(answers)), names; !slices.Equal(got, want) {
		t.Errorf("NAME.out: got %q, want %q", got, want)
	}

	readme, err := os.ReadFile(filepath.Join(mistakeDir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, m := range regexp.MustCompile("(?m)^- (.*)$").FindAllStringSubmatch(string(readme), -1) {
		parts := regexp.MustCompile("^`([0-9a-z-]+)`: ([^.]+)\\. .*[0-9a-z]\\.$").FindStringSubmatch(m[1])
		if parts == nil {
			t.Errorf("README.md: got %q, want \"- `NAME`: the mistake in one sentence. The arithmetic.\"", m[0])
			continue
		}
		listed = append(listed, parts[1])
	}
	if !slices.Equal(listed, names) {
		t.Errorf("README.md: got lines for %q, want %q", listed, names)
	}
}

func TestSolution(t *testing.T) {
	names, scripts, answers := exerciseFiles(t)
	for reading, m := range mistakeReadings {
		for _, name := range names {
			s := newSolution()
			m(s)
			if got, want := s.answers(scripts[name]), answers[name]; got != want {
				t.Errorf("%s, %s:\n%sgot\n%swant\n%s", reading, name, scripts[name], got, want)
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	names, scripts, answers := exerciseFiles(t)
	if got, want := slices.Sorted(maps.Keys(mistakeNamed)), names; !slices.Equal(got, want) {
		t.Errorf("mistakes: got %q, want one for each file, %q", got, want)
	}
	for _, name := range slices.Sorted(maps.Keys(mistakeNamed)) {
		failed := mistakeFails(mistakeNamed[name], names, scripts, answers)
		if !slices.Contains(failed, name) {
			t.Errorf("%s: got failures in %q, want one in the file of that name", name, failed)
		}
		t.Logf("%s: %s", name, strings.Join(failed, " "))
	}
	for _, what := range slices.Sorted(maps.Keys(mistakeFurther)) {
		failed := mistakeFails(mistakeFurther[what], names, scripts, answers)
		if len(failed) == 0 {
			t.Errorf("%s: got no failure, want one or more", what)
		}
		t.Logf("%s: %s", what, strings.Join(failed, " "))
	}
}
