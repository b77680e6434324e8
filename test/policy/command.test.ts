import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { dragoman, stage } from '../support/command.ts'
import { shared } from '../support/paths.ts'
import { skipWithoutCases } from '../support/security-cases.ts'

type Answers = readonly {
  id: string
  verdict: string
  rule: string
  why: string
  programs?: string[]
  rendered?: string
}[]

async function check(lines: readonly object[], args: readonly string[] = []): Promise<Answers> {
  const here = await stage([])
  const input = lines.map((line) => JSON.stringify(line)).join('\n')
  const { code, out, err } = await dragoman(['policy', 'check', '--json', ...args], here, { input })
  assert.equal(code, 0, err)
  return out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Answers[number])
}

describe('dragoman policy check', () => {
  test('one answer a line, for every kind of line', async () => {
    const answers = await check([
      { id: 'a', kind: 'shell', command: 'ls | head' },
      { id: 'b', kind: 'shell', commandParts: ['echo ', { repeat: 'x', times: 3 }, '; rm -rf ~'] },
      { id: 'c', kind: 'path', operation: 'write', path: '.git/config' },
      {
        id: 'd',
        kind: 'path',
        operation: 'read',
        path: 'l',
        setup: [{ op: 'symlink', path: 'ws/l', text: '{OUTSIDE}/x' }],
      },
      { id: 'e', kind: 'url', url: 'http://169.254.169.254/' },
      { id: 'f', kind: 'terminal', surface: 'tool-output', input: 'a\u001b[2Jb' },
    ])
    assert.deepEqual(
      answers.map(({ id, verdict, rendered }) => [id, verdict ?? rendered]),
      [
        ['a', 'allow'],
        ['b', 'deny'],
        ['c', 'protected'],
        ['d', 'out'],
        ['e', 'block'],
        ['f', 'ab'],
      ],
    )
    assert.deepEqual(answers[0]?.programs, ['ls', 'head'])
    assert.match(answers[1]?.why ?? '', /destroy/)
  })

  test('rules of one’s own, and these alone', async () => {
    const here = await stage([])
    const rules = join(here.work, 'rules.json')
    writeFileSync(rules, JSON.stringify({ allow: ['make'], deny: ['ls'] }))
    const answers = await check(
      ['make', 'ls', 'cat x'].map((command, id) => ({ id, kind: 'shell', command })),
      ['--rules', rules],
    )
    assert.deepEqual(
      answers.map(({ verdict }) => verdict),
      ['allow', 'deny', 'ask'],
    )
  })

  test('a rule that is wrong is a config error, a line that is wrong an input error', async () => {
    const here = await stage([])
    writeFileSync(join(here.work, 'rules.json'), JSON.stringify({ allow: [{ rule: 'ls', spares: ['ls -l'] }] }))
    const wrong = await dragoman(['policy', 'check', '--rules', 'rules.json'], here, { input: '' })
    assert.equal(wrong.code, 52)
    assert.match(wrong.err, /the rule “ls” matches “ls -l”, which it should not/)
    const line = await dragoman(['policy', 'check'], here, { input: 'no' })
    assert.equal(line.code, 42)
    assert.match(line.err, /line 1 is not a JSON object/)
  })

  test('the cases of the reference material', { skip: skipWithoutCases }, async (t) => {
    const of = (file: string) =>
      JSON.parse(readFileSync(join(shared, 'security', file), 'utf8')) as {
        policy: object
        base: object
        cases: readonly {
          id: string
          verdict?: string
          expect?: string
          accept?: readonly string[]
          allowIfCanaryAbsent?: boolean
        }[]
      }
    const [shell, paths, urls] = [of('shell-policy.json'), of('paths.json'), of('urls.json')]
    const lines = [
      ...shell.cases.map((one) => ({ ...one, kind: 'shell' })),
      ...paths.cases.map((one) => ({ ...one, kind: 'path', base: paths.base })),
      ...urls.cases.map((one) => ({ ...one, kind: 'url' })),
    ]
    const answers = await check(lines, ['--rules', join(shared, 'security/shell-policy.json')])
    const all = [...shell.cases, ...paths.cases, ...urls.cases]
    const wrong = all.filter((one, at) => {
      const verdict = answers[at]?.verdict ?? ''
      return verdict !== (one.verdict ?? one.expect) && !one.accept?.includes(verdict)
    })
    t.diagnostic(`${all.length} lines, ${wrong.length} answered otherwise: ${wrong.map(({ id }) => id).join(' ')}`)
    const breaches = wrong.filter(({ id }) =>
      /allow|in/.test(answers[all.findIndex((one) => one.id === id)]?.verdict ?? ''),
    )
    assert.deepEqual(breaches, [])
  })
})

describe('dragoman policy explain', () => {
  const CALLS: readonly (readonly [args: readonly string[], expected: RegExp])[] = [
    [['run_shell_command(rm -rf /)'], /It is denied\. It would destroy \/\./],
    [['rm -rf /'], /It is denied\. It would destroy \/\./],
    [['ls', '|', 'sort'], /It runs: ls, sort/],
    [['--tool', 'run_shell_command', 'f(x)'], /Decided by/],
    [
      ['run_shell_command(npm run build)'],
      /It needs approval.*“Always” can cover: “npm run build” with any further arguments.*exactly “npm run build”/s,
    ],
    [
      ['--tool', 'write_file', '.vscode/tasks.json'],
      /It needs approval.*By mode: default asks, .*yolo asks, plan denies it/s,
    ],
    [['read_file(a.txt)'], /It runs without approval/],
    [['web_fetch(http://localhost/)'], /It is denied/],
    [['memory__read_graph'], /The tool does not declare what it does.*“Always” can cover: memory__read_graph/s],
  ]
  for (const [args, expected] of CALLS)
    test(args.join(' '), async () => {
      const { code, out } = await dragoman(['policy', 'explain', ...args], await stage([]))
      assert.equal(code, 0)
      assert.match(out, expected)
    })

  test('it says what would really happen here, with a sandbox or without', async () => {
    const at = await stage([])
    const bin = join(at.home, 'bin')
    mkdirSync(bin)
    symlinkSync('/bin/bash', join(bin, 'bash'))
    const world = { ...at, env: { ...at.env, PATH: bin } }
    const here = await dragoman(['policy', 'explain', 'run_shell_command(pwd)'], world)
    assert.match(here.out, /^It runs without approval/, 'what is proved harmless needs no sandbox')
    const other = await dragoman(['policy', 'explain', 'run_shell_command(make)'], world)
    assert.match(other.out, /^It needs approval\..*By mode: default asks, auto_edit asks/s)
    const settings = join(at.home, '.config/dragoman')
    mkdirSync(settings, { recursive: true })
    writeFileSync(join(settings, 'config.json'), '{"sandbox":"off"}')
    const waived = await dragoman(['policy', 'explain', 'run_shell_command(pwd)'], world)
    assert.match(waived.out, /^It runs without approval/)
  })

  test('without a call it says how to ask', async () => {
    const { code, err } = await dragoman(['policy', 'explain'], await stage([]))
    assert.equal(code, 42)
    assert.match(err, /explain which call\?/)
  })
})

test('the shell parser is loaded only for a command', async () => {
  const loaded = async (calls: Parameters<typeof stage>[0]) => {
    const here = await stage(calls)
    const coverage = join(here.work, 'coverage')
    mkdirSync(coverage)
    await dragoman(['-p', 'go'], { ...here, env: { ...here.env, NODE_V8_COVERAGE: coverage } })
    return readdirSync(coverage)
      .map((name) => readFileSync(join(coverage, name), 'utf8'))
      .join('')
  }
  const read = { call: [{ name: 'list_directory', args: { path: '{cwd}' } }] }
  const run = { call: [{ name: 'run_shell_command', args: { command: 'ls' } }] }
  assert.doesNotMatch(await loaded([read, { say: 'Done.' }]), /chunks\/bash-parser-/)
  assert.match(await loaded([run, { say: 'Done.' }]), /chunks\/bash-parser-/)
})
