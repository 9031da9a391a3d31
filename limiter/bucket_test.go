// These tests talk to one bucket, turn by turn, with every value worked out by hand from the specification; and hold it
// against a short transcription of the formulas into math/big.
package limiter_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tokenbucket/limiter"
)

const (
	minInt = math.MinInt64 // -9,223,372,036,854,775,808
	maxInt = math.MaxInt64 // 9,223,372,036,854,775,807
	most   = int64(153_722_867_280_912)
	brim   = int64(9_223_372_036_854_720_000) // the ticks of most: 60,000 times as much, 55,807 below maxInt
)

// What Take can say.

func granted(now int64) limiter.Outcome { return limiter.Outcome{Granted: true, At: now} }
func booked(at int64, wait uint64) limiter.Outcome {
	return limiter.Outcome{Granted: true, At: at, Wait: wait}
}
func retryAfter(seconds int64, wait uint64) limiter.Outcome {
	return limiter.Outcome{RetryAfter: seconds, Wait: wait}
}
func outOfRange(wait uint64) limiter.Outcome { return limiter.Outcome{Wait: wait} }

var refused limiter.Outcome // by rules 1 and 3

// A turn is a call, what it is answered, and the bucket after it. At cost 0 it is a TopUp, which is answered nothing.
type turn struct {
	now, cost, maxWait int64
	says               limiter.Outcome
	ticks, last        int64
}

type conversation struct {
	name                string
	capacity, perMinute int64
	ticks, last         int64 // of the bucket at the start
	turns               []turn
}

func (c conversation) hold(t *testing.T) {
	p := limiter.Policy{Capacity: c.capacity, PerMinute: c.perMinute}
	b := limiter.Bucket{Ticks: c.ticks, Last: c.last}
	for i, turn := range c.turns {
		before := b
		var says limiter.Outcome
		if turn.cost == 0 {
			b = p.TopUp(b, turn.now)
		} else {
			b, says = p.Take(b, turn.now, turn.cost, turn.maxWait)
		}
		if want := (limiter.Bucket{Ticks: turn.ticks, Last: turn.last}); b != want || says != turn.says {
			t.Fatalf("turn %d: %+v, %+v, now %d, cost %d, max_wait %d\ncame:   %+v, %+v\nwanted: %+v, %+v",
				i+1, p, before, turn.now, turn.cost, turn.maxWait, b, says, want, turn.says)
		}
	}
}

func TestTopUp(t *testing.T) {
	for _, c := range []conversation{
		{"keeps every fraction of a token", 2, 1, 0, 0, []turn{ // 1 tick a ms
			{now: 1, ticks: 1, last: 1},
			{now: 2, ticks: 2, last: 2},
			{now: 59_999, ticks: 59_999, last: 59_999},
			{now: 60_001, ticks: 60_001, last: 60_001},
		}},
		{"keeps fractions of a ms's inflow", 1, 7, 0, 0, []turn{
			{now: 1, ticks: 7, last: 1},
			{now: 8571, ticks: 59_997, last: 8571}, // 8571 * 7
			{now: 8572, ticks: 60_000, last: 8572}, // 60,004 without the brim
		}},
		{"stops at the capacity", 3, 60, 0, 0, []turn{
			{now: 2999, ticks: 179_940, last: 2999},
			{now: 3000, ticks: 180_000, last: 3000},
			{now: 3001, ticks: 180_000, last: 3001},
			{now: 1_000_000_000, ticks: 180_000, last: 1_000_000_000},
		}},
		{"pays a debt back", 3, 60, -120_000, 0, []turn{
			{now: 1999, ticks: -60, last: 1999},
			{now: 2000, ticks: 0, last: 2000},
			{now: 5001, ticks: 180_000, last: 5001},
		}},
		{"adds nothing when the clock steps back", 3, 60, 60_000, 1000, []turn{
			{now: 1000, ticks: 60_000, last: 1000},
			{now: 999, ticks: 60_000, last: 1000},
			{now: -1_000_000, ticks: 60_000, last: 1000},
		}},
		{"is not done twice for the same time", 3, 60, 0, 1000, []turn{
			{now: 0, ticks: 0, last: 1000},
			{now: 1000, ticks: 0, last: 1000},
			{now: 1500, ticks: 30_000, last: 1500}, // 500 * 60
		}},
		{"goes on below zero on the clock", 3, 60, 0, -5000, []turn{
			{now: -4000, ticks: 60_000, last: -4000},
			{now: 0, ticks: 180_000, last: 0},
		}},
		{"adds nothing at no rate", 3, 0, 60_000, 0, []turn{
			{now: maxInt, ticks: 60_000, last: maxInt},
		}},
		{"holds nothing without a capacity", 0, 60, 0, 0, []turn{
			{now: 1, ticks: 0, last: 1},
		}},
		{"counts ticks beyond 32 bits", 100_000, 60, 5_999_999_940, 0, []turn{
			{now: 1, ticks: 6_000_000_000, last: 1},
			{now: 2, ticks: 6_000_000_000, last: 2},
		}},
		{"counts single ticks beyond the 53 bits of a float", most, 1, brim - 60_000, 0, []turn{
			{now: 1, ticks: brim - 59_999, last: 1},
			{now: 2, ticks: brim - 59_998, last: 2},
			{now: 60_000, ticks: brim, last: 60_000},
			{now: 60_001, ticks: brim, last: 60_001},
		}},
		{"stops at the brim of 64 bits where the sum would not fit", most, 1 << 62, brim - 20_000, 0, []turn{
			{now: 1, ticks: brim, last: 1}, // 9.2e18 + 4.6e18
		}},
		{"fills where the product is 2 to the 63", 3, 1 << 62, 0, 0, []turn{
			{now: 2, ticks: 180_000, last: 2},
		}},
		{"fills where the product is 2 to the 64", 3, 1 << 62, 0, 0, []turn{
			{now: 4, ticks: 180_000, last: 4},
		}},
		{"fills where the time that passed is 2 to the 63", 3, 2, 0, minInt, []turn{
			{now: 0, ticks: 180_000, last: 0}, // the product is 2 to the 64
		}},
		{"spans the whole range of the clock", most, maxInt, minInt, minInt, []turn{
			{now: maxInt, ticks: brim, last: maxInt},
			{now: minInt, ticks: brim, last: maxInt},
		}},
		{"fills to the tick what is empty to the last bit", most, 2, minInt, 0, []turn{
			// brim - minInt = 18,446,744,073,709,495,808, which takes half as many ms: 9,223,372,036,854,747,904
			{now: 9_223_372_036_854_747_903, ticks: brim - 2, last: 9_223_372_036_854_747_903},
			{now: 9_223_372_036_854_747_904, ticks: brim, last: 9_223_372_036_854_747_904},
		}},
	} {
		t.Run(c.name, c.hold)
	}
}

func TestTake(t *testing.T) {
	for _, c := range []conversation{
		{"3 at 60 a minute by hand", 3, 60, 180_000, 0, []turn{
			{now: 0, ticks: 180_000, last: 0},
			{0, 1, 0, granted(0), 120_000, 0},
			{0, 1, 0, granted(0), 60_000, 0},
			{0, 1, 0, granted(0), 0, 0},
			{400, 1, 0, retryAfter(1, 600), 24_000, 400}, // 400 * 60; short of 36,000, 600 ms
			{now: 400, ticks: 24_000, last: 400},
			{1000, 1, 0, granted(1000), 0, 1000}, // 24,000 + 600 * 60 = 60,000
		}},
		{"costs of 4, 2 and 6 from 5 at 60 a minute", 5, 60, 300_000, 0, []turn{
			{0, 4, 0, granted(0), 60_000, 0},
			{0, 2, 0, retryAfter(1, 1000), 60_000, 0},
			{0, 6, 0, refused, 60_000, 0},
			{1000, 2, 0, granted(1000), 0, 1000},
		}},

		// Rule 1.
		{"rule 1: no more than the capacity at once, however long the wait", 3, 60, 180_000, 0, []turn{
			{0, 4, maxInt, refused, 180_000, 0},
			{0, maxInt, maxInt, refused, 180_000, 0},
			{0, 3, 0, granted(0), 0, 0},
			{0, 4, 0, refused, 0, 0},
		}},
		{"rule 1: nothing without a capacity", 0, 60, 0, 0, []turn{
			{0, 1, maxInt, refused, 0, 0},
		}},
		{"rule 1: a refusal keeps the refill", 3, 60, 0, 0, []turn{
			{500, 4, 0, refused, 30_000, 500},
		}},

		// Rule 2.
		{"rule 2: to the tick", 1, 7, 59_999, 0, []turn{
			{0, 1, 0, retryAfter(1, 1), 59_999, 0},
			{1, 1, 0, granted(1), 0, 1}, // 60,006, but no more than 60,000
		}},
		{"rule 2: no token comes twice for the same time", 3, 60, 0, 1000, []turn{
			{0, 1, 0, retryAfter(1, 1000), 0, 1000},
			{1000, 1, 0, retryAfter(1, 1000), 0, 1000},
			{2000, 1, 0, granted(2000), 0, 2000},
		}},
		{"rule 2: the time is the clock's, also where the bucket is ahead of it", 3, 60, 60_000, 1000, []turn{
			{400, 1, 0, granted(400), 0, 1000},
		}},
		{"rule 2: beyond 32 bits", 100_000, 60, 6_000_000_000, 0, []turn{
			{0, 1, 0, granted(0), 5_999_940_000, 0},
			{0, 99_999, 0, granted(0), 0, 0},
		}},
		{"rule 2: all of the largest bucket", most, 60, brim, 0, []turn{
			{0, 1, 0, granted(0), brim - 60_000, 0},
			{0, most - 1, 0, granted(0), 0, 0},
		}},
		{"rule 2: at both ends of the clock", 2, maxInt, 60_000, minInt, []turn{
			{minInt, 1, 0, granted(minInt), 0, minInt},
			{maxInt, 2, 0, granted(maxInt), 0, maxInt},
		}},

		// Rule 3.
		{"rule 3: at no rate what is there can be taken, and no wait is promised for more", 3, 0, 180_000, 0, []turn{
			{5, 2, 0, granted(5), 60_000, 5},
			{6, 2, maxInt, refused, 60_000, 6},
			{7, 1, 0, granted(7), 0, 7},
			{8, 1, maxInt, refused, 0, 8},
		}},

		// Rule 4.
		{"rule 4: a refusal keeps the refill", 3, 60, 0, 0, []turn{
			{400, 1, 0, retryAfter(1, 600), 24_000, 400},
			{0, 1, 0, retryAfter(1, 600), 24_000, 400}, // the clock stepped back, the refill stays
		}},
		{"rule 4: a wait of a ms is a second to retry after", 1, 60, 59_999, 0, []turn{
			{0, 1, 0, retryAfter(1, 1), 59_999, 0},
		}},
		{"rule 4: exactly a second", 1, 60, 0, 0, []turn{
			{0, 1, 0, retryAfter(1, 1000), 0, 0}, // 60,000 / 60
		}},
		{"rule 4: the wait is rounded up to a ms, and that to a second", 1, 60, -1, 0, []turn{
			{0, 1, 0, retryAfter(2, 1001), -1, 0}, // 60,001 / 60 = 1000.02
		}},
		{"rule 4: the wait is rounded up to a second", 1, 7, 0, 0, []turn{
			{0, 1, 0, retryAfter(9, 8572), 0, 0}, // 60,000 / 7 = 8571.4
		}},
		{"rule 4: what may be waited comes off before rounding", 1, 30, 0, 0, []turn{ // 2000 ms are short
			{0, 1, 999, retryAfter(2, 2000), 0, 0},
			{0, 1, 1000, retryAfter(1, 2000), 0, 0},
			{0, 1, 1999, retryAfter(1, 2000), 0, 0},
			{0, 1, 2000, booked(2000, 2000), -60_000, 0},
		}},
		{"rule 4: the wait is counted from the bucket's own time", 3, 60, 60_000, 1000, []turn{
			{0, 2, 0, retryAfter(1, 1000), 60_000, 1000},
			{0, 2, 999, retryAfter(1, 1000), 60_000, 1000},
		}},
		{"rule 4: a debt is seen by who comes next", 2, 30, -120_000, 0, []turn{
			{0, 1, 0, retryAfter(6, 6000), -120_000, 0}, // 180,000 / 30
		}},
		{"rule 4: waits of more than 63 bits", most, 1, minInt, 0, []turn{
			// short of brim - minInt = 18,446,744,073,709,495,808 ticks, as many ms; less maxInt: 9,223,372,036,854,720,001
			{0, most, 0, retryAfter(18_446_744_073_709_496, 18_446_744_073_709_495_808), minInt, 0},
			{0, most, maxInt, retryAfter(9_223_372_036_854_721, 18_446_744_073_709_495_808), minInt, 0},
		}},
		{"rule 4 comes before rule 5", 1, 60, 0, maxInt - 500, []turn{
			{0, 1, 999, retryAfter(1, 1000), 0, maxInt - 500},
			{0, 1, 1000, outOfRange(1000), 0, maxInt - 500},
		}},

		// Rule 5.
		{"rule 5: the last time that there is", 1, 60, 0, maxInt - 1000, []turn{
			{0, 1, 1000, booked(maxInt, 1000), -60_000, maxInt - 1000},
		}},
		{"rule 5: a ms after the last time that there is", 1, 60, 0, maxInt - 999, []turn{
			{0, 1, maxInt, outOfRange(1000), 0, maxInt - 999},
		}},
		{"rule 5: a refusal keeps the refill", 1, 60, -60_000, maxInt - 1500, []turn{
			// -60,000 + 501 * 60 = -29,940; short of 89,940, 1499 ms, 500 after the end
			{maxInt - 999, 1, maxInt, outOfRange(1499), -29_940, maxInt - 999},
		}},
		{"rule 5: the largest debt that there is", 2, 2, minInt + 60_000, 0, []turn{
			{0, 1, maxInt, booked(1<<62, 1<<62), minInt, 0}, // short of 2 to the 63
		}},
		{"rule 5: a tick more than the largest debt", 2, 2, minInt + 59_999, 0, []turn{
			{0, 1, maxInt, outOfRange(1<<62 + 1), minInt + 59_999, 0},
		}},
		{"rule 5: the largest debt, but for what spills", 1, 3, minInt + 60_000, 0, []turn{
			// short of 2 to the 63, which is 3 * 3,074,457,345,618,258,603 - 1: one tick over a brim without room
			{0, 1, maxInt, outOfRange(3_074_457_345_618_258_603), minInt + 60_000, 0},
		}},
		{"rule 5: the largest debt, and room for what would spill", 2, 3, minInt + 60_000, 0, []turn{
			{0, 1, maxInt, booked(3_074_457_345_618_258_603, 3_074_457_345_618_258_603), minInt, 0},
		}},
		{"rule 5: twice what the largest bucket holds", most, 2, brim, 0, []turn{
			{0, most, 0, granted(0), 0, 0},
			{0, most, maxInt, booked(4_611_686_018_427_360_000, 4_611_686_018_427_360_000), -brim, 0}, // brim / 2
			{0, most, maxInt, outOfRange(9_223_372_036_854_720_000), -brim, 0},                        // 2 * brim / 2
			{0, 1, maxInt, outOfRange(4_611_686_018_427_390_000), -brim, 0},                           // (brim + 60,000) / 2; the debt is 4192 too large
		}},

		// Rule 6.
		{"rule 6: a reservation takes, and the next one is later", 2, 30, 120_000, 0, []turn{
			{0, 1, 60_000, granted(0), 60_000, 0},
			{0, 1, 60_000, granted(0), 0, 0},
			{0, 1, 60_000, booked(2000, 2000), -60_000, 0},
			{0, 1, 60_000, booked(4000, 4000), -120_000, 0},
			{10_000, 1, 60_000, granted(10_000), 60_000, 10_000}, // -120,000 + 300,000, but no more than 120,000
		}},
		{"rule 6: a reservation of several", 5, 60, 60_000, 0, []turn{
			{0, 3, 2000, booked(2000, 2000), -120_000, 0},
			{1000, 5, 6000, booked(7000, 6000), -360_000, 1000}, // -60,000; short of 360,000
		}},
		{"rule 6: the time is counted from the bucket's, where it is ahead of the clock", 3, 60, 0, 1000, []turn{
			{400, 1, 1000, booked(2000, 1000), -60_000, 1000},
		}},
		{"rule 6: times before zero", 1, 60, 0, minInt, []turn{
			{minInt, 1, 1000, booked(minInt+1000, 1000), -60_000, minInt},
		}},
		{"rule 6: what spills leaves too", 1, 7, 60_000, 0, []turn{
			{0, 1, 60_000, granted(0), 0, 0},
			{0, 1, 60_000, booked(8572, 8572), -60_004, 0},      // 8572 * 7 = 60,004
			{0, 1, 60_000, booked(17_144, 17_144), -120_008, 0}, // short of 120,004, 17,143.4 ms; 17,144 * 7 = 120,008
			{0, 1, 60_000, booked(25_716, 25_716), -180_012, 0}, // short of 180,008, 25,715.4 ms; 25,716 * 7 = 180,012
		}},
		{"rule 6: what finds room does not spill", 2, 7, 0, 0, []turn{
			{0, 1, 60_000, booked(8572, 8572), -60_000, 0},
		}},
		{"rule 6: what just finds room", 2, 120_000, 0, 0, []turn{
			{0, 1, 1, booked(1, 1), -60_000, 0}, // 120,000 flow in: 60,000 short, 60,000 of room
		}},
		{"rule 6: a tick more than finds room", 2, 120_001, 0, 0, []turn{
			{0, 1, 1, booked(1, 1), -60_001, 0},
			{now: 1, ticks: 60_000, last: 1},
		}},
		{"rule 6: no room where all is taken", 2, 120_001, 0, 0, []turn{
			{0, 2, 1, booked(1, 1), -120_001, 0},
			{now: 1, ticks: 0, last: 1},
		}},
		{"rule 6: the fastest rate", 1, maxInt, 0, 0, []turn{
			{0, 1, 1, booked(1, 1), -maxInt, 0}, // maxInt flow in within a ms, none finds room
			{now: 1, ticks: 0, last: 1},
		}},
	} {
		t.Run(c.name, c.hold)
	}
}

// TestFull: a new bucket is full at the time given.
func TestFull(t *testing.T) {
	for _, c := range []struct{ capacity, now, ticks int64 }{
		{0, 5, 0}, {3, -5, 180_000}, {100_000, 0, 6_000_000_000}, {most, maxInt, brim},
	} {
		want := limiter.Bucket{Ticks: c.ticks, Last: c.now}
		if got := (limiter.Policy{Capacity: c.capacity, PerMinute: 60}).Full(c.now); got != want {
			t.Errorf("capacity %d at %d\ncame:   %+v\nwanted: %+v", c.capacity, c.now, got, want)
		}
	}
	if limiter.MaxCapacity != most || limiter.TicksPerToken != 60_000 {
		t.Errorf("came:   %d, %d\nwanted: %d, 60000", int64(limiter.MaxCapacity), limiter.TicksPerToken, most)
	}
}

// TestTokens: whole tokens are what remains without its fraction.
func TestTokens(t *testing.T) {
	for _, c := range []struct{ ticks, want int64 }{
		{0, 0}, {59_999, 0}, {60_000, 1}, {119_999, 1}, {6_000_000_000, 100_000}, {brim - 1, most - 1}, {brim, most},
	} {
		if got := (limiter.Bucket{Ticks: c.ticks}).Tokens(); got != c.want {
			t.Errorf("%d ticks\ncame:   %d\nwanted: %d", c.ticks, got, c.want)
		}
	}
}

// exactly is TopUp and Take in integers without bounds, from the specification: the bucket after the top-up, that after
// the call, and what the call says.
func exactly(p limiter.Policy, b limiter.Bucket, now, cost, maxWait int64) (toppedUp, taken, says string) {
	n, zero, token := big.NewInt, new(big.Int), big.NewInt(60_000)
	op := func(f func(z, x, y *big.Int) *big.Int, x, y *big.Int) *big.Int { return f(new(big.Int), x, y) }
	plus := func(x, y *big.Int) *big.Int { return op((*big.Int).Add, x, y) }
	minus := func(x, y *big.Int) *big.Int { return op((*big.Int).Sub, x, y) }
	times := func(x, y *big.Int) *big.Int { return op((*big.Int).Mul, x, y) }
	ceil := func(x, y *big.Int) *big.Int { return minus(zero, op((*big.Int).Div, minus(zero, x), y)) }
	larger := func(x, y *big.Int) *big.Int {
		if x.Cmp(y) > 0 {
			return x
		}
		return y
	}
	smaller := func(x, y *big.Int) *big.Int { return minus(plus(x, y), larger(x, y)) }
	bucket := func(ticks, last *big.Int) string { return fmt.Sprintf("{Ticks:%d Last:%d}", ticks, last) }
	capacity, rate, price := n(p.Capacity), n(p.PerMinute), times(n(cost), token)

	elapsed := larger(zero, minus(n(now), n(b.Last)))
	ticks := smaller(times(capacity, token), plus(n(b.Ticks), times(elapsed, rate)))
	last := larger(n(b.Last), n(now))
	toppedUp = bucket(ticks, last)

	short := minus(price, ticks)
	switch {
	case cost > p.Capacity:
		return toppedUp, toppedUp, "refused"
	case short.Sign() <= 0:
		return toppedUp, bucket(minus(ticks, price), last), fmt.Sprint("granted at ", now)
	case p.PerMinute == 0:
		return toppedUp, toppedUp, "refused"
	}
	wait := ceil(short, rate)
	if wait.Cmp(n(maxWait)) > 0 {
		return toppedUp, toppedUp, fmt.Sprint("retry after ", ceil(minus(wait, n(maxWait)), n(1000)))
	}
	spill := larger(zero, minus(minus(times(wait, rate), short), times(minus(capacity, n(cost)), token)))
	debt, at := minus(ticks, plus(price, spill)), plus(last, wait)
	if !debt.IsInt64() || !at.IsInt64() {
		return toppedUp, toppedUp, "refused"
	}
	return toppedUp, bucket(debt, last), fmt.Sprint("granted at ", at)
}

// compare holds TopUp and Take against exactly, with the arguments brought into their ranges.
func compare(t *testing.T, capacity, perMinute, ticks, last, now, cost, maxWait int64) {
	t.Helper()
	p := limiter.Policy{Capacity: (capacity & maxInt) % (most + 1), PerMinute: perMinute & maxInt}
	b := limiter.Bucket{Ticks: min(ticks, p.Capacity*60_000), Last: last}
	cost, maxWait = max(1, cost&maxInt), maxWait&maxInt

	toppedUp := p.TopUp(b, now)
	taken, o := p.Take(b, now, cost, maxWait)
	says := "refused"
	switch {
	case o.Granted:
		says = fmt.Sprint("granted at ", o.At)
	case o.RetryAfter != 0:
		says = fmt.Sprint("retry after ", o.RetryAfter)
	}
	wantToppedUp, wantTaken, wantSays := exactly(p, b, now, cost, maxWait)
	if got := fmt.Sprintf("%+v", toppedUp); got != wantToppedUp {
		t.Fatalf("%+v, %+v, TopUp at %d\ncame:   %s\nwanted: %s", p, b, now, got, wantToppedUp)
	}
	if got := fmt.Sprintf("%+v", taken); got != wantTaken || says != wantSays {
		t.Fatalf("%+v, %+v, Take at %d, cost %d, max_wait %d\ncame:   %s, %s\nwanted: %s, %s",
			p, b, now, cost, maxWait, got, says, wantTaken, wantSays)
	}
}

// TestTakeIsExact: on arguments of any size Take is what the formulas are in integers without bounds.
func TestTakeIsExact(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 0))
			value := func() int64 {
				small := r.Int64N(1_000_000) >> r.IntN(20)
				switch r.IntN(8) {
				case 0, 1, 2:
					return small
				case 3:
					return -small
				case 4:
					return minInt + small
				case 5:
					return maxInt - small
				case 6:
					return 1<<r.IntN(64) + small
				}
				return int64(r.Uint64()) >> r.IntN(64)
			}
			for range 2000 {
				capacity, cost := (value()&maxInt)%(most+1), value()
				if r.IntN(2) == 0 {
					cost = capacity - r.Int64N(3)
				}
				compare(t, capacity, value(), value(), value(), value(), cost, value())
			}
		})
	}
}

// FuzzTake looks for arguments on which Take is not what the formulas are.
func FuzzTake(f *testing.F) {
	f.Add(int64(3), int64(60), int64(24_000), int64(400), int64(1000), int64(1), int64(0))
	f.Add(int64(1), int64(7), int64(-60_004), int64(0), int64(0), int64(1), int64(60_000))
	f.Add(int64(3), int64(60), int64(0), int64(1000), int64(0), int64(2), int64(5000))
	f.Add(int64(2), int64(120_001), int64(0), int64(0), int64(0), int64(1), int64(1))
	f.Add(int64(1), int64(60), int64(0), int64(maxInt-999), int64(0), int64(1), int64(maxInt))
	f.Add(int64(1), int64(3), int64(minInt+60_000), int64(0), int64(0), int64(1), int64(maxInt))
	f.Add(most, int64(1), int64(minInt), int64(minInt), int64(maxInt), most, int64(maxInt))
	f.Fuzz(compare)
}
