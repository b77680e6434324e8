import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { JsonObject } from '../../src/model/json.ts'
import { repairSchema } from '../../src/schema/normalize/repair-schema.ts'
import { isSound } from '../../src/schema/normalize/sound-schemas.ts'
import { builtinTools, listAllBuiltins } from '../../src/tool/builtin/index.ts'
import type { Tool } from '../../src/tool/tool.ts'

const tools = builtinTools({ memory: '/home/me/MEMORY.md' })

function one(name: string): Tool {
  const found = tools.find(({ spec }) => spec.name === name)
  assert.ok(found, name)
  return found
}

/** Names of parameters, the required ones with a star, and their types. */
function shape(schema: JsonObject): string {
  const required = schema['required'] as string[]
  return Object.entries(schema['properties'] as Record<string, JsonObject>)
    .map(([name, { type }]) => `${name}${required.includes(name) ? '*' : ''}:${type as string}`)
    .join(' ')
}

describe('what the model is told', () => {
  const shapes: Readonly<Record<string, string>> = {
    list_directory: 'path*:string ignore:array file_filtering_options:object',
    read_file: 'absolute_path*:string offset:number limit:number',
    search_file_content: 'pattern*:string path:string include:string',
    glob: 'pattern*:string path:string case_sensitive:boolean respect_git_ignore:boolean',
    smart_edit: 'file_path*:string instruction*:string old_string*:string new_string*:string',
    replace: 'file_path*:string old_string*:string new_string*:string expected_replacements:number',
    write_file: 'file_path*:string content*:string',
    read_many_files:
      'paths*:array include:array exclude:array recursive:boolean useDefaultExcludes:boolean file_filtering_options:object',
    run_shell_command: 'command*:string description:string directory:string',
    save_memory: 'fact*:string',
  }

  test('names and parameters', () => {
    assert.deepEqual(Object.fromEntries(tools.map(({ spec }) => [spec.name, shape(spec.schema)])), shapes)
  })

  test('their schemas are declared without a repair, which would change nothing', () => {
    const agents = [{ name: 'explore', description: 'Looks.' }]
    const task = { agents, run: () => Promise.resolve({ content: '' }) }
    const skills = {
      skills: [{ name: 'review', about: 'Reviews.' }],
      load: () => Promise.resolve({ problem: '' }),
    }
    for (const { spec } of [...listAllBuiltins(), ...builtinTools({ task, skills })]) {
      assert.ok(isSound(spec.schema))
      const repaired = repairSchema(spec.schema)
      assert.deepEqual('schema' in repaired && repaired.repairs, [], spec.name)
      assert.equal(JSON.stringify('schema' in repaired && repaired.schema), JSON.stringify(spec.schema), spec.name)
    }
  })

  test('all of it in less than 10 kB', () => {
    const bytes = Buffer.byteLength(JSON.stringify(tools.map(({ spec }) => spec)))
    assert.ok(bytes <= 10_000, `${bytes} bytes`)
  })

  test('the order never changes, and without a file there is no memory', () => {
    const names = (list: readonly Tool[]) => list.map(({ spec }) => spec.name)
    assert.deepEqual(names(builtinTools({ memory: '/x' })), Object.keys(shapes))
    assert.deepEqual(names(builtinTools()), Object.keys(shapes).slice(0, -1))
  })
})

describe('effects', () => {
  const folders = ['/ws', '/extra']
  const cases: readonly (readonly [name: string, input: JsonObject, effects: unknown])[] = [
    ['read_file', { absolute_path: '/ws/a' }, [{ kind: 'read', path: '/ws/a' }]],
    ['read_file', { absolute_path: 'a/b' }, [{ kind: 'read', path: '/ws/a/b' }]],
    [
      'read_file',
      { absolute_path: '/ws/d/../a' },
      [
        { kind: 'read', path: '/ws/d/../a' },
        { kind: 'read', path: '/ws/a' },
      ],
    ],
    ['write_file', { file_path: 'a', content: '' }, [{ kind: 'write', path: '/ws/a' }]],
    ['replace', { file_path: '/ws/a', old_string: '', new_string: '' }, [{ kind: 'write', path: '/ws/a' }]],
    ['smart_edit', { file_path: '/ws/a' }, [{ kind: 'write', path: '/ws/a' }]],
    ['list_directory', { path: '/ws/' }, [{ kind: 'read', path: '/ws' }]],
    [
      'glob',
      { pattern: '*' },
      [
        { kind: 'read', path: '/ws' },
        { kind: 'read', path: '/extra' },
      ],
    ],
    ['search_file_content', { pattern: 'x', path: 'src' }, [{ kind: 'read', path: '/ws/src' }]],
    ['read_many_files', { paths: ['.env'] }, [{ kind: 'read', path: '/ws/.env' }]],
    [
      'read_many_files',
      { paths: ['*.ts'] },
      [
        { kind: 'read', path: '/ws' },
        { kind: 'read', path: '/extra' },
      ],
    ],
    ['run_shell_command', { command: 'ls' }, [{ kind: 'exec', command: 'ls', folder: '/ws' }]],
    ['run_shell_command', { command: 'ls', directory: 'extra' }, [{ kind: 'exec', command: 'ls', folder: '/extra' }]],
    ['save_memory', { fact: 'x' }, [{ kind: 'write', path: '/home/me/MEMORY.md', isToolOwned: true }]],
  ]
  for (const [name, input, effects] of cases) {
    test(`${name} ${JSON.stringify(input)}`, () => assert.deepEqual(one(name).effects(input, folders), effects))
  }
})
