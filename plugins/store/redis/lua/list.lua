-- KEYS index, all; ARGV where to begin among the digests, the texts and in the index of an earlier release, and how many
-- of each. Returns the three pages.
return {
	redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '(i', 'LIMIT', 0, ARGV[4]),
	redis.call('ZRANGEBYLEX', KEYS[1], ARGV[2], '+', 'LIMIT', 0, ARGV[4]),
	redis.call('ZRANGEBYLEX', KEYS[2], ARGV[3], '+', 'LIMIT', 0, ARGV[4]),
}
