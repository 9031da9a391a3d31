package limiter_test

import (
	"fmt"

	"tokenbucket/limiter"
)

// A client may make 2 calls at once and 30 a minute, which is one every 2 seconds.
func ExamplePolicy_Take() {
	policy := limiter.Policy{Capacity: 2, PerMinute: 30}
	bucket := policy.Full()
	now := int64(1_000) // ms on any clock
	for range 3 {
		var outcome limiter.Outcome
		bucket, outcome = policy.Take(bucket, now, 1, 0)
		if outcome.Granted {
			fmt.Println("granted,", bucket.Tokens(), "left")
		} else {
			fmt.Println("refused, retry after", outcome.RetryAfter, "s")
		}
	}
	// Output:
	// granted, 1 left
	// granted, 0 left
	// refused, retry after 2 s
}

// A call that may wait up to a minute is booked, and the next one after it.
func ExamplePolicy_Take_reservation() {
	policy := limiter.Policy{Capacity: 1, PerMinute: 60}
	bucket := policy.Full()
	for range 3 {
		var outcome limiter.Outcome
		bucket, outcome = policy.Take(bucket, 0, 1, 60_000)
		fmt.Println("send at", outcome.At, "ms, ticks", bucket.Ticks)
	}
	// Output:
	// send at 0 ms, ticks 0
	// send at 1000 ms, ticks -60000
	// send at 2000 ms, ticks -120000
}

// 60 tokens a minute are 60 ticks a millisecond, and 60,000 ticks are a token.
func ExamplePolicy_Refill() {
	policy := limiter.Policy{Capacity: 3, PerMinute: 60}
	bucket := limiter.Bucket{Ticks: 0, Last: 0}
	fmt.Println(policy.Refill(bucket, 400).Ticks)
	fmt.Println(policy.Refill(bucket, 5_000).Ticks)
	// Output:
	// 24000
	// 180000
}
