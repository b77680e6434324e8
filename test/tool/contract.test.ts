import assert from 'node:assert/strict'
import { mkdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import { agentIn, scheduled, textIn } from './scheduled.ts'
import { workspace, type Workspace } from './workspace.ts'

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(12)])

/** A workspace with something of everything. */
function fixture(): Workspace {
  const ws = workspace({
    '.gitignore': '*.log\n',
    'README.md': '# Read me\nfoo here\n',
    'src/a.ts': 'const foo = 1\nconst bar = 2\n',
    'src/b.ts': 'const bar = 3\n',
    'x.log': 'ignored foo\n',
    'pic.png': PNG,
    'data.bin': Buffer.from([1, 2, 0, 3, 0xff]),
    'latin.txt': Buffer.from('caf\xe9\n', 'latin1'),
    'long.txt': Array.from({ length: 2500 }, (_, at) => `line ${at + 1}\n`).join(''),
  })
  mkdirSync(join(ws.root, 'empty'))
  for (const [at, path] of ['README.md', 'src/a.ts', 'src/b.ts'].entries())
    utimesSync(join(ws.root, path), 1e9, 1e9 + at)
  return ws
}

interface Case {
  readonly tool: string
  readonly input: JsonObject
  /** What the model reads; `{ws}` is the workspace. */
  readonly content: string | RegExp
  /** What the person reads; of a change to a file, its figures. */
  readonly display: string | RegExp | readonly [added: number, removed: number]
  /** What a file holds afterwards. */
  readonly file?: readonly [path: string, text: string]
  readonly media?: Json
}

const CASES: readonly Case[] = [
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/src/a.ts' },
    content: 'const foo = 1\nconst bar = 2\n',
    display: 'Read all 2 lines from src/a.ts',
  },
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/long.txt', offset: 10, limit: 2 },
    content: 'Showing lines 11-12 of 2500. To continue, use offset: 12.\n--- content ---\nline 11\nline 12\n',
    display: 'Read lines 11-12 of 2500 from long.txt',
  },
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/long.txt' },
    content:
      /^Showing lines 1-2000 of 2500\. To continue, use offset: 2000\.\n--- content ---\nline 1\n[^]*line 2000\n$/,
    display: 'Read lines 1-2000 of 2500 from long.txt',
  },
  {
    tool: 'read_file',
    input: { file_path: '{ws}/long.txt', start_line: 3, end_line: 3 },
    content: 'Showing lines 3-3 of 2500. To continue, use offset: 3.\n--- content ---\nline 3\n',
    display: 'Read lines 3-3 of 2500 from long.txt',
  },
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/pic.png' },
    content: '',
    display: 'Read image/png file: pic.png',
    media: { kind: 'media', mime: 'image/png', data: PNG.toString('base64'), name: 'pic.png' },
  },
  { tool: 'read_file', input: { absolute_path: '{ws}/latin.txt' }, content: 'café\n', display: /^Read all 1 lines/ },
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/x.log' },
    content: 'Note: git ignores this file.\n--- content ---\nignored foo\n',
    display: 'Read all 1 lines from x.log',
  },
  {
    tool: 'read_file',
    input: { absolute_path: '{ws}/data.bin' },
    content: 'Cannot display content of binary file: {ws}/data.bin (5 bytes).',
    display: 'Skipped binary file: data.bin',
  },
  {
    tool: 'write_file',
    input: { file_path: '{ws}/new/n.txt', content: 'one\ntwo\n' },
    content: 'Successfully created and wrote to new file: {ws}/new/n.txt.',
    display: [2, 0],
    file: ['new/n.txt', 'one\ntwo\n'],
  },
  {
    tool: 'write_file',
    input: { absolute_path: '{ws}/src/b.ts', content: 'const bar = 4\n' },
    content: 'Successfully overwrote file: {ws}/src/b.ts.',
    display: [1, 1],
    file: ['src/b.ts', 'const bar = 4\n'],
  },
  {
    tool: 'replace',
    input: { file_path: '{ws}/src/a.ts', old_string: 'const bar = 2', new_string: 'const bar = 3' },
    content: 'Successfully modified file: {ws}/src/a.ts (1 replacements).',
    display: [1, 1],
    file: ['src/a.ts', 'const foo = 1\nconst bar = 3\n'],
  },
  {
    tool: 'replace',
    input: { file_path: '{ws}/src/a.ts', old_string: 'const', new_string: 'let', expected_replacements: 2 },
    content: 'Successfully modified file: {ws}/src/a.ts (2 replacements).',
    display: [2, 2],
    file: ['src/a.ts', 'let foo = 1\nlet bar = 2\n'],
  },
  {
    tool: 'replace',
    input: { file_path: '{ws}/src/a.ts', old_string: 'const', new_string: 'let', allow_multiple: true },
    content: 'Successfully modified file: {ws}/src/a.ts (2 replacements).',
    display: [2, 2],
    file: ['src/a.ts', 'let foo = 1\nlet bar = 2\n'],
  },
  {
    tool: 'smart_edit',
    input: {
      file_path: '{ws}/src/a.ts',
      instruction: 'Count on.',
      old_string: '  const foo = 1\n  const bar = 2',
      new_string: '  const foo = 1\n  const bar = 5',
    },
    content:
      'Successfully modified file: {ws}/src/a.ts (1 replacements). Matched with different indentation, lines 1-2.',
    display: [1, 1],
    file: ['src/a.ts', 'const foo = 1\nconst bar = 5\n'],
  },
  {
    tool: 'list_directory',
    input: { path: '{ws}' },
    content:
      'Directory listing for {ws}: \n[DIR] empty\n[DIR] src\n.gitignore\nREADME.md\ndata.bin\nlatin.txt\nlong.txt\npic.png\n\n(1 ignored)',
    display: 'Listed 8 item(s). (1 ignored)',
  },
  {
    tool: 'list_directory',
    input: { dir_path: '{ws}/src', ignore: ['b*'] },
    content: 'Directory listing for {ws}/src: \na.ts',
    display: 'Listed 1 item(s).',
  },
  {
    tool: 'list_directory',
    input: { path: '{ws}/empty' },
    content: 'Directory {ws}/empty is empty.',
    display: 'Directory is empty.',
  },
  {
    tool: 'glob',
    input: { pattern: '**/*.{ts,md}' },
    content: "Found 3 file(s) matching '**/*.{ts,md}' within {ws}: \n{ws}/src/b.ts\n{ws}/src/a.ts\n{ws}/README.md",
    display: 'Found 3 matching file(s)',
  },
  {
    tool: 'glob',
    input: { pattern: '*.md', dir_path: '{ws}/src' },
    content: "No files found matching '*.md' within {ws}/src.",
    display: 'No files found',
  },
  {
    tool: 'search_file_content',
    input: { pattern: 'foo' },
    content:
      'Found 2 matches for pattern \'foo\' in path ".":\n---\nFile: README.md\nL2: foo here\n---\nFile: src/a.ts\nL1: const foo = 1\n---',
    display: 'Found 2 matches',
  },
  {
    tool: 'search_file_content',
    input: { pattern: 'BAR = \\d', dir_path: 'src', include_pattern: 'b.*' },
    content: `Found 1 match for pattern 'BAR = \\d' in path "src" (filter: 'b.*'):\n---\nFile: src/b.ts\nL1: const bar = 3\n---`,
    display: 'Found 1 match',
  },
  {
    tool: 'search_file_content',
    input: { pattern: 'nowhere' },
    content: `No matches found for pattern 'nowhere' in path ".".`,
    display: 'No matches found',
  },
  {
    tool: 'read_many_files',
    input: { paths: ['src/*.ts'] },
    content: '--- src/a.ts ---\nconst foo = 1\nconst bar = 2\n--- src/b.ts ---\nconst bar = 3\n--- End of content ---',
    display: 'Read 2 file(s).',
  },
  {
    tool: 'read_many_files',
    input: { include: ['src/b.ts'] },
    content: '--- src/b.ts ---\nconst bar = 3\n--- End of content ---',
    display: 'Read 1 file(s).',
  },
  {
    tool: 'read_many_files',
    input: { paths: ['pic.png'] },
    content: '--- pic.png ---\n--- End of content ---',
    display: 'Read 1 file(s).',
    media: { kind: 'media', mime: 'image/png', data: PNG.toString('base64'), name: 'pic.png' },
  },
  {
    tool: 'run_shell_command',
    input: { command: 'echo out; echo err >&2; exit 3', description: 'Say it.' },
    content:
      /^Command: echo out; echo err >&2; exit 3\nDirectory: \(root\)\nOutput: (?:out\nerr|err\nout)\nError: \(none\)\nExit Code: 3\nSignal: \(none\)\nBackground PIDs: \(none\)\nProcess Group PGID: \d+$/,
    display: /^(?:out\nerr|err\nout)\nThe command exited with code 3\.$/,
  },
  {
    tool: 'run_shell_command',
    input: { command: 'pwd', dir_path: 'src' },
    content:
      /^Command: pwd\nDirectory: src\nOutput: .*\/ws\/src\nError: \(none\)\nExit Code: 0\nSignal: \(none\)\nBackground PIDs: \(none\)\nProcess Group PGID: \d+$/,
    display: /\/ws\/src\n?$/,
  },
  {
    tool: 'run_shell_command',
    input: { command: 'kill -9 $$' },
    content: /\nOutput: \(empty\)\nError: \(none\)\nExit Code: \(none\)\nSignal: SIGKILL\n/,
    display: 'The command was ended by SIGKILL.',
  },
  {
    tool: 'save_memory',
    input: { fact: 'Tabs are preferred.' },
    content: '{"success":true,"message":"Okay, I\'ve remembered that: \\"Tabs are preferred.\\""}',
    display: 'Okay, I\'ve remembered that: "Tabs are preferred."',
    file: ['../home/MEMORY.md', '## Memories\n- Tabs are preferred.\n'],
  },
]

describe('what each tool gives, through the scheduler', () => {
  for (const { tool, input, content, display, file, media } of CASES) {
    test(`${tool} ${JSON.stringify(input).slice(0, 70)}`, async () => {
      using ws = fixture()
      const placed = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('{ws}', ws.root)) as T
      const { results, events } = await scheduled(agentIn(ws), [[tool, placed(input)]])
      const [result] = results
      assert.ok(result)
      assert.equal(result.status, 'ok', textIn(result))
      if (typeof content === 'string') assert.equal(textIn(result), placed(content))
      else assert.match(textIn(result), content)
      assert.deepEqual(
        result.content.filter((part) => part.kind === 'media'),
        media === undefined ? [] : [media],
      )
      if (typeof display === 'string') assert.equal(result.display, display)
      else if (display instanceof RegExp) assert.match(result.display as string, display)
      else {
        const [added, removed] = display
        const diff = result.display as JsonObject
        assert.deepEqual(diff['diffStat'], {
          ai_added_lines: added,
          ai_removed_lines: removed,
          user_added_lines: 0,
          user_removed_lines: 0,
        })
        assert.match(diff['fileDiff'] as string, /^--- .*\tCurrent\n\+\+\+ .*\tProposed\n@@ /)
        assert.deepEqual(Object.keys(diff).sort(), [
          'diffStat',
          'fileDiff',
          'fileName',
          'newContent',
          'originalContent',
        ])
      }
      if (file) assert.equal(ws.read(file[0]), file[1])
      const states = events.flatMap((event) => (event.type === 'call' ? [event.call.status] : []))
      assert.deepEqual(states, ['validating', 'scheduled', 'executing', 'success'])
    })
  }

  test('every built-in tool is here', () => {
    using ws = fixture()
    const names = agentIn(ws).toolbox.specs.map(({ name }) => name)
    assert.deepEqual([...new Set(CASES.map(({ tool }) => tool))].sort(), [...names].sort())
  })

  test('a change that the person made is told from the model’s', async () => {
    using ws = fixture()
    const agent = agentIn(ws, {
      policy: { decide: () => ({ verdict: 'ask', rule: 'test', why: '' }), remember: () => '' },
      requestApproval: (ask) => {
        assert.ok(ask.details.kind === 'edit')
        const { originalContent, newContent } = ask.details
        const found = agent.toolbox.find(ask.tool)
        assert.ok('tool' in found)
        const content = `${newContent}const more = 6\n`
        const input = found.tool.toModifiedInput?.(
          { file_path: 'src/a.ts', old_string: 'bar = 2', new_string: 'bar = 5', instruction: '' },
          { original: originalContent, content },
        )
        return Promise.resolve({ ask: ask.id, outcome: 'modify', ...(input && { input }) })
      },
    })
    const input = { file_path: 'src/a.ts', old_string: 'bar = 2', new_string: 'bar = 5', instruction: '' }
    const { results } = await scheduled(agent, [['smart_edit', input]])
    assert.equal(ws.read('src/a.ts'), 'const foo = 1\nconst bar = 5\nconst more = 6\n')
    const [result] = results
    assert.ok(result)
    assert.match(textIn(result), /The user changed new_string to:\n/)
    assert.deepEqual((result.display as JsonObject)['diffStat'], {
      ai_added_lines: 1,
      ai_removed_lines: 1,
      user_added_lines: 1,
      user_removed_lines: 0,
    })
  })
})
