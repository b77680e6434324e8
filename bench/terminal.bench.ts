import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRehearsalServer } from '../src/rehearsal/server.ts'
import { root } from '../test/support/paths.ts'
import { median } from './support/measure.ts'
import { type BenchmarkRow, reportTable } from './support/report.ts'
import { GROWING_TEXTS, measureGrowth } from './support/terminal-growth.ts'

const CHUNKS = 20_000
const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 5)
/** For the delay of keys while all chunks arrive at once: a response is over after some dozen keys. */
const KEY_ROUNDS = ROUNDS * 5
const MAX_KEY_MS = 8
/** The keys are typed into one line, which is then cleared. */
const KEYS_IN_LINE = 50
const CLEAR_INPUT = '\u0015'
/** A key that the stream does not hold, so that whoever sees it knows where it is from. */
const KEY = 'Z'
const END_TEXT = 'That was all.'
/** What the empty input line shows. */
const READY_TEXT = 'Type a request'
const SAMPLE_TEXT = 'some words of *prose* and `code`, then more of them.\n\n'

if (process.send) await serveStreams(process.send.bind(process))

const folder = mkdtempSync(join(tmpdir(), 'dragoman-terminal-'))
// In a process of its own: whoever serves a stream at full speed cannot tell when a key has come back.
const server = fork(fileURLToPath(import.meta.url))
/** All at once, and a thousand chunks a second, which is many times as fast as models are. */
const [[FLOOD, RIVER]] = (await once(server, 'message')) as [[string, string]]

/** Serves the stream until nobody needs it any more. */
async function serveStreams(tell: (urls: [string, string]) => void): Promise<never> {
  const say = `${SAMPLE_TEXT.repeat(Math.ceil((CHUNKS * 5) / SAMPLE_TEXT.length)).slice(0, CHUNKS * 5)}\n\n${END_TEXT}`
  const steps = [{ say, pieces: CHUNKS }]
  const scripts = { stream: { steps } }
  const flood = await startRehearsalServer({ scripts, paceMs: 0, isLightweight: true })
  const river = await startRehearsalServer({ scripts, paceMs: 1, isLightweight: true })
  tell([flood.url, river.url])
  await once(process, 'disconnect')
  process.exit()
}

const COMMAND = join(root, 'bin/dragoman')
const BARE_PROGRAM = join(root, 'bench/support/bare-terminal.mjs')

/** Runs the command, or the bare program, in a terminal of its own, types while the answer comes in, and leaves. */
async function measureTerminal(url: string, pauseMs = 10, isBare = false): Promise<{ delays: number[]; cpu: number }> {
  const delays: number[] = []
  const program = isBare ? [BARE_PROGRAM, url, READY_TEXT, END_TEXT] : [COMMAND, '-m', 'openai-chat/stream']
  const { cpu } = await runCommand(url, program, (write, hear) => {
    let sent = 0
    let isDone = false
    const type = () => {
      if (isDone) return
      sent = performance.now()
      write(KEY)
    }
    let tail = ''
    hear((text) => {
      // A terminal hands on what it gets in pieces of its own.
      tail = (tail + text).slice(-4000)
      if (sent === 0 && tail.includes(READY_TEXT)) {
        sent = -1
        write('go\r')
        setTimeout(type, 300)
        return
      }
      if (sent > 0 && text.includes(KEY)) {
        delays.push(performance.now() - sent)
        sent = -1
        // A key that only moves rows of the same characters would not be seen.
        if (delays.length % KEYS_IN_LINE === 0) write(CLEAR_INPUT)
        setTimeout(type, pauseMs)
      }
      if (tail.includes(END_TEXT) && !isDone) {
        isDone = true
        setTimeout(() => write('\u0003'), 200)
        setTimeout(() => write('\u0004'), 400)
      }
    })
  })
  return { delays, cpu }
}

type TerminalScript = (write: (keys: string) => void, hear: (listener: (text: string) => void) => void) => void

/** Runs the command under `script`, which gives it a terminal; the shell tells what processor time it took. */
function runCommand(url: string, program: readonly string[], play?: TerminalScript): Promise<{ cpu: number }> {
  const home = mkdtempSync(join(folder, 'home-'))
  const times = join(home, 'times')
  const command = [process.execPath, ...program].map((one) => `'${one}'`).join(' ')
  const timed = `TIMEFORMAT='%U %S'; { time ${command} 2>&3; } 3>&2 2>'${times}'`
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    OPENAI_API_KEY: 'k',
    DRAGOMAN_OPENAI_CHAT_BASE_URL: `${url}/v1`,
  }
  const child = play
    ? spawn('script', ['-qefc', `stty cols 100 rows 40; bash -c "${timed.replaceAll('"', '\\"')}"`, '/dev/null'], {
        cwd: folder,
        env,
      })
    : spawn('bash', ['-c', timed], { cwd: folder, env })
  child.stderr.resume()
  if (!play) child.stdin.end()
  const listeners: ((text: string) => void)[] = []
  child.stdout.on('data', (bytes: Buffer) => {
    for (const listener of listeners) listener(bytes.toString('utf8'))
  })
  play?.(
    (keys) => void child.stdin.write(keys),
    (listener) => void listeners.push(listener),
  )
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== 0) return reject(new Error(`${program.join(' ')} ended with ${code}`))
      const [user = 0, system = 0] = readFileSync(times, 'utf8').trim().split(/\s+/).map(Number)
      resolve({ cpu: (user + system) * 1000 })
    })
  })
}

/** So long take 99 of 100 at most. */
function percentile99(delays: readonly number[]): number {
  return delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.99)] ?? Number.NaN
}

interface KeyDelays {
  readonly own: number[]
  readonly bare: number[]
}

/** Where a program that does nothing else takes longer than the limit, the machine is busy, and that is the limit. */
function createDelayRow(label: string, { own, bare }: KeyDelays): BenchmarkRow {
  const describe = (delays: readonly number[]) =>
    `${percentile99(delays).toFixed(1)} ms (median ${median(delays).toFixed(1)} ms, ${delays.length} keys)`
  return {
    label: `delay from key to screen (p99), ${label}, against ${MAX_KEY_MS} ms, or a bare program’s if that is more`,
    figures: `${describe(own)}; bare program: ${describe(bare)}`,
    ratio: percentile99(own) / Math.max(percentile99(bare), MAX_KEY_MS),
    maxRatio: 1,
  }
}

/** Alternating, because the speed of a machine changes. */
async function measureKeys(url: string, rounds: number, pauseMs?: number): Promise<KeyDelays> {
  const delays: KeyDelays = { own: [], bare: [] }
  for (let round = 0; round < rounds; round++) {
    delays.own.push(...(await measureTerminal(url, pauseMs)).delays)
    delays.bare.push(...(await measureTerminal(url, pauseMs, true)).delays)
  }
  return delays
}

/** What a character costs in a text that is sixteen times as long. */
function createGrowthRow([label, createText]: [string, (scale: number) => string]): BenchmarkRow {
  measureGrowth(createText, [1])
  const times = measureGrowth(createText, [1, 4, 16])
  const [shortest = 0, , longest = 0] = times
  return {
    label: `${label}, ×1, ×4 and ×16 as long, for each character`,
    figures: times.map((time) => `${time.toFixed(0)} ms`).join(', '),
    ratio: longest / shortest / 16,
    maxRatio: 1.5,
  }
}

try {
  const ratios: number[] = []
  const costs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const shown = await measureTerminal(FLOOD)
    const bare = await runCommand(FLOOD, [COMMAND, '-p', 'go', '-m', 'openai-chat/stream'])
    ratios.push(shown.cpu / bare.cpu)
    costs.push(shown.cpu, bare.cpu)
  }
  reportTable(
    'terminal',
    `The terminal UI while a response of ${CHUNKS} chunks arrives: the delay from a key to the screen while a thousand chunks per second arrive and while all arrive at once, so that no processor is idle, and its processor time compared with a headless run (medians of ${ROUNDS} alternating rounds); and the processor time for drawing long texts that arrive as a thousand chunks per second. Node ${process.version}.`,
    [
      createDelayRow('1,000 chunks a second', await measureKeys(RIVER, 2)),
      createDelayRow('all chunks at once', await measureKeys(FLOOD, KEY_ROUNDS, 3)),
      {
        label: 'processor time against a headless run',
        figures: `${median(costs.filter((_unused, at) => at % 2 === 0)).toFixed(0)} ms against ${median(costs.filter((_unused, at) => at % 2 === 1)).toFixed(0)} ms`,
        ratio: median(ratios),
        maxRatio: 1.5,
      },
      ...Object.entries(GROWING_TEXTS).map(createGrowthRow),
    ],
  )
} finally {
  server.disconnect()
  rmSync(folder, { recursive: true, force: true })
}
