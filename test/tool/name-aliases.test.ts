import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UserError } from '../../src/cli/user-error.ts'
import { toAllowRules } from '../../src/cli/setup/allowed-tools.ts'
import type { JsonObject } from '../../src/model/json.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { createToolbox } from '../../src/tool/toolbox.ts'
import type { ResultPart } from '../../src/model/turn.ts'
import { agentIn, scheduled, textIn } from './scheduled.ts'
import { workspace, type Workspace } from './workspace.ts'

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'src/b.ts': 'const One = 1\n' }

const ALL_TOOLS = builtinTools({
  memory: 'm',
  web: { model: { serverTools: ['google_search'], window: 1, query: () => Promise.reject(new Error('no')) } },
})

/** What other agents call, and a part of what the model must be told. */
const SAME: readonly (readonly [name: string, input: JsonObject, told: RegExp])[] = [
  ['grep_search', { pattern: 'one', include_pattern: '*.ts', dir_path: '.' }, /src\/b\.ts\nL1: const One/],
  ['functions.grep_search', { pattern: 'three' }, /File: a\.txt\nL3: three/],
  ['Read', { file_path: 'a.txt', offset: 2, limit: 1 }, /--- content ---\ntwo\n$/],
  ['read', { filePath: 'a.txt' }, /^one\ntwo\nthree\n$/],
  ['LS', { path: '.', ignore: ['*.txt'] }, /\[DIR\] src$/],
  ['Glob', { pattern: '**/*.ts' }, /src\/b\.ts$/],
  ['Write', { file_path: 'new.txt', content: 'x' }, /Successfully created/],
  ['Bash', { command: 'echo from-$((40+2))', description: 'Say it' }, /from-42/],
  ['shell_command', { command: 'pwd', workdir: 'src' }, /\/ws\/src/],
]

/** Calls that would mean something else here: nothing happens, and the right tool is named. */
const OTHER: readonly (readonly [name: string, input: JsonObject, told: RegExp])[] = [
  ['Grep', { pattern: 'x', output_mode: 'count' }, /There is no tool “Grep”\. Call search_file_content instead/],
  ['grep_search', { pattern: 'x', names_only: true }, /takes no “names_only”\. Call search_file_content instead/],
  ['grep_search', { query: 'x', isRegexp: false }, /takes no “query”/],
  ['Bash', { command: 'touch made', run_in_background: true }, /takes no “run_in_background”\. Call run_shell_command/],
  ['Bash', { command: 'touch made', timeout: 1 }, /takes no “timeout”/],
  ['shell', { command: ['touch', 'made'] }, /Call run_shell_command instead/],
  ['apply_patch', { input: '*** Begin Patch' }, /Call smart_edit instead/],
  ['MultiEdit', { file_path: 'a.txt', edits: [] }, /Call replace instead/],
]

describe('names that other agents have for the tools', () => {
  test('a call that means exactly the same runs', async () => {
    for (const [name, input, told] of SAME) {
      using ws = workspace(FILES)
      const result = await call(ws, name, input)
      assert.equal(result.status, 'ok', `${name}: ${JSON.stringify(result)}`)
      assert.match(textIn(result), told, name)
    }
  })

  test('Edit changes all occurrences only if it says so', async () => {
    using ws = workspace({ 'a.txt': 'x x\n' })
    const edit = { file_path: 'a.txt', old_string: 'x', new_string: 'y' }
    const refused = await call(ws, 'Edit', edit)
    assert.equal(refused.status, 'error')
    assert.equal(ws.read('a.txt'), 'x x\n')
    await call(ws, 'Edit', { ...edit, replace_all: true })
    assert.equal(ws.read('a.txt'), 'y y\n')
  })

  test('a call that would mean something else does nothing, and names the right tool', async () => {
    for (const [name, input, told] of OTHER) {
      using ws = workspace(FILES)
      const result = await call(ws, name, input)
      assert.equal(result.status, 'error', name)
      assert.match(textIn(result), told, name)
      assert.equal(await ws.host.files.info(`${ws.root}/made`), undefined)
    }
  })

  test('a tool that really has the name is the one that is meant', () => {
    const mine = tool({ name: 'Bash', description: 'Mine.', parameters: { type: 'object' }, execute: () => 'mine' })
    const found = createToolbox([...builtinTools(), mine]).find('Bash')
    assert.ok('tool' in found && found.tool === mine)
  })

  test('--allowed-tools takes each of these names for the tool, or refuses it', () => {
    // These are programs as well, and stand for commands.
    const programs = ['cat', 'ls', 'grep', 'rg', 'patch']
    for (const { spec, nameAliases = [] } of ALL_TOOLS)
      for (const { name } of nameAliases) {
        if (programs.includes(name)) continue
        try {
          assert.ok(
            toAllowRules([name], '/w').includes(spec.name),
            `${name} is taken for ${toAllowRules([name], '/w').join()}`,
          )
        } catch (error) {
          assert.ok(error instanceof UserError, String(error))
        }
      }
  })

  test('--allowed-tools: brackets of other agents keep their meaning', () => {
    for (const [item, rules] of [
      ['Read(//etc/hosts)', ['read_file(/etc/hosts)', 'read_many_files(/etc/hosts)']],
      ['Write(/src/**)', ['write_file(/w/src/**)']],
      ['Write(./a.ts)', ['write_file(/w/a.ts)']],
      ['Write(.//a.ts)', ['write_file(/w/a.ts)']],
      ['Write(src/**)', ['write_file(src/**)']],
      ['WebFetch(domain:example.com)', ['web_fetch(example.com)']],
      ['Bash(git diff:*)', ['run_shell_command(git diff *)']],
      ['Bash(npm test)', ['run_shell_command(=npm test)']],
      ['mcp__db__query', ['db__query']],
      ['mcp__db', ['db__*']],
    ] as const)
      assert.deepEqual(toAllowRules([item], '/w'), rules, item)
    for (const item of ['mcp__db__query(readonly)', 'mcp__db(x)', 'Bash()', 'Read( )', 'NotebookEdit'])
      assert.throws(() => toAllowRules([item], '/w'), UserError, item)
    assert.throws(() => toAllowRules(['Write(/src/**)'], '/w/[a]'), /write write_file\(src\/\*\*\)/)
  })

  test('no two tools claim a name, and none claims the name of another', () => {
    const names = ALL_TOOLS.flatMap(({ spec, nameAliases = [] }) => [spec.name, ...nameAliases.map(({ name }) => name)])
    assert.deepEqual(names, [...new Set(names)])
  })
})

async function call(ws: Workspace, name: string, input: JsonObject): Promise<ResultPart> {
  const { results } = await scheduled(agentIn(ws), [[name, input]])
  const [result] = results
  assert.ok(result)
  return result
}
