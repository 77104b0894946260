// Two stock libraries for the sign-in of another provider, with nothing but addresses
// changed: passport-weixin, whose browser shows a code to scan, and grant, all of which is
// one browser's.
import assert from 'node:assert/strict'
import http from 'node:http'
import grant from 'grant'
import weixin from 'passport-weixin'
import { open } from './open.js'

const { ISSUER, SECRET, HOME, HOME_PORT } = process.env
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
    call.authenticate({ query, session: {} }, options)
  })
}

const strategy = new weixin.Strategy({
  clientID: appid, clientSecret: SECRET, callbackURL: `${HOME}/weixin`, requireState: true, scope: 'snsapi_login',
  authorizationURL: `${ISSUER}/connect/qrconnect`, tokenURL: `${ISSUER}/sns/oauth2/access_token`, userProfileURL: `${ISSUER}/sns/userinfo`,
}, (accessToken, refreshToken, profile, done) => done(null, { accessToken, refreshToken, profile }))

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
await assert.rejects(passport(strategy, Object.fromEntries(back.searchParams), {}), { name: 'TokenError' }) // the code is used
const denied = await open((await passport(strategy, {}, { state: 'deny' })).address)
assert.equal(denied.searchParams.get('code'), null)
assert.ok('refused' in await passport(strategy, Object.fromEntries(denied.searchParams), {}))
console.log('done passport-weixin')

const site = grant.node({
  config: {
    defaults: { origin: HOME, transport: 'state', state: true, response: ['tokens', 'raw', 'profile'] },
    wechat: {
      key: appid, secret: SECRET, scope: ['snsapi_userinfo'], authorize_url: `${ISSUER}/connect/oauth2/authorize`,
      access_url: `${ISSUER}/sns/oauth2/access_token`, profile_url: `${ISSUER}/sns/userinfo`,
    },
  },
  session: { secret: 'of the site, and this test alone' },
})
const server = http.createServer(async (request, response) => {
  const { redirect, response: outcome } = await site(request, response)
  if (!redirect) response.end(JSON.stringify(outcome))
}).listen(Number(HOME_PORT), '127.0.0.1')

const first = await fetch(`${HOME}/connect/wechat`, { redirect: 'manual' })
const cookie = first.headers.getSetCookie().map((c) => c.split(';')[0]).join('; ')
const returned = await open(new URL(first.headers.get('location')))
assert.equal(returned.pathname, '/connect/wechat/callback')
const outcome = await (await fetch(returned, { headers: { cookie } })).json()
assert.equal(outcome.error, undefined)
assert.equal(outcome.profile.nickname, nickname)
assert.equal(outcome.profile.openid, user.profile._json.openid) // the same person at the same site
assert.equal(outcome.raw.openid, outcome.profile.openid)
assert.equal(outcome.raw.expires_in, 7200)
assert.equal(outcome.access_token, outcome.raw.access_token)
assert.ok(outcome.refresh_token)
server.close()
console.log('done grant')
process.exit(0) // standard input is still open
