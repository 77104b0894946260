// Auth.js with its generic provider as the page about stock clients configures it, and
// simple-oauth2.
import assert from 'node:assert/strict'
import { Auth } from '@auth/core'
import { AuthorizationCode, ClientCredentials } from 'simple-oauth2'
import { open } from './open.js'

const { ISSUER, SITE, APP_SECRET, PROVIDER } = process.env

// signIn is one visitor's sign-in at the site: what Auth.js calls the session, and the address
// that the browser came back to.
async function signIn(changes) {
  // eslint-disable-next-line no-new-func -- the page's own line
  const provider = { ...new Function(`return ${PROVIDER}`)(), ...changes }
  const failures = []
  const config = { secret: 'a secret of the site, for this test alone', trustHost: true, basePath: '/auth', providers: [provider], logger: { error: (e) => failures.push(e) } }
  const cookies = new Map()
  async function call(path, init = {}) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const answer = await Auth(new Request(SITE + path, { ...init, headers: { cookie } }), config)
    for (const line of answer.headers.getSetCookie()) {
      const [pair] = line.split(';')
      cookies.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    return answer
  }
  const { csrfToken } = await (await call('/auth/csrf')).json()
  const begun = await call('/auth/signin/gatehouse', { method: 'POST', body: new URLSearchParams({ csrfToken, callbackUrl: SITE }) })
  const back = await open(new URL(begun.headers.get('location')))
  await call(back.pathname + back.search)
  return { session: await (await call('/auth/session')).json(), back, failures }
}

const user = { name: 'Alice Liddell', email: 'alice@example.com', image: 'https://pictures.example/alice.png' }
for (const changes of [{}, { checks: ['pkce', 'state'] }, { checks: ['nonce'] }, { idToken: false }]) {
  const { session, back, failures } = await signIn(changes)
  assert.deepEqual(failures, [])
  assert.deepEqual(session.user, user)
  assert.equal(back.searchParams.has('state'), changes.checks?.includes('state') ?? false)
}
// A client with the default of require_state refuses it, and says which word would not.
const refused = await signIn({ clientId: 'strict' })
assert.equal(refused.session, null)
assert.match(refused.back.searchParams.get('error_description'), /require_state unless_pkce_or_nonce/)
const strict = await signIn({ clientId: 'strict', checks: ['pkce', 'state'] })
assert.deepEqual(strict.session.user, {}) // without id_token_claims it shows no name
console.log('done Auth.js')

for (const authorizationMethod of ['header', 'body']) {
  const client = { id: 'web', secret: APP_SECRET }
  const token = { tokenHost: ISSUER, tokenPath: '/token' }
  const options = { authorizationMethod }
  const web = new AuthorizationCode({ client, auth: { ...token, authorizePath: '/authorize', revokePath: '/revoke' }, options })
  const redirect_uri = `${SITE}/callback`
  const state = 'a state & more'
  const back = await open(new URL(web.authorizeURL({ redirect_uri, scope: ['openid', 'read'], state })))
  assert.equal(back.searchParams.get('state'), state)
  let tokens = await web.getToken({ code: back.searchParams.get('code'), redirect_uri })
  assert.equal(tokens.token.scope, 'openid read')
  tokens = await tokens.refresh({ scope: 'read' })
  assert.equal(tokens.token.scope, 'read')
  await tokens.revokeAll()
  await assert.rejects(tokens.refresh(), (e) => e.output.statusCode === 400)
  const own = await new ClientCredentials({ client, auth: token, options }).getToken({ scope: 'read' })
  assert.equal(own.expired(60), false)
}
console.log('done simple-oauth2')
process.exit(0) // standard input is still open
