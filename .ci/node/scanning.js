// Two people's worth of browsers in front of a site of Variant B: node scanning.js
// SCENARIO. The first browser wants in, the phone lets it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { open } from './open.js'
import { run, tabTo } from './visitor.js'

const { ISSUER, PORTAL, OTHER, USERNAME, SECOND, PASSWORD } = process.env

const words = {
  en: { fields: ['Username', 'Password', 'Sign in'], number: 'The number on the other screen', confirm: 'Confirm', deny: 'Deny', confirmed: 'Confirmed', denied: 'Denied', onward: 'Continue', again: 'Get a new code' },
  zh: { fields: ['用户名', '密码', '登录'], number: '另一个屏幕上的数字', confirm: '确认', deny: '拒绝', confirmed: '已确认', denied: '已拒绝', onward: '继续', again: '获取新的二维码' },
}

const button = (page, name) => page.getByRole('button', { name, exact: true })
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor()
const says = (page, state) => page.locator(`#wait[data-state=${state}]`).waitFor()

// see reads the picture of the code as a phone does: from what is on the screen, and it
// looks again until there is a code, which may be in a frame.
async function see(page) {
  const file = path.join(os.tmpdir(), `gatehouse-scan-${process.pid}.png`)
  const until = Date.now() + 30000
  try {
    for (;;) {
      await page.screenshot({ path: file })
      const { status, stdout, stderr, error } = spawnSync('zbarimg', ['--quiet', '--raw', '--nodbus', file], { encoding: 'utf8' })
      if (status === 0) {
        assert.match(stdout.trim(), /^https:\/\/id\.test:\d+\/connect\/confirm\?uuid=[A-Za-z0-9_-]{22}$/)
        return stdout.trim()
      }
      // 4 is zbarimg's word for a picture without a code.
      if (status !== 4 || Date.now() > until) throw error ?? new Error(`zbarimg: exit status ${status}, on ${page.url()} ${stderr}`)
    }
  } finally {
    fs.rmSync(file, { force: true })
  }
}

const number = async (page) => (await page.locator('.digits').innerText()).trim()

// begin shows a code, and what it says.
async function begin(page, to = `${PORTAL}/login`) {
  await page.goto(to)
  await heading(page, /Portal/)
  return { address: await see(page), number: await number(page) }
}

async function signIn(page, username = USERNAME, w = words.en) {
  await page.getByLabel(w.fields[0], { exact: true }).fill(username)
  await page.getByLabel(w.fields[1], { exact: true }).fill(PASSWORD)
  await button(page, w.fields[2]).click()
}

// scan opens what the code says on a phone that signs in there.
async function scan(page, address, username = USERNAME) {
  await page.goto(address)
  await signIn(page, username)
  await page.locator('button[value=confirm]').waitFor()
}

async function confirm(page, digits, w = words.en) {
  await page.getByLabel(w.number, { exact: true }).fill(digits)
  await button(page, w.confirm).click()
}

// brightness is that of the edge of the code's picture, as it is on the screen.
async function brightness(page) {
  await page.locator('.picture img').evaluate((img) => img.decode())
  const picture = (await page.locator('.picture img').screenshot()).toString('base64')
  const blank = await page.context().newPage()
  try {
    return await blank.evaluate(async (picture) => {
      const img = new Image()
      img.src = `data:image/png;base64,${picture}`
      await img.decode()
      const paper = document.createElement('canvas').getContext('2d')
      paper.drawImage(img, 0, 0)
      return Math.min(...paper.getImageData(10, 60, 1, 1).data)
    }, picture)
  } finally {
    await blank.close()
  }
}

// passUntil has the pauses that a page makes between its attempts pass at once.
async function passUntil(page, shown) {
  for (const until = Date.now() + 60_000; !(await shown.count());) {
    if (Date.now() > until) throw new Error(`${shown} does not come`)
    await page.clock.runFor(1000)
  }
}

const signedIn = (page) => page.getByRole('heading', { name: 'Signed in as u_maria of Portal' }).waitFor()

const wrong = (digits) => (digits === '10' ? '11' : '10')

const scenarios = {
  async scanAndConfirm(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    const code = await begin(desk)
    assert.equal(await desk.locator('section.other a').getAttribute('href'), code.address)
    assert.equal(await desk.getByRole('link', { name: 'Continue on this phone' }).count(), 0) // it is none
    const width = async () => (await desk.locator('main').boundingBox()).width
    const before = await width()
    await scan(phone, code.address)
    await says(desk, 'scanned')
    assert.equal(await width(), before, 'the card changes its width')
    const tile = await desk.locator('.digits').evaluate((e) => getComputedStyle(e).backgroundColor !== getComputedStyle(document.querySelector('main')).backgroundColor)
    assert.ok(tile, 'the number stands in no tile')
    assert.equal(await desk.getByRole('status').innerText(), 'Scanned. Continue on your phone.')
    // The phone is told who asks, and not the number.
    const page = await phone.locator('main').innerText()
    for (const fact of ['Sign in to Portal on another device?', 'portal.test', USERNAME, 'Chrome on Linux', '127.0.0.1', 'just now']) {
      assert.ok(page.includes(fact), `${fact} in ${page}`)
    }
    assert.ok(!(await phone.content()).includes(`>${code.number}<`))
    await confirm(phone, code.number)
    await heading(phone, 'Confirmed')
    await signedIn(desk)
    // The code was taken from the address, and the page with it does not come back.
    assert.equal(desk.url(), `${PORTAL}/`)
    await desk.goBack().catch(() => null)
    assert.ok(!desk.url().includes('/connect/'), desk.url())
    // The phone is who it was; the first browser has no session at the issuer.
    await phone.goto(`${ISSUER}/account`)
    await heading(phone, 'Your account')
    await desk.goto(`${ISSUER}/account`)
    await desk.getByLabel('Password').waitFor()
    // The same code again is over.
    assert.equal((await phone.goto(code.address)).status(), 200)
    await heading(phone, 'Confirmed')
  },

  async deny(visitor) {
    for (const answer of [(phone) => button(phone, 'Deny').click(), (phone, code) => confirm(phone, wrong(code.number))]) {
      const desk = await visitor.arrive()
      const phone = await visitor.arrive({ size: 'phone' })
      const code = await begin(desk)
      await scan(phone, code.address)
      await answer(phone, code)
      await heading(phone, /^(Denied|The numbers do not match)$/)
      await heading(desk, 'Not signed in: access_denied')
      // Neither the right number nor another try makes a yes of it.
      await phone.goto(code.address)
      await heading(phone, 'Denied')
      assert.equal(await phone.locator('main form').count(), 0)
    }
  },

  async secondScanner(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    const code = await begin(desk)
    await scan(phone, code.address)
    for (const username of [SECOND, USERNAME]) {
      const other = await visitor.arrive({ size: 'phone' })
      await other.goto(code.address)
      await signIn(other, username)
      await heading(other, 'This code has already been scanned')
      assert.equal(await other.locator('main form').count(), 0)
    }
    // Who only saw the code is told nothing of how it ends.
    const ask = async (page) => {
      const answer = await page.goto(poll)
      assert.deepEqual([answer.status(), (await answer.json()).wx_code], [403, ''])
    }
    const poll = `${ISSUER}/connect/l/qrconnect?f=json&uuid=${new URL(code.address).searchParams.get('uuid')}`
    visitor.expected.push(/connect\/l\/qrconnect.* status of 404/) // of the icon that a browser wants for it
    const watcher = await visitor.arrive()
    const second = await phone.context().newPage()
    for (const page of [watcher, second]) await ask(page)
    await confirm(phone, code.number)
    await signedIn(desk)
    for (const page of [watcher, second]) await ask(page)
  },

  async withoutScript(visitor) {
    const desk = await visitor.arrive({ javaScriptEnabled: false })
    const phone = await visitor.arrive({ size: 'phone', javaScriptEnabled: false })
    const code = await begin(desk)
    await scan(phone, code.address)
    await desk.locator('#wait[data-state=scanned]').waitFor()
    assert.equal(await number(desk), code.number)
    await confirm(phone, code.number)
    await signedIn(desk)

    const denied = await begin(desk)
    await phone.goto(denied.address)
    await button(phone, 'Deny').click()
    await heading(desk, 'Not signed in: access_denied')
  },

  async typed(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    const code = await begin(desk)
    const letters = (await desk.locator('p.letters').innerText()).trim()
    assert.match(letters, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
    await phone.goto(`${ISSUER}/device`)
    await signIn(phone)
    await heading(phone, 'Enter the code from your device')
    await phone.keyboard.type('bbbb bbbb')
    await phone.keyboard.press('Enter')
    await phone.getByRole('alert').waitFor()
    await phone.getByLabel('Code', { exact: true }).fill(letters.toLowerCase().replace('-', ' '))
    await button(phone, 'Continue').click()
    await confirm(phone, code.number)
    await heading(phone, 'Confirmed')
    await signedIn(desk)
  },

  // The one who wants in is on the phone itself, and the link leads there.
  async onOneDevice(visitor) {
    const phone = await visitor.arrive({ size: 'phone' })
    await phone.goto(`${PORTAL}/login`)
    await heading(phone, /Portal/)
    const digits = await number(phone)
    // A phone is offered itself first, as a button in view, and nothing twice.
    const here = phone.getByRole('link', { name: 'Continue on this phone' })
    const box = await here.boundingBox()
    assert.ok(box.height >= 44 && box.y + box.height < phone.viewportSize().height && box.y < (await phone.locator('.picture img').boundingBox()).y)
    assert.equal(await phone.getByRole('link', { name: 'Open the page on this device' }).count(), 0)
    const opened = phone.context().waitForEvent('page')
    await here.click()
    const second = await opened
    await signIn(second)
    await confirm(second, digits)
    await heading(second, 'Confirmed')
    await signedIn(phone)
  },

  // The window with the code is left alone: it goes on by itself, and is not loaded anew.
  async reload(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    // A poll that the reload ends comes again by itself.
    visitor.expected.push(/connect\/l\/qrconnect/)
    const code = await begin(desk)
    await desk.evaluate(() => { document.documentElement.dataset.same = 'yes' })
    const polled = () => desk.waitForRequest((r) => r.url().includes('/connect/l/qrconnect'))
    const reload = async (name) => {
      await desk.waitForTimeout(500) // until a poll hangs
      const again = polled()
      await open(new URL(`reload:${name}`))
      await again
    }
    await reload('first')
    await scan(phone, code.address)
    await says(desk, 'scanned')
    await reload('second')
    await desk.locator('html[data-same=yes] #wait[data-state=scanned]').waitFor()
    await confirm(phone, code.number)
    await heading(phone, 'Confirmed')
    await signedIn(desk)
  },

  // What a screen reader says of the first window, which nobody touches: each state once,
  // from an element that was there from the beginning.
  async announced(visitor) {
    for (const [lang, said] of [
      ['en', ['Scanned. Continue on your phone.', 'Confirmed. You are being signed in.']],
      ['zh', ['已扫描，请在手机上继续。', '已确认，正在登录。']],
    ]) {
      const w = words[lang]
      const locale = lang === 'zh' ? 'zh-CN' : 'en-US'
      const desk = await visitor.arrive({ locale })
      const phone = await visitor.arrive({ locale, size: 'phone' })
      const heard = []
      await desk.exposeFunction('hear', (text) => heard.push(text))
      const code = await begin(desk)
      await desk.evaluate(() => {
        const live = document.querySelectorAll('[role=status][aria-live=polite]')
        if (live.length !== 1 || live[0].closest('[hidden], [aria-hidden=true]')) throw new Error('one live region, which is not hidden')
        new MutationObserver(() => window.hear(live[0].textContent)).observe(live[0], { childList: true, characterData: true, subtree: true })
      })
      await phone.goto(code.address)
      await signIn(phone, USERNAME, w)
      await says(desk, 'scanned')
      // The focus stays where it was.
      assert.equal(await desk.evaluate(() => document.activeElement.tagName), 'BODY')
      await confirm(phone, code.number, w)
      await signedIn(desk)
      assert.deepEqual(heard, said)
      // What went wrong on the phone is said at once, and belongs to the field.
      await phone.goto(`${ISSUER}/device`)
      await phone.locator('#user_code').fill('BBBB-BBBB')
      await phone.keyboard.press('Enter')
      const alert = await phone.getByRole('alert').getAttribute('id')
      assert.ok((await phone.locator('#user_code').getAttribute('aria-describedby')).split(' ').includes(alert))
    }
  },

  // A device of RFC 8628 without a keyboard: its letters are typed elsewhere.
  async device(visitor) {
    for (const answer of ['Confirm', 'Deny']) {
      const phone = await visitor.arrive({ size: 'phone' })
      const begun = await open(new URL('device:begin'))
      const letters = begun.searchParams.get('user_code')
      await phone.goto(`${begun.origin}${begun.pathname}`)
      await signIn(phone)
      await phone.locator('#user_code:focus').waitFor()
      await phone.keyboard.type(letters.toLowerCase().replace('-', ''))
      await phone.keyboard.press('Enter')
      await heading(phone, 'Sign in to Television on another device?')
      assert.equal(await phone.locator('p.letters').innerText(), letters)
      assert.equal(await phone.locator('#typed').count(), 0)
      assert.equal((await open(new URL('device:redeem'))).href, 'answer:authorization_pending')
      await button(phone, answer).click()
      await heading(phone, answer === 'Confirm' ? 'Confirmed' : 'Denied')
      await phone.waitForTimeout(5000) // the interval
      assert.equal((await open(new URL('device:redeem'))).href, answer === 'Confirm' ? 'answer:issued' : 'answer:access_denied')
    }
    // Who follows the address with the letters in it needs not type them, but go on.
    const phone = await visitor.arrive({ size: 'phone' })
    const begun = await open(new URL('device:begin'))
    await phone.goto(begun.href)
    await signIn(phone)
    assert.equal(await phone.locator('#user_code').inputValue(), begun.searchParams.get('user_code'))
    await button(phone, 'Continue').click()
    await phone.locator('button[value=deny]').waitFor()
  },

  // The window of another site lies on top and closes at the first click of a double click.
  async doubleClick(visitor) {
    const page = await visitor.arrive()
    const begun = await open(new URL('device:begin'))
    await page.goto(begun.href)
    await signIn(page)
    for (const [name, next] of [['Continue', 'Sign in to Television on another device?'], ['Confirm', 'Confirmed']]) {
      await button(page, name).scrollIntoViewIfNeeded()
      const { x, y, width, height } = await button(page, name).boundingBox()
      await page.mouse.move(-5, -5)
      await page.mouse.move(x + width / 2, y + height / 2)
      await page.mouse.down()
      await page.mouse.up()
      await page.waitForTimeout(1000)
      await button(page, name).click() // it is still there
      await heading(page, next)
    }
  },

  async keyboard(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive()
    const code = await begin(desk)
    await tabTo(desk, 'section.other a')
    await phone.goto(code.address)
    await phone.locator('#username:focus').waitFor()
    await phone.keyboard.type(USERNAME)
    await tabTo(phone, '#password')
    await phone.keyboard.type(PASSWORD)
    await phone.keyboard.press('Enter')
    await phone.locator('#typed').waitFor()
    assert.equal(await phone.locator(':focus').count(), 0, 'a stray Enter must not answer')
    await tabTo(phone, '#typed')
    await phone.keyboard.press('Enter') // nothing typed: nothing is sent
    await tabTo(phone, '#typed')
    await phone.keyboard.type(code.number)
    await phone.keyboard.press('Enter')
    await heading(phone, 'Confirmed')
    await signedIn(desk)

    const second = await begin(desk)
    await phone.goto(second.address)
    await tabTo(phone, 'button[value=deny]')
    await phone.keyboard.press('Enter')
    await heading(phone, 'Denied')
    await heading(desk, 'Not signed in: access_denied')
  },

  async framed(visitor) {
    for (const query of ['style=black', 'self_redirect=false&lang=en', 'self_redirect=true']) {
      const desk = await visitor.arrive()
      const phone = await visitor.arrive({ size: 'phone' })
      await desk.goto(`${PORTAL}/framed?${query}`)
      const frame = desk.frameLocator('iframe')
      await frame.locator('#wait').waitFor()
      await frame.locator('img').evaluate((i) => i.decode())
      const address = await see(desk)
      const digits = (await frame.locator('.digits').innerText()).trim()
      assert.equal(await frame.locator('header').count(), 0)
      const fits = await frame.locator('body').evaluate(() => [document.documentElement.scrollWidth, document.documentElement.scrollHeight])
      if (process.env.SHOTS) await desk.screenshot({ path: `${process.env.SHOTS}/framed-${query.replace(/\W/g, '-')}.png` })
      assert.ok(fits[0] <= 300 && fits[1] <= 400, `${fits}`)
      await scan(phone, address)
      await frame.locator('#wait[data-state=scanned]').waitFor()
      await confirm(phone, digits)
      if (query === 'self_redirect=true') {
        await frame.getByRole('heading', { name: 'Signed in as u_maria of Portal' }).waitFor()
        assert.ok(desk.url().startsWith(`${PORTAL}/framed`))
      } else {
        await signedIn(desk)
        assert.equal(desk.url(), `${PORTAL}/`)
      }
    }
  },

  // Without script the answer is a link, since nothing else may send the window on.
  async framedWithoutScript(visitor) {
    for (const [answer, lang, colorScheme] of [['confirm', 'en', 'dark'], ['deny', 'zh', 'light']]) {
      const w = words[lang]
      const looks = { colorScheme, locale: lang === 'zh' ? 'zh-CN' : 'en-US' }
      const phone = await visitor.arrive({ ...looks, size: 'phone' })
      const desk = await visitor.arrive(looks)
      await desk.goto(`${PORTAL}/framed-plainly`)
      const frame = desk.frameLocator('iframe')
      await frame.locator('#wait').waitFor()
      const digits = (await frame.locator('.digits').innerText()).trim()
      const keep = (name) => process.env.SHOTS && desk.screenshot({ path: `${process.env.SHOTS}/framed-plainly-${name}.png` })
      await keep(`waiting-${lang}-${colorScheme}`)
      await phone.goto(await see(desk))
      await signIn(phone, USERNAME, w)
      await frame.locator('#wait[data-state=scanned]').waitFor()
      await keep(`scanned-${lang}-${colorScheme}`)
      if (answer === 'confirm') {
        await confirm(phone, digits, w)
        await heading(phone, w.confirmed)
        const onward = frame.getByRole('link', { name: w.onward })
        await onward.waitFor()
        await keep(`confirmed-${lang}-${colorScheme}`)
        await onward.click()
        await signedIn(desk)
        continue
      }
      await button(phone, w.deny).click()
      await heading(phone, w.denied)
      await frame.locator('#wait[data-state=denied]').waitFor()
      await keep(`denied-${lang}-${colorScheme}`)
      await frame.getByRole('link', { name: w.again }).click()
      await frame.locator('#wait[data-state=waiting]').waitFor()
    }
  },

  // Only the origins that are listed may frame the page, and it is the browser that sees to it.
  async framedElsewhere(visitor) {
    visitor.expected.push(/frame-ancestors/, /ERR_BLOCKED_BY_RESPONSE/)
    const page = await visitor.arrive()
    const refused = page.waitForEvent('console', (m) => /frame-ancestors/.test(m.text()))
    await page.goto(`${OTHER}/framed`)
    await refused
    assert.equal(await page.frameLocator('iframe').locator('#wait').count(), 0)
    // Nor may anybody frame the page that confirms.
    const phone = await visitor.arrive()
    const confirming = phone.waitForEvent('console', (m) => /frame-ancestors/.test(m.text()))
    await phone.goto(`${PORTAL}/framed-confirm`)
    await confirming
    assert.equal(await phone.frameLocator('iframe').locator('main form').count(), 0)
  },

  async expiry(visitor) {
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    const code = await begin(desk)
    await open(new URL('pass:121s'))
    await says(desk, 'expired')
    assert.equal(await desk.getByRole('status').innerText(), 'This code has expired.')
    assert.equal(await desk.locator('img:visible').count(), 0, 'a code that has expired is still shown')
    const late = await phone.goto(code.address)
    assert.equal(late.status(), 200) // who is not signed in learns nothing of it
    await signIn(phone)
    await heading(phone, 'This code has expired')
    await desk.getByRole('link', { name: 'Get a new code' }).click()
    await says(desk, 'waiting')
    const again = { address: await see(desk), number: await number(desk) }
    assert.notEqual(again.address, code.address)
    // Who has scanned in time has five minutes in all.
    await phone.goto(again.address)
    await open(new URL('pass:170s'))
    await says(desk, 'scanned')
    await confirm(phone, again.number)
    await heading(phone, 'Confirmed')
    await signedIn(desk)
    const slow = await begin(desk)
    await phone.goto(slow.address)
    await says(desk, 'scanned')
    await open(new URL('pass:301s'))
    await says(desk, 'expired')
    await confirm(phone, slow.number)
    await heading(phone, 'This code has expired')
  },

  // What the script does when the network does not do its part.
  async patience(visitor) {
    visitor.expected.push(/connect\/l\/qrconnect/, /Failed to load resource: (net::ERR_FAILED|.* status of 503)/)
    const desk = await visitor.arrive()
    const phone = await visitor.arrive({ size: 'phone' })
    let polls = 0
    const at = []
    // The first is refused for a while, what follows gets lost.
    let answer = (route) => at.length > 1 ? route.abort()
      : route.fulfill({ status: 503, headers: { 'Retry-After': '3' }, contentType: 'application/json', body: '{}' })
    await desk.context().route('**/connect/l/qrconnect*', (route) => {
      polls++
      at.push(Date.now())
      return answer(route)
    })
    const code = await begin(desk)
    await desk.locator('#wait[data-offline][data-state=waiting]').waitFor()
    assert.equal(await desk.getByRole('status').innerText(), 'Connection lost. Reconnecting automatically.')
    assert.ok(polls <= 4, `${polls} polls`)
    assert.ok(at[1] - at[0] >= 2900, `asked again after ${at[1] - at[0]} ms although told to wait three seconds`)
    const before = polls
    await desk.waitForTimeout(4000)
    assert.ok(polls - before <= 1, `${polls - before} polls in four seconds although all fail`)
    answer = (route) => route.continue()
    await desk.locator('#wait[data-state=waiting]:not([data-offline])').waitFor()
    assert.equal(await desk.getByRole('status').innerText(), 'Waiting for your phone.')

    // Two windows with one code do not chase each other.
    const twin = await desk.context().newPage()
    await twin.goto(`${ISSUER}/connect/qrconnect?uuid=${new URL(code.address).searchParams.get('uuid')}`)
    await says(twin, 'waiting')
    polls = 0
    await desk.waitForTimeout(6000)
    assert.ok(polls <= 8, `${polls} polls of two windows in six seconds`)
    await scan(phone, code.address)
    await Promise.all([says(desk, 'scanned'), says(twin, 'scanned')])
    await twin.close()

    // What happens while the network is bad is told as soon as it is not.
    polls = 0
    answer = (route) => route.abort()
    const next = await begin(desk)
    while (polls === 0) await desk.waitForTimeout(50)
    await phone.goto(next.address)
    await button(phone, 'Confirm').waitFor()
    answer = (route) => route.continue()
    await says(desk, 'scanned')
    await confirm(phone, next.number)
    await signedIn(desk)
  },

  // A window that nobody looks at for long asks no more, until somebody does.
  async asleep(visitor) {
    const desk = await visitor.arrive()
    visitor.expected.push(/connect\/l\/qrconnect.*ERR_ABORTED/)
    const phone = await visitor.arrive({ size: 'phone' })
    await desk.clock.install()
    const look = (hidden) => desk.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, value: hidden })
      document.dispatchEvent(new Event('visibilitychange'))
    }, hidden)
    let polls = 0
    desk.on('request', (r) => { if (r.url().includes('/connect/l/')) polls++ })
    const code = await begin(desk)
    await desk.clock.runFor(200)
    await desk.waitForTimeout(200)
    assert.equal(polls, 1)
    await look(true)
    await desk.clock.runFor(61_000)
    polls = 0
    await desk.clock.runFor(60_000)
    await desk.waitForTimeout(300)
    assert.equal(polls, 0, 'a hidden window goes on asking')
    await scan(phone, code.address)
    await look(false)
    await desk.clock.runFor(100)
    await says(desk, 'scanned')
    assert.ok(polls >= 1)
  },

  // Every page in one look: node scanning.js looks LANGUAGE THEME SIZE.
  async looks(visitor) {
    const [lang, colorScheme, size] = process.argv.slice(3)
    const w = words[lang]
    const looks = { colorScheme, size, locale: lang === 'zh' ? 'zh-CN' : 'en-US' }
    const desk = await visitor.arrive(looks)
    const phone = await visitor.arrive(looks)
    const inspect = (page, name) => visitor.inspect(page, `${name}-${lang}-${colorScheme}-${size}`)
    const code = await begin(desk)
    assert.equal(await desk.locator('html').getAttribute('lang'), lang === 'zh' ? 'zh-Hans' : 'en')
    assert.equal(await brightness(desk), 255, 'the code stands on white in every theme')
    await inspect(desk, 'qr')
    const letters = (await open(new URL('device:begin'))).searchParams.get('user_code')
    await phone.goto(`${ISSUER}/device`)
    await signIn(phone, USERNAME, w)
    await phone.locator('#user_code').waitFor()
    await inspect(phone, 'device')
    await phone.locator('#user_code').fill('BBBB-BBBB')
    await phone.keyboard.press('Enter')
    await phone.getByRole('alert').waitFor()
    await inspect(phone, 'device-failed')
    await phone.locator('#user_code').fill(letters)
    await phone.keyboard.press('Enter')
    await phone.locator('p.letters').waitFor()
    await inspect(phone, 'confirm-device')
    await button(phone, w.deny).click()
    await heading(phone, w.denied)
    await inspect(phone, 'denied')
    await phone.goto(`${ISSUER}/connect/confirm?uuid=AAAAAAAAAAAAAAAAAAAAAA`)
    await inspect(phone, 'gone')
    await phone.goto(code.address)
    await phone.locator('#typed').waitFor()
    await inspect(phone, 'confirm')
    await says(desk, 'scanned')
    await inspect(desk, 'qr-scanned')
    const other = await visitor.arrive(looks)
    await other.goto(code.address)
    await signIn(other, SECOND, w)
    await other.locator('h1').waitFor()
    await inspect(other, 'taken')
    await confirm(phone, wrong(code.number), w)
    await phone.locator('main form').waitFor({ state: 'detached' })
    await inspect(phone, 'wrong')
    await desk.getByText('access_denied').waitFor()
    const second = await begin(desk)
    await phone.goto(second.address)
    await confirm(phone, second.number, w)
    await phone.locator('main form').waitFor({ state: 'detached' })
    await inspect(phone, 'confirmed')
    await signedIn(desk)
    // How a page stands whose answer is held back, or leads nowhere.
    visitor.expected.push(/connect\/l\/qrconnect/, /\/callback/, /Failed to load resource: net::ERR_FAILED/)
    await desk.goto(`${PORTAL}/framed`)
    const framed = await desk.locator('iframe').getAttribute('src')
    const box = await visitor.arrive({ ...looks, viewport: { width: 300, height: 400 } })
    for (const [page, address] of [[desk, `${PORTAL}/login`], [box, framed]]) {
      const name = page === box ? 'framed' : 'qr'
      let answer = { json: { wx_errcode: 408, wx_code: '' } }
      await page.context().route('**/connect/l/qrconnect*', (route) => (answer ? route.fulfill(answer) : route.abort()))
      await page.context().route('**/callback*', (route) => route.abort('aborted'))
      await page.goto(address)
      const same = `${ISSUER}${await page.locator('#wait').getAttribute('data-refresh')}` // a new code each time would be one too often
      for (const [state, number] of Object.entries({ waiting: 408, scanned: 404, confirmed: 405, denied: 403, expired: 402 })) {
        await page.goto('about:blank') // else the page before takes the answer
        answer = { json: { wx_errcode: number, wx_code: number === 405 ? 'code' : '' } }
        await page.goto(same)
        await says(page, state)
        if (name === 'framed' || state !== 'waiting') await inspect(page, `${name}-${state}`)
      }
      await page.goto('about:blank')
      answer = null
      await page.clock.install()
      await page.goto(same)
      await passUntil(page, page.locator('#wait[data-offline]'))
      await inspect(page, `${name}-offline`)
    }
  },
}

// Playwright tells a frame of another process too late that it runs no scripts: it may have
// been parsed by then. So the browser is told.
const scriptless = process.argv[2] === 'framedWithoutScript' ? ['--blink-settings=scriptEnabled=false'] : []

await run(scenarios[process.argv[2]], {
  sizes: { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } },
  args: ['--host-resolver-rules=MAP *.test 127.0.0.1', ...scriptless],
  always: { ignoreHTTPSErrors: true },
})
process.exit() // standard input, from which answers come, is still open
