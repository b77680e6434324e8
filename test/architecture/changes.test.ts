import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { root } from '../support/paths.ts'

const run = promisify(execFile)

/** Lines that go into a file after the line with the anchor; without an anchor they are the whole file. */
interface Insertion {
  readonly file: string
  readonly after?: string
  readonly lines: readonly string[]
}

const PROVIDER: readonly Insertion[] = [
  {
    file: 'src/provider/providers.ts',
    after: 'const ROWS:',
    lines: [
      '  {',
      "    id: 'newvendor',",
      "    wire: 'openai-chat',",
      "    url: 'https://api.newvendor.example/v1',",
      "    keys: ['NEWVENDOR_API_KEY'],",
      "    model: 'newvendor-1',",
      "    profile: { wantsPriority: true, maxTokensField: 'max_tokens' },",
      '  },',
    ],
  },
]

const QUIRK: readonly Insertion[] = [
  {
    file: 'src/model/profile.ts',
    after: "readonly systemRole: 'system' | 'developer'",
    lines: ['  /** Requests without a priority are refused. */', '  readonly wantsPriority?: boolean'],
  },
  {
    file: 'src/wire/openai-chat/encode-request.ts',
    after: '    stream,',
    lines: ["    ...(profile.wantsPriority && { priority: 'normal' }),"],
  },
  {
    file: 'src/provider/parse-provider.ts',
    after: '  systemRole: {',
    lines: ["  wantsPriority: 'true or false',"],
  },
]

const TOOL: readonly Insertion[] = [
  { file: 'src/tool/builtin/count-words.md', lines: ['Counts the words of a text.'] },
  {
    file: 'src/tool/builtin/count-words.ts',
    lines: [
      "import { defineBuiltin } from './support/define-builtin.ts'",
      "import { getTextArgument } from './support/read-arguments.ts'",
      "import text from './count-words.md'",
      '',
      'export const countWordsTool = defineBuiltin({',
      "  name: 'count_words',",
      '  text,',
      "  kind: 'other',",
      "  properties: { text: { type: 'string' } },",
      "  required: ['text'],",
      '  effects: () => [],',
      "  run: (input) => Promise.resolve({ content: `${getTextArgument(input, 'text').split(/\\s+/).length} words` }),",
      '})',
    ],
  },
  {
    file: 'src/tool/builtin/index.ts',
    after: "from './write-file.ts'",
    lines: ["import { countWordsTool } from './count-words.ts'"],
  },
  { file: 'src/tool/builtin/index.ts', after: '    writeFileTool,', lines: ['    countWordsTool,'] },
]

test('a provider, a quirk and a built-in tool each cost what CONTRIBUTING says, and work', async (t) => {
  const tree = mkdtempSync(join(tmpdir(), 'dragoman-changes-'))
  t.after(() => rmSync(tree, { recursive: true, force: true }))
  for (const name of ['src', 'types', 'package.json']) cpSync(join(root, name), join(tree, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  const exclude = ['src/gateway/inspector/page']
  const config = { extends: join(root, 'tsconfig.json'), include: ['types', 'src'], exclude }
  writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify(config))
  for (const insertion of [...PROVIDER, ...QUIRK, ...TOOL]) insert(tree, insertion)
  assert.ok(PROVIDER.flatMap(({ lines }) => lines).length <= 12)

  const checked = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', tree]).catch(
    (error: unknown) => assert.fail(`the changed tree does not compile: ${(error as { stdout: string }).stdout}`),
  )
  const requests: Record<string, unknown>[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece) => (body += String(piece)))
    request.on('end', () => {
      requests.push(JSON.parse(body) as Record<string, unknown>)
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer(requests.length)))
    })
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const script = join(tree, 'try.mjs')
  await build({
    stdin: { contents: TRY, resolveDir: tree, loader: 'ts' },
    outfile: script,
    bundle: true,
    platform: 'node',
    format: 'esm',
    loader: { '.md': 'text', '.wasm': 'binary' },
    external: ['@vscode/ripgrep', 'fsevents'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: 'silent',
  })
  const env = { PATH: process.env['PATH'], HOME: tree, NEWVENDOR_API_KEY: 'k', DRAGOMAN_NEWVENDOR_BASE_URL: url }
  const { stdout } = await run(process.execPath, [script], { env, cwd: tree })
  await checked
  assert.equal(stdout.trim(), 'There are three.')
  assert.equal(requests.length, 2)
  assert.deepEqual(
    requests.map(({ priority, model }) => [priority, model]),
    [
      ['normal', 'newvendor-1'],
      ['normal', 'newvendor-1'],
    ],
  )
  assert.match(JSON.stringify(requests[0]?.['tools']), /"count_words","description":"Counts the words of a text\."/)
  assert.match(JSON.stringify(requests[1]?.['messages']), /"content":"3 words"/)
})

/** An agent with the new provider and the new tool. */
const TRY = `
import { agent, builtinTools } from './src/index.ts'
const tools = builtinTools().filter(({ spec }) => spec.name === 'count_words')
const helper = agent({ model: 'newvendor/newvendor-1', tools })
console.log((await helper.run('How many words are in "one two three"?')).text)
helper.close()
`

function answer(turn: number): object {
  const call = { name: 'count_words', arguments: '{"text":"one two three"}' }
  const message =
    turn === 1
      ? { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] }
      : { role: 'assistant', content: 'There are three.' }
  return { choices: [{ index: 0, message, finish_reason: turn === 1 ? 'tool_calls' : 'stop' }] }
}

function insert(tree: string, { file, after, lines }: Insertion): void {
  const path = join(tree, file)
  if (after === undefined) return writeFileSync(path, `${lines.join('\n')}\n`)
  const rows = readFileSync(path, 'utf8').split('\n')
  const at = rows.findIndex((row) => row.includes(after))
  assert.notEqual(at, -1, `${file} has no line with “${after}”`)
  writeFileSync(path, rows.toSpliced(at + 1, 0, ...lines).join('\n'))
}
