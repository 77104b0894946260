// The page that shows a code to scan: asks for news and goes on when the other device
// has answered. Everything it needs stands in the attributes of #wait.
(() => {
  'use strict'
  const box = document.getElementById('wait')
  if (!box) return
  const data = box.dataset
  const said = document.getElementById('state')
  const states = { 408: 'waiting', 404: 'scanned', 405: 'confirmed', 403: 'denied', 402: 'expired' }
  const over = () => !['waiting', 'scanned'].includes(data.state)

  // What is hidden for this long asks no more until somebody looks again.
  const patience = 60_000
  // No ticket lives longer: without an answer until then it has expired.
  const end = Date.now() + 6 * 60_000

  let last = data.state === 'scanned' ? 404 : 408
  let failures = 0
  let asking = null
  let timer = 0
  let sleeping = false

  // say tells it to who sees and to who hears, once.
  function say(state) {
    const text = data[`say${state[0].toUpperCase()}${state.slice(1)}`]
    if (said.textContent !== text) said.textContent = text
  }

  function show(state) {
    data.state = state
    delete data.offline
    say(state)
  }

  // An interrupted connection changes nothing of what the page shows.
  function offline() {
    data.offline = 'true'
    say('offline')
  }

  function leave(answer) {
    const address = data.before + answer + data.after
    const link = document.getElementById('onward')
    link.href = address
    // The link stays for a browser that does not let a frame send its window on.
    try {
      const target = data.top === 'true' ? window.top : window
      target.location.replace(address)
    } catch {
      link.focus()
    }
  }

  function later(delay) {
    clearTimeout(timer)
    if (!sleeping) timer = setTimeout(ask, delay)
  }

  // failed waits longer each time, and as long as it is told to.
  function failed(seconds) {
    failures++
    if (failures > 2) offline()
    later(Math.max(seconds * 1000, Math.min(30_000, 1000 * 2 ** failures)) * (1 + Math.random() / 4))
  }

  async function ask() {
    if (over() || asking) return
    if (Date.now() > end) return show('expired')
    const begun = Date.now()
    asking = new AbortController()
    const limit = setTimeout(() => asking?.abort(), 40_000)
    try {
      // Who says that the last answer was a fault (500) is answered at once, and the page need
      // not say for long that the connection is interrupted.
      const known = failures ? 500 : last
      const answer = await fetch(`${data.poll}&f=json&last=${known}`, { signal: asking.signal, cache: 'no-store' })
      if ([400, 403, 404, 410].includes(answer.status)) return show('expired')
      if (!answer.ok) return failed(Math.min(60, Number(answer.headers.get('Retry-After')) || 0))
      const { wx_errcode: code, wx_code: secret } = await answer.json()
      if (!states[code]) return failed(0)
      failures = 0
      const changed = code !== last
      last = code
      show(states[code])
      if (code === 405) return leave(`code=${encodeURIComponent(secret)}`)
      if (code === 403) return leave('error=access_denied')
      // A second tab with the same page ends our question each time; the two must not chase each other.
      if (!over()) later(changed || Date.now() - begun > 5000 ? 100 : 3000)
    } catch {
      if (!sleeping) failed(0)
    } finally {
      clearTimeout(limit)
      asking = null
    }
  }

  let drowsy = 0
  document.addEventListener('visibilitychange', () => {
    clearTimeout(drowsy)
    if (document.hidden) {
      drowsy = setTimeout(() => {
        sleeping = true
        clearTimeout(timer)
        asking?.abort()
      }, patience)
    } else if (sleeping) {
      sleeping = false
      later(0)
    }
  })
  // A page that comes back from the browser's memory may be long over.
  addEventListener('pageshow', (e) => { if (e.persisted) location.replace(data.refresh) })
  later(100)
})()
