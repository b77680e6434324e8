import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from '../src/agent/loop/run.ts'
import { createLoopScript } from '../src/rehearsal/builtin-scripts/loop.ts'
import { startRehearsalServer } from '../src/rehearsal/server.ts'
import { resumeSession } from '../src/session/session.ts'
import { jsonlStore } from '../src/session/store/jsonl-store.ts'
import { tool } from '../src/tool/custom-tool.ts'
import { agentOf, modelOn } from '../test/support/stage.ts'
import { createIncrementalBodyWriter } from '../src/wire/history/incremental-body-writer.ts'
import { median } from './support/measure.ts'
import { reportTable } from './support/report.ts'

const TURNS = Number(process.env['DRAGOMAN_TURNS'] ?? 10_000)

/** The model server has a process of its own, so that its work is not counted as ours. */
if (process.argv[2] === '--server') {
  const script = createLoopScript(TURNS, { name: 'count', args: {} })
  const server = await startRehearsalServer({ scripts: { script }, isLightweight: true, paceMs: 0 })
  process.stdout.write(`${server.url}\n`)
} else await measureSession()

async function measureSession(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-long-'))
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--server'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text: Buffer) => resolve(text.toString().trim())),
  )
  const log = await jsonlStore(folder).create({ id: 'long', folder: '/' })
  const gaps: number[] = []
  const whole: number[] = []
  const memory = new Map<number, number>()
  let ended = 0
  let turns = 0
  // All that is done between an answer and the next request, up to the writing of its bytes: the log, the tool, the encoding.
  const writer: typeof createIncrementalBodyWriter = (wire) => {
    const write = createIncrementalBodyWriter(wire)
    return (request, profile) => {
      const body = write(request, profile)
      if (ended > 0) gaps.push(now() - ended)
      return body
    }
  }
  const model = modelOn('openai-chat', { url }, 'script', writer)
  const timed = {
    ...model,
    stream: async function* (...args: Parameters<typeof model.stream>) {
      for await (const event of model.stream(...args)) {
        if (event.type === 'open' && ended > 0) whole.push(now() - ended)
        if (event.type === 'finish') ended = now()
        yield event
      }
    },
  }
  let counted = 0
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: {} },
    effects: () => [],
    execute: () => `counted ${++counted}`,
  })
  const agent = agentOf(timed, [count], { session: resumeSession(log) })
  for await (const event of run(agent, [{ kind: 'text', text: 'count' }])) {
    if (event.type !== 'budget') continue
    turns = event.turns
    if (turns === TURNS / 10 || turns === TURNS) memory.set(turns, usedMemory())
  }
  await log.close()
  child.kill()
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`${turns} turns, ${gaps.length} gaps\n`)

  const around = (all: readonly number[], turn: number) => median(all.slice(turn - 20, turn + 20))
  const [first, last] = [TURNS / 100, TURNS * 0.99]
  const [early, late] = [around(gaps, first), around(gaps, last)]
  const growth = ((memory.get(TURNS) ?? 0) - (memory.get(TURNS / 10) ?? 0)) / 2 ** 20
  reportTable(
    'long-session',
    `One session of ${TURNS} turns with a tool call each, with the durable log, over real HTTP. Node ${process.version}.`,
    [
      {
        label: `from the end of a response to the last byte of the next request, turn ${last} against turn ${first}`,
        figures: `${late.toFixed(2)} ms against ${early.toFixed(2)} ms (to the first byte of the next response: ${around(whole, last).toFixed(1)} ms against ${around(whole, first).toFixed(1)} ms)`,
        ratio: late / early,
        maxRatio: 2,
      },
      {
        label: `memory, turn ${TURNS} against turn ${TURNS / 10} (at most 50 MB more)`,
        figures: `${growth.toFixed(1)} MB more`,
        ratio: growth / 50,
        maxRatio: 1,
      },
    ],
  )
}

function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function usedMemory(): number {
  ;(globalThis as { gc?: () => void }).gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
