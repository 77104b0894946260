// Shows the code to scan in a frame of another site. With
//
//	<div id="login"></div>
//	<script src="https://ISSUER/connect/login.js"></script>
//
// and, in a script of the site,
//
//	new GatehouseLogin({ id: 'login', appid: '...', scope: 'snsapi_login', redirect_uri: 'https://...', state: '...' })
//
// id            the element whose contents the frame replaces
// appid, scope, redirect_uri, state
//               as in the query of /connect/qrconnect; the state is required, random and of one use
// self_redirect true sends the frame on after the sign-in, otherwise the window around it
// lang          'cn' or 'en'; left out: the browser's
//
// The site's origin must be among the frame_origins of the client. WxLogin is the same
// under the name that existing sites call. style, href and other options have no effect:
// the page is light or dark as the browser is, and takes no style sheet from elsewhere.
(() => {
  'use strict'
  const page = new URL('qrconnect', document.currentScript.src)

  // Existing sites encode the address themselves.
  const plain = (address) => (/^[a-z][a-z0-9+.-]*%3a/i.test(address) ? decodeURIComponent(address) : address)

  function GatehouseLogin(options) {
    const place = document.getElementById(options.id)
    if (!place) throw new Error(`GatehouseLogin: no element has the id ${options.id}`)
    const query = { appid: options.appid, scope: options.scope, redirect_uri: plain(String(options.redirect_uri ?? '')), state: options.state, lang: options.lang }
    const address = new URL(page)
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) address.searchParams.set(name, value)
    }
    address.searchParams.set('login_type', 'jssdk')
    address.searchParams.set('self_redirect', options.self_redirect === true || options.self_redirect === 'true' ? 'true' : 'false')
    const frame = document.createElement('iframe')
    frame.src = address.href
    frame.width = '300'
    frame.height = '400'
    frame.title = options.lang === 'cn' ? '扫码登录' : 'Sign in by scanning a code'
    frame.style.border = '0'
    place.replaceChildren(frame)
  }

  window.GatehouseLogin = GatehouseLogin
  window.WxLogin ??= GatehouseLogin
})()
