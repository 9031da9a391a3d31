package limiter

// A Store keeps a bucket for each client, all under one policy. A client is known by its name, any bytes; one not seen
// before has a full bucket. A Store is not safe for concurrent use.
type Store struct {
	policy  Policy
	buckets map[string]*Bucket
}

// NewStore returns a store of no clients.
func NewStore(p Policy) *Store {
	s := new(Store)
	s.Reset(p)
	return s
}

// Policy is the policy of every bucket.
func (s *Store) Policy() Policy { return s.policy }

// Reset sets the policy and forgets all clients.
func (s *Store) Reset(p Policy) {
	s.policy = p
	s.buckets = make(map[string]*Bucket)
}

// Take is Policy.Take on the client's bucket.
func (s *Store) Take(client []byte, now, cost, maxWait int64) (Bucket, Outcome) {
	b := s.bucket(client, now)
	after, outcome := s.policy.Take(*b, now, cost, maxWait)
	*b = after
	return after, outcome
}

// TopUp is Policy.TopUp on the client's bucket.
func (s *Store) TopUp(client []byte, now int64) Bucket {
	b := s.bucket(client, now)
	*b = s.policy.TopUp(*b, now)
	return *b
}

// Peek is the client's bucket as it stands, or what it would be if the client were seen now, and changes nothing.
func (s *Store) Peek(client []byte, now int64) Bucket {
	if b := s.buckets[string(client)]; b != nil {
		return *b
	}
	return s.policy.Full(now)
}

func (s *Store) bucket(client []byte, now int64) *Bucket {
	b := s.buckets[string(client)]
	if b == nil {
		full := s.policy.Full(now)
		b = &full
		s.buckets[string(client)] = b
	}
	return b
}
