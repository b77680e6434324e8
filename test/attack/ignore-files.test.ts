import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'

/** What somebody put into a project to keep whoever searches it waiting for ever. */
const ATTACKS: Readonly<Record<string, (work: string) => void>> = {
  'a pipe': (work) => pipe(join(work, '.gitignore')),
  'a pipe deeper down': (work) => pipe(join(work, 'a/b/.gitignore')),
  'a pipe in the repository': (work) => pipe(join(work, '.git/info/exclude')),
  'a device without end': (work) => symlinkSync('/dev/zero', join(work, '.gitignore')),
  'a pattern that takes for ever': (work) => {
    writeFileSync(join(work, '.gitignore'), `${'**/a/'.repeat(12)}x/**/ab\n`)
    const deep = join(work, 'a/'.repeat(80))
    mkdirSync(deep, { recursive: true })
    writeFileSync(join(deep, 'ab'), '')
  },
}

const CALLS = [
  { name: 'glob', args: { pattern: '**/*' } },
  { name: 'search_file_content', args: { pattern: 'FOUND' } },
  { name: 'list_directory', args: { path: '{cwd}' } },
]

describe('attacks by ignore files', () => {
  for (const [name, attack] of Object.entries(ATTACKS))
    test(name, { timeout: 120_000, skip: process.platform === 'linux' ? false : 'only Linux tells' }, async () => {
      const { work, env, server } = await stage([{ say: 'At once.', call: CALLS }, { say: 'All done.' }])
      execFileSync('git', ['init', '-q'], { cwd: work })
      writeFileSync(join(work, 'a.txt'), 'it is FOUND\n')
      attack(work)
      const { code, out } = await dragoman(['-p', 'search'], { work, env })
      assert.equal(code, 0)
      assert.match(out, /All done/)
      assert.match(server.requests.map(({ bytes }) => bytes.toString()).join('\n'), /it is FOUND/)
    })
})

function pipe(path: string): void {
  mkdirSync(dirname(path), { recursive: true })
  rmSync(path, { force: true })
  execFileSync('mkfifo', [path])
}
