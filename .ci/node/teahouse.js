// A visitor of the example for Variant B: one window is the screen, another the phone.
import assert from 'node:assert/strict'
import { run, tabTo } from './visitor.js'

const { SITE, ISSUER } = process.env

// press goes to an element with Tab and presses Enter.
async function press(page, selector) {
  await tabTo(page, selector)
  await page.keyboard.press('Enter')
}

async function teahouse(visitor) {
  for (const [look, options] of Object.entries({ light: { size: 'desktop' }, dark: { size: 'phone', colorScheme: 'dark' } })) {
    const screen = await visitor.arrive(options)
    await screen.goto(SITE)
    await visitor.inspect(screen, `teahouse-${look}-welcome`)
    await press(screen, 'main button')
    await screen.waitForURL(/\/connect\/qrconnect/)
    const code = await screen.locator('p.letters').innerText()
    const number = await screen.locator('.digits').innerText()

    const phone = await visitor.arrive({ size: 'phone' })
    await phone.goto(`${ISSUER}/device`)
    await tabTo(phone, '#username')
    await phone.keyboard.type('alice')
    await tabTo(phone, '#password')
    await phone.keyboard.type('correct horse battery staple')
    await phone.keyboard.press('Enter')
    await phone.waitForSelector('[name=user_code]')
    await tabTo(phone, '[name=user_code]')
    await phone.keyboard.type(code.toLowerCase())
    await phone.keyboard.press('Enter')
    await phone.waitForSelector('[name=number]')
    await tabTo(phone, '[name=number]')
    await phone.keyboard.type(number)
    await press(phone, 'button[value=confirm]')

    await screen.waitForSelector('#nickname')
    assert.equal(await screen.locator('#nickname').innerText(), 'Alice 爱丽丝')
    await screen.waitForFunction(() => document.querySelector('main img').naturalWidth > 0)
    await visitor.inspect(screen, `teahouse-${look}-signed-in`)
    await press(screen, 'header button')
    await screen.waitForSelector('form[action="/login"]')
    await screen.goto(`${SITE}/wx?code=c&state=s`)
    await visitor.inspect(screen, `teahouse-${look}-refused`)
  }
}

await run(teahouse, { sizes: { desktop: { width: 1280, height: 800 }, phone: { width: 360, height: 720 } } })
