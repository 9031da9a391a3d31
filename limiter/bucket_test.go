// These tests call one bucket step by step, with every expected value worked out by hand from the specification.
// TestTake tells the rules in order. Package interp compares the arithmetic with formulas in arbitrary precision.
package limiter_test

import (
	"math"
	"testing"

	"tokenbucket/limiter"
)

const (
	minInt      = math.MinInt64 // -9,223,372,036,854,775,808
	maxInt      = math.MaxInt64 // 9,223,372,036,854,775,807
	maxCapacity = int64(153_722_867_280_912)
	maxTicks    = int64(9_223_372_036_854_720_000) // maxCapacity * 60,000, which is 55,807 below maxInt
)

// The outcomes of Take.

func grantedAt(ms int64) limiter.Outcome { return limiter.Outcome{Granted: true, At: ms} }
func bookedAt(ms int64, wait uint64) limiter.Outcome {
	return limiter.Outcome{Granted: true, At: ms, Wait: wait}
}
func retryAfter(seconds int64, wait uint64) limiter.Outcome {
	return limiter.Outcome{RetryAfter: seconds, Wait: wait}
}
func noPromise(wait uint64) limiter.Outcome { return limiter.Outcome{Wait: wait} }

// A step is a call of Take, its outcome and the bucket afterwards. With cost 0 it is a call of Refill, without an outcome.
type step struct {
	now, cost, maxWait int64
	outcome            limiter.Outcome
	ticks, last        int64
}

// A story is what happens to one bucket.
type story struct {
	name                string
	capacity, perMinute int64
	ticks, last         int64 // of the bucket at the start
	steps               []step
}

func (s story) check(t *testing.T) {
	p := limiter.Policy{Capacity: s.capacity, PerMinute: s.perMinute}
	b := limiter.Bucket{Ticks: s.ticks, Last: s.last}
	for i, step := range s.steps {
		before := b
		var outcome limiter.Outcome
		if step.cost == 0 {
			b = p.Refill(b, step.now)
		} else {
			b, outcome = p.Take(b, step.now, step.cost, step.maxWait)
		}
		if want := (limiter.Bucket{Ticks: step.ticks, Last: step.last}); b != want || outcome != step.outcome {
			t.Fatalf("step %d: %+v, %+v, now %d, cost %d, max wait %d\ngot:  %+v, %+v\nwant: %+v, %+v",
				i+1, p, before, step.now, step.cost, step.maxWait, b, outcome, want, step.outcome)
		}
	}
}

func TestTake(t *testing.T) {
	for _, s := range []story{
		{"3 at 60 a minute", 3, 60, 180_000, 0, []step{
			{now: 0, ticks: 180_000, last: 0},
			{0, 1, 0, grantedAt(0), 120_000, 0},
			{0, 1, 0, grantedAt(0), 60_000, 0},
			{0, 1, 0, grantedAt(0), 0, 0},
			{400, 1, 0, retryAfter(1, 600), 24_000, 400}, // 400 * 60; short is 36,000, which takes 600 ms
			{now: 400, ticks: 24_000, last: 400},
			{1000, 1, 0, grantedAt(1000), 0, 1000}, // 24,000 + 600 * 60 = 60,000
		}},
		{"costs of 4, 2 and 6 from 5 at 60 a minute", 5, 60, 300_000, 0, []step{
			{0, 4, 0, grantedAt(0), 60_000, 0},
			{0, 2, 0, retryAfter(1, 1000), 60_000, 0},
			{0, 6, 0, noPromise(0), 60_000, 0},
			{1000, 2, 0, grantedAt(1000), 0, 1000},
		}},

		// Rule 1.
		{"rule 1: more than the capacity, however long the max wait", 3, 60, 180_000, 0, []step{
			{0, 4, maxInt, noPromise(0), 180_000, 0},
			{0, maxInt, maxInt, noPromise(0), 180_000, 0},
			{0, 3, 0, grantedAt(0), 0, 0},
			{0, 4, 0, noPromise(0), 0, 0},
		}},
		{"rule 1: capacity 0", 0, 60, 0, 0, []step{
			{0, 1, maxInt, noPromise(0), 0, 0},
		}},
		{"rule 1: a refusal keeps the refill", 3, 60, 0, 0, []step{
			{500, 4, 0, noPromise(0), 30_000, 500},
		}},

		// Rule 2.
		{"rule 2: to the tick", 1, 7, 59_999, 0, []step{
			{0, 1, 0, retryAfter(1, 1), 59_999, 0},
			{1, 1, 0, grantedAt(1), 0, 1}, // 60,006, but no more than 60,000
		}},
		{"rule 2: no time counts twice", 3, 60, 0, 1000, []step{
			{0, 1, 0, retryAfter(1, 1000), 0, 1000},
			{1000, 1, 0, retryAfter(1, 1000), 0, 1000},
			{2000, 1, 0, grantedAt(2000), 0, 2000},
		}},
		{"rule 2: the time of the grant is the clock, even where the bucket is ahead of it", 3, 60, 60_000, 1000, []step{
			{400, 1, 0, grantedAt(400), 0, 1000},
		}},
		{"rule 2: beyond 32 bits", 100_000, 60, 6_000_000_000, 0, []step{
			{0, 1, 0, grantedAt(0), 5_999_940_000, 0},
			{0, 99_999, 0, grantedAt(0), 0, 0},
		}},
		{"rule 2: all of the largest bucket", maxCapacity, 60, maxTicks, 0, []step{
			{0, 1, 0, grantedAt(0), maxTicks - 60_000, 0},
			{0, maxCapacity - 1, 0, grantedAt(0), 0, 0},
		}},
		{"rule 2: at both ends of the clock", 2, maxInt, 60_000, minInt, []step{
			{minInt, 1, 0, grantedAt(minInt), 0, minInt},
			{maxInt, 2, 0, grantedAt(maxInt), 0, maxInt},
		}},

		// Rule 3.
		{"rule 3: at rate 0 the tokens in the bucket can be taken, and no wait is promised for more", 3, 0, 180_000, 0, []step{
			{5, 2, 0, grantedAt(5), 60_000, 5},
			{6, 2, maxInt, noPromise(0), 60_000, 6},
			{7, 1, 0, grantedAt(7), 0, 7},
			{8, 1, maxInt, noPromise(0), 0, 8},
		}},

		// Rule 4.
		{"rule 4: a refusal keeps the refill", 3, 60, 0, 0, []step{
			{400, 1, 0, retryAfter(1, 600), 24_000, 400},
			{0, 1, 0, retryAfter(1, 600), 24_000, 400}, // the clock stepped back, the refill stays
		}},
		{"rule 4: a wait of 1 ms is a retry-after of 1 s", 1, 60, 59_999, 0, []step{
			{0, 1, 0, retryAfter(1, 1), 59_999, 0},
		}},
		{"rule 4: exactly a second", 1, 60, 0, 0, []step{
			{0, 1, 0, retryAfter(1, 1000), 0, 0}, // 60,000 / 60
		}},
		{"rule 4: the wait is rounded up to a ms, and that to a second", 1, 60, -1, 0, []step{
			{0, 1, 0, retryAfter(2, 1001), -1, 0}, // 60,001 / 60 = 1000.02
		}},
		{"rule 4: the wait is rounded up to a second", 1, 7, 0, 0, []step{
			{0, 1, 0, retryAfter(9, 8572), 0, 0}, // 60,000 / 7 = 8571.4
		}},
		{"rule 4: the max wait is subtracted before rounding", 1, 30, 0, 0, []step{ // the wait is 2000 ms
			{0, 1, 999, retryAfter(2, 2000), 0, 0},
			{0, 1, 1000, retryAfter(1, 2000), 0, 0},
			{0, 1, 1999, retryAfter(1, 2000), 0, 0},
			{0, 1, 2000, bookedAt(2000, 2000), -60_000, 0},
		}},
		{"rule 4: the wait is counted from the last refill", 3, 60, 60_000, 1000, []step{
			{0, 2, 0, retryAfter(1, 1000), 60_000, 1000},
			{0, 2, 999, retryAfter(1, 1000), 60_000, 1000},
		}},
		{"rule 4: the next caller sees the debt", 2, 30, -120_000, 0, []step{
			{0, 1, 0, retryAfter(6, 6000), -120_000, 0}, // 180,000 / 30
		}},
		{"rule 4: waits of more than 63 bits", maxCapacity, 1, minInt, 0, []step{
			// short is maxTicks - minInt = 18,446,744,073,709,495,808, as many ms; minus maxInt: 9,223,372,036,854,720,001
			{0, maxCapacity, 0, retryAfter(18_446_744_073_709_496, 18_446_744_073_709_495_808), minInt, 0},
			{0, maxCapacity, maxInt, retryAfter(9_223_372_036_854_721, 18_446_744_073_709_495_808), minInt, 0},
		}},
		{"rule 4 comes before rule 5", 1, 60, 0, maxInt - 500, []step{
			{0, 1, 999, retryAfter(1, 1000), 0, maxInt - 500},
			{0, 1, 1000, noPromise(1000), 0, maxInt - 500},
		}},

		// Rule 5.
		{"rule 5: a grant at the largest time", 1, 60, 0, maxInt - 1000, []step{
			{0, 1, 1000, bookedAt(maxInt, 1000), -60_000, maxInt - 1000},
		}},
		{"rule 5: a grant 1 ms after the largest time", 1, 60, 0, maxInt - 999, []step{
			{0, 1, maxInt, noPromise(1000), 0, maxInt - 999},
		}},
		{"rule 5: a refusal keeps the refill", 1, 60, -60_000, maxInt - 1500, []step{
			// -60,000 + 501 * 60 = -29,940; short is 89,940, which takes 1499 ms, 500 more than are left
			{maxInt - 999, 1, maxInt, noPromise(1499), -29_940, maxInt - 999},
		}},
		{"rule 5: the largest debt", 2, 2, minInt + 60_000, 0, []step{
			{0, 1, maxInt, bookedAt(1<<62, 1<<62), minInt, 0}, // short is 2 to the 63
		}},
		{"rule 5: one tick more than the largest debt", 2, 2, minInt + 59_999, 0, []step{
			{0, 1, maxInt, noPromise(1<<62 + 1), minInt + 59_999, 0},
		}},
		{"rule 5: the largest debt, and a spill", 1, 3, minInt + 60_000, 0, []step{
			// short is 2 to the 63, which is 3 * 3,074,457,345,618,258,603 - 1: one tick spills
			{0, 1, maxInt, noPromise(3_074_457_345_618_258_603), minInt + 60_000, 0},
		}},
		{"rule 5: the largest debt, and room for the excess", 2, 3, minInt + 60_000, 0, []step{
			{0, 1, maxInt, bookedAt(3_074_457_345_618_258_603, 3_074_457_345_618_258_603), minInt, 0},
		}},
		{"rule 5: a debt of twice the largest capacity", maxCapacity, 2, maxTicks, 0, []step{
			{0, maxCapacity, 0, grantedAt(0), 0, 0},
			// The waits are maxTicks / 2, 2 * maxTicks / 2 and (maxTicks + 60,000) / 2. The last debt is 4192 too large.
			{0, maxCapacity, maxInt, bookedAt(4_611_686_018_427_360_000, 4_611_686_018_427_360_000), -maxTicks, 0},
			{0, maxCapacity, maxInt, noPromise(9_223_372_036_854_720_000), -maxTicks, 0},
			{0, 1, maxInt, noPromise(4_611_686_018_427_390_000), -maxTicks, 0},
		}},

		// Rule 6.
		{"rule 6: each reservation takes its cost, so the next is later", 2, 30, 120_000, 0, []step{
			{0, 1, 60_000, grantedAt(0), 60_000, 0},
			{0, 1, 60_000, grantedAt(0), 0, 0},
			{0, 1, 60_000, bookedAt(2000, 2000), -60_000, 0},
			{0, 1, 60_000, bookedAt(4000, 4000), -120_000, 0},
			{10_000, 1, 60_000, grantedAt(10_000), 60_000, 10_000}, // -120,000 + 300,000, but no more than 120,000
		}},
		{"rule 6: reservations of several tokens", 5, 60, 60_000, 0, []step{
			{0, 3, 2000, bookedAt(2000, 2000), -120_000, 0},
			{1000, 5, 6000, bookedAt(7000, 6000), -360_000, 1000}, // -60,000 after the refill; short is 360,000
		}},
		{"rule 6: the time of the grant is counted from the last refill, where that is ahead of the clock", 3, 60, 0, 1000, []step{
			{400, 1, 1000, bookedAt(2000, 1000), -60_000, 1000},
		}},
		{"rule 6: times below zero", 1, 60, 0, minInt, []step{
			{minInt, 1, 1000, bookedAt(minInt+1000, 1000), -60_000, minInt},
		}},
		{"rule 6: the spill leaves too", 1, 7, 60_000, 0, []step{
			{0, 1, 60_000, grantedAt(0), 0, 0},
			{0, 1, 60_000, bookedAt(8572, 8572), -60_004, 0},      // 8572 * 7 = 60,004
			{0, 1, 60_000, bookedAt(17_144, 17_144), -120_008, 0}, // short is 120,004, which takes 17,143.4 ms; 17,144 * 7 = 120,008
			{0, 1, 60_000, bookedAt(25_716, 25_716), -180_012, 0}, // short is 180,008, which takes 25,715.4 ms; 25,716 * 7 = 180,012
		}},
		{"rule 6: no spill where there is room", 2, 7, 0, 0, []step{
			{0, 1, 60_000, bookedAt(8572, 8572), -60_000, 0},
		}},
		{"rule 6: no spill where there is just room", 2, 120_000, 0, 0, []step{
			{0, 1, 1, bookedAt(1, 1), -60_000, 0}, // 120,000 flow in: short and room are 60,000 each
		}},
		{"rule 6: a spill of one tick", 2, 120_001, 0, 0, []step{
			{0, 1, 1, bookedAt(1, 1), -60_001, 0},
			{now: 1, ticks: 60_000, last: 1},
		}},
		{"rule 6: no room where the cost is the capacity", 2, 120_001, 0, 0, []step{
			{0, 2, 1, bookedAt(1, 1), -120_001, 0},
			{now: 1, ticks: 0, last: 1},
		}},
		{"rule 6: the fastest rate", 1, maxInt, 0, 0, []step{
			{0, 1, 1, bookedAt(1, 1), -maxInt, 0}, // maxInt ticks flow in within 1 ms
			{now: 1, ticks: 0, last: 1},
		}},
	} {
		t.Run(s.name, s.check)
	}
}

func TestRefill(t *testing.T) {
	for _, s := range []story{
		{"keeps every fraction of a token", 2, 1, 0, 0, []step{ // 1 tick a ms
			{now: 1, ticks: 1, last: 1},
			{now: 2, ticks: 2, last: 2},
			{now: 59_999, ticks: 59_999, last: 59_999},
			{now: 60_001, ticks: 60_001, last: 60_001},
		}},
		{"keeps every tick at a rate that does not divide a token", 1, 7, 0, 0, []step{
			{now: 1, ticks: 7, last: 1},
			{now: 8571, ticks: 59_997, last: 8571}, // 8571 * 7
			{now: 8572, ticks: 60_000, last: 8572}, // 60,004 without the limit of the capacity
		}},
		{"stops at the capacity", 3, 60, 0, 0, []step{
			{now: 2999, ticks: 179_940, last: 2999},
			{now: 3000, ticks: 180_000, last: 3000},
			{now: 3001, ticks: 180_000, last: 3001},
			{now: 1_000_000_000, ticks: 180_000, last: 1_000_000_000},
		}},
		{"pays off a debt", 3, 60, -120_000, 0, []step{
			{now: 1999, ticks: -60, last: 1999},
			{now: 2000, ticks: 0, last: 2000},
			{now: 5001, ticks: 180_000, last: 5001},
		}},
		{"adds nothing when the clock steps back", 3, 60, 60_000, 1000, []step{
			{now: 1000, ticks: 60_000, last: 1000},
			{now: 999, ticks: 60_000, last: 1000},
			{now: -1_000_000, ticks: 60_000, last: 1000},
		}},
		{"counts no time twice", 3, 60, 0, 1000, []step{
			{now: 0, ticks: 0, last: 1000},
			{now: 1000, ticks: 0, last: 1000},
			{now: 1500, ticks: 30_000, last: 1500}, // 500 * 60
		}},
		{"works at times below zero", 3, 60, 0, -5000, []step{
			{now: -4000, ticks: 60_000, last: -4000},
			{now: 0, ticks: 180_000, last: 0},
		}},
		{"adds nothing at rate 0", 3, 0, 60_000, 0, []step{
			{now: maxInt, ticks: 60_000, last: maxInt},
		}},
		{"adds nothing at capacity 0", 0, 60, 0, 0, []step{
			{now: 1, ticks: 0, last: 1},
		}},
		{"counts ticks beyond 32 bits", 100_000, 60, 5_999_999_940, 0, []step{
			{now: 1, ticks: 6_000_000_000, last: 1},
			{now: 2, ticks: 6_000_000_000, last: 2},
		}},
		{"counts single ticks beyond the 53 bits of a float", maxCapacity, 1, maxTicks - 60_000, 0, []step{
			{now: 1, ticks: maxTicks - 59_999, last: 1},
			{now: 2, ticks: maxTicks - 59_998, last: 2},
			{now: 60_000, ticks: maxTicks, last: 60_000},
			{now: 60_001, ticks: maxTicks, last: 60_001},
		}},
		{"stops at the largest capacity where the sum exceeds 64 bits", maxCapacity, 1 << 62, maxTicks - 20_000, 0, []step{
			{now: 1, ticks: maxTicks, last: 1}, // 9.2e18 + 4.6e18
		}},
		{"fills the bucket where the product is 2 to the 63", 3, 1 << 62, 0, 0, []step{
			{now: 2, ticks: 180_000, last: 2},
		}},
		{"fills the bucket where the product is 2 to the 64", 3, 1 << 62, 0, 0, []step{
			{now: 4, ticks: 180_000, last: 4},
		}},
		{"fills the bucket where the elapsed time is 2 to the 63", 3, 2, 0, minInt, []step{
			{now: 0, ticks: 180_000, last: 0}, // the product is 2 to the 64
		}},
		{"spans the whole range of the clock", maxCapacity, maxInt, minInt, minInt, []step{
			{now: maxInt, ticks: maxTicks, last: maxInt},
			{now: minInt, ticks: maxTicks, last: maxInt},
		}},
		{"fills the largest bucket from the largest debt, to the tick", maxCapacity, 2, minInt, 0, []step{
			// maxTicks - minInt = 18,446,744,073,709,495,808, which takes half as many ms: 9,223,372,036,854,747,904
			{now: 9_223_372_036_854_747_903, ticks: maxTicks - 2, last: 9_223_372_036_854_747_903},
			{now: 9_223_372_036_854_747_904, ticks: maxTicks, last: 9_223_372_036_854_747_904},
		}},
	} {
		t.Run(s.name, s.check)
	}
}

// TestEdges: one call of Take each, on which a small change to the program gives another answer. The change is the name.
func TestEdges(t *testing.T) {
	for _, s := range []story{
		{"Refill: signed difference", 0, 7, -1, minInt, []step{{0, maxInt, 0, noPromise(0), 0, 0}}},
		{"Refill: no early return", 0, 7, minInt, -1, []step{{-2, 1, 0, noPromise(0), minInt, -1}}},
		{"Refill: high word ignored", maxCapacity, 7, -55_813, minInt, []step{{-5_270_498_306_774_157_604, 1, 0, grantedAt(-5_270_498_306_774_157_604), 9_223_372_036_854_660_000, -5_270_498_306_774_157_604}}},
		{"Refill: low word ignored", maxCapacity, 7, -55_813, -1, []step{{1_317_624_576_693_539_401, 1, 0, grantedAt(1_317_624_576_693_539_401), 9_223_372_036_854_660_000, 1_317_624_576_693_539_401}}},
		{"Refill: inflow compared as int64", 0, 7, minInt, -1_317_624_576_693_539_402, []step{{-1, 1, maxInt, noPromise(0), -1, -1}}},
		{"Refill: last not moved", 0, 7, minInt, minInt, []step{{7_905_747_460_161_236_407, maxInt, maxInt, noPromise(0), 0, 7_905_747_460_161_236_407}}},
		{"Take: rule 1 before the refill", 0, 7, -1, maxInt - 1, []step{{maxInt, 1, 0, noPromise(0), 0, maxInt}}},
		{"Take: cost >= capacity", 1, 7, 59_999, minInt + 1, []step{{minInt, 1, 1, bookedAt(minInt+2, 1), -7, minInt + 1}}},
		{"Take: no rule 1", maxCapacity, 7, maxTicks - 1, minInt + 1, []step{{minInt, 230_584_300_921_369, 658_812_288_346_774_286, noPromise(0), maxTicks - 1, minInt + 1}}},
		{"rule 2: price < ticks", 1, 0, 60_000, 0, []step{{-1, 1, 0, grantedAt(-1), 0, 0}}},
		{"rule 2: At is Last", maxCapacity, 7, 9_223_372_036_854_660_000, -1, []step{{-2, maxCapacity - 1, 0, grantedAt(-2), 0, -1}}},
		{"no rule 3", 1, 0, 0, 0, []step{{0, 1, 0, noPromise(0), 0, 0}}},
		{"quotient by int64", maxCapacity, 7, -115_808, minInt + 1, []step{{minInt, maxCapacity - 1, 1_317_624_576_693_539_402, bookedAt(-7_905_747_460_161_236_405, 1_317_624_576_693_539_402), minInt, minInt + 1}}},
		{"wait rounded down", maxCapacity, 7, 9_223_372_036_854_712_999, minInt + 1, []step{{minInt, maxCapacity, 0, retryAfter(2, 1001), 9_223_372_036_854_712_999, minInt + 1}}},
		{"wait rounded up always", maxCapacity, 7, 9_223_372_036_854_659_993, minInt + 1, []step{{minInt, maxCapacity - 1, 1, bookedAt(minInt+2, 1), -7, minInt + 1}}},
		{"excess is the rest", 1, 7, -9_223_372_036_854_715_806, -1, []step{{-2, 1, 1_317_624_576_693_539_401, bookedAt(1_317_624_576_693_539_400, 1_317_624_576_693_539_401), minInt + 1, -1}}},
		{"rule 4: wait >= max_wait", maxCapacity, 7, -1, minInt + 1, []step{{minInt, 1, 8572, bookedAt(-9_223_372_036_854_767_235, 8572), -60_001, minInt + 1}}},
		{"rule 4: compared as int64", maxCapacity, 1, -55_809, -1, []step{{-2, maxCapacity, 0, retryAfter(9_223_372_036_854_776, maxInt+2), -55_809, -1}}},
		{"rule 4: missing -1", 1, 7, 0, maxInt, []step{{maxInt - 1, 1, 7572, retryAfter(1, 8572), 0, maxInt}}},
		{"rule 4: missing +1", 1, 7, -1, minInt + 1, []step{{minInt, 1, 8570, retryAfter(1, 8572), -1, minInt + 1}}},
		{"rule 4: divided as int64", maxCapacity, 1, minInt, maxInt, []step{{maxInt - 1, maxCapacity, 0, retryAfter(18_446_744_073_709_496, 18_446_744_073_709_495_808), minInt, maxInt}}},
		{"rule 4: max_wait not taken off", maxCapacity, 7, -2999, maxInt, []step{{maxInt - 1, 1, 1000, retryAfter(8, 9000), -2999, maxInt}}},
		{"no spill", maxCapacity, 7, -55_806, -1, []step{{-2, maxCapacity, 1_317_624_576_693_539_401, bookedAt(1_317_624_576_693_539_400, 1_317_624_576_693_539_401), minInt + 1, -1}}},
		{"spill: all the excess", maxCapacity, 1_000_000_007, -708_883_810, minInt + 1, []step{{minInt, 153_722_867_269_098, 9_223_371_973, bookedAt(-9_223_372_027_631_403_834, 9_223_371_973), -9_223_372_036_854_763_811, minInt + 1}}},
		{"spill: room of the whole bucket", 1, 1 << 62, -4_611_686_018_427_267_903, -1, []step{{-2, 1, 1, bookedAt(0, 1), -4_611_686_018_427_387_904, -1}}},
		{"rule 5: price for leaves", maxCapacity - 1, 7, -115_808, -1, []step{{-2, maxCapacity - 1, 1_317_624_576_693_539_402, noPromise(1_317_624_576_693_539_402), -115_808, -1}}},
		{"rule 5: debt >=", 1, 2, -9_223_372_036_854_715_807, -1, []step{{-2, 1, 1 << 62, bookedAt(4_611_686_018_427_387_903, 1<<62), minInt, -1}}},
		{"rule 5: debt bound one off", 1, 3, -9_223_372_036_854_715_808, minInt + 1, []step{{minInt, 1, 3_074_457_345_618_258_603, noPromise(3_074_457_345_618_258_603), -9_223_372_036_854_715_808, minInt + 1}}},
		{"rule 5: no bound on the debt", maxCapacity, 7, -115_826, minInt + 1, []step{{minInt, maxCapacity, 1_317_624_576_693_547_976, noPromise(1_317_624_576_693_547_976), -115_826, minInt + 1}}},
		{"rule 5: time >=", maxCapacity, 7, 9_223_372_036_854_719_994, maxInt - 1, []step{{maxInt - 2, maxCapacity, 1, bookedAt(maxInt, 1), -7, maxInt - 1}}},
		{"rule 5: time counted from now", 1, 7, -9_223_372_036_854_600_022, 7_905_747_460_161_252_947, []step{{minInt, 1, 1_317_624_576_693_522_861, noPromise(1_317_624_576_693_522_861), -9_223_372_036_854_600_022, 7_905_747_460_161_252_947}}},
		{"rule 5: only the wait must fit", 1, 7, -838_488_366_986_737_771, 9_103_587_984_428_090_412, []step{{9_103_587_984_428_090_411, 1, 119_784_052_426_685_396, noPromise(119_784_052_426_685_396), -838_488_366_986_737_771, 9_103_587_984_428_090_412}}},
		{"rule 5: time by int64", 2, 7, -2, minInt + 1, []step{{minInt, 2, 17_144, bookedAt(-9_223_372_036_854_758_663, 17_144), -120_008, minInt + 1}}},
		{"rule 5 before rule 4", maxCapacity, 7, maxTicks - 1, maxInt, []step{{maxInt - 1, maxCapacity, 0, retryAfter(1, 1), maxTicks - 1, maxInt}}},
		{"rule 5: no Wait told", 1, 7, -9_223_372_036_854_715_808, -1, []step{{-2, 1, 1_317_624_576_693_539_402, noPromise(1_317_624_576_693_539_402), -9_223_372_036_854_715_808, -1}}},
		{"rule 6: only the price leaves", maxCapacity, 7, maxTicks - 1, minInt + 1, []step{{minInt, maxCapacity, 1, bookedAt(minInt+2, 1), -7, minInt + 1}}},
		{"rule 6: counted from now", 1, 7, -9_223_372_036_854_715_806, -1, []step{{minInt, 1, maxInt, bookedAt(1_317_624_576_693_539_400, 1_317_624_576_693_539_401), minInt + 1, -1}}},
		{"rule 6: last moves to the grant", maxCapacity, 7, -9, -1, []step{{-2, maxCapacity, 1_317_624_576_693_531_430, bookedAt(1_317_624_576_693_531_429, 1_317_624_576_693_531_430), -9_223_372_036_854_720_010, -1}}},
	} {
		t.Run(s.name, s.check)
	}
}

// TestFull: the bucket of a new client is full since the earliest time, and a refill at any time leaves it full at that time.
func TestFull(t *testing.T) {
	for _, c := range []struct{ capacity, perMinute, ticks int64 }{
		{0, 0, 0}, {0, maxInt, 0}, {3, 0, 180_000}, {3, 60, 180_000}, {100_000, 1, 6_000_000_000}, {maxCapacity, maxInt, maxTicks},
	} {
		p := limiter.Policy{Capacity: c.capacity, PerMinute: c.perMinute}
		full := p.Full()
		if want := (limiter.Bucket{Ticks: c.ticks, Last: minInt}); full != want {
			t.Errorf("Full of %+v\ngot:  %+v\nwant: %+v", p, full, want)
		}
		for _, now := range []int64{minInt, minInt + 1, -5, 0, maxInt} {
			want := limiter.Bucket{Ticks: c.ticks, Last: now}
			if got := p.Refill(full, now); got != want {
				t.Errorf("Refill of %+v, %+v, now %d\ngot:  %+v\nwant: %+v", p, full, now, got, want)
			}
		}
	}
}

// TestConstants: a token is 60,000 ticks, and the largest capacity is the largest whose ticks fit an int64.
func TestConstants(t *testing.T) {
	if limiter.TicksPerToken != 60_000 || limiter.MaxCapacity != maxCapacity {
		t.Errorf("got:  %d, %d\nwant: 60000, %d", int64(limiter.TicksPerToken), int64(limiter.MaxCapacity), maxCapacity)
	}
}

// TestTokens: Tokens drops the fraction, of a debt too.
func TestTokens(t *testing.T) {
	for _, c := range []struct{ ticks, want int64 }{
		{0, 0}, {59_999, 0}, {60_000, 1}, {119_999, 1}, {6_000_000_000, 100_000},
		{9_223_372_036_854_715_808, maxCapacity - 1}, {maxTicks - 1, maxCapacity - 1}, {maxTicks, maxCapacity},
		{-1, 0}, {-59_999, 0}, {-60_000, -1}, {-119_999, -1}, {minInt, -maxCapacity}, // minInt is -(maxTicks + 55,808)
	} {
		if got := (limiter.Bucket{Ticks: c.ticks}).Tokens(); got != c.want {
			t.Errorf("Tokens of %d ticks\ngot:  %d\nwant: %d", c.ticks, got, c.want)
		}
	}
}
