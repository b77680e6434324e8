import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { launchChromium, openPage, skipWithoutChromium, type WatchedPage } from '../support/browser.ts'
import {
  gatewayBefore,
  type ScriptedUpstream,
  sendMessage,
  startScriptedUpstream,
  toResult,
} from './inspector-support.ts'

const MARKUP = [
  '<script>window.pwned=1</script>',
  '<img src=x onerror="window.pwned=2">',
  '<svg/onload=window.pwned=3><animate onbegin=window.pwned=4 attributeName=x dur=1s>',
  '<iframe srcdoc="<script>parent.pwned=5</script>"></iframe>',
  '<a href="javascript:window.pwned=6">x</a>',
  '<style>*{display:none!important}</style><base href="https://evil.example/">',
  '<link rel=stylesheet href="https://evil.example/x.css"><meta http-equiv=refresh content="0;url=https://evil.example/">',
  '"><script>window.pwned=7</script>',
  "'onmouseover='window.pwned=8'",
  '</textarea></pre></title><script>window.pwned=9</script>',
  '{{constructor.constructor("window.pwned=10")()}}',
  '![x](https://evil.example/x.png) [y](javascript:alert(1))',
].join(' ')
const HIDDEN =
  'left\u202Egnp.exe\u202C \u2066isolate\u2069 \u200Bzero \u001B[31mred\u001B[0m \u0007bell \u001B]0;title\u0007'
const LONG = 'W'.repeat(4000)
const HOSTILE = `${MARKUP} ${HIDDEN} ${LONG}`

describe('hostile text in the inspector', { skip: skipWithoutChromium() }, () => {
  let upstream: ScriptedUpstream
  let gateway: Gateway
  let browser: Browser
  let watched: WatchedPage
  before(async () => {
    upstream = await startScriptedUpstream()
    gateway = await gatewayBefore(upstream)
    await play()
    browser = await launchChromium()
    watched = await openPage(browser, `${gateway.url}/inspector/#${gateway.token}`)
    await watched.page.locator('.rows .row').first().waitFor()
  })
  after(async () => {
    await browser?.close()
    await gateway?.close()
    await upstream?.close()
  })

  /** Hostile text wherever a client, a model or a tool can put it. */
  async function play(): Promise<void> {
    const name = `evil_<img src=x onerror=window.pwned=11>_${'n'.repeat(300)}`
    const tools: JsonObject[] = [
      { name, description: HOSTILE, input_schema: { type: 'object', properties: { path: { type: 'string' } } } },
      {
        name: 'read_file',
        description: HOSTILE,
        input_schema: { type: 'object', properties: { path: { type: 'string' } } },
      },
    ]
    const call = (id: string) => ({ id, name: 'read_file', input: JSON.stringify({ path: HOSTILE }) })
    const first: JsonObject = { role: 'user', content: HOSTILE }
    const used: JsonObject = {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: HOSTILE } },
        { type: 'tool_use', id: 'toolu_2', name, input: {} },
      ],
    }
    const sent = {
      client: `<script>window.pwned=12</script>/1.0 ${'u'.repeat(200)}`,
      session: `"><img src=x onerror=window.pwned=13>`,
      system: HOSTILE,
      tools,
      headers: { 'x-evil': '<script>window.pwned=14</script>', session_id: '"><svg onload=window.pwned=15>' },
    }
    upstream.answer({ thinking: HOSTILE, text: HOSTILE, calls: [call('toolu_1')], usage: { input: 900, output: 10 } })
    await sendMessage(gateway, { ...sent, messages: [first] })
    upstream.answer({ text: HOSTILE, usage: { input: 950, output: 10 } })
    const results: JsonObject = {
      role: 'user',
      content: [toResult('toolu_1', HOSTILE), toResult('toolu_2', HOSTILE, true)],
    }
    await sendMessage(gateway, { ...sent, system: `${HOSTILE} changed`, messages: [first, used, results] })
    upstream.answer({ thinking: HOSTILE, text: HOSTILE, calls: [call('call_1')], usage: { input: 900, output: 10 } })
    await sendMessage(gateway, { ...sent, model: '<script>window.pwned=16</script>', messages: [first] })
    upstream.answer({ status: 400, text: HOSTILE })
    await sendMessage(gateway, { ...sent, model: 'claude-<svg onload=window.pwned=17>', messages: [first] })
  }

  for (const width of [1440, 390])
    test(`every view is shown, nothing is executed, nothing breaks the layout at ${width}`, async () => {
      const { page, complaints } = watched
      await page.setViewportSize({ width, height: 900 })
      const overflow = () =>
        page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      for (const { id } of gateway.log.list()) {
        await page.locator(`.rows .row[data-id="${id}"]`).click()
        await page.locator('[data-testid=detail][data-ready=true]').waitFor()
        for (const name of ['Overview', 'Context', 'Divergence', 'Conversation', 'Calls', 'Raw']) {
          await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click()
          await page.locator(`[data-view=${name}]`).waitFor()
          for (const button of await page.locator('.pane-tools .link:not([disabled])').all()) await button.click()
          assert.equal(await overflow(), 0, `${name} of #${id}`)
          const inside = await page.evaluate(() =>
            ['.view', '.top', '.sidebar', '.detail-head'].map((at) => {
              const element = document.querySelector(at)
              return element && getComputedStyle(element).display !== 'none'
                ? element.scrollWidth - element.clientWidth
                : 0
            }),
          )
          assert.deepEqual(inside, [0, 0, 0, 0], `${name} of #${id}`)
        }
        await page.keyboard.press('Escape')
      }
      const found = await page.evaluate(
        () =>
          document.querySelectorAll(
            '#app script, #app img, #app iframe, #app svg, #app style, #app a, #app link, #app base',
          ).length,
      )
      assert.equal(found, 0)
      assert.deepEqual(complaints, [])
    })

  test('text that reorders or hides is shown as what it is', async () => {
    const { page } = watched
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.locator('.rows .row').last().click()
    await page.getByRole('tab', { name: /^Conversation/ }).click()
    const text = await page.locator('.turn[data-kind=user] .text').innerText()
    assert.ok(text.includes('<script>window.pwned=1</script>'))
    assert.ok(text.includes('left⟨U+202E⟩gnp.exe'))
    assert.ok(text.includes('␛[31mred'))
    assert.doesNotMatch(await page.locator('#app').innerText(), /[\u202A-\u202E\u2066-\u2069\u001B\u0007]/)
  })
})
