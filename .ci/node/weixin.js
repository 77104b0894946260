// Three stock libraries for the sign-in of another provider, with nothing but addresses
// changed: passport-weixin, whose browser shows a code to scan, passport-wechat, which does
// both, and grant, all of which is one browser's.
import assert from 'node:assert/strict'
import http from 'node:http'
import grant from 'grant'
import WechatStrategy from 'passport-wechat'
import weixin from 'passport-weixin'
import { open } from './open.js'

const { ISSUER, SECRET, HOME, HOME_PORT, WECHAT_ADDRESSES } = process.env
const [appid, nickname] = ['portal', '张三 é']

// passport calls a strategy like this; what it comes to is what the promise gives.
function passport(strategy, query, options) {
  return new Promise((resolve, reject) => {
    const call = Object.assign(Object.create(strategy), {
      redirect: (address) => resolve({ address: new URL(address) }),
      success: (user) => resolve({ user }),
      fail: (info) => resolve({ refused: info ?? {} }),
      error: reject,
    })
    call.authenticate({ query, session: {}, _passport: {}, protocol: 'http', originalUrl: '/', get: () => 'site.example' }, options)
  })
}

const options = {
  clientID: appid, clientSecret: SECRET, callbackURL: `${HOME}/weixin`, requireState: true, scope: 'snsapi_login',
  authorizationURL: `${ISSUER}/connect/qrconnect`, tokenURL: `${ISSUER}/sns/oauth2/access_token`, userProfileURL: `${ISSUER}/sns/userinfo`,
}
const strategy = new weixin.Strategy(options, (accessToken, refreshToken, profile, done) => done(null, { accessToken, refreshToken, profile }))

const state = 'a state & more'
const begun = await passport(strategy, {}, { state })
const back = await open(begun.address)
assert.equal(back.searchParams.get('state'), state)
const { user } = await passport(strategy, Object.fromEntries(back.searchParams), {})
assert.equal(user.profile.displayName, nickname)
assert.equal(user.profile.id, user.profile._json.unionid)
assert.match(user.profile._json.openid, /^o[\w-]{27}$/)
assert.match(user.profile.id, /^o[\w-]{27}$/)
assert.ok(user.accessToken && user.refreshToken)
assert.equal(user.profile._json.headimgurl, 'https://pictures.example/alice.png')

// Refreshing, as plugins for it do: by the strategy's own client at the other address.
const other = new weixin.Strategy({ ...options, tokenURL: `${ISSUER}/sns/oauth2/refresh_token` }, () => {})
const refresh = (token) => new Promise((resolve, reject) => other._oauth2.getOAuthAccessToken(token, { grant_type: 'refresh_token', appid },
  (error, access, next, raw) => error ? reject(error) : resolve({ access, next, raw })))
const renewed = await refresh(user.refreshToken)
assert.notEqual(renewed.access, user.accessToken)
assert.equal(renewed.next, user.refreshToken)
assert.equal(renewed.raw.openid, user.profile._json.openid)
await assert.rejects(refresh('x'), (e) => e.statusCode === 400 && JSON.parse(e.data).errcode === 40030)

const guesser = new weixin.Strategy({ ...options, clientSecret: 'wrong' }, () => {})
await assert.rejects(passport(guesser, Object.fromEntries(back.searchParams), {}), { name: 'TokenError', status: 500 })
await assert.rejects(passport(strategy, Object.fromEntries(back.searchParams), {}), { name: 'TokenError' }) // the code is used
await assert.rejects(refresh(user.refreshToken), (e) => e.statusCode === 400 && JSON.parse(e.data).errcode === 40030) // and killed what it gave
await assert.rejects(new Promise((resolve, reject) => strategy.userProfile(renewed.access, renewed.raw.openid, (e, p) => e ? reject(e) : resolve(p))),
  (e) => e.name === 'InternalOAuthError' && e.oauthError.statusCode === 401 && JSON.parse(e.oauthError.data).errcode === 40001)
const denied = await open((await passport(strategy, {}, { state: 'deny' })).address)
assert.equal(denied.searchParams.get('code'), null)
assert.ok('refused' in await passport(strategy, Object.fromEntries(denied.searchParams), {}))
console.log('done passport-weixin')

// passport-wechat sends an empty state unless it is given one, which takes a client with require_state never.
async function wechat(appID, more, options) {
  const strategy = new WechatStrategy({ appID, appSecret: SECRET, callbackURL: `${HOME}/weixin`, ...more },
    (accessToken, refreshToken, profile, expiresIn, done) => done(null, { accessToken, refreshToken, profile, expiresIn }))
  new Function('strategy', WECHAT_ADDRESSES)(strategy) // what the page about Variant B says
  const { address } = await passport(strategy, {}, options)
  const back = await open(address)
  assert.equal(back.searchParams.get('state'), options?.state ?? null)
  const { user } = await passport(strategy, Object.fromEntries(back.searchParams))
  assert.equal(user.profile.nickname, nickname)
  assert.match(user.profile.openid, /^o[\w-]{27}$/)
  assert.equal(user.expiresIn, 7200)
  const renewed = await new Promise((resolve, reject) => strategy._oauth.refreshAccessToken(user.refreshToken, (e, t) => e ? reject(e) : resolve(t.data)))
  assert.equal(renewed.openid, user.profile.openid)
  await assert.rejects(passport(strategy, Object.fromEntries(back.searchParams)), { name: 'WeChatAPIError', code: 40163 }) // the code is used
}
await wechat('stateless', {})
await wechat('portal', {}, { state })
await wechat('portal', { client: 'web', scope: 'snsapi_login' }, { state })
console.log('done passport-wechat')

// A site with the other library: one sign-in at it, as its handler is told.
async function visit(secret, response) {
  const site = grant.node({
    config: {
      defaults: { origin: HOME, transport: 'state', state: true, response },
      wechat: {
        key: appid, secret, scope: ['snsapi_userinfo'], authorize_url: `${ISSUER}/connect/oauth2/authorize`,
        access_url: `${ISSUER}/sns/oauth2/access_token`, profile_url: `${ISSUER}/sns/userinfo`,
      },
    },
    session: { secret: 'of the site, and this test alone' },
  })
  const server = http.createServer(async (request, answer) => {
    const { redirect, response: outcome } = await site(request, answer)
    if (!redirect) answer.end(JSON.stringify(outcome))
  }).listen(Number(HOME_PORT), '127.0.0.1')
  const headers = { connection: 'close' }
  const first = await fetch(`${HOME}/connect/wechat`, { redirect: 'manual', headers })
  const cookie = first.headers.getSetCookie().map((c) => c.split(';')[0]).join('; ')
  const returned = await open(new URL(first.headers.get('location')))
  assert.equal(returned.pathname, '/connect/wechat/callback')
  const outcome = await (await fetch(returned, { headers: { ...headers, cookie } })).json()
  await new Promise((done) => server.close(done))
  return outcome
}

const outcome = await visit(SECRET, ['tokens', 'raw', 'profile'])
assert.equal(outcome.error, undefined)
assert.equal(outcome.profile.nickname, nickname)
assert.equal(outcome.profile.openid, user.profile._json.openid) // the same person at the same site
assert.equal(outcome.raw.openid, outcome.profile.openid)
assert.equal(outcome.raw.expires_in, 7200)
assert.equal(outcome.access_token, outcome.raw.access_token)
assert.ok(outcome.refresh_token)
const failed = await visit('wrong', ['tokens', 'raw'])
assert.equal(failed.error.errcode, 40125)
assert.equal(failed.error.error.code, 'invalid_client')
assert.equal(failed.access_token, undefined)
console.log('done grant')
process.exit(0) // standard input is still open
