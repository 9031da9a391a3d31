package limiter_test

import (
	"fmt"

	"tokenbucket/limiter"
)

// Every client may make 2 calls at once and 30 a minute, one every 2 seconds.
func ExampleStore() {
	store := limiter.NewStore(limiter.Policy{Capacity: 2, PerMinute: 30})
	now := int64(1_000) // ms on any clock
	for range 3 {
		bucket, outcome := store.Take([]byte("alice"), now, 1, 0)
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

// A call that may wait is booked, and the next one behind it.
func ExampleStore_Take_reserve() {
	store := limiter.NewStore(limiter.Policy{Capacity: 1, PerMinute: 60})
	for range 3 {
		_, outcome := store.Take([]byte("alice"), 0, 1, 60_000)
		fmt.Println("send at", outcome.At, "ms")
	}
	// Output:
	// send at 0 ms
	// send at 1000 ms
	// send at 2000 ms
}

// The arithmetic needs no store: a bucket is a value.
func ExamplePolicy_TopUp() {
	policy := limiter.Policy{Capacity: 3, PerMinute: 60}
	bucket := policy.TopUp(limiter.Bucket{Ticks: 0, Last: 0}, 400)
	fmt.Println(bucket.Ticks, "ticks")
	// Output: 24000 ticks
}
