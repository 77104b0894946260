-- What nginx does with Lua: verify RS256 tokens, remember those that were good, and count two
-- windows for each client in Redis with one round trip.
local ffi = require "ffi"
local lrucache = require "resty.lrucache"

ffi.cdef [[
typedef struct bio_st BIO;
typedef struct evp_pkey_st EVP_PKEY;
typedef struct evp_md_st EVP_MD;
typedef struct evp_md_ctx_st EVP_MD_CTX;
BIO *BIO_new_mem_buf(const void *buf, int len);
EVP_PKEY *PEM_read_bio_PUBKEY(BIO *bp, void **x, void *cb, void *u);
const EVP_MD *EVP_sha256(void);
EVP_MD_CTX *EVP_MD_CTX_new(void);
void EVP_MD_CTX_free(EVP_MD_CTX *ctx);
int EVP_DigestVerifyInit(EVP_MD_CTX *ctx, void **pctx, const EVP_MD *type, void *engine, EVP_PKEY *pkey);
int EVP_DigestVerify(EVP_MD_CTX *ctx, const unsigned char *sig, size_t siglen, const unsigned char *tbs, size_t tbslen);
]]

local C = ffi.C
local gate = {}
local key, audience, redis_host, redis_port
local verified = lrucache.new(200000)

function gate.init(file, expected_audience, host, port)
	local pem = assert(io.open(file)):read("*a")
	key = C.PEM_read_bio_PUBKEY(C.BIO_new_mem_buf(pem, #pem), nil, nil, nil)
	assert(key ~= nil, "no public key in " .. file)
	audience, redis_host, redis_port = expected_audience, host, port
end

local function decode(text)
	text = text:gsub("-", "+"):gsub("_", "/")
	return ngx.decode_base64(text .. ("="):rep(-#text % 4))
end

local function is_signed(text, signature)
	local ctx = C.EVP_MD_CTX_new()
	local good = C.EVP_DigestVerifyInit(ctx, nil, C.EVP_sha256(), nil, key) == 1
		and C.EVP_DigestVerify(ctx, signature, #signature, text, #text) == 1
	C.EVP_MD_CTX_free(ctx)
	return good
end

local function verify(token)
	local text, payload, signature = token:match("^([%w_-]+%.([%w_-]+))%.([%w_-]+)$")
	if not text or not is_signed(text, decode(signature)) then
		return nil
	end
	local claims = decode(payload)
	if claims:match('"aud":"([^"]*)"') ~= audience then
		return nil
	end
	return { client = claims:match('"client_id":"([^"]*)"'), expires = tonumber(claims:match('"exp":(%d+)')) }
end

-- check refuses a request without a good token, and returns its client.
function gate.check()
	local field = ngx.var.http_authorization
	local claims = field and verified:get(field)
	if not claims then
		local token = field and field:match("^Bearer (.+)$")
		claims = token and verify(token)
		if not claims then
			return ngx.exit(401)
		end
		verified:set(field, claims)
	end
	if claims.expires <= ngx.time() then
		return ngx.exit(401)
	end
	ngx.req.set_header("X-Auth-Client", claims.client)
	ngx.req.clear_header("Authorization")
	return claims.client
end

local script = [[
local n = {}
for i, window in ipairs({3600, 60}) do
	n[i] = redis.call("INCR", KEYS[i])
	if n[i] == 1 then redis.call("EXPIRE", KEYS[i], window) end
end
return n]]

local digest -- of the script, once it is loaded

local function command(...)
	local parts = { "*" .. select("#", ...) .. "\r\n" }
	for _, word in ipairs({ ... }) do
		parts[#parts + 1] = "$" .. #word .. "\r\n" .. word .. "\r\n"
	end
	return table.concat(parts)
end

local function send(redis, ...)
	assert(redis:send(command(...)))
	local line = assert(redis:receive())
	local kind, rest = line:sub(1, 1), line:sub(2)
	if kind == "$" then
		rest = assert(redis:receive(tonumber(rest) + 2)):sub(1, -3)
	elseif kind == "*" then
		local values = {}
		for i = 1, tonumber(rest) do
			values[i] = tonumber(assert(redis:receive()):sub(2))
		end
		rest = values
	elseif kind == "-" then
		error(rest)
	end
	return rest
end

-- limit counts a request of a client in two windows.
function gate.limit(client)
	local redis = ngx.socket.tcp()
	assert(redis:connect(redis_host, redis_port))
	digest = digest or send(redis, "SCRIPT", "LOAD", script)
	local now = ngx.time()
	local hour, minute = "lua:h:" .. client .. ":" .. math.floor(now / 3600), "lua:m:" .. client .. ":" .. math.floor(now / 60)
	local counts = send(redis, "EVALSHA", digest, "2", hour, minute)
	redis:setkeepalive(60000, 256)
	if counts[1] > 1000000000 or counts[2] > 1000000000 then
		return ngx.exit(429)
	end
	ngx.header["X-RateLimit-Limit"] = "1000000000"
	ngx.header["X-RateLimit-Remaining"] = tostring(1000000000 - counts[2])
end

return gate
