import assert from 'node:assert/strict'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { dragoman, stage } from '../support/command.ts'

// What a model can read with the file tools, unasked, in a folder that somebody else wrote.

const CANARY = 'CANARY-77c1'

const CALLS: readonly (readonly [name: string, args: JsonObject])[] = [
  ['read_many_files', { paths: ['*'] }],
  ['read_many_files', { paths: ['**/*'], useDefaultExcludes: false, respect_git_ignore: false }],
  ['read_many_files', { paths: ['**/*.txt'] }],
  ['read_many_files', { paths: ['linked', 'docs'] }],
  ['read_many_files', { paths: ['.git'], useDefaultExcludes: false }],
  ['read_many_files', { paths: ['.git/*'], useDefaultExcludes: false }],
  ['read_file', { absolute_path: '{cwd}/.git/config' }],
  ['read_file', { absolute_path: '{cwd}/notes.txt' }],
  ['read_file', { absolute_path: '{cwd}/linked/config' }],
  ['search_file_content', { pattern: 'CANARY' }],
  ['search_file_content', { pattern: 'CANARY', path: '{cwd}/.git' }],
  ['search_file_content', { pattern: 'CANARY', path: '{cwd}/linked' }],
  ['search_file_content', { pattern: 'CANARY', path: '{cwd}/notes.txt' }],
  ['search_file_content', { pattern: 'CANARY', include: '.env' }],
  ['search_file_content', { pattern: 'CANARY', include: '**/.e*' }],
  ['search_file_content', { pattern: 'CANARY', include: '{.env,x}' }],
]

for (const [name, args] of CALLS)
  test(`${name} ${JSON.stringify(args)} brings no secret`, async () => {
    const here = await stage([{ call: [{ name, args }] }, { say: 'Done.' }])
    const { work } = here
    for (const folder of ['.git/objects', '.git/refs', 'docs']) mkdirSync(join(work, folder), { recursive: true })
    writeFileSync(join(work, '.git/HEAD'), 'ref: refs/heads/main\n')
    writeFileSync(join(work, '.git/config'), `[remote "o"]\n\turl = https://u:${CANARY}@git.example/x\n`)
    writeFileSync(join(work, '.env'), `TOKEN=${CANARY}\n`)
    writeFileSync(join(work, 'docs/.env.local'), `TOKEN=${CANARY}\n`)
    writeFileSync(join(work, 'a.txt'), 'hello\n')
    symlinkSync('.env', join(work, 'notes.txt'))
    symlinkSync('.git', join(work, 'linked'))
    symlinkSync('../.git/config', join(work, 'docs/readme.txt'))
    linkSync(join(work, 'a.txt'), join(work, 'b.txt'))
    await dragoman(['-p', 'go'], here)
    assert.equal(here.server.requests.length, 2)
    const sent = here.server.requests.map(({ bytes }) => bytes.toString()).join('\n')
    assert.ok(!sent.includes(CANARY), sent.slice(-1500))
  })
