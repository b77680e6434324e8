import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { transformSync } from 'esbuild'
import type { RehearsalScript } from '../../src/rehearsal/script/script.ts'
import { stage } from '../support/command.ts'
import { root } from '../support/paths.ts'
import { type Block, blocksIn, type Page, pages } from './pages.ts'
import { clearAway } from '../support/clear.ts'

/** Does what the pages ask for, whatever that is: writes the note, calls the tool, and is done. */
const STEPS: RehearsalScript['steps'] = [
  {
    when: { user: 'notes.txt', turns: 0 },
    call: [{ name: 'write_file', args: { file_path: '{cwd}/notes.txt', content: 'A note.\n' } }],
  },
  { when: { user: 'sunny', turns: 0 }, call: [{ name: 'get_weather', args: { city: 'Berlin' } }] },
  { when: { user: 'Deploy', turns: 0 }, call: [{ name: 'deploy', args: { where: 'staging' } }] },
]

describe('what the pages show runs', () => {
  for (const page of pages()) {
    const shell = marked(page, 'sh')
    if (shell.length > 0)
      test(`${page.path}: commands`, async () => {
        const here = await scene()
        const script = ['set -euo pipefail', ...shell.map(({ code }) => code)].join('\n')
        const { code, out } = await ended('bash', ['--norc', '-xc', script], here)
        assert.equal(code, 0, out)
      })
    for (const [at, { code: text }] of marked(page, 'ts').entries())
      test(`${page.path}: program ${at + 1}`, async () => {
        const here = await scene()
        const file = join(programs(), `program-${at}.mjs`)
        writeFileSync(file, transformSync(text, { loader: 'ts', format: 'esm' }).code)
        const { code, out } = await ended(process.execPath, [file], here)
        assert.equal(code, 0, out)
      })
  }
})

function marked(page: Page, language: string): Block[] {
  return blocksIn(page).filter((block) => block.language === language && block.mark === 'run')
}

/** A repository with a change in it, a home of its own, and a model that plays along. */
async function scene() {
  const here = await stage({ steps: STEPS, end: { say: 'Done.' }, start: 'prompt' })
  const bin = join(here.home, 'bin')
  mkdirSync(bin)
  symlinkSync(join(root, 'bin/dragoman'), join(bin, 'dragoman'))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: here.work, env: here.env })
  git('init', '-q')
  writeFileSync(join(here.work, 'README.md'), '# One\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'One')
  writeFileSync(join(here.work, 'README.md'), '# Two\n')
  return { ...here, env: { ...here.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` } }
}

/** A folder inside the package, so that programs there find it by its own name. */
let folder: string | undefined
function programs(): string {
  mkdirSync(join(root, '.build'), { recursive: true })
  return (folder ??= mkdtempSync(join(root, '.build/programs-')))
}
after(() => {
  if (folder !== undefined) clearAway(folder)
})

function ended(
  program: string,
  args: string[],
  { work, env }: { work: string; env: Record<string, string> },
): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.on('data', (text: Buffer) => (out += text.toString()))
    child.stderr.on('data', (text: Buffer) => (out += text.toString()))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out }))
  })
}
