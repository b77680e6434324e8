import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../test/support/paths.ts'
import { startChatServer } from './support/ai-sdk/chat-server.ts'
import { median } from './support/measure.ts'
import { reportTable } from './support/report.ts'

const run = promisify(execFile)
const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 5)
const [SESSIONS, PROMPTS] = [200, 5]
/** Installed for this run only. */
const PACKAGES = { ai: '7.0.169', '@ai-sdk/openai': '4.0.114', zod: '4.6.7' }

/** What one process cost: seconds, megabytes, and the 99th percentile of the delay of its event loop in milliseconds. */
interface Cost {
  readonly answers: number
  readonly seconds: number
  readonly cpu: number
  readonly memory: number
  readonly lag: number
}

const FIGURES = [
  { key: 'cpu', label: 'processor time', unit: 's', digits: 1, maxRatio: 0.5 },
  { key: 'memory', label: 'highest memory', unit: 'MB', digits: 0, maxRatio: 0.5 },
  { key: 'lag', label: 'delay of the event loop, 99th percentile', unit: 'ms', digits: 0, maxRatio: 1 },
] as const

const folder = mkdtempSync(join(tmpdir(), 'dragoman-compare-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

if (await install()) await compare()
else process.stdout.write('Skipped: the AI SDK could not be installed, because the npm registry was not reached.\n')

async function install(): Promise<boolean> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies: PACKAGES }))
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error']
  return run('npm', ['install', ...flags], { cwd: folder }).then(
    () => true,
    () => false,
  )
}

/** The contenders take turns, so that a busy moment of the machine hits both. */
async function compare(): Promise<void> {
  const programs = join(root, 'bench/support/ai-sdk')
  cpSync(programs, folder, { recursive: true })
  const costs: [ours: Cost, theirs: Cost][] = []
  for (let round = 0; round < ROUNDS; round++)
    costs.push([await runProgram(join(programs, 'dragoman.mjs')), await runProgram(join(folder, 'ai-sdk.mjs'))])
  const rows = FIGURES.map(({ key, label, unit, digits, maxRatio }) => {
    const [ours, theirs] = [0, 1].map((at) => median(costs.map((pair) => pair[at]?.[key] ?? Number.NaN)))
    const figures = `${ours?.toFixed(digits)} ${unit} against ${theirs?.toFixed(digits)} ${unit}`
    return { label, figures, ratio: median(costs.map((pair) => pair[0][key] / pair[1][key])), maxRatio }
  })
  const about = `${SESSIONS} sessions at once in one process, with ${PROMPTS} prompts each; each prompt takes a tool call and a streamed answer, over real HTTP. Compared with \`ai\` ${PACKAGES.ai} and \`@ai-sdk/openai\` ${PACKAGES['@ai-sdk/openai']}; medians of ${ROUNDS} rounds. Node ${process.version}.`
  reportTable('ai-sdk', about, rows)
}

async function runProgram(program: string): Promise<Cost> {
  const server = await startChatServer()
  const { stdout } = await run(process.execPath, [program, server.url, String(SESSIONS), String(PROMPTS)])
  server.close()
  const cost = JSON.parse(stdout) as Cost
  if (cost.answers !== SESSIONS * PROMPTS) throw new Error(`${program} got ${cost.answers} right answers`)
  process.stderr.write(`${program}: ${stdout}`)
  return cost
}
