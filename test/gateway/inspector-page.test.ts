import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import type { Gateway } from '../../src/gateway/gateway.ts'
import { launchChromium, openPage, skipWithoutChromium } from '../support/browser.ts'
import { clearAway } from '../support/clear.ts'
import { dragoman, stage } from '../support/command.ts'
import {
  gatewayBefore,
  playDemo,
  type ScriptedUpstream,
  sendMessage,
  startScriptedUpstream,
} from './inspector-support.ts'

const skip = skipWithoutChromium()
const place = mkdtempSync(join(tmpdir(), 'dragoman-inspector-'))

describe('the inspector in a browser', { skip }, () => {
  let upstream: ScriptedUpstream
  let gateway: Gateway
  let browser: Browser
  let page: Page
  let complaints: readonly string[]
  const url = (): string => `${gateway.url}/inspector/#${gateway.token}`

  before(async () => {
    upstream = await startScriptedUpstream()
    gateway = await gatewayBefore(upstream)
    await playDemo(gateway, upstream)
    browser = await launchChromium()
    ;({ page, complaints } = await openPage(browser, url()))
    await page.locator('.rows .row').first().waitFor()
  })
  after(async () => {
    await browser?.close()
    await gateway?.close()
    await upstream?.close()
    clearAway(place)
  })

  /** The id of the exchange with this client whose answer was the n-th, from 1. */
  const find = (client: string, number: number): number =>
    gateway.log.list().filter((one) => one.client === client && one.totalMs !== undefined)[number - 1]?.id ?? 0

  async function openView(id: number, name: string): Promise<void> {
    await page.locator(`.rows .row[data-id="${id}"]`).click()
    await page.locator('[data-testid=detail][data-ready=true]').waitFor()
    await page.getByRole('tab', { name: new RegExp(`^${name}`) }).click()
    await page.locator(`[data-view="${name}"]`).waitFor()
  }

  async function backToList(): Promise<void> {
    if (await page.locator('[data-testid=detail]').count()) await page.locator('.detail .shut').click()
  }

  test('the token leaves the address, and the page works after a reload', async () => {
    assert.equal(new URL(page.url()).hash, '')
    await page.reload()
    await page.locator('.rows .row').first().waitFor()
    assert.equal(await page.evaluate(() => document.cookie), '')
  })

  test('the timeline shows clients, sessions, times, tokens, cost, cache share, retries and faults', async () => {
    assert.deepEqual(await page.getByTestId('client').allInnerTexts(), ['codex', 'claude'])
    const sessions = await page.getByTestId('session').allInnerTexts()
    assert.equal(sessions.length, 2)
    assert.match(sessions[1] ?? '', /Fix the failing date test[^]*7 requests[^]*\$0\.\d+[^]*% cached[^]*1 fault/)
    assert.equal(await page.locator('.rows .row').count(), gateway.log.list().length)
    const row = page.locator(`.rows .row[data-id="${find('claude', 2)}"]`)
    assert.match(await row.locator('.duration .first').innerText(), /^[\d.]+ m?s$/)
    assert.match(await row.locator('.duration .value').last().innerText(), /^[\d.]+ m?s$/)
    assert.equal(await row.locator('.in').innerText(), '8,740')
    assert.equal(await row.locator('.out').innerText(), '122')
    assert.equal(await row.locator('.cache').innerText(), '22%')
    assert.equal(await row.locator('.cost').innerText(), '$0.0277')
    assert.equal(await row.locator('.token-bar .bucket').count(), 4)
    assert.equal(await page.locator('.rows .row.failed .badge').innerText(), '529')
    const retried = page.locator(`.rows .row[data-id="${find('codex', 2)}"]`)
    assert.match(await retried.locator('.notes').innerText(), /↻1/)
    assert.match(await retried.locator('.model').innerText(), /gpt-5\.1-codex[^]*router\/qwen3-coder/)
    await page.getByTestId('session').nth(1).click()
    assert.equal(await page.locator('.rows .row').count(), 7)
    await page.getByTestId('session').nth(1).click()
  })

  test('what fills the context: parts by size, and growth', async () => {
    await openView(find('claude', 6), 'Context')
    const kinds = await page
      .getByTestId('kinds')
      .locator('button')
      .evaluateAll((all) => all.map((one) => one.dataset['kind']))
    assert.deepEqual(
      new Set(kinds),
      new Set(['call', 'file', 'instructions', 'result', 'system', 'text', 'thinking', 'tool', 'user']),
    )
    const parts = page.getByTestId('parts').locator('.part')
    assert.match(await parts.first().innerText(), /Files read[^]*src\/date\.ts[^]*turn 3/)
    for (const tool of ['read_file', 'edit_file', 'run_command', 'search'])
      assert.ok(await page.locator('.part[data-kind=tool]', { hasText: tool }).count(), tool)
    assert.ok(await page.locator('.part[data-kind=instructions]', { hasText: 'CLAUDE.md' }).count())
    await page.locator('[data-testid=growth] canvas').waitFor()
    assert.match(await page.locator('.growth-text').innerText(), new RegExp(`^#${find('claude', 6)}: 10,720 tokens`))
    await page.locator('[data-testid=kinds] [data-kind=file]').click()
    assert.equal(await parts.count(), 1)
  })

  test('the first divergence: where the prefix broke, the diff, and what the miss cost', async () => {
    await openView(find('claude', 6), 'Divergence')
    const view = page.getByTestId('divergence')
    assert.match(await view.locator('.callout').innerText(), /The prefix breaks at the system prompt/)
    assert.match(await view.locator('del').innerText(), /2026-03-01/)
    assert.match(await view.locator('ins').innerText(), /2026-03-02/)
    assert.match(await page.getByTestId('missed').innerText(), /^10\.2k tokens$/)
    assert.match(await page.getByTestId('missed-cost').innerText(), /^\$0\.0276$/)
    await openView(find('claude', 7), 'Divergence')
    assert.match(await view.locator('.callout').innerText(), /extends the previous one/)
    await openView(find('claude', 1), 'Divergence')
    await page.getByText('This is the first request of its conversation.').waitFor()
  })

  test('the conversation in readable form', async () => {
    await openView(find('claude', 3), 'Conversation')
    const turns = page.locator('.conversation .turn')
    const text = (await turns.allInnerTexts()).join('\n')
    assert.match(
      text,
      /System[^]*You are a coding agent[^]*User[^]*Fix the failing date test[^]*Thinking[^]*I read it first/,
    )
    assert.match(text, /Call[^]*edit_file[^]*Result[^]*The file was changed/)
    assert.match(await page.locator('.turn.answer').innerText(), /run_command[^]*npm test -- date/)
    const shortLength = (await page.locator('.turn[data-kind=file] .text').innerText()).length
    await page.locator('.turn[data-kind=file] .link').click()
    await page.waitForFunction(
      (length) => (document.querySelector('.turn[data-kind=file] .text')?.textContent ?? '').length > length,
      shortLength,
    )
  })

  test('calls with arguments, results and durations; rescued and rejected calls stand out', async () => {
    await openView(find('claude', 1), 'Calls')
    const calls = await page.getByTestId('call').allInnerTexts()
    assert.equal(calls.length, 2)
    assert.match(
      calls[1] ?? '',
      /search[^]*ok[^]*≤ [\d.]+ m?s[^]*"glob": "test\/\*\*"[^]*Result[^]*test\/date\.test\.ts:14/,
    )
    await openView(find('claude', 3), 'Calls')
    assert.match(await page.getByTestId('call').innerText(), /error[^]*Invalid time value/)
    await openView(find('codex', 2), 'Calls')
    assert.match(await page.getByTestId('call').innerText(), /run_command[^]*rescued from text/)
    assert.equal(await page.locator('.warnings [data-code=written-call].loud').count(), 1)
    await openView(find('codex', 3), 'Calls')
    assert.match(await page.locator('[data-view=Calls]').innerText(), /rejected/)
  })

  test('raw bytes: two sides that are the same, or four with the warnings where they arose', async () => {
    await openView(find('claude', 1), 'Raw')
    const pane = (side: string) => page.locator(`.pane[data-side=${side}]`)
    const bytes = async (side: string): Promise<string> => {
      await page.waitForFunction(
        (name) => (document.querySelector(`.pane[data-side=${name}] .bytes`)?.textContent ?? '').length > 10,
        side,
      )
      return pane(side).locator('.bytes').innerText()
    }
    assert.match(await bytes('client-response'), /event: message_start[^]*message_stop/)
    assert.match(await pane('upstream-request').innerText(), /same bytes/)
    assert.match(await pane('upstream-response').innerText(), /same bytes/)
    await openView(find('codex', 1), 'Raw')
    assert.deepEqual(
      await page
        .locator('.pane')
        .evaluateAll((all) =>
          all.map((one) => (one as unknown as { dataset: Record<string, string> }).dataset['side']),
        ),
      ['client-request', 'upstream-request', 'upstream-response', 'client-response'],
    )
    assert.match(await bytes('client-request'), /"web_search_20250305"/)
    assert.match(await bytes('upstream-request'), /"type":"function"/)
    assert.match(await bytes('upstream-response'), /reasoning_content/)
    assert.match(await bytes('client-response'), /thinking_delta/)
    assert.match(await pane('upstream-request').locator('.warnings').innerText(), /hosted-tool[^]*web_search/)
    await pane('upstream-request').getByText('headers').click()
    const headers = await pane('upstream-request').locator('.headers').innerText()
    assert.match(headers, /authorization[^]*\[key\]/)
    assert.ok(!headers.includes('upstream-key'))
    await pane('client-request').getByText('Format').click()
    await page.waitForFunction(() =>
      (document.querySelector('.pane[data-side=client-request] .bytes')?.textContent ?? '').includes(
        '\n  "model": "gpt-5.1-codex"',
      ),
    )
    await page.keyboard.press('f')
    for (const width of [1200, 1280, 1440]) {
      await page.setViewportSize({ width, height: 800 })
      const panes = await page.locator('.pane').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()))
      assert.equal(new Set(panes.map(({ top }) => top)).size, 1, `side by side at ${width}`)
      assert.ok((panes.at(-1)?.right ?? 0) > width - 40, `the whole width of ${width} is used`)
    }
    await page.keyboard.press('f')
    await openView(find('codex', 2), 'Raw')
    await page.getByText('Attempt 1').click()
    await page.waitForFunction(() =>
      (document.querySelector('.pane[data-side=upstream-response]')?.textContent ?? '').includes('HTTP 503'),
    )
  })

  test('search and filters', async () => {
    await backToList()
    await page.keyboard.press('/')
    await page.keyboard.type('release.mjs --dry')
    await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 1)
    assert.equal(await page.locator('.rows .row').getAttribute('data-id'), String(find('codex', 2)))
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('#search').inputValue(), '')
    await page.getByRole('button', { name: /^Faults/ }).click()
    await page.waitForFunction(
      () => document.querySelectorAll('.rows .row.failed').length === document.querySelectorAll('.rows .row').length,
    )
    await page.getByRole('button', { name: /^Cache misses/ }).click()
    const missed = await page
      .locator('.rows .row')
      .evaluateAll((all) => all.map((one) => Number(one.getAttribute('data-id'))))
    assert.deepEqual(missed, [find('claude', 6)])
    await page.locator('.filters').getByRole('button', { name: /^All/ }).click()
    await page.locator('#search').fill('nothing has this')
    await page.getByText('No request matches').waitFor()
    await page.locator('#search').fill('')
  })

  test('the keyboard', async () => {
    await backToList()
    await page.locator('.rows').focus()
    const ids = await page.locator('.rows .row').evaluateAll((all) => all.map((one) => one.getAttribute('data-id')))
    const selected = () => page.locator('.rows .row[aria-selected=true]').getAttribute('data-id')
    await page.keyboard.press('g')
    assert.equal(await selected(), ids[0])
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    assert.equal(await selected(), ids[2])
    await page.keyboard.press('k')
    assert.equal(await selected(), ids[1])
    await page.keyboard.press('Enter')
    await page.locator('[data-testid=detail]').waitFor()
    await page.keyboard.press('4')
    await page.locator('[data-view=Conversation]').waitFor()
    await page.keyboard.press('l')
    await page.locator('[data-view=Calls]').waitFor()
    await page.keyboard.press('j')
    await page.locator('[data-testid=detail][data-ready=true] h2', { hasText: `#${ids[2]}` }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator('[data-testid=detail]').count(), 0)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.getByRole('dialog').count(), 0)
  })

  test('dark and light: by the system, and by choice', async () => {
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const light = await background()
    await page.emulateMedia({ colorScheme: 'dark' })
    const dark = await background()
    assert.notEqual(dark, light)
    await page.keyboard.press('t')
    assert.equal(await background(), light)
    await page.keyboard.press('t')
    assert.equal(await background(), dark)
    await page.keyboard.press('t')
    await page.emulateMedia({ colorScheme: 'light' })
    assert.equal(await background(), light)
  })

  test('a new request appears by itself, while it runs and when it has ended', async () => {
    await backToList()
    let release = (): void => undefined
    const until = new Promise<void>((done) => (release = done))
    upstream.answer({ text: 'Here.', until, usage: { input: 10, output: 2 } })
    const sent = sendMessage(gateway, {
      session: 'live',
      client: 'opencode/1.0',
      messages: [{ role: 'user', content: 'Now.' }],
    })
    await page.locator('.rows .row.running').waitFor()
    release()
    await sent
    await page.waitForFunction(() => document.querySelectorAll('.rows .row.running').length === 0)
    assert.match(await page.locator('.rows .row').first().innerText(), /opencode/)
  })

  test('the export is a recording that dragoman replay takes, without secrets', async () => {
    await backToList()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export').click()])
    const file = join(place, 'recording.json')
    await download.saveAs(file)
    const text = readFileSync(file, 'utf8')
    for (const secret of [gateway.token, 'upstream-key-1234567890']) assert.ok(!text.includes(secret))
    const { env, work } = await stage([])
    const replayed = await dragoman(['replay', file, '--json'], { env, work })
    const report = JSON.parse(replayed.out || '{}') as { requests: number; answers: number; differences: unknown[] }
    assert.deepEqual(report.differences, [], replayed.out + replayed.err)
    assert.ok(report.requests >= 10 && report.answers >= 9, replayed.out)
    assert.equal(replayed.code, 0)
  })

  test('nothing overflows, at any width, and nothing complains', async () => {
    for (const width of [1920, 1440, 1024, 390, 320]) {
      const { page: other, complaints: more } = await openPage(browser, url(), { width })
      await other.locator('.rows .row').first().waitFor()
      const overflow = () =>
        other.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      assert.equal(await overflow(), 0, `list at ${width}`)
      await other.locator('.rows .row').nth(2).click()
      await other.locator('[data-testid=detail][data-ready=true]').waitFor()
      for (const key of '123456') {
        await other.keyboard.press(key)
        assert.equal(await overflow(), 0, `view ${key} at ${width}`)
      }
      assert.deepEqual(more, [])
      await other.context().close()
    }
    assert.deepEqual(complaints, [])
  })

  test('without the token the page asks for it, and shows nothing', async () => {
    const { page: other } = await openPage(browser, `${gateway.url}/inspector/`)
    await other.getByText('The token is needed').waitFor()
    assert.equal(await other.locator('.row').count(), 0)
    await other.getByLabel('Token').fill('wrong')
    await other.keyboard.press('Enter')
    await other.getByText('The token is not that of this gateway.').waitFor()
    await other.getByLabel('Token').fill(gateway.token)
    await other.keyboard.press('Enter')
    await other.locator('.rows .row').first().waitFor()
    await other.context().close()
  })

  test('an empty gateway says what to do', async () => {
    const empty = await gatewayBefore(upstream)
    const { page: other } = await openPage(browser, `${empty.url}/inspector/#${empty.token}`)
    await other.getByText('No requests yet').waitFor()
    await other.context().close()
    await empty.close()
  })
})
