package interp

import (
	"slices"
	"strconv"

	"tokenbucket/limiter"
)

// This file puts answers into words. Every function appends to dst and returns it, as those of strconv do.

// A canned answer is the text of a common answer.
type canned struct {
	text   [31]byte
	length uint8
}

// The answers with numbers below 100.
var cannedGrants, cannedRefusals = func() (grants, refusals [100]canned) {
	for i := range int64(100) {
		g, r := &grants[i], &refusals[i]
		g.length = uint8(len(appendLine(append(g.text[:0], "200 X-RateLimit-Remaining: "...), i)))
		r.length = uint8(len(appendLine(append(r.text[:0], "429 Retry-After: "...), i)))
	}
	return grants, refusals
}()

// appendCanned copies all of the text, because a copy of constant size is two instructions; what is too much is cut off.
func appendCanned(dst []byte, c *canned) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(c.text))[:n+len(c.text)]
	*(*[len(c.text)]byte)(dst[n:]) = c.text
	return dst[:n+int(c.length)]
}

// appendRequest answers REQUEST.
func appendRequest(dst []byte, b limiter.Bucket, o limiter.Outcome) []byte {
	if !o.Granted {
		return appendRefusal(dst, o)
	}
	if b.Ticks < 100*limiter.TicksPerToken {
		return appendCanned(dst, &cannedGrants[uint64(b.Ticks)/limiter.TicksPerToken])
	}
	dst = append(dst, "200 X-RateLimit-Remaining: "...)
	return appendLine(dst, b.Tokens())
}

// appendReserve answers RESERVE.
func appendReserve(dst []byte, o limiter.Outcome) []byte {
	if !o.Granted {
		return appendRefusal(dst, o)
	}
	dst = append(dst, "200 Send-At: "...)
	return appendLine(dst, o.At)
}

// appendRefusal is 429 Too Many Requests (RFC 6585), with Retry-After (RFC 9110) where a wait is promised.
func appendRefusal(dst []byte, o limiter.Outcome) []byte {
	if o.RetryAfter == 0 {
		return append(dst, "429\n"...)
	}
	if o.RetryAfter < 100 {
		return appendCanned(dst, &cannedRefusals[o.RetryAfter])
	}
	dst = append(dst, "429 Retry-After: "...)
	return appendLine(dst, o.RetryAfter)
}

// appendTokens appends the tokens of a bucket to three decimals, rounded towards minus infinity.
func appendTokens(dst []byte, b limiter.Bucket) []byte {
	const ticksPerThousandth = limiter.TicksPerToken / 1000
	thousandths := b.Ticks / ticksPerThousandth
	if b.Ticks%ticksPerThousandth < 0 {
		thousandths-- // division rounded it up
	}
	if thousandths < 0 {
		dst = append(dst, '-')
		thousandths = -thousandths
	}
	dst = strconv.AppendInt(dst, thousandths/1000, 10)
	rest := thousandths % 1000
	return append(dst, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// appendLine ends a line with a number.
func appendLine(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(dst, n, 10), '\n')
}
