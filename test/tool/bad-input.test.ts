import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import type { ResultPart } from '../../src/model/turn.ts'
import { startRandom } from '../support/mutate-random.ts'
import { agentIn, type Called, scheduled, textIn, treeHash } from './scheduled.ts'
import { workspace, type Workspace } from './workspace.ts'

const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1)

/** For each tool, arguments that would do; `path` is the one that names a file or a folder. */
const GOOD: Readonly<
  Record<string, { readonly input: JsonObject; readonly path?: string; readonly wants?: 'file' | 'folder' }>
> = {
  read_file: { input: { absolute_path: 'a.txt' }, path: 'absolute_path', wants: 'file' },
  write_file: { input: { file_path: 'a.txt', content: 'new\n' }, path: 'file_path', wants: 'file' },
  replace: { input: { file_path: 'a.txt', old_string: 'one', new_string: '1' }, path: 'file_path', wants: 'file' },
  smart_edit: {
    input: { file_path: 'a.txt', instruction: 'Count.', old_string: 'one', new_string: '1' },
    path: 'file_path',
    wants: 'file',
  },
  list_directory: { input: { path: 'src' }, path: 'path', wants: 'folder' },
  glob: { input: { pattern: '*.txt', path: 'src' }, path: 'path', wants: 'folder' },
  search_file_content: { input: { pattern: 'one', path: 'src' }, path: 'path' },
  read_many_files: { input: { paths: ['a.txt'] } },
  run_shell_command: { input: { command: 'touch made', directory: 'src' }, path: 'directory', wants: 'folder' },
  save_memory: { input: { fact: 'A fact.' } },
}

/** Everything that is on the disk before, and must be there after. */
function fixture(): Workspace {
  const ws = workspace({ 'a.txt': 'one\ntwo\n', 'src/b.txt': 'one\n', 'bin.dat': Buffer.from([0, 1, 2, 3]) })
  mkdirSync(join(ws.root, 'folder'))
  symlinkSync('../outside/secret.txt', join(ws.root, 'link-out'))
  symlinkSync('nowhere', join(ws.root, 'link-broken'))
  symlinkSync('loop', join(ws.root, 'loop'))
  return ws
}

/** Paths that lead nowhere good. */
const PATHS: readonly (readonly [what: string, path: string])[] = [
  ['empty', ''],
  ['blank', '  '],
  ['a zero byte', 'a\0.txt'],
  ['outside', '../outside/secret.txt'],
  ['far outside', '/etc/hostname-of-nobody/x'],
  ['through a link that leads out', 'link-out'],
  ['a link that leads in circles', 'loop'],
  ['below a file', 'a.txt/x'],
  ['far too long', `${'d/'.repeat(3000)}x`],
  ['a name that is too long', 'n'.repeat(400)],
  ['up and out', 'src/../../outside/new.txt'],
]

/** Calls that no tool may carry out, each with what is bad about it. */
function badCalls(): [what: string, call: Called][] {
  const calls: [string, Called][] = []
  for (const [tool, { input, path, wants }] of Object.entries(GOOD)) {
    const required = Object.keys(input).filter((key) => !(key === path && !REQUIRED_PATHS.has(tool)))
    for (const key of required) {
      const { [key]: _gone, ...rest } = input
      if (key !== 'instruction' || tool !== 'smart_edit') calls.push([`${key} missing`, [tool, rest]])
      const wrong: Readonly<Record<string, Json>> = WRONG_TYPES[Array.isArray(input[key]) ? 'list' : 'text']
      for (const [what, value] of Object.entries(wrong)) {
        calls.push([`${key} is ${what}`, [tool, { ...input, [key]: value }]])
      }
    }
    calls.push(['nothing at all', [tool, {}]])
    if (path === undefined) continue
    for (const [what, bad] of PATHS) {
      // Without a path these search the whole workspace, and run in it.
      if (bad.trim() === '' && !REQUIRED_PATHS.has(tool)) continue
      calls.push([`${path} is ${what}`, [tool, { ...input, [path]: bad }]])
    }
    if (wants === 'file') calls.push([`${path} is a folder`, [tool, { ...input, [path]: 'folder' }]])
    if (wants === 'folder') calls.push([`${path} is a file`, [tool, { ...input, [path]: 'a.txt' }]])
    if (!['write_file'].includes(tool)) calls.push([`${path} has vanished`, [tool, { ...input, [path]: 'gone' }]])
  }
  return [...calls, ...SPECIAL]
}

const REQUIRED_PATHS = new Set(['read_file', 'write_file', 'replace', 'smart_edit', 'list_directory'])

/** What is neither a text nor a list of texts. An object for a text is another matter: it is written out as JSON. */
const WRONG_TYPES = {
  text: { null: null, 'a yes': true, 'a broken number': 0.1 },
  list: { null: null, 'an object': { a: 1 }, 'a list of lists': [[1], {}] },
} as const satisfies Record<string, Readonly<Record<string, Json>>>

const SPECIAL: readonly [string, Called][] = [
  ['offset below 0', ['read_file', { absolute_path: 'a.txt', offset: -1 }]],
  ['offset not whole', ['read_file', { absolute_path: 'a.txt', offset: 0.5 }]],
  ['offset is words', ['read_file', { absolute_path: 'a.txt', offset: 'many' }]],
  ['offset beyond the end', ['read_file', { absolute_path: 'a.txt', offset: 99 }]],
  ['offset without measure', ['read_file', { absolute_path: 'a.txt', offset: 1e300 }]],
  ['limit 0', ['read_file', { absolute_path: 'a.txt', limit: 0 }]],
  ['end before start', ['read_file', { absolute_path: 'a.txt', start_line: 5, end_line: 2 }]],
  ['a binary file', ['replace', { file_path: 'bin.dat', old_string: 'a', new_string: 'b' }]],
  ['a binary file', ['smart_edit', { file_path: 'bin.dat', instruction: '', old_string: 'a', new_string: 'b' }]],
  ['a binary file', ['write_file', { file_path: 'bin.dat', content: 'text' }]],
  ['half a character', ['write_file', { file_path: 'new', content: 'a\uD800' }]],
  ['a placeholder', ['write_file', { file_path: 'a.txt', content: '// ... rest of the code unchanged ...\n' }]],
  ['nothing to change', ['replace', { file_path: 'a.txt', old_string: 'one', new_string: 'one' }]],
  ['text that is not there', ['replace', { file_path: 'a.txt', old_string: 'three', new_string: 'four' }]],
  ['other occurrences', ['replace', { file_path: 'a.txt', old_string: 'o', new_string: '0' }]],
  [
    'no occurrences expected',
    ['replace', { file_path: 'a.txt', old_string: 'one', new_string: '1', expected_replacements: 0 }],
  ],
  [
    'occurrences below 0',
    ['replace', { file_path: 'a.txt', old_string: 'one', new_string: '1', expected_replacements: -2 }],
  ],
  ['a file that is there', ['replace', { file_path: 'a.txt', old_string: '', new_string: '1' }]],
  [
    'text that is not there',
    ['smart_edit', { file_path: 'a.txt', instruction: '', old_string: 'xyz = 1', new_string: '4' }],
  ],
  [
    'huge text that is not there',
    ['smart_edit', { file_path: 'a.txt', instruction: '', old_string: 'x\n'.repeat(50_000), new_string: '4' }],
  ],
  ['an empty pattern', ['glob', { pattern: '' }]],
  ['a pattern out of the workspace', ['glob', { pattern: '../**' }]],
  ['an empty pattern', ['search_file_content', { pattern: '' }]],
  ['a broken pattern', ['search_file_content', { pattern: '(' }]],
  ['a broken repetition', ['search_file_content', { pattern: 'a{2,1}' }]],
  ['a broken include', ['search_file_content', { pattern: 'one', include: '../*' }]],
  ['no paths', ['read_many_files', { paths: [] }]],
  ['paths that are not there', ['read_many_files', { paths: ['gone', 'gone-too'] }]],
  ['paths out of the workspace', ['read_many_files', { paths: ['../outside/*'] }]],
  ['a path out of the workspace', ['read_many_files', { paths: ['/etc/nobody'] }]],
  ['an empty command', ['run_shell_command', { command: ' \n ' }]],
  ['a zero byte in a command', ['run_shell_command', { command: 'touch made\0' }]],
  ['an empty fact', ['save_memory', { fact: ' - ' }]],
  ['a pattern without measure', ['search_file_content', { pattern: 'x'.repeat(2_000_000) }]],
  ['a pattern without measure', ['glob', { pattern: '*a'.repeat(500_000) }]],
  ['a command without measure', ['run_shell_command', { command: `touch made; : ${'x'.repeat(4_000_000)}` }]],
  ['a path without measure', ['read_many_files', { paths: ['p'.repeat(1_000_000)] }]],
  ['a tool that does not exist', ['delete_everything', { path: '/' }]],
]

/** An error that says something, and nothing that only a programmer would want to read. */
function assertClear(result: ResultPart | undefined, about: string): void {
  assert.ok(result, about)
  const text = textIn(result)
  assert.equal(result.status, 'error', `${about}: ${text.slice(0, 200)}`)
  const message = result.error?.message ?? ''
  assert.ok(message.length > 10, `${about}: ${message}`)
  assert.ok(
    (result.error?.type ?? '') !== '' && result.error?.type !== 'exception',
    `${about}: ${JSON.stringify(result.error)}`,
  )
  assert.doesNotMatch(
    message,
    /\[object Object\]|undefined|\bat \w+ \(|TypeError|ENOENT|EISDIR|ENAMETOOLONG|ELOOP/,
    about,
  )
  assert.ok(text.includes('"success":false') || text.startsWith(message), `${about}: ${text.slice(0, 200)}`)
  assert.ok(text.length < 10_000, `${about}: ${text.length} characters`)
}

describe('bad input of every kind gets a clear error, and changes nothing', () => {
  test('call by call', async () => {
    using ws = fixture()
    const before = treeHash(ws)
    for (const [what, call] of badCalls()) {
      const { results } = await scheduled(agentIn(ws), [call])
      assertClear(results[0], `${call[0]}, ${what}`)
    }
    assert.equal(treeHash(ws), before)
  })

  test(`all at once, in any order (seed ${SEED})`, async () => {
    using ws = fixture()
    const before = treeHash(ws)
    const calls = startRandom(SEED).shuffled(badCalls())
    // More than this are not carried out of one answer.
    for (let from = 0; from < calls.length; from += 100) {
      const some = calls.slice(from, from + 100)
      const { results } = await scheduled(
        agentIn(ws),
        some.map(([, call]) => call),
      )
      for (const [at, [what, call]] of some.entries()) assertClear(results[at], `${call[0]}, ${what}`)
    }
    assert.equal(treeHash(ws), before)
  })

  test('what may not be read or written', { skip: process.getuid?.() === 0 && 'root may do everything' }, async () => {
    using ws = fixture()
    chmodSync(join(ws.root, 'a.txt'), 0)
    chmodSync(join(ws.root, 'src'), 0o500)
    const calls: Called[] = [
      ['read_file', { absolute_path: 'a.txt' }],
      ['replace', { file_path: 'a.txt', old_string: 'one', new_string: '1' }],
      ['write_file', { file_path: 'src/new.txt', content: 'x' }],
    ]
    for (const call of calls) {
      const { results } = await scheduled(agentIn(ws), [call])
      assertClear(results[0], call[0])
      assert.equal(results[0]?.error?.type, 'permission-denied')
    }
    chmodSync(join(ws.root, 'src'), 0o700)
  })

  test('what is good is done, so that this test can fail', async () => {
    using ws = fixture()
    for (const [tool, { input }] of Object.entries(GOOD)) {
      const { results } = await scheduled(agentIn(ws), [
        [tool, tool === 'smart_edit' ? { ...input, old_string: 'new' } : input],
      ])
      if (tool !== 'replace') assert.equal(results[0]?.status, 'ok', `${tool}: ${JSON.stringify(results[0])}`)
    }
  })
})
