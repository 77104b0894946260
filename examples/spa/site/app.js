// A single-page application: oidc-client-ts signs the user in, fetch calls the API with the token.
/* global oidc */
const manager = new oidc.UserManager({
  authority: 'http://localhost:8080',
  client_id: 'shop',
  redirect_uri: `${location.origin}/`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile orders:read',
  loadUserInfo: true, // the name is at /userinfo
  // Tokens only in memory: they end with the page, and nothing can be found in the browser's storage later.
  userStore: new oidc.WebStorageStateStore({ store: new oidc.InMemoryWebStorage() }),
  // State and PKCE verifier have to survive the way to the sign-in page and back.
  stateStore: new oidc.WebStorageStateStore({ store: sessionStorage }),
})

const element = (id) => document.getElementById(id)
const show = (id, visible) => { element(id).hidden = !visible }
function say(text) { element('status').textContent = text }

async function start() {
  const query = new URLSearchParams(location.search)
  if (query.has('code') || query.has('error')) {
    try {
      await manager.signinCallback() // checks state, issuer and nonce, and redeems the code
    } finally {
      history.replaceState(null, '', '/') // a code works once: it should not be in the history
    }
  }
  const user = await manager.getUser()
  show('in', !user)
  show('out', user)
  if (!user) return say('You are not signed in.')
  const answer = await fetch('http://localhost:8081/orders', { headers: { Authorization: `Bearer ${user.access_token}` } })
  if (!answer.ok) throw new Error(`The API answered ${answer.status}.`)
  element('orders').replaceChildren(...(await answer.json()).orders.map((order) => {
    const item = document.createElement('li')
    item.textContent = order
    return item
  }))
  show('orders', true)
  say(`You are signed in as ${user.profile.name}.`)
}

function failed(error) {
  show('in', true)
  say(error.error_description ?? error.message)
}

element('in').onclick = () => manager.signinRedirect().catch(failed)
element('out').onclick = async () => {
  await manager.revokeTokens(['refresh_token']).catch(failed)
  await manager.signoutRedirect().catch(failed)
}
start().catch(failed)
