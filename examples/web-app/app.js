// A web application: its server signs users in with openid-client, and reads the API for them.
import http from 'node:http'
import * as oidc from 'openid-client'
import { escape, page, redirect, signIn } from './page.js'
import { forget, keep, sessionOf, sessions, signIns } from './sessions.js'

const self = 'http://localhost:8082', orders = new URL('http://localhost:8081/orders')
// Plain http is for this machine only: leave execute out where the issuer is https.
const config = await oidc.discovery(new URL('http://localhost:8080'), 'shop', undefined,
  oidc.ClientSecretBasic(process.env.SHOP_SECRET), { execute: [oidc.allowInsecureRequests] })

const update = (session, tokens) => Object.assign(session, { tokens, end: Date.now() + tokens.expires_in * 1000, refreshing: undefined })
const refresh = async (session) => update(session, await oidc.refreshTokenGrant(config, session.tokens.refresh_token))

const routes = {
  async 'GET /'(request, response, session) {
    if (!session) return page(response, 200, 'Welcome', signIn)
    if (Date.now() > session.end) await (session.refreshing ??= refresh(session)) // once, whatever number of tabs is open
    const answer = await oidc.fetchProtectedResource(config, session.tokens.access_token, orders, 'GET')
    const list = (await answer.json()).orders.map((order) => `<li>${escape(order)}</li>`).join('')
    page(response, 200, 'Your orders', `<p>You are signed in as ${escape(session.name)}.</p><ul>${list}</ul>
<form method="post" action="/logout"><button>Sign out</button></form>`)
  },
  async 'GET /login'(request, response) {
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier(), expectedState = oidc.randomState(), expectedNonce = oidc.randomNonce()
    keep(signIns, { pkceCodeVerifier, expectedState, expectedNonce, idTokenExpected: true }, response)
    redirect(response, oidc.buildAuthorizationUrl(config, { redirect_uri: `${self}/callback`, scope: 'openid profile orders:read',
      state: expectedState, nonce: expectedNonce, code_challenge_method: 'S256',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier) }))
  },
  async 'GET /callback'(request, response, session, checks) {
    if (!checks) throw new Error('this browser has not begun to sign in')
    const tokens = await oidc.authorizationCodeGrant(config, new URL(request.url, self), checks)
    const { name } = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims().sub)
    keep(sessions, update({ name, idToken: tokens.id_token }, tokens), response)
    redirect(response, '/')
  },
  async 'POST /logout'(request, response, session) {
    if (!session) return redirect(response, '/')
    await oidc.tokenRevocation(config, session.tokens.refresh_token)
    redirect(response, oidc.buildEndSessionUrl(config, { id_token_hint: session.idToken, post_logout_redirect_uri: `${self}/` }))
  },
}

http.createServer(async (request, response) => {
  const id = sessionOf(request), session = sessions.get(id), checks = signIns.get(id)
  const route = `${request.method} ${request.url.split('?')[0]}`
  try {
    if (!routes[route]) return page(response, 404, 'Not found', '<p><a href="/">To the first page</a></p>')
    if (route !== 'GET /') forget(id) // each of the others begins or ends a session
    await routes[route](request, response, session, checks)
  } catch (error) { // the user said no, the access has ended, or the address is forged
    console.error(error)
    forget(id)
    page(response, 400, 'Please sign in', `<p role="alert">${escape(error.error_description ?? error.message)}</p>${signIn}`)
  }
}).listen(8082, '127.0.0.1')
