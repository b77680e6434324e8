import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchChromium, openPage, skipWithoutChromium } from '../support/browser.ts'
import { root } from '../support/paths.ts'
import { gatewayBefore, playDemo, startScriptedUpstream } from './inspector-support.ts'

const folder = process.env['DRAGOMAN_PICTURES']

/** DRAGOMAN_PICTURES=docs/images npm test -- --only inspector-pictures writes the pictures of the documents. */
test(
  'pictures of the inspector',
  { skip: skipWithoutChromium() || (folder === undefined && 'set DRAGOMAN_PICTURES') },
  async () => {
    const out = join(root, folder ?? '')
    mkdirSync(out, { recursive: true })
    const upstream = await startScriptedUpstream()
    const gateway = await gatewayBefore(upstream)
    const browser = await launchChromium()
    try {
      await playDemo(gateway, upstream)
      const url = `${gateway.url}/inspector/#${gateway.token}`
      for (const theme of ['light', 'dark'] as const) {
        const { page } = await openPage(browser, url, { theme })
        await page.locator('.rows .row').first().waitFor()
        await page.screenshot({ path: join(out, `inspector-${theme}.png`) })
        await page.locator('.rows .row[data-id="5"]').click()
        for (const [key, name] of [
          ['1', 'overview'],
          ['2', 'context'],
          ['3', 'divergence'],
          ['4', 'conversation'],
          ['5', 'calls'],
          ['6', 'raw'],
        ] as const) {
          await page.keyboard.press(key)
          await page.waitForTimeout(500)
          await page.screenshot({ path: join(out, `inspector-${name}-${theme}.png`) })
        }
        await page.keyboard.press('Escape')
        await page.locator('.rows .row[data-id="8"]').click()
        await page.keyboard.press('f')
        await page.waitForTimeout(500)
        await page.screenshot({ path: join(out, `inspector-translated-${theme}.png`) })
        await page.context().close()
        const phone = await openPage(browser, url, { theme, width: 390, height: 844 })
        await phone.page.locator('.rows .row').first().waitFor()
        await phone.page.screenshot({ path: join(out, `inspector-phone-${theme}.png`) })
        await phone.page.locator('.rows .row[data-id="5"]').click()
        await phone.page.keyboard.press('2')
        await phone.page.waitForTimeout(500)
        await phone.page.screenshot({ path: join(out, `inspector-phone-context-${theme}.png`) })
        await phone.page.context().close()
      }
    } finally {
      await browser.close()
      await gateway.close()
      await upstream.close()
    }
  },
)
