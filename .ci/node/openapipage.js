// The page that describes an API, as people see it: node openapipage.js. PAGE is its
// address; HOSTILE its title, and in a schema of it.
import assert from 'node:assert/strict'
import { run, tabTo } from './visitor.js'

const { PAGE, HOSTILE } = process.env

// words in the languages of the page.
const words = { en: ['Parameters', 'Needs a token with the scopes', 'Schemas'], zh: ['参数', '需要具有以下权限的令牌', '数据结构'] }

async function openapipage(visitor) {
  for (const look of ['en light desktop', 'en dark phone', 'zh light phone', 'zh dark desktop']) {
    const [lang, colorScheme, size] = look.split(' ')
    const page = await visitor.arrive({ colorScheme, size, locale: lang === 'zh' ? 'zh-CN' : 'en-US' })
    const asked = []
    page.on('request', (r) => asked.push(r.url()))
    const answer = await page.goto(PAGE)
    assert.match(answer.headers()['content-security-policy'], /^default-src 'none'; style-src 'sha256-/)
    assert.equal(await page.locator('html').getAttribute('lang'), lang === 'zh' ? 'zh-Hans' : 'en')
    if (look === 'en dark phone') await visitor.inspect(page, 'openapi-closed')

    // What an operator wrote is text, whatever is in it: nothing runs, nothing is loaded.
    assert.equal(await page.title(), HOSTILE)
    assert.equal(await page.locator('h1').innerText(), HOSTILE)
    assert.equal(await page.evaluate(() => document.querySelectorAll('script, img, iframe, object, form, base, [onerror], [onload], [style]').length), 0)
    const text = await page.evaluate(() => {
      for (const d of document.querySelectorAll('details')) d.open = true
      return document.querySelector('main').innerText
    })
    for (const word of [...words[lang], 'onerror=alert(1)']) assert.ok(text.includes(word), `${word} in the page`)
    await visitor.inspect(page, `openapi-open-${look.replaceAll(' ', '-')}`)
    assert.deepEqual(asked.filter((url) => !url.startsWith('data:')), [PAGE])
  }

  // With the keyboard alone: to an operation, and from its body on to a schema that was closed.
  const page = await visitor.arrive({ size: 'phone' })
  await page.goto(PAGE)
  await tabTo(page, 'nav li:nth-child(2) a')
  await page.keyboard.press('Enter')
  assert.equal(new URL(page.url()).hash, '#group-1')
  await page.goto(PAGE)
  const post = 'details:has(#post_articles)'
  await tabTo(page, `${post} > summary`)
  await page.keyboard.press('Enter')
  assert.equal(await page.locator(post).getAttribute('open'), '')
  // The body is a table with an example, and so is the answer.
  const row = page.locator(`${post} tr`, { has: page.locator('th code', { hasText: /^title$/ }) }).first()
  assert.match(await row.innerText(), /required.*string 5\.\.100/s)
  assert.ok('title' in JSON.parse(await page.locator(`${post} pre`).first().innerText()))
  await tabTo(page, `${post} a[href="#schema-ArticlesInput"]`)
  await page.keyboard.press('Enter')
  await page.locator('#schema-ArticlesInput').waitFor({ state: 'visible' })
  await page.goto(`${PAGE}#get_articles`)
  await page.locator('#get_articles').waitFor({ state: 'visible' })
}

await run(openapipage, { sizes: { desktop: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } } })
