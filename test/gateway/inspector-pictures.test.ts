import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { launchChromium, openPage, skipWithoutChromium } from '../support/browser.ts'
import { root } from '../support/paths.ts'
import { gatewayBefore, playDemo, startScriptedUpstream } from './inspector-support.ts'

const folder = process.env['DRAGOMAN_PICTURES']

interface Picture {
  readonly name: string
  readonly theme: 'dark' | 'light'
  readonly width?: number
  readonly height?: number
  /** The request that is opened, and the keys that are pressed then. */
  readonly row?: number
  readonly keys?: string
}

const PICTURES: readonly Picture[] = [
  { name: 'inspector-light', theme: 'light', height: 560 },
  { name: 'inspector-context-dark', theme: 'dark', row: 7, keys: '2' },
  { name: 'inspector-divergence-light', theme: 'light', row: 6, keys: '3', height: 560 },
  { name: 'inspector-translated-light', theme: 'light', row: 8, keys: '6f', height: 420 },
  { name: 'inspector-phone-dark', theme: 'dark', width: 390, height: 720 },
]

/** `DRAGOMAN_PICTURES=docs/images npm test -- --only inspector-pictures` writes the pictures of the documents. */
const skip = skipWithoutChromium() || (folder === undefined && 'set DRAGOMAN_PICTURES to the folder for the pictures')
test('pictures of the inspector', { skip }, async () => {
  const out = join(root, folder ?? '')
  mkdirSync(out, { recursive: true })
  const upstream = await startScriptedUpstream()
  const gateway = await gatewayBefore(upstream)
  const browser = await launchChromium()
  try {
    await playDemo(gateway, upstream)
    const url = `${gateway.url}/inspector/#${gateway.token}`
    for (const { name, theme, width = 1280, height = 760, row, keys = '' } of PICTURES) {
      const { page } = await openPage(browser, url, { theme, width, height })
      await page.locator('.live.on').waitFor()
      await page.locator('.rows .row').first().waitFor()
      if (row !== undefined) {
        await page.locator(`.rows .row[data-id="${row}"]`).click()
        await page.locator('[data-testid=detail][data-ready=true]').waitFor()
      }
      for (const key of keys) await page.keyboard.press(key)
      await page.waitForLoadState('networkidle', { timeout: 3000 }).catch(() => undefined)
      await page.screenshot({ path: join(out, `${name}.png`) })
      await page.context().close()
    }
  } finally {
    await browser.close()
    await gateway.close()
    await upstream.close()
  }
})
