import { spawn, spawnSync } from 'node:child_process'
import { closeSync, lstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { localHost } from '../src/host/local-host.ts'
import type { JsonObject } from '../src/model/json.ts'
import { builtinTools } from '../src/tool/builtin/index.ts'
import type { ToolOutput } from '../src/tool/tool.ts'
import { createToolbox } from '../src/tool/toolbox.ts'
import { median } from './support/measure.ts'
import { reportTable, type BenchmarkRow } from './support/report.ts'

const AREAS = 50
const PACKAGES = 50
const FILES_EACH = 20
const FILES = AREAS * PACKAGES * FILES_EACH
const WIDE_FOLDER_FILES = 2500
const ROUNDS = 15
/** How much longer a tool may take than the bare thing. */
const MAX_RATIO = 1.5
/** Megabytes that a task may need beyond what the process has anyway. */
const MAX_EXTRA_MB = 100
const GIGABYTE = 2 ** 30

const [, , part, place] = process.argv
if (part === undefined) await runAll()
else await runLargeTask(part, place ?? '')

async function runAll(): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'dragoman-files-')))
  try {
    const rows = [...(await measureTree(join(base, 'tree'))), ...measureMemory(join(base, 'much'))]
    const about = `A tree of ${FILES} files in ${AREAS * PACKAGES} folders; the tools compared with \`rg\` or a minimal directory walk in the same run, alternating, medians of ${ROUNDS}; processor time where only this process works. The last rows are peak memory, each in its own process, minus that of a process that has only loaded the tools. Node ${process.version}.`
    reportTable('files', about, rows)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

async function measureTree(tree: string): Promise<BenchmarkRow[]> {
  makeTree(tree)
  const wide = `${tree}-wide`
  makeWide(wide)
  const list = createToolRunner(wide)
  const { rgPath } = await import('@vscode/ripgrep')
  const call = createToolRunner(tree)
  const search = (what: string, pattern: string): Promise<BenchmarkRow> =>
    compareTimes(
      `search, ${what}, against \`rg\``,
      wallClock,
      () => call('search_file_content', { pattern }),
      () => searchBaseline(rgPath, pattern, tree),
    )
  return [
    await search('50 lines found', 'needle'),
    await search('1,000 lines found', 'usual'),
    await search('10,000 lines found, each in another file', 'common'),
    await search('nothing found', 'absent'),
    await compareTimes(
      'glob `**/*.md`, 2,500 of the files, newest first, against a directory walk with `stat`',
      processorTime,
      () => call('glob', { pattern: '**/*.md' }),
      () => walkBaseline(tree, /\.md$/),
    ),
    await compareTimes(
      'glob `**/*`, all files, newest first, against a directory walk with `stat`',
      processorTime,
      () => call('glob', { pattern: '**/*' }),
      () => walkBaseline(tree, /./),
    ),
    await compareTimes(
      'list_directory, a folder of 2,500 files, against reading and sorting the folder',
      processorTime,
      () => repeatWork(() => list('list_directory', { path: wide })),
      () => repeatWork(() => listBaseline(wide)),
    ),
  ]
}

/** They take turns, so that a busy moment of the machine hits both. */
async function compareTimes(
  what: string,
  clock: () => number,
  ours: () => Promise<unknown>,
  floor: () => unknown,
): Promise<BenchmarkRow> {
  const times: [number[], number[]] = [[], []]
  for (let round = -3; round < ROUNDS; round++) {
    for (const [at, run] of [ours, floor].entries()) {
      const begun = clock()
      await run()
      if (round >= 0) times[at]?.push(clock() - begun)
    }
  }
  const [mine, bare] = times
  const ratio = median(mine.map((time, at) => time / (bare[at] ?? Number.NaN)))
  return {
    label: what,
    figures: `${median(mine).toFixed(0)} ms against ${median(bare).toFixed(0)} ms`,
    ratio,
    maxRatio: MAX_RATIO,
  }
}

function wallClock(): number {
  return performance.now()
}

/** Of this process; other work on the machine does not count. */
function processorTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function repeatWork(work: () => unknown): Promise<void> {
  for (let round = 0; round < 50; round++) await work()
}

function listBaseline(folder: string): string {
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  return entries.map((entry) => (entry.isDirectory() ? `[DIR] ${entry.name}` : entry.name)).join('\n')
}

function makeTree(tree: string): void {
  for (let at = 0; at < FILES; at++) {
    const folder = Math.floor(at / FILES_EACH)
    const path = join(tree, `area-${folder % AREAS}`, `package-${Math.floor(folder / AREAS)}`)
    if (at % FILES_EACH === 0) mkdirSync(path, { recursive: true })
    const words = [at % 1000 === 0 ? 'needle' : 'thread', at % 50 === 0 ? 'usual' : '', at % 5 === 0 ? 'common' : '']
    const lines = Array.from({ length: 20 }, (_, line) => `export const value${line} = ${at * line} // ${at % 7}`)
    const name = `file-${at % FILES_EACH}.${at % FILES_EACH === 0 ? 'md' : 'ts'}`
    writeFileSync(join(path, name), [...lines, words.join(' '), ''].join('\n'))
  }
  writeFileSync(join(tree, '.gitignore'), 'node_modules/\ndist/\n*.log\n')
}

/** A folder with many files, and nothing in them. */
function makeWide(folder: string): void {
  mkdirSync(folder)
  for (let file = 0; file < WIDE_FOLDER_FILES; file++) writeFileSync(join(folder, `file-${file}.ts`), '')
}

function searchBaseline(program: string, word: string, tree: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(program, ['--no-config', '--line-number', '--ignore-case', '--hidden', word, '.'], {
      cwd: tree,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let bytes = 0
    child.stdout.on('data', (data: Buffer) => (bytes += data.length))
    child.on('close', () => resolve(bytes))
  })
}

/** The paths of the files that fit, the newest first. */
function walkBaseline(top: string, fits: RegExp): string[] {
  const found: { path: string; time: number }[] = []
  const walk = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) walk(path)
      else if (fits.test(entry.name)) found.push({ path, time: lstatSync(path).mtimeMs })
    }
  }
  walk(top)
  return found.sort((a, b) => b.time - a.time).map(({ path }) => path)
}

function createToolRunner(folder: string): (name: string, input: JsonObject) => Promise<ToolOutput> {
  const host = localHost({ folders: [folder], scratch: `${folder}-scratch` })
  const box = createToolbox(builtinTools({ memory: `${folder}-memory` }))
  const seenFiles = { setHash: () => undefined, getHash: () => undefined }
  const context = {
    host,
    folders: [folder],
    signal: new AbortController().signal,
    progress: () => undefined,
    seenFiles,
  }
  return async (name, input) => {
    const found = box.find(name)
    if (!('tool' in found)) throw new Error(`there is no tool ${name}`)
    const output = await found.tool.run(input, context)
    if (output.error) throw new Error(output.error.message)
    return output
  }
}

/** The child's part: does one thing with much data, and says how much memory it ever had. */
async function runLargeTask(what: string, folder: string): Promise<void> {
  const call = createToolRunner(folder)
  const work: Record<string, () => Promise<unknown>> = {
    nothing: () => call('read_file', { absolute_path: join(folder, 'small.txt') }),
    read: () => call('read_file', { absolute_path: join(folder, 'text.txt'), offset: 10_000_000, limit: 100 }),
    sparse: () => call('read_file', { absolute_path: join(folder, 'sparse.bin'), offset: 5, limit: 10 }),
    search: () => call('search_file_content', { pattern: 'line 1234567[0-9] ', path: join(folder, 'text.txt') }),
    'search-all': () => call('search_file_content', { pattern: 'line', path: folder }),
    command: () => call('run_shell_command', { command: "head -c 2147483648 /dev/zero | tr '\\0' 'x'" }),
  }
  await work[what]?.()
  process.stdout.write(`${process.resourceUsage().maxRSS}\n`)
}

function measureMemory(folder: string): BenchmarkRow[] {
  mkdirSync(folder)
  writeFileSync(join(folder, 'small.txt'), 'small\n')
  writeFileSync(join(folder, 'sparse.bin'), 'begins with text\n')
  truncateSync(join(folder, 'sparse.bin'), GIGABYTE)
  writeLargeText(join(folder, 'text.txt'))
  const base = measurePeakMb('nothing', folder)
  const row = (what: string, name: string): BenchmarkRow => {
    const begun = performance.now()
    const more = Math.max(0, measurePeakMb(name, folder) - base)
    const seconds = ((performance.now() - begun) / 1000).toFixed(1)
    return {
      label: `memory: ${what} (at most ${MAX_EXTRA_MB} MB more)`,
      figures: `${more.toFixed(0)} MB more, ${seconds} s`,
      ratio: more / MAX_EXTRA_MB,
      maxRatio: 1,
    }
  }
  return [
    row('100 lines from the middle of a text file of 1 GB', 'read'),
    row('a sparse file of 1 GB', 'sparse'),
    row('a search in a text file of 1 GB, ten lines found', 'search'),
    row('a search in 1 GB, every line found', 'search-all'),
    row('a command that prints 2 GB', 'command'),
  ]
}

function writeLargeText(path: string): void {
  const descriptor = openSync(path, 'w')
  let line = 0
  for (let size = 0; size < GIGABYTE;) {
    const lines: string[] = []
    for (let count = 0; count < 100_000; count++) lines.push(`line ${++line} of a text that is long\n`)
    size += writeSync(descriptor, lines.join(''))
  }
  closeSync(descriptor)
}

function measurePeakMb(what: string, folder: string): number {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), what, folder], { encoding: 'utf8' })
  if (child.status !== 0) throw new Error(child.stderr)
  return Number(child.stdout) / 1024
}
