import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { INITIAL_SUM, encodeLogLine } from '../../src/session/log/log-line.ts'
import { createSessionNotices } from '../../src/session/session-notices.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { Plays } from '../support/faults.ts'
import { freshFolder, logWith } from '../support/log-case.ts'

/** Logs that were damaged on the disk. */
export const logPlays: Plays = {
  'fa-083': async () => {
    const log = await logWith(5)
    truncateSync(log.file, readFileSync(log.file).length - 25)
    const { told, texts } = await log.reopen()
    assert.match(told, /1 incomplete, skipped/)
    assert.deepEqual(texts, ['0', '1', '2', '3', 'more'])
  },
  'fa-084': async () => {
    const log = await logWith(9)
    const lines = log.lines()
    log.write(lines.with(4, '\0'.repeat(lines[4]?.length ?? 0)).with(5, '\0'.repeat(lines[5]?.length ?? 0)))
    const { told, texts } = await log.reopen()
    assert.match(told, /2 unreadable, skipped/)
    assert.deepEqual(texts, ['0', '1', '2', '5', '6', '7', '8', 'more'])
  },
  'fa-085': async () => {
    const log = await logWith(4)
    const [open = '', one = '', two = '', ...rest] = log.lines()
    log.write([open, one + two, ...rest])
    assert.deepEqual((await log.reopen()).texts, ['0', '1', '2', '3', 'more'])
  },
  'fa-086': async () => {
    const log = await logWith(4)
    const [open = '', one = '', two = '', ...rest] = log.lines()
    log.write([open, two, one, ...rest])
    const { told, texts } = await log.reopen()
    assert.match(told, /out of order, sorted/)
    assert.deepEqual(texts, ['0', '1', '2', '3', 'more'])
  },
  'fa-087': async () => {
    const log = await logWith(1)
    writeFileSync(log.file, '')
    const { told, texts } = await log.reopen()
    assert.match(told, /is empty/)
    assert.deepEqual(texts, ['more'])
  },
  'fa-088': async () => {
    const log = await logWith(1)
    const newer = { seq: 1, at: 1, kind: 'open', version: 99, session: 'log', folder: '/' } as const
    writeFileSync(log.file, encodeLogLine(newer, INITIAL_SUM).line)
    const before = readFileSync(log.file)
    await assert.rejects(() => log.store.open('log'), /newer version/)
    assert.ok(readFileSync(log.file).equals(before))
  },
  'fa-089': async () => {
    const log = await logWith(6)
    const [open = '', one = '', two = '', ...rest] = log.lines()
    const handle = openSync(log.file, 'w')
    writeSync(handle, `${[open, one, two].join('\n')}\n`)
    const start = 200 * 2 ** 20
    ftruncateSync(handle, start)
    writeSync(handle, `\n${rest.join('\n')}`, start)
    closeSync(handle)
    const { peak, told, entries } = openedElsewhere(log.folder)
    assert.match(told, /1 too large, skipped/)
    assert.equal(entries, 7)
    assert.ok(peak < 500, `${peak} MB`)
  },
  'fa-090': async (fault) => {
    const folder = freshFolder()
    const log = await jsonlStore(folder).create({ id: 'log', folder: '/' })
    const turns = Number(fault.inject['turns'])
    const origin = { provider: 'p', wire: 'openai-chat', model: 'm' } as const
    for (let at = 0; at < turns; at++) {
      const call = { kind: 'call', id: `c${at}`, name: 'read_file', raw: '{}', input: {} } as const
      const turn = { role: 'assistant', origin, parts: [call], finish: { reason: 'calls' } } as const
      log.append({ kind: 'turn', turn, prompt: 'log#1', ms: 1 })
      const content = [{ kind: 'text', text: `line ${at} `.repeat(40) }] as const
      log.append({
        kind: 'result',
        result: { kind: 'result', id: call.id, name: call.name, status: 'ok', content },
        ms: 1,
      })
    }
    await log.close()
    const { peak, told, entries } = openedElsewhere(folder)
    assert.equal(told, '')
    assert.equal(entries, 1 + 2 * turns)
    assert.ok(peak < 250, `${peak} MB`)
  },
  'fa-091': async () => {
    const log = await logWith(0)
    const at = (session: string, parent: string): void => {
      const open = {
        seq: 5,
        at: 1,
        kind: 'open',
        version: 1,
        session,
        folder: '/',
        parent: { session: parent, seq: 4 },
      }
      const first = encodeLogLine(open as never, INITIAL_SUM)
      writeFileSync(
        join(log.folder, `${session}.jsonl`),
        Buffer.concat([first.line, encodeLogLine(note(6), first.sum).line]),
      )
    }
    at('one', 'two')
    at('two', 'one')
    at('alone', 'gone')
    const opened = await log.store.open('one')
    assert.match(createSessionNotices(opened).join(' '), /fork of itself/)
    assert.deepEqual(
      opened.entries.map(({ kind }) => kind),
      ['open', 'note'],
    )
    await opened.close()
    const orphan = await log.store.open('alone')
    assert.match(createSessionNotices(orphan).join(' '), /parent session missing/)
    await orphan.close()
    assert.equal((await log.store.list()).length, 4)
  },
  'fa-092': async () => {
    const log = await logWith(3)
    for (const name of ['index.json', 'log.index', 'log.lock']) writeFileSync(join(log.folder, name), '{"entries":0}')
    assert.deepEqual(await log.reopen(), { told: '', texts: ['0', '1', '2', 'more'], damages: [] })
    assert.deepEqual(
      (await log.store.list()).map(({ id }) => id),
      ['log'],
    )
  },
}

const note = (seq: number) => ({ seq, at: 1, kind: 'note', text: 'kept' }) as const

interface Opened {
  /** The most memory that it took, in MB. */
  readonly peak: number
  readonly told: string
  readonly entries: number
}

/** Opens the log in a process of its own, so that its memory can be told from ours. */
function openedElsewhere(folder: string): Opened {
  const { stdout, stderr } = spawnSync(process.execPath, [process.argv[1] ?? '', OPEN, folder], {
    encoding: 'utf8',
    env: {},
  })
  assert.equal(stderr, '')
  // The test runner has its say, too.
  return JSON.parse(stdout.split('\n').find((line) => line.startsWith('{')) ?? '') as Opened
}

/** The word with which this test is its own child. */
export const OPEN = '--open-log'

/** What that child does. */
export async function openLog(folder: string): Promise<void> {
  const log = await jsonlStore(folder).open('log')
  const told = createSessionNotices(log).join(' ')
  const { entries } = resumeSession(log)
  await log.close()
  const peak = Math.round(process.resourceUsage().maxRSS / 1024)
  process.stdout.write(`${JSON.stringify({ peak, told, entries: entries.length })}\n`)
}
