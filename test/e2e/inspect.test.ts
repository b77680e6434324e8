import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { launchChromium, openPage, skipWithoutChromium } from '../support/browser.ts'
import { dragoman, stage } from '../support/command.ts'

type Stage = Awaited<ReturnType<typeof stage>>

interface Served {
  readonly url: string
  readonly token: string
  readonly inspector: string
}

/** Runs `dragoman inspect --json`, uses what its first line says, and stops it. */
async function inspect(place: Stage, args: readonly string[], use: (served: Served) => Promise<void>): Promise<void> {
  let used: Promise<void> | undefined
  const ended = await dragoman(['inspect', ...args, '--json'], place, {
    open: true,
    started(child: ChildProcess) {
      let out = ''
      child.stdout?.on('data', (piece: Buffer) => {
        out += piece.toString()
        if (!out.includes('\n') || used) return
        used = use(JSON.parse(out.split('\n')[0] ?? '') as Served).finally(() => child.kill('SIGTERM'))
        used.catch(() => undefined)
      })
    },
  })
  await used
  assert.equal(ended.code, 0, ended.err)
  assert.ok(used, ended.err)
}

async function playSession(): Promise<Stage> {
  const place = await stage([
    { say: 'I read it.', call: [{ name: 'read_file', args: { path: '{cwd}/notes.txt' } }] },
    { say: 'It is about whales.' },
    { say: 'Nothing else.' },
  ])
  writeFileSync(join(place.work, 'notes.txt'), 'Whales sing.\n'.repeat(100))
  const first = await dragoman(['-p', 'What is in notes.txt?'], place)
  assert.equal(first.code, 0, first.err)
  const second = await dragoman(['-p', 'What else?', '--resume'], place)
  assert.equal(second.code, 0, second.err)
  return place
}

describe('dragoman inspect', () => {
  test('serves the requests of the sessions of this folder, for its token only', async () => {
    const place = await playSession()
    await inspect(place, [], async ({ url, token, inspector }) => {
      assert.equal(inspector, `${url}/inspector/#${token}`)
      assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
      assert.equal((await fetch(`${url}/inspector/api/exchanges`)).status, 401)
      assert.equal((await fetch(url)).url, `${url}/inspector/`)
      const headers = { 'x-dragoman-token': token }
      const list = (await (await fetch(`${url}/inspector/api/exchanges`, { headers })).json()) as {
        kind: string
        exchanges: { id: number; client: string; title: string; model: string; totalMs: number }[]
      }
      assert.equal(list.kind, 'session')
      assert.equal(list.exchanges.length, 3)
      for (const { client, title, model, totalMs } of list.exchanges) {
        assert.deepEqual([client, title, model], ['dragoman', 'What is in notes.txt?', 'openai-chat/script'])
        assert.ok(totalMs >= 0)
      }
      const { recording } = (await (await fetch(`${url}/inspector/api/export?ids=1,2,3`, { headers })).json()) as {
        recording: string
      }
      writeFileSync(join(place.work, 'recording.json'), recording)
    })
    const replayed = await dragoman(['replay', 'recording.json'], place)
    assert.equal(replayed.code, 0, replayed.err)
    assert.match(replayed.out, /No differences/)
    const continued = await dragoman(
      ['replay', 'recording.json', '--until', '2', '--model', 'openai-chat/script', '-p', 'And?'],
      place,
    )
    assert.equal(continued.code, 0, continued.err)
  })

  test('shows a session in a browser, and what is added to it', { skip: skipWithoutChromium() }, async () => {
    const place = await playSession()
    const browser = await launchChromium()
    try {
      await inspect(place, ['latest'], async ({ inspector }) => {
        const { page, complaints } = await openPage(browser, inspector)
        await page.locator('.rows .row').nth(2).waitFor()
        await page.locator('.rows .row[data-id="2"]').click()
        await page.locator('[data-testid=detail][data-ready=true]').waitFor()
        await page.keyboard.press('2')
        assert.ok(await page.locator('.part[data-kind=file]', { hasText: 'notes.txt' }).count())
        assert.ok(await page.locator('.part[data-kind=system]').count())
        await page.keyboard.press('3')
        assert.match(await page.getByTestId('divergence').innerText(), /extends the previous one/)
        await page.keyboard.press('4')
        assert.match(
          await page.locator('.conversation').innerText(),
          /What is in notes\.txt\?[^]*Whales sing\.[^]*It is about whales\./,
        )
        await page.keyboard.press('6')
        assert.match(await page.locator('[data-view=Raw]').innerText(), /The bytes were not kept[^]*--record/)
        await page.keyboard.press('Escape')
        await page.locator('.rows .row[data-id="1"]').click()
        await page.locator('[data-testid=detail][data-ready=true]').waitFor()
        await page.keyboard.press('5')
        assert.match(
          await page.getByTestId('call').innerText(),
          /read_file[^]*ok[^]*\d ms[^]*notes\.txt[^]*Whales sing/,
        )
        await page.keyboard.press('Escape')
        const more = await dragoman(['-p', 'And then?', '--resume'], place)
        assert.equal(more.code, 0, more.err)
        await page.waitForFunction(() => document.querySelectorAll('.rows .row').length === 4)
        const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export').click()])
        assert.match(readFileSync(await download.path(), 'utf8'), /Whales sing/)
        assert.deepEqual(complaints, [])
        await page.context().close()
      })
    } finally {
      await browser.close()
    }
  })

  test('wrong arguments get one sentence', async () => {
    const place = await stage([])
    for (const [args, message] of [
      [['nothing-like-it'], /no session nothing-like-it/],
      [['latest'], /no sessions yet/],
      [['--port', 'x'], /--port must be a number/],
      [['--port', ''], /--port must be a number/],
      [['a', 'b'], /b/],
    ] as const) {
      const { code, err } = await dragoman(['inspect', ...args], place)
      assert.notEqual(code, 0)
      assert.match(err, message)
    }
  })
})
