package interp

import (
	"slices"
	"strconv"
	"unicode/utf8"

	"tokenbucket/limiter"
)

// This file puts answers and messages into words. Every function appends to dst and returns it, as strconv's do.

type ready struct {
	text [31]byte
	size uint8
}

var readyGranted, readyRefused = func() (g, r [100]ready) {
	for i := range g {
		g[i].size = uint8(len(appendLine(append(g[i].text[:0], "200 X-RateLimit-Remaining: "...), int64(i))))
		r[i].size = uint8(len(appendLine(append(r[i].text[:0], "429 Retry-After: "...), int64(i))))
	}
	return g, r
}()

func appendReady(dst []byte, r *ready) []byte {
	n := len(dst)
	dst = slices.Grow(dst, len(r.text))[:n+len(r.text)]
	*(*[len(r.text)]byte)(dst[n:]) = r.text
	return dst[:n+int(r.size)]
}

// appendRequest answers REQUEST.
func appendRequest(dst []byte, b limiter.Bucket, o limiter.Outcome) []byte {
	if !o.Granted {
		return appendRefusal(dst, o)
	}
	if b.Ticks < 100*limiter.TicksPerToken {
		return appendReady(dst, &readyGranted[uint64(b.Ticks)/limiter.TicksPerToken])
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
		return appendReady(dst, &readyRefused[o.RetryAfter])
	}
	dst = append(dst, "429 Retry-After: "...)
	return appendLine(dst, o.RetryAfter)
}

// appendStatus answers STATUS: tokens to three decimals, rounded towards minus infinity.
func appendStatus(dst []byte, b limiter.Bucket) []byte {
	return append(appendTokens(dst, b), '\n')
}

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

// appendMistake is the message for line number n of the input.
func appendMistake(dst []byte, n int64, m *mistake) []byte {
	dst = append(dst, "stdin:"...)
	dst = strconv.AppendInt(dst, n, 10)
	dst = append(dst, ": "...)
	dst = append(dst, m.problem...)
	dst = append(dst, ' ')
	dst = appendQuoted(dst, m.quoted)
	dst = append(dst, ": "...)
	dst = append(dst, m.want...)
	return append(dst, '\n')
}

// maxQuoted is how many bytes of the input a message shows.
const maxQuoted = 40

// appendQuoted quotes at most maxQuoted bytes of text, whole characters, and escapes what a terminal should not get.
func appendQuoted(dst, text []byte) []byte {
	if len(text) <= maxQuoted {
		return strconv.AppendQuote(dst, string(text))
	}
	cut := maxQuoted
	for cut > maxQuoted-utf8.UTFMax && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return append(strconv.AppendQuote(dst, string(text[:cut])), "..."...)
}
