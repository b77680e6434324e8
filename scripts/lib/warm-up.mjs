// Runs the new build against a scripted model on this machine: first to find the functions that every start calls (eager.mjs),
// then to make the compiled code, so that it is there before the first start (docs/decisions/0008). Nothing depends on it: if it
// fails, the first start takes longer.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inRoot } from './files.mjs'

const MODELS = ['anthropic/x', 'gemini/x', 'openai/x', 'openai-chat/x']
const ANSWER = 'Done.'
const LIMIT_MS = 20_000

/** Makes the compiled code. */
export async function warmUp() {
  const runs = process.platform === 'linux' ? [runHeadless, runInteractive] : [runHeadless]
  await withModel((options) => Promise.all(runs.map((start) => start(options))))
}

/** The functions that a start calls until its first request, by file: their places in the text that V8 compiles. */
export async function findStartFunctions() {
  const functions = new Map()
  await withModel(async ({ cwd, env }) => {
    const recorder = `--require ${JSON.stringify(inRoot('scripts/lib/record-start-functions.cjs'))}`
    const launcher = [process.execPath, inRoot('bin/dragoman'), '-p', 'go', '-m']
    const starts = [
      ...MODELS.map((model) => (options) => run([...launcher, model], options)),
      ...(process.platform === 'linux' ? [runInteractive] : []),
    ]
    const record = async (start, number) => {
      const report = join(cwd, `${number}.start-functions`)
      await start({ cwd, env: { ...env, NODE_OPTIONS: recorder, DRAGOMAN_START_FUNCTIONS: report } })
      return existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
    }
    const reports = await Promise.all(starts.map(record))
    for (const [number, start] of starts.entries()) {
      // A busy machine may need longer for all of them at once.
      const report = reports[number] ?? (await record(start, number))
      // Not every system has a program that opens a terminal.
      if (!report && start !== runInteractive)
        console.error('dragoman: the functions of a start were not recorded, so the first start takes longer')
      for (const [file, ranges] of report ?? []) {
        const known = functions.get(file) ?? new Map()
        for (const [from, to] of ranges) known.set(from, to)
        functions.set(file, known)
      }
    }
  })
  return functions
}

/** Calls `start` with the folder and the variables for runs with a scripted model. */
async function withModel(start) {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-warm-up-'))
  try {
    const { scriptedServer } = await import(inRoot('dist/testing.js'))
    const server = await scriptedServer({
      steps: [{ say: 'A look.', call: calls(folder) }],
      end: { say: ANSWER },
    })
    await start({ cwd: folder, env: environment(folder, server.url) })
    await server.close()
  } catch {
    // See above.
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** All wires, in one process. */
function runHeadless(options) {
  const lines = MODELS.map((model) => `-p go --yolo -m ${model}`)
  return run([process.execPath, inRoot('scripts/lib/warm-up-run.cjs'), ...lines], options)
}

/** Where there is a program that opens a terminal. */
async function runInteractive(options) {
  const command = `'${process.execPath}' '${inRoot('bin/dragoman')}' look around --yolo -m ${MODELS[0]}`
  await run(['script', '-qec', `stty cols 100 rows 30; ${command}`, '/dev/null'], options, '/quit\r')
}

/** What nearly every session does. */
function calls(folder) {
  const file = join(folder, 'notes.txt')
  writeFileSync(file, 'A line.\n')
  return [
    { name: 'read_file', args: { absolute_path: file } },
    {
      name: 'smart_edit',
      args: { file_path: file, old_string: 'A line', new_string: 'A line more', instruction: 'Change it.' },
    },
    { name: 'run_shell_command', args: { command: 'ls' } },
  ]
}

/** Nothing of the user's: no keys, settings or sessions. */
function environment(folder, url) {
  const paths = { ANTHROPIC: '', GEMINI: '', OPENAI: '/v1', OPENAI_CHAT: '/v1' }
  const names = Object.entries(paths).flatMap(([name, path]) => [
    [`DRAGOMAN_${name}_BASE_URL`, `${url}${path}`],
    [`${name}_API_KEY`, 'k'],
  ])
  const { PATH, SystemRoot } = process.env
  return {
    PATH,
    SystemRoot,
    HOME: folder,
    USERPROFILE: folder,
    LOCALAPPDATA: folder,
    TERM: 'xterm-256color',
    ...Object.fromEntries(names),
  }
}

/** Waits for the end. `last` is typed when the answer is on the screen. */
function run([program, ...args], options, last) {
  return new Promise((done) => {
    const child = spawn(program, args, {
      ...options,
      stdio: [last ? 'pipe' : 'ignore', 'pipe', 'ignore'],
      timeout: LIMIT_MS,
    })
    let shown = ''
    child.stdout.setEncoding('utf8').on('data', (text) => {
      shown += text
      if (shown.includes(ANSWER)) child.stdin?.end(last)
    })
    child.stdin?.on('error', () => undefined)
    child.on('error', done)
    child.on('close', done)
  })
}
