import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { Gateway } from '../../src/gateway/gateway.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { launchChromium, openPage, skipWithoutChromium } from '../support/browser.ts'
import { gatewayBefore, type ScriptedUpstream, sendMessage, startScriptedUpstream } from './inspector-support.ts'

describe('the inspector with much traffic', { skip: skipWithoutChromium() }, () => {
  let upstream: ScriptedUpstream
  let gateway: Gateway
  let browser: Browser
  before(async () => {
    upstream = await startScriptedUpstream()
    gateway = await gatewayBefore(upstream)
    browser = await launchChromium()
  })
  after(async () => {
    await browser?.close()
    await gateway?.close()
    await upstream?.close()
  })

  test('a thousand requests: few rows exist, and all can be reached', async () => {
    const request = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x'.repeat(2000) }] })
    for (let at = 0; at < 1000; at++) {
      const fields = {
        client: `client-${at % 7}`,
        session: `s${at % 40}`,
        title: `Task ${at % 40}`,
        wire: 'anthropic',
        path: '/v1/messages',
        model: `model-${at}`,
        isStream: true,
      } as const
      const recorder = gateway.log.begin(fields, request)
      recorder.update({
        status: 200,
        usage: { input: at, cacheRead: 2 * at, cacheWrite: 0, output: 5, reasoning: 0 },
        cost: 0.001,
      })
      recorder.end()
    }
    const { page, complaints } = await openPage(browser, `${gateway.url}/inspector/#${gateway.token}`)
    await page.locator('.rows .row').first().waitFor()
    assert.ok((await page.locator('.rows .row').count()) < 80)
    assert.match(await page.getByTestId('totals').innerText(), /Requests\s+1,000/)
    const first = await page.locator('.rows .row').first().getAttribute('data-id')
    await page.locator('.rows').focus()
    await page.keyboard.press('G')
    await page.locator(`.rows .row[data-id="${Number(first) - 999}"][aria-selected=true]`).waitFor()
    assert.ok((await page.locator('.rows .row').count()) < 80)
    const started = Date.now()
    for (let at = 0; at < 50; at++) await page.keyboard.press('k')
    await page.locator(`.rows .row[data-id="${Number(first) - 949}"][aria-selected=true]`).waitFor()
    assert.ok(Date.now() - started < 30_000)
    await page.locator('#search').fill('model-77')
    await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 11)
    assert.deepEqual(complaints, [])
    await page.context().close()
  })

  test('a body of 5 MB is shown in pieces', async () => {
    const text = `begin ${'lorem ipsum dolor sit amet '.repeat(200_000)} end-of-the-file`
    upstream.answer({ text: 'Read.', usage: { input: 1_300_000, output: 3 } })
    const messages: JsonObject[] = [{ role: 'user', content: text }]
    assert.equal((await sendMessage(gateway, { messages, session: 'large' })).status, 200)
    const id = gateway.log.list().at(-1)?.id
    const { page, complaints } = await openPage(browser, `${gateway.url}/inspector/#${gateway.token}`)
    await page.locator(`.rows .row[data-id="${id}"]`).click()
    await page.locator('[data-testid=detail][data-ready=true]').waitFor()
    await page.keyboard.press('6')
    const bytes = page.locator('.pane[data-side=client-request] .bytes')
    await page.waitForFunction(
      () => (document.querySelector('.pane[data-side=client-request] .bytes')?.textContent ?? '').length > 1000,
    )
    assert.ok((await bytes.innerText()).length <= 70_000)
    assert.match(await page.locator('.pane[data-side=client-request] .pager').innerText(), /0–65\.5k of 5\.4M/)
    await page.locator('.pane[data-side=client-request] [aria-label=Later]').click()
    await page.waitForFunction(() =>
      (document.querySelector('.pane[data-side=client-request] .pager')?.textContent ?? '').includes('131k'),
    )
    await page.keyboard.press('4')
    const turn = page.locator('.turn[data-kind=user]')
    assert.ok((await turn.innerText()).length < 2000)
    await turn.locator('.link').click()
    await page.waitForFunction(
      () => (document.querySelector('.turn[data-kind=user] .text')?.textContent ?? '').length > 100_000,
    )
    await page.keyboard.press('2')
    await page.getByTestId('prefix').waitFor()
    assert.deepEqual(complaints, [])
    await page.context().close()
  })
})
