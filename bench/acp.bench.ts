import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../test/support/paths.ts'
import { median } from './support/measure.ts'
import { reportTable } from './support/report.ts'

const ROUNDS = Number(process.env['DRAGOMAN_ROUNDS'] ?? 21)
const MAX_RATIO = 1.3

const home = mkdtempSync(join(tmpdir(), 'dragoman-bench-'))
const request = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  },
}

/** Milliseconds from the start of a program to its answer to `initialize`. */
function measureStart(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const env = { PATH: process.env['PATH'], HOME: home }
    const child = spawn(process.execPath, args, { env, cwd: home, stdio: ['pipe', 'pipe', 'inherit'] })
    let elapsed: number | undefined
    child.on('error', reject)
    child.stdout.once('data', () => {
      elapsed = performance.now() - began
      child.stdin.end()
    })
    child.once('close', () => (elapsed === undefined ? reject(new Error('no answer')) : resolve(elapsed)))
    child.stdin.write(`${JSON.stringify(request)}\n`)
  })
}

const OURS = [join(root, 'bin/dragoman'), 'acp']
const BARE = [join(root, 'bench/support/bare-acp-agent.mjs')]
const times: { ours: number; bare: number }[] = []
// Both in turn, so that a busy moment of the machine hits both; the first rounds fill the caches.
for (let round = 0; round < ROUNDS + 2; round++) {
  const bare = await measureStart(BARE)
  const ours = await measureStart(OURS)
  if (round >= 2) times.push({ ours, bare })
}
rmSync(home, { recursive: true, force: true })

const [ours, bare] = [median(times.map((one) => one.ours)), median(times.map((one) => one.bare))]
reportTable('acp', `Start of the program until \`initialize\` is answered; the median of ${ROUNDS} starts of each.`, [
  {
    label: '`dragoman acp` against a bare agent of the SDK',
    figures: `${ours.toFixed(0)} ms against ${bare.toFixed(0)} ms`,
    ratio: ours / bare,
    maxRatio: MAX_RATIO,
  },
])
