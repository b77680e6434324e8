import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runSessionsCommand } from '../../src/cli/command/sessions/sessions.ts'
import { getSessionsFolder } from '../../src/cli/paths/folders.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { createUndoPlan } from '../../src/session/undo-plan.ts'
import { getProcessorTime, type GrowthCase } from '../support/growth.ts'
import { median } from '../support/measure.ts'
import type { BenchmarkRow } from '../support/report.ts'
import { appendConversation } from './history.ts'

/** One response with its call and result is about 1.35 kB of a log. */
const RESPONSES = [800, 3200, 12_800] as const

/** Opening sessions, and listing them. */
export function listStoreCases(): GrowthCase[] {
  const base = mkdtempSync(join(tmpdir(), 'dragoman-growth-'))
  process.on('exit', () => rmSync(base, { recursive: true, force: true }))
  process.env['XDG_DATA_HOME'] = base
  return [
    {
      label: 'opening and resuming a session of so many responses, up to 17 MB',
      sizes: RESPONSES,
      async prepare(count) {
        const store = jsonlStore(base)
        await writeSession(base, `log-${count}`, count)
        return async () => resumeSession(await store.open(`log-${count}`)).close()
      },
    },
    {
      label: 'sessions list',
      sizes: [300, 1200, 4800],
      async prepare(count) {
        const workspace = join(base, `workspace-${count}`)
        mkdirSync(workspace)
        const folder = getSessionsFolder(workspace)
        await writeSession(folder, 'session-0', 20)
        for (let at = 1; at < count; at++) copySession(folder, 'session-0', `session-${at}`)
        return () => captureOutput(() => runSessionsCommand(['list', '--cwd', workspace]))
      },
    },
    {
      label: 'an undo plan in a session of so many changes, of which ten were undone',
      sizes: [1000, 4000, 16_000],
      rounds: 15,
      maxRatio: 2,
      async prepare(count) {
        const log = await jsonlStore(base).create({ id: `undo-${count}`, folder: '/' })
        for (let at = 0; at < count; at++) {
          const { seq } = log.append({ kind: 'change', path: `/file-${at}`, after: 'x' })
          if (at % (count / 10) === 0) log.append({ kind: 'undo', back: seq, since: seq })
        }
        await log.close()
        const { entries } = await jsonlStore(base).read(`undo-${count}`)
        return () => createUndoPlan(entries, 0)
      },
    },
  ]
}

/** The longest processor time between two turns of the event loop while the largest session is opened. */
export async function measureOpeningBlock(): Promise<BenchmarkRow> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-growth-'))
  await writeSession(folder, 'big', RESPONSES[2])
  const blocks: number[] = []
  for (let round = 0; round < 7; round++) {
    const watch = watchEventLoop()
    await resumeSession(await jsonlStore(folder).open('big')).close()
    blocks.push(await watch.stop())
  }
  rmSync(folder, { recursive: true, force: true })
  return {
    label: `longest block of the event loop while the largest of these sessions is opened, against ${MAX_BLOCK_MS} ms`,
    figures: `${median(blocks).toFixed(0)} ms`,
    ratio: median(blocks) / MAX_BLOCK_MS,
    maxRatio: 1,
  }
}

function watchEventLoop(): { stop(): Promise<number> } {
  let [longest, last] = [0, getProcessorTime()]
  const look = (): void => {
    const now = getProcessorTime()
    longest = Math.max(longest, now - last)
    last = now
    timer = setImmediate(look)
  }
  let timer = setImmediate(look)
  return {
    async stop() {
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      clearImmediate(timer)
      return longest
    },
  }
}

const MAX_BLOCK_MS = 50

async function writeSession(folder: string, id: string, responses: number): Promise<void> {
  const log = await jsonlStore(folder).create({ id, folder: '/' })
  appendConversation(log, responses)
  log.append({ kind: 'close', prompt: `${id}#1`, reason: 'done' })
  await log.close()
}

function copySession(folder: string, from: string, to: string): void {
  copyFileSync(join(folder, `${from}.jsonl`), join(folder, `${to}.jsonl`))
}

/** The text that a command prints. */
async function captureOutput(work: () => Promise<void>): Promise<string> {
  const write = process.stdout.write.bind(process.stdout)
  let text = ''
  process.stdout.write = (data) => {
    text += String(data)
    return true
  }
  try {
    await work()
  } finally {
    process.stdout.write = write
  }
  return text
}
