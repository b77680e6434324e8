import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bashRejects } from '../../src/host/bash-syntax.ts'
import { lookAtDisk } from '../../src/host/look.ts'
import { type ApprovalOptions, approvalPolicies, approvalPolicy } from '../../src/policy/approval.ts'
import type { Effect } from '../../src/policy/effect.ts'
import type { ApprovalMode, Decision, Policy } from '../../src/policy/policy.ts'
import { RuleProblem } from '../../src/policy/rule/book.ts'
import { ground, type Ground } from './ground.ts'

type Options = Partial<ApprovalOptions> & { readonly mode?: ApprovalMode }

function policyAt(at: Ground, options: Options = {}): Policy {
  const [disk, rejected] = [lookAtDisk(), bashRejects]
  return approvalPolicy({ mode: 'default', folders: [at.ws], home: at.home, disk, rejected, ...options })
}

const shell = (command: string, at: Ground): Effect => ({ kind: 'exec', command, folder: at.ws })

/** What a policy says to calls written as `tool what`. */
async function say(at: Ground, call: string, options: Options = {}): Promise<Decision> {
  const [, tool = '', what = ''] = /^(\S+) ?([^]*)$/.exec(call) ?? []
  return policyAt(at, options).decide({ tool, input: {}, effects: [effectOf(tool, what, at)] })
}

function effectOf(tool: string, what: string, at: Ground): Effect {
  if (tool === 'run_shell_command') return shell(what, at)
  if (tool === 'web_fetch') return { kind: 'net', host: what }
  const kind = /write|replace|edit|memory/.test(tool) ? 'write' : 'read'
  if (!/file|replace|edit|directory/.test(tool)) return { kind: 'unknown' }
  return { kind, path: what.startsWith('/') ? what : `${at.ws}/${at.fill(what)}` }
}

const verdict = async (...args: Parameters<typeof say>) => (await say(...args)).verdict

describe('modes', () => {
  const TABLE: readonly (readonly [call: string, byMode: readonly [string, string, string, string]])[] = [
    ['read_file a.ts', ['allow', 'allow', 'allow', 'allow']],
    ['read_file /etc/hosts', ['ask', 'ask', 'allow', 'ask']],
    ['read_file .env', ['ask', 'ask', 'ask', 'ask']],
    ['read_file .env.example', ['allow', 'allow', 'allow', 'allow']],
    ['write_file a.ts', ['ask', 'allow', 'allow', 'deny']],
    ['write_file /tmp/elsewhere', ['ask', 'ask', 'allow', 'deny']],
    ['write_file .git/hooks/pre-commit', ['ask', 'ask', 'ask', 'deny']],
    ['write_file AGENTS.md', ['ask', 'ask', 'ask', 'deny']],
    ['run_shell_command ls', ['allow', 'allow', 'allow', 'deny']],
    ['run_shell_command make', ['ask', 'ask', 'allow', 'deny']],
    ['run_shell_command echo $(date)', ['ask', 'ask', 'allow', 'deny']],
    ['run_shell_command cat .env', ['ask', 'ask', 'ask', 'deny']],
    ['run_shell_command echo x > AGENTS.md', ['ask', 'ask', 'ask', 'deny']],
    ['run_shell_command echo x > .vscode/tasks.json', ['deny', 'deny', 'deny', 'deny']],
    ['run_shell_command sudo ls', ['deny', 'deny', 'deny', 'deny']],
    ['run_shell_command rm -rf /', ['deny', 'deny', 'deny', 'deny']],
    ['web_fetch example.com', ['ask', 'ask', 'allow', 'deny']],
    ['some_tool', ['ask', 'ask', 'allow', 'deny']],
  ]
  for (const [call, expected] of TABLE)
    test(call, async () => {
      using at = ground()
      const modes = ['default', 'auto_edit', 'yolo', 'plan'] as const
      const verdicts = await Promise.all(modes.map((mode) => verdict(at, call, { mode })))
      assert.deepEqual(verdicts, expected)
    })

  test('in a sandbox, auto_edit lets commands run that are understood and touch nothing protected', async () => {
    using at = ground()
    const options = { mode: 'auto_edit', sandboxed: () => Promise.resolve(true) } as const
    assert.equal(await verdict(at, 'run_shell_command make -j4', options), 'allow')
    assert.equal(await verdict(at, 'run_shell_command cat .env', options), 'ask')
    assert.equal(await verdict(at, 'run_shell_command {make,x}', options), 'ask')
    assert.equal(await verdict(at, 'run_shell_command echo x > .mcp.json', options), 'deny')
    assert.equal(await verdict(at, 'run_shell_command make', { ...options, mode: 'default' }), 'ask')
  })
})

describe('rules', () => {
  test('tools, paths, hosts and words', async () => {
    using at = ground()
    const rules = {
      user: {
        allow: ['write_file(src/**)', 'web_fetch(*.example.com)', 'make test', 'db__*', 'read_file(/etc/hosts)'],
        ask: ['read_file(notes/**)'],
        deny: ['replace', 'write_file(src/gen/**)', 'web_fetch(evil.example.com)', 'run_shell_command(git push)'],
      },
    }
    const TABLE: readonly (readonly [call: string, verdict: string])[] = [
      ['write_file src/a.ts', 'allow'],
      ['write_file src/gen/a.ts', 'deny'],
      ['write_file other/a.ts', 'ask'],
      ['replace src/a.ts', 'deny'],
      ['web_fetch docs.example.com', 'allow'],
      ['web_fetch example.com', 'allow'],
      ['web_fetch notexample.com', 'ask'],
      ['web_fetch evil.example.com', 'deny'],
      ['run_shell_command make test', 'allow'],
      ['run_shell_command make test src', 'allow'],
      ['run_shell_command make tester', 'ask'],
      ['run_shell_command make test --eval=x', 'ask'],
      ['run_shell_command make test ../x', 'ask'],
      ['run_shell_command git push --force', 'deny'],
      ['db__query', 'allow'],
      ['db_query', 'ask'],
      ['read_file notes/x', 'ask'],
      ['read_file /etc/hosts', 'allow'],
      ['write_file src/.git/config', 'ask'],
    ]
    for (const [call, expected] of TABLE) assert.equal(await verdict(at, call, { rules }), expected, call)
  })

  test('the weightier tier decides, and in a tier the strictest rule', async () => {
    using at = ground()
    const tiers = (rules: Options['rules']) => verdict(at, 'run_shell_command make', rules ? { rules } : {})
    assert.equal(await tiers({ user: { allow: ['make'] } }), 'allow')
    assert.equal(await tiers({ user: { allow: ['make'] }, admin: { deny: ['make'] } }), 'deny')
    assert.equal(await tiers({ user: { deny: ['make'] }, admin: { allow: ['make'] } }), 'allow')
    assert.equal(await tiers({ user: { allow: ['make'], ask: ['make'] } }), 'ask')
    assert.equal(await tiers({ project: { deny: ['make'] }, user: { allow: ['make'] } }), 'allow')
    assert.equal(await tiers({ project: { deny: ['run_shell_command'] } }), 'deny')
  })

  test('a project can only tighten until its folder is trusted', async () => {
    using at = ground()
    const project = { allow: ['make', 'sudo', 'write_file'], ask: ['sudo', 'ls'], deny: ['cat'] }
    const both = async (call: string) => [
      await verdict(at, call, { rules: { project } }),
      await verdict(at, call, { rules: { project, trusted: true } }),
    ]
    assert.deepEqual(await both('run_shell_command make'), ['ask', 'allow'])
    assert.deepEqual(await both('run_shell_command sudo x'), ['deny', 'ask'])
    assert.deepEqual(await both('run_shell_command ls'), ['ask', 'ask'])
    assert.deepEqual(await both('run_shell_command cat x'), ['deny', 'deny'])
    assert.deepEqual(await both('write_file x'), ['ask', 'allow'])
  })

  test('--allowed-tools: a tool, or words; never what is protected, nor over a rule about words', async () => {
    using at = ground()
    const allowed = ['run_shell_command', 'write_file']
    assert.equal(await verdict(at, 'run_shell_command echo $(date) > x', { allowed }), 'allow')
    assert.equal(await verdict(at, 'run_shell_command sudo x', { allowed }), 'deny')
    assert.equal(await verdict(at, 'run_shell_command rm -rf ~', { allowed }), 'deny')
    assert.equal(await verdict(at, 'write_file x', { allowed }), 'allow')
    assert.equal(await verdict(at, 'write_file .mcp.json', { allowed }), 'ask')
    assert.equal(await verdict(at, 'write_file x', { allowed, mode: 'plan' }), 'deny')
    assert.equal(await verdict(at, 'run_shell_command make; ls', { allowed: ['run_shell_command(make)'] }), 'allow')
    assert.equal(await verdict(at, 'run_shell_command make; rm x', { allowed: ['run_shell_command(make)'] }), 'ask')
  })

  test('more protected and secret files', async () => {
    using at = ground()
    const rules = { user: { protectedWrites: ['deploy/**', '~/x'], secretFiles: ['*.token'] } }
    assert.equal(await verdict(at, 'write_file deploy/a', { rules, mode: 'yolo' }), 'ask')
    assert.equal(await verdict(at, `write_file ${at.home}/x`, { rules, mode: 'yolo' }), 'ask')
    assert.equal(await verdict(at, 'run_shell_command cp a deploy/', { rules, mode: 'yolo' }), 'deny')
    assert.equal(await verdict(at, 'read_file my.token', { rules, mode: 'yolo' }), 'ask')
    assert.equal(await verdict(at, 'read_file .env', { rules, mode: 'yolo' }), 'ask')
  })

  const WRONG: readonly (readonly [name: string, rule: string | object, message: RegExp])[] = [
    ['an example that does not match', { rule: 'git status', matches: ['git stash'] }, /does not match its example/],
    ['an example that matches', { rule: 'git', spares: ['git push'] }, /matches “git push”, which it should not/],
    ['an example of a path', { rule: 'write_file(src/**)', spares: ['src/a'] }, /matches “src\/a”/],
    ['an example of a host', { rule: 'web_fetch(*.x.org)', matches: ['y.org'] }, /does not match/],
    ['two commands', 'run_shell_command(ls; rm x)', /about one command/],
    ['open quotes', "run_shell_command(echo 'x)", /not a list of words/],
    ['nothing in the brackets', 'write_file()', /nothing between its brackets/],
    ['brackets without a meaning', 'google_web_search(x)', /no tool whose rules/],
  ]
  for (const [name, rule, message] of WRONG)
    test(`a config error: ${name}`, () => {
      using at = ground()
      const options = { rules: { user: { allow: [rule as string] } } }
      assert.throws(
        () => policyAt(at, options),
        (error) => error instanceof RuleProblem && message.test(error.message),
      )
    })

  test('right examples are no error', () => {
    using at = ground()
    const rule = { rule: 'git status', matches: ['git status -s', "git 'status'"], spares: ['git statusx', 'git'] }
    policyAt(at, { rules: { user: { allow: [rule] } } })
  })
})

describe('always', () => {
  test('of a command: its words and no more, in all modes', async () => {
    using at = ground()
    const policyFor = approvalPolicies({ folders: [at.ws], home: at.home, disk: lookAtDisk(), rejected: bashRejects })
    const policy = policyFor('default')
    const call = (command: string) => ({ tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })
    const asked = await policy.decide(call("npm run 'build it' && ls"))
    assert.equal(asked.covers, "exactly the words “npm run 'build it'”")
    assert.match(policy.remember(call("npm run 'build it' && ls"), 'tool'), /in this session without asking: exactly/)
    assert.equal((await policy.decide(call('npm run "build it"; ls -l'))).verdict, 'allow')
    assert.equal((await policyFor('auto_edit').decide(call('npm run "build it"'))).verdict, 'allow')
    for (const other of [
      'npm run build it',
      "npm run 'build it' x",
      "npm run 'build it' > x",
      "npm run 'build it'; rm x",
    ])
      assert.equal((await policy.decide(call(other))).verdict, 'ask', other)
  })

  test('of text that is not certain: this very text, for the session only', async () => {
    using at = ground()
    const saved: string[] = []
    const policy = policyAt(at, { save: (rule) => saved.push(rule) })
    const call = (command: string) => ({ tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })
    assert.match((await policy.decide(call('echo $(date)'))).covers ?? '', /exactly the command/)
    assert.match(policy.remember(call('echo $(date)'), 'saved'), /in this session/)
    assert.deepEqual(saved, [])
    assert.equal((await policy.decide(call('echo $(date)'))).verdict, 'allow')
    assert.equal((await policy.decide(call('echo $(date) x'))).verdict, 'ask')
  })

  test('of a long text or of many commands: said in a few words, without a line end', async () => {
    using at = ground()
    const policy = policyAt(at)
    const covers = async (command: string) =>
      (await policy.decide({ tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })).covers ?? ''
    const long = await covers('echo $(date)\n'.repeat(60))
    assert.match(long, /^exactly the command “echo \$\(date\) ⏎ echo .* … .*”$/)
    assert.ok(long.length < 200)
    const many = await covers('npm a; npm b; npm c; npm d; npm e')
    assert.equal(many, [...['a', 'b', 'c'].map((one) => `exactly the words “npm ${one}”`), 'and 2 more'].join('; '))
  })

  test('there is none for what only a person may decide', async () => {
    using at = ground()
    const policy = policyAt(at)
    for (const [tool, effect] of [
      ['write_file', { kind: 'write', path: `${at.ws}/.git/config` }],
      ['run_shell_command', shell('cat .env', at)],
    ] as const) {
      const proposal = { tool, input: {}, effects: [effect] }
      const decision = await policy.decide(proposal)
      assert.deepEqual([decision.verdict, decision.covers], ['ask', undefined])
      assert.match(policy.remember(proposal, 'tool'), /each time/)
      assert.equal((await policy.decide(proposal)).verdict, 'ask')
    }
  })

  test('of other tools: in the workspace, this file, this host, this tool, this server; kept if asked to', async () => {
    using at = ground()
    const saved: string[] = []
    const policy = policyAt(at, { save: (rule) => saved.push(rule) })
    const proposal = (tool: string, effect: Effect) => ({ tool, input: {}, effects: [effect] })
    const allow = async (tool: string, effect: Effect, scope: 'tool' | 'server' | 'saved' = 'tool') => {
      await policy.decide(proposal(tool, effect))
      return policy.remember(proposal(tool, effect), scope)
    }
    const after = async (tool: string, effect: Effect) => (await policy.decide(proposal(tool, effect))).verdict
    const write = (path: string): Effect => ({ kind: 'write', path })

    assert.match(await allow('write_file', write(`${at.ws}/a`), 'saved'), /write_file in the workspace/)
    assert.equal(await after('write_file', write(`${at.ws}/b/c`)), 'allow')
    assert.equal(await after('write_file', write(`${at.outside}/b`)), 'ask')
    assert.equal(await after('write_file', write(`${at.ws}/.mcp.json`)), 'ask')
    await allow('read_file', { kind: 'read', path: `${at.outside}/x` })
    assert.equal(await after('read_file', { kind: 'read', path: `${at.outside}/x` }), 'allow')
    assert.equal(await after('read_file', { kind: 'read', path: `${at.outside}/y` }), 'ask')
    await allow('web_fetch', { kind: 'net', host: 'a.org' }, 'saved')
    assert.equal(await after('web_fetch', { kind: 'net', host: 'a.org' }), 'allow')
    assert.equal(await after('web_fetch', { kind: 'net', host: 'b.a.org' }), 'ask')
    await allow('query', { kind: 'unknown', of: { server: 'db', tool: 'query' } }, 'server')
    assert.equal(await after('insert', { kind: 'unknown', of: { server: 'db', tool: 'insert' } }), 'allow')
    assert.equal(await after('query', { kind: 'unknown', of: { server: 'other', tool: 'query' } }), 'ask')
    assert.deepEqual(saved, ['write_file(**)', 'web_fetch(a.org)'])
  })
})
