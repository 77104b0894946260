// What people do with the quick start.
import assert from 'node:assert/strict'
import { tabTo } from './visitor.js'

const { READER, ISSUER, USERNAME, PASSWORD } = process.env

const button = (page, name) => page.getByRole('button', { name, exact: true })
const heading = (page, name) => page.getByRole('heading', { level: 1, name }).waitFor()

// toSignIn goes from the application to the sign-in page.
async function toSignIn(page) {
  await page.goto(READER)
  await button(page, 'Sign in').click()
  await page.waitForURL(`${ISSUER}/authorize?*`)
}

async function fill(page, username, password, labels = ['Username', 'Password', 'Sign in']) {
  await page.getByLabel(labels[0], { exact: true }).fill(username)
  await page.getByLabel(labels[1], { exact: true }).fill(password)
  await button(page, labels[2]).click()
}

// sees checks that the application shows articles which it read through the gateway.
async function sees(page) {
  await page.waitForURL(`${READER}/`)
  await heading(page, 'Your articles')
  await page.getByText('You are signed in as Alice Example.').waitFor()
  assert.equal(await page.locator('.articles li').count(), 10)
  const { cookies } = await page.context().storageState()
  for (const c of cookies) assert.ok(c.httpOnly && c.sameSite === 'Lax', `cookie ${c.name}`)
}

async function signIn(page) {
  await toSignIn(page)
  await fill(page, USERNAME, PASSWORD)
  await heading(page, 'Allow Article Reader to use your account?')
  await page.getByText('Read your articles').waitFor()
  await button(page, 'Allow').click()
  await sees(page)
}

// signInAgain is signIn for whom the application may be known to.
async function signInAgain(page) {
  await toSignIn(page)
  await fill(page, USERNAME, PASSWORD)
  await page.waitForURL((url) => `${url}` === `${READER}/` || `${url}`.startsWith(`${ISSUER}/login`))
  if (page.url().startsWith(ISSUER)) await button(page, 'Allow').click()
  await sees(page)
}

const scripted = (size) => ({ size, javaScriptEnabled: true })
const plain = (size) => ({ size, javaScriptEnabled: false })

export const scenarios = {
  async signInAndOut(visitor) {
    for (const [i, way] of [scripted('desktop'), plain('phone')].entries()) {
      const page = await visitor.arrive(way)
      if (i === 0) {
        await signIn(page)
      } else {
        // The application is known by now: who signs in is not asked again.
        await toSignIn(page)
        await fill(page, USERNAME, PASSWORD)
        await sees(page)
      }
      // Out of the application: the issuer still knows the browser.
      await button(page, 'Sign out').click()
      await button(page, 'Sign in').click()
      await sees(page)
      // Out of the issuer: the next sign-in asks for the password.
      await page.goto(`${ISSUER}/logout`)
      await page.getByText(`as ${USERNAME}`).waitFor()
      await button(page, 'Sign out').click()
      await heading(page, 'You are signed out')
      await page.goto(READER)
      await button(page, 'Sign out').click()
      await button(page, 'Sign in').click()
      await page.getByLabel('Password').waitFor()
      await page.context().close()
    }
  },

  async keyboard(visitor) {
    const page = await visitor.arrive()
    await page.goto(READER)
    await tabTo(page, 'main button')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${ISSUER}/authorize?*`)
    await page.locator('#username:focus').waitFor() // without a Tab
    await page.keyboard.type(USERNAME)
    await tabTo(page, '#password')
    await page.keyboard.type('not it')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await page.locator('#password:focus').waitFor()
    assert.equal(await page.getByLabel('Username').inputValue(), USERNAME)
    assert.equal(await page.getByLabel('Password').inputValue(), '')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await heading(page, /^Allow /)
    assert.equal(await page.locator('button:focus').count(), 0, 'a stray Enter must not answer')
    await tabTo(page, 'button[value=allow]')
    await page.keyboard.press('Enter')
    await sees(page)
    await tabTo(page, 'header button')
    await page.keyboard.press('Enter')
    await button(page, 'Sign in').waitFor()
  },

  async refusals(visitor) {
    for (const way of [plain('desktop'), scripted('phone')]) {
      const page = await visitor.arrive(way)
      await toSignIn(page)
      await fill(page, USERNAME, 'not the password')
      const alert = page.getByRole('alert')
      assert.match(await alert.innerText(), /did not work/)
      await fill(page, 'nobody-of-this-name', PASSWORD)
      assert.match(await alert.innerText(), /did not work/)
      await fill(page, USERNAME, PASSWORD)
      await button(page, 'Deny').click()
      await page.waitForURL(`${READER}/callback?*`)
      await heading(page, 'You said no')
      assert.match(await page.getByRole('alert').innerText(), /Nothing was shared/)
      await page.getByRole('link', { name: 'Back to the first page' }).click()
      await button(page, 'Sign in').waitFor()

      await page.goto(`${ISSUER}/authorize?client_id=nobody&response_type=code&state=x`)
      await heading(page, 'Unknown application')
      await page.context().close()
    }
  },

  // A callback counts only with the state that this browser was given.
  async state(visitor) {
    const page = await visitor.arrive()
    let back
    await page.route(`${ISSUER}/consent`, async (route) => {
      const answer = await route.fetch({ maxRedirects: 0 })
      back = answer.headers().location
      await route.fulfill({ contentType: 'text/plain', body: 'held' })
    })
    await toSignIn(page)
    await fill(page, USERNAME, PASSWORD)
    const answered = page.waitForResponse(`${ISSUER}/consent`)
    await button(page, 'Allow').click()
    await answered
    await page.getByText('held').waitFor() // going on before would break this navigation off
    assert.ok(back?.startsWith(`${READER}/callback?`), back)
    const refused = async (p, address) => {
      const answer = await p.goto(address)
      assert.equal(answer.status(), 403)
      await heading(p, 'This sign-in was not begun here')
      await p.goto(READER)
      await button(p, 'Sign in').waitFor()
    }
    const forged = new URL(back)
    forged.searchParams.set('state', 'A'.repeat(forged.searchParams.get('state').length))
    await refused(page, forged.href)
    forged.searchParams.delete('state')
    await refused(page, forged.href)
    const stranger = await visitor.arrive()
    await refused(stranger, back) // has begun nothing
    await toSignIn(stranger)
    await refused(stranger, back) // has begun another one
    await page.goto(back)
    await sees(page)
    await refused(stranger, back)
    const again = await page.goto(back)
    assert.equal(again.status(), 403)
  },

  // The history keeps the sign-in form with its password, which signs in once: a reload shows the consent page to its
  // user, and a sign-in page to whoever sits there after the session was ended in another browser.
  async history(visitor) {
    const page = await visitor.arrive()
    await toSignIn(page)
    await fill(page, USERNAME, PASSWORD)
    const consent = 'Allow Article Reader to use your account?'
    await heading(page, consent)
    await page.reload()
    await heading(page, consent)
    const elsewhere = await visitor.arrive({ size: 'phone' })
    await elsewhere.goto(`${ISSUER}/account`)
    await fill(elsewhere, USERNAME, PASSWORD)
    await elsewhere.locator('button[value=everything]').click()
    await heading(elsewhere, 'You are signed out')
    for (let i = 0; i < 2; i++) {
      await page.reload()
      await page.getByLabel('Password').waitFor()
    }
    await fill(page, USERNAME, PASSWORD) // the page that a reload led to is a new one
    await heading(page, consent)
    await button(page, 'Allow').click()
    await sees(page)
  },

  // What a person has allowed and where they are signed in, with the keyboard alone.
  async account(visitor) {
    for (const javaScriptEnabled of [true, false]) {
      const elsewhere = await visitor.arrive({ javaScriptEnabled })
      await elsewhere.goto(`${ISSUER}/account`)
      await fill(elsewhere, USERNAME, PASSWORD)
      await heading(elsewhere, 'Your account')

      const page = await visitor.arrive({ size: 'phone', javaScriptEnabled, timezoneId: 'Asia/Kolkata' })
      await signInAgain(page)
      await page.goto(`${ISSUER}/account`)
      await heading(page, 'Your account')
      // When somebody signed in is said in the reader's time, and without script in UTC.
      const time = page.locator('time:not([data-day])').first()
      const at = new Date(await time.getAttribute('datetime'))
      const own = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'Asia/Kolkata' }).format(at)
      if (javaScriptEnabled) await page.getByText(`Signed in on ${own}.`).first().waitFor()
      else assert.match(await time.innerText(), /, \d\d:\d\d UTC$/)
      await page.getByText(/^(This machine|Local network) · 127\.0\.0\.1$/).first().waitFor()
      await page.getByRole('heading', { level: 3, name: 'Article Reader' }).waitFor()
      await page.getByText('Read your articles').waitFor()
      await page.getByRole('heading', { level: 3, name: 'Chrome on Linux this browser' }).waitFor()
      // The other browser is signed out by its own button, found by what it is called.
      const others = page.getByRole('button', { name: /^Sign out Chrome on Linux/ })
      const sessions = await others.count()
      assert.ok(sessions >= 1)
      await tabTo(page, `button[name=end][value="${await others.first().getAttribute('value')}"]`)
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('That browser is signed out.').waitFor()
      assert.equal(await others.count(), sessions - 1)
      await elsewhere.goto(`${ISSUER}/account`)
      await elsewhere.getByLabel('Password').waitFor()

      // Without access the application is signed out the next time it asks.
      await tabTo(page, 'button[name=withdraw]')
      await page.keyboard.press('Enter')
      await page.getByRole('status').getByText('no longer has access').waitFor()
      await page.getByText('No application has access to your account.').waitFor()
      await page.goto(READER)
      assert.equal(await page.locator('.articles li').count(), 0)
      await page.goto(`${READER}/login`)
      await heading(page, 'Allow Article Reader to use your account?')
      await button(page, 'Allow').click()
      await sees(page)

      // Everywhere: this browser too, and the application.
      await page.goto(`${ISSUER}/account`)
      await tabTo(page, 'button[value=everything]')
      await page.keyboard.press('Enter')
      await heading(page, 'You are signed out')
      await page.getByRole('link', { name: 'Sign in again' }).click()
      await page.getByLabel('Password').waitFor()
      await page.goto(READER)
      assert.equal(await page.locator('.articles li').count(), 0)
      await page.context().close()
      await elsewhere.context().close()
    }
  },

  // The pictures of the documentation: sign-in, consent and account page with all words of `pages`.
  async pictures(visitor) {
    const page = await visitor.arrive({ deviceScaleFactor: 1, viewport: { width: 600, height: 860 }, colorScheme: 'dark' })
    await page.goto(READER)
    await button(page, 'Sign in').click()
    await page.waitForURL(`${ISSUER}/authorize?*`)
    for (const [name, href] of [['Help', 'https://example.com/help'], ['Privacy', '/privacy'], ['Terms', '/terms'], ['Forgot your password?', '/forgot']]) {
      assert.equal(await page.getByRole('link', { name, exact: true }).getAttribute('href'), href)
    }
    await visitor.inspect(page, 'pages-dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await button(page, '中文').click()
    await page.locator('html[lang=zh-Hans]').waitFor()
    await button(page, 'English').click()
    await fill(page, USERNAME, PASSWORD)
    await page.locator('button[value=allow]').waitFor()
    await visitor.inspect(page, 'pages-light')
    await button(page, 'Allow').click()
    await sees(page)
    await page.goto(`${ISSUER}/account`)
    await page.locator('button[name=withdraw]').waitFor()
    await visitor.inspect(page, 'pages-account')
  },

  // Every page in every look.
  async looks(visitor) {
    const words = {
      en: { fields: ['Username', 'Password', 'Sign in'], out: 'Sign out' },
      zh: { fields: ['用户名', '密码', '登录'], out: '退出登录' },
    }
    // Each language, colour scheme and size meets each of the others once.
    for (const [lang, colorScheme, size] of [['en', 'light', 'desktop'], ['en', 'dark', 'phone'], ['zh', 'light', 'phone'], ['zh', 'dark', 'desktop']]) {
      const page = await visitor.arrive({ size, colorScheme, locale: lang === 'zh' ? 'zh-CN' : 'en-US' })
      const inspect = (name) => visitor.inspect(page, `${name}-${lang}-${colorScheme}-${size}`)
      await page.goto(READER)
      await inspect('reader')
      await button(page, 'Sign in').click()
      await page.waitForURL(`${ISSUER}/authorize?*`)
      assert.equal(await page.locator('html').getAttribute('lang'), lang === 'zh' ? 'zh-Hans' : 'en')
      await page.goto(`${page.url()}&prompt=consent`) // a consent that was given is asked for again
      await inspect('login')
      await fill(page, `mallory-${size}-${colorScheme}`, PASSWORD, words[lang].fields)
      await page.getByRole('alert').waitFor()
      await inspect('login-failed')
      await fill(page, USERNAME, PASSWORD, words[lang].fields)
      await page.locator('button[value=allow]').waitFor()
      // The answers are in view without scrolling, also on the smallest screen.
      for (const answer of ['deny', 'allow']) {
        const box = await page.locator(`button[value=${answer}]`).boundingBox()
        assert.ok(box.y + box.height <= page.viewportSize().height, `${answer} is below the edge of the screen`)
      }
      assert.ok((await page.locator('button[value=deny]').boundingBox()).x < (await page.locator('button[value=allow]').boundingBox()).x)
      await inspect('consent')
      await page.locator('button[value=deny]').click()
      await page.waitForURL(`${READER}/callback?*`)
      await inspect('reader-denied')
      await page.goto(`${READER}/login`)
      if (page.url().startsWith(ISSUER)) await page.locator('button[value=allow]').click()
      await sees(page)
      await inspect('reader-signed-in')
      await page.goto(`${ISSUER}/authorize?client_id=nobody&response_type=code&state=x`)
      await inspect('error')
      await page.goto(`${ISSUER}/authorize?client_id=reader-web&redirect_uri=http://localhost/&response_type=code&state=x`)
      await inspect('error-redirect')
      await page.goto(`${ISSUER}/account`)
      await inspect('account')
      await page.locator('button[name=withdraw]').first().click()
      await page.getByRole('status').waitFor()
      await inspect('account-withdrawn')
      await page.goto(`${ISSUER}/logout`)
      await inspect('logout')
      await button(page, words[lang].out).click()
      await page.locator('main form').waitFor({ state: 'detached' })
      await inspect('logout-done')
      await page.context().close()
    }
  },
}
