// Package limiter is the arithmetic of one token bucket, in exact integers.
//
// It is pure: a policy, a bucket and a clock reading go in, and the bucket afterwards and the outcome come out.
// One token is 60,000 ticks, so that a rate of n tokens a minute is exactly n ticks a millisecond and no refill is ever
// rounded. Times are milliseconds on any clock that fits an int64.
//
// TestTake, in bucket_test.go, is the first test to read.
package limiter

import (
	"math"
	"math/bits"
)

// TicksPerToken is the number of ticks in a token: the milliseconds in a minute.
const TicksPerToken = 60_000

// MaxCapacity is the largest capacity, in tokens, whose ticks fit an int64: 153,722,867,280,912.
const MaxCapacity = math.MaxInt64 / TicksPerToken

// A Policy is the size of a bucket and its rate. Values outside the ranges given make the arithmetic meaningless.
type Policy struct {
	Capacity  int64 // tokens that a full bucket holds, 0 to MaxCapacity
	PerMinute int64 // tokens that flow in per minute, and so ticks per millisecond, 0 or more
}

// A Bucket is the state of one client.
type Bucket struct {
	Ticks int64 // at most the capacity; below zero by what is reserved ahead of time
	Last  int64 // the time of the last refill, in ms; it never moves back, or refills would count twice
}

// Tokens returns the number of whole tokens in the bucket, rounded towards zero.
func (b Bucket) Tokens() int64 { return b.Ticks / TicksPerToken }

// An Outcome is the answer to Take. There are three:
//
//   - granted: Granted is set, and At is the time of the grant;
//   - refused for now, the 429 of RFC 6585: RetryAfter is at least 1;
//   - refused with no wait promised, since no wait would do or its end would not fit 64 bits: RetryAfter is 0.
type Outcome struct {
	Granted    bool
	At         int64  // of a grant: when the call may be made, in ms
	RetryAfter int64  // of a refusal: seconds until the same call would be granted, as in RFC 9110, section 10.2.3
	Wait       uint64 // ms from the bucket's Last until the tokens are there; 0 if no wait had to be computed
}

// Full returns the bucket of a client seen for the first time: full since the earliest time there is. A refill at any
// time leaves it full at that time.
func (p Policy) Full() Bucket {
	return Bucket{Ticks: p.Capacity * TicksPerToken, Last: math.MinInt64}
}

// Refill returns the bucket after the refill due at now, in ms. A clock that stepped back adds nothing.
func (p Policy) Refill(b Bucket, now int64) Bucket {
	last := max(b.Last, now)
	// Both differences can exceed an int64 and never a uint64, where subtraction wraps to the exact result.
	elapsed := uint64(last) - uint64(b.Last)
	room := uint64(p.Capacity*TicksPerToken) - uint64(b.Ticks)
	overflow, inflow := bits.Mul64(elapsed, uint64(p.PerMinute))
	if overflow != 0 {
		inflow = room
	}
	// The conversion wraps where the inflow exceeds an int64; the sum, at most the capacity, wraps back to the exact result.
	return Bucket{Ticks: b.Ticks + int64(min(inflow, room)), Last: last}
}

// Take refills the bucket and takes cost tokens (1 or more), now or at most maxWait ms (0 or more) ahead. It returns the
// bucket afterwards and the outcome. A refusal takes nothing and keeps the refill.
//
// A grant ahead of time is a debt: its cost leaves at once and the ticks go below zero, so that later callers see it. It
// falls on a whole millisecond, by when a fast refill may have run over the brim; that spill can't be booked, and leaves
// with the cost.
func (p Policy) Take(b Bucket, now, cost, maxWait int64) (Bucket, Outcome) {
	b = p.Refill(b, now)
	if cost > p.Capacity {
		return b, Outcome{}
	}
	price := cost * TicksPerToken
	if price <= b.Ticks {
		b.Ticks -= price
		return b, Outcome{Granted: true, At: now}
	}
	if p.PerMinute == 0 {
		return b, Outcome{}
	}

	// From here on uint64: the amounts are positive and below 2⁶⁴, because price is below 2⁶³ and the debt at most 2⁶³.
	short, rate := uint64(price)-uint64(b.Ticks), uint64(p.PerMinute)
	wait, excess := short/rate, uint64(0)
	if rest := short % rate; rest > 0 {
		wait, excess = wait+1, rate-rest // rounded up to a whole ms, in which excess ticks flow in beside what was short
	}
	if wait > uint64(maxWait) {
		return b, Outcome{RetryAfter: int64((wait-uint64(maxWait)-1)/1000) + 1, Wait: wait}
	}
	leaves := uint64(price)
	if room := uint64((p.Capacity - cost) * TicksPerToken); excess > room {
		leaves += excess - room
	}
	if leaves > uint64(b.Ticks)-(1<<63) || wait > math.MaxInt64-uint64(b.Last) {
		return b, Outcome{Wait: wait} // the debt, or the time of the grant, would not fit 64 bits
	}
	// Both conversions wrap where their operand exceeds an int64; the results fit, and are exact.
	b.Ticks -= int64(leaves)
	return b, Outcome{Granted: true, At: b.Last + int64(wait), Wait: wait}
}
