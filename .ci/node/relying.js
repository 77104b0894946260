// openid-client against everything that the authorization server offers a relying party:
// id_token, userinfo, introspection, revocation, pushed requests, private_key_jwt,
// registration, the device grant and sign-out.
import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { open } from './open.js'

const { ISSUER, WEB_SECRET, KEY_PKCS8, INITIAL_TOKEN, CALLBACK, BYE } = process.env
const insecure = { execute: [client.allowInsecureRequests] }
const discover = (id, metadata, authentication) => client.discovery(new URL(ISSUER), id, metadata, authentication, insecure)

// tokensOf is the code flow with PKCE, nonce and state; pushed sends the request ahead.
async function tokensOf(config, options = {}) {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const expectedNonce = client.randomNonce()
  const parameters = {
    redirect_uri: CALLBACK,
    scope: options.scope ?? 'openid profile email read',
    state: expectedState,
    nonce: expectedNonce,
    max_age: '3600',
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  }
  const address = options.pushed
    ? await client.buildAuthorizationUrlWithPAR(config, parameters)
    : client.buildAuthorizationUrl(config, parameters)
  const back = await open(address)
  return client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState, expectedNonce: options.nonce ?? expectedNonce, maxAge: 3600, idTokenExpected: true })
}

// web: a client with a secret.
const web = await discover('web', WEB_SECRET)
const server = web.serverMetadata()
assert.equal(server.issuer, ISSUER)
for (const name of ['userinfo_endpoint', 'introspection_endpoint', 'revocation_endpoint', 'pushed_authorization_request_endpoint', 'registration_endpoint', 'end_session_endpoint', 'jwks_uri']) {
  assert.ok(server[name]?.startsWith(`${ISSUER}/`), name)
}
await assert.rejects(tokensOf(web, { nonce: 'another nonce' }), { code: 'OAUTH_JWT_CLAIM_COMPARISON_FAILED' })
const tokens = await tokensOf(web)
const claims = tokens.claims()
assert.equal(claims.sub, 'u-1')
assert.equal(claims.iss, ISSUER)
assert.ok(claims.auth_time > 0)
const info = await client.fetchUserInfo(web, tokens.access_token, claims.sub)
assert.equal(info.name, 'Alice Liddell')
assert.equal(info.email, 'alice@example.com')
assert.equal(info.picture, 'https://pictures.example/alice.png')
console.log('done id_token and userinfo')

const refreshed = await client.refreshTokenGrant(web, tokens.refresh_token)
assert.equal(refreshed.claims().sub, claims.sub)
assert.equal(refreshed.claims().auth_time, claims.auth_time)
console.log('done refresh with id_token')

const active = await client.tokenIntrospection(web, refreshed.access_token)
assert.equal(active.active, true)
assert.equal(active.client_id, 'web')
assert.equal(active.sub, 'u-1')
await client.tokenRevocation(web, refreshed.access_token)
assert.deepEqual(await client.tokenIntrospection(web, refreshed.access_token), { active: false })
await assert.rejects(client.fetchUserInfo(web, refreshed.access_token, claims.sub), (e) => e.status === 401 || e.response?.status === 401 || e.cause?.status === 401)
const still = await client.refreshTokenGrant(web, refreshed.refresh_token)
await client.tokenRevocation(web, still.refresh_token)
await assert.rejects(client.refreshTokenGrant(web, still.refresh_token), { error: 'invalid_grant', status: 400 })
assert.deepEqual(await client.tokenIntrospection(web, still.access_token), { active: false })
console.log('done introspection and revocation')

await tokensOf(web, { pushed: true })
console.log('done pushed request with a secret')

// keyed: a client with a key of its own.
const key = await crypto.subtle.importKey('pkcs8', Buffer.from(KEY_PKCS8, 'base64'), { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
const keyed = await discover('keyed', undefined, client.PrivateKeyJwt({ key, kid: 'k1' }))
const byKey = await tokensOf(keyed, { pushed: true })
assert.equal((await client.tokenIntrospection(keyed, byKey.access_token)).active, true)
await client.refreshTokenGrant(keyed, byKey.refresh_token)
const other = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify'])
const forged = await discover('keyed', undefined, client.PrivateKeyJwt({ key: other.privateKey, kid: 'k1' }))
await assert.rejects(client.clientCredentialsGrant(forged), (e) => e.status === 401)
console.log('done private_key_jwt')

// A client that registers itself.
const registered = await client.dynamicClientRegistration(new URL(ISSUER), {
  redirect_uris: [CALLBACK], client_name: 'Self-made', scope: 'openid read', token_endpoint_auth_method: 'client_secret_post',
}, undefined, { ...insecure, initialAccessToken: INITIAL_TOKEN })
const own = await tokensOf(registered, { scope: 'openid read' })
assert.equal(own.claims().sub, 'u-1')
await assert.rejects(client.dynamicClientRegistration(new URL(ISSUER), { redirect_uris: [CALLBACK] }, undefined, { ...insecure, initialAccessToken: 'x'.repeat(43) }))
console.log('done registration')

// tv: a device without a browser.
const tv = await discover('tv', undefined, client.None())
const device = await client.initiateDeviceAuthorization(tv, { scope: 'openid read' })
await open(new URL(device.verification_uri_complete))
const ofDevice = await client.pollDeviceAuthorizationGrant(tv, device)
assert.equal(ofDevice.claims().sub, 'u-1')
console.log('done device')

// Sign-out.
const last = await tokensOf(web)
const end = client.buildEndSessionUrl(web, { id_token_hint: last.id_token, post_logout_redirect_uri: BYE, state: 'so long' })
const bye = await open(end)
assert.equal(bye.href, `${BYE}?state=so%20long`)
console.log('done sign-out')
process.exit(0) // standard input is still open
