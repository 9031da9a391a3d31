package interp

import (
	"strconv"

	"tokenbucket/limiter"
)

// This file puts answers into words. Every function appends to dst and returns it, as those of strconv do.

// A counted is an answer that ends in a number. The texts of those below 100 are there in advance, for speed.
type counted struct {
	prefix string
	canned [100]struct {
		text   [31]byte
		length uint8
	}
}

// The code 429, Too Many Requests, is that of RFC 6585; Retry-After is that of RFC 9110, section 10.2.3.
var remaining, retryAfter = newCounted("200 X-RateLimit-Remaining: "), newCounted("429 Retry-After: ")

func newCounted(prefix string) (c counted) {
	c.prefix = prefix
	for n := range c.canned {
		c.canned[n].length = uint8(len(appendLine(append(c.canned[n].text[:0], prefix...), int64(n))))
	}
	return c
}

// append copies all of a canned text, because a copy of constant size is two instructions, and cuts off what is too much. It
// relies on dst having room for that, as an output has after to.
func (c *counted) append(dst []byte, n int64) []byte {
	if n >= int64(len(c.canned)) {
		return appendLine(append(dst, c.prefix...), n)
	}
	canned, at := &c.canned[n], len(dst)
	*(*[len(canned.text)]byte)(dst[at : at+len(canned.text)]) = canned.text
	return dst[:at+int(canned.length)]
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
