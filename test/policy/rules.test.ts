import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { type ApprovalOptions, approvalPolicies, approvalPolicy } from '../../src/policy/approval-policy.ts'
import type { Effect } from '../../src/policy/effect.ts'
import type { ApprovalMode, Decision, Grant, GrantScope, Policy } from '../../src/policy/policy.ts'
import { RuleError } from '../../src/policy/rules/rule-set.ts'
import { ground, type Ground } from './ground.ts'
import { questionFor } from './question.ts'

type Options = Partial<ApprovalOptions> & { readonly mode?: ApprovalMode }

function policyAt(at: Ground, options: Options = {}): Policy {
  const [disk, rejected] = [createDiskView(), findBashSyntaxError]
  return approvalPolicy({ mode: 'default', folders: [at.ws], home: at.home, disk, rejected, ...options })
}

const shell = (command: string, at: Ground): Effect => ({ kind: 'exec', command, folder: at.ws })

/** What a policy says to calls written as `tool what`. */
async function say(at: Ground, call: string, options: Options = {}): Promise<Decision> {
  const [, tool = '', what = ''] = /^(\S+) ?([^]*)$/.exec(call) ?? []
  return questionFor(policyAt(at, options), { tool, input: {}, effects: [effectOf(tool, what, at)] })
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
    ['run_shell_command ls', ['allow', 'allow', 'allow', 'allow']],
    ['run_shell_command make', ['ask', 'ask', 'allow', 'deny']],
    ['run_shell_command echo $(date)', ['ask', 'ask', 'allow', 'deny']],
    ['run_shell_command cat .env', ['ask', 'ask', 'ask', 'deny']],
    ['run_shell_command echo x > AGENTS.md', ['ask', 'ask', 'ask', 'deny']],
    ['run_shell_command echo x > .vscode/tasks.json', ['deny', 'deny', 'deny', 'deny']],
    ['run_shell_command sudo ls', ['deny', 'deny', 'deny', 'deny']],
    ['run_shell_command rm -rf /', ['deny', 'deny', 'deny', 'deny']],
    ['web_fetch example.com', ['ask', 'ask', 'allow', 'ask']],
    ['some_tool', ['ask', 'ask', 'allow', 'deny']],
  ]
  for (const [call, expected] of TABLE)
    test(call, async () => {
      using at = ground()
      const modes = ['default', 'auto_edit', 'yolo', 'plan'] as const
      const verdicts = await Promise.all(modes.map((mode) => verdict(at, call, { mode })))
      assert.deepEqual(verdicts, expected)
    })

  test('auto_edit is about edits: commands ask as in default, also in a sandbox', async () => {
    using at = ground()
    for (const sandboxed of [undefined, () => Promise.resolve(true), () => Promise.resolve(false)])
      for (const [command, expected] of [
        ['rm untracked.txt', 'ask'],
        ['make -j4', 'ask'],
        ['cat .env', 'ask'],
        ['ls', 'allow'],
        ['echo x > .mcp.json', 'deny'],
      ] as const)
        for (const mode of ['default', 'auto_edit'] as const)
          assert.equal(
            await verdict(at, `run_shell_command ${command}`, { mode, ...(sandboxed && { sandboxed }) }),
            expected,
            `${command} in ${mode}`,
          )
  })

  test('a plan may look: what the person allows otherwise may change something, and does not run', async () => {
    using at = ground()
    const rules = { user: { allow: ['make', 'git commit', 'my_tool(*)', 'write_file(**)'], deny: ['git log'] } }
    for (const [call, expected] of [
      ['run_shell_command git status', 'allow'],
      ['run_shell_command ls && cat a.ts', 'allow'],
      ['run_shell_command make', 'deny'],
      ['run_shell_command git commit -m x', 'deny'],
      ['run_shell_command git log', 'deny'],
      ['run_shell_command ls > x', 'deny'],
      ['write_file a.ts', 'deny'],
      ['my_tool', 'deny'],
    ] as const)
      assert.equal(await verdict(at, call, { mode: 'plan', rules, allowed: ['run_shell_command'] }), expected, call)
  })
})

/** The first thing that can be allowed from now on. */
function first({ grants: [grant] = [] }: Decision): Grant {
  assert.ok(grant, 'there is no “always”')
  return grant
}

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
    ['brackets without a meaning', 'db__query(x)', /tools of MCP servers cannot have any/],
  ]
  for (const [name, rule, message] of WRONG)
    test(`a config error: ${name}`, () => {
      using at = ground()
      const options = { rules: { user: { allow: [rule as string] } } }
      assert.throws(
        () => policyAt(at, options),
        (error) => error instanceof RuleError && message.test(error.message),
      )
    })

  const BRACKETS: readonly (readonly [rule: string, call: string, verdict: string])[] = [
    ['*(src/**)', 'run_shell_command make', 'ask'],
    ['*(src/**)', 'web_fetch example.com', 'ask'],
    ['*(src/**)', 'deploy', 'ask'],
    ['*(src/**)', 'write_file src/a.ts', 'allow'],
    ['web_fetch(*)', 'web_fetch example.com', 'allow'],
    ['web_fetch(Example.com)', 'web_fetch example.com.', 'allow'],
    ['run_shell_command(*)', 'run_shell_command make', 'allow'],
    ['run_shell_command(src/**)', 'run_shell_command make', 'ask'],
    ['write_file(*)', 'write_file deep/a.ts', 'allow'],
    ['write_file(*)', 'write_file /tmp/elsewhere', 'ask'],
    ['my_file_tool(src/**)', 'my_file_tool src/a.ts', 'allow'],
    ['my_file_tool(src/**)', 'my_file_tool /etc/hosts', 'ask'],
    ['read_file(*)', 'read_file .env', 'ask'],
    ['read_file(.env)', 'read_file .env', 'allow'],
    ['replace', 'replace a.ts', 'allow'],
    ['replace(src/**)', 'replace a.ts', 'ask'],
    ['deploy', 'deploy', 'allow'],
    ['deploy', 'run_shell_command deploy', 'allow'],
    ['deploy(*)', 'deploy', 'allow'],
    ['deploy(*)', 'run_shell_command deploy', 'ask'],
    ['deploy(prod)', 'deploy', 'ask'],
    ['git status', 'git', 'ask'],
  ]
  for (const [rule, call, expected] of BRACKETS)
    test(`what the brackets mean follows from the call: ${rule}, ${call}`, async () => {
      using at = ground()
      assert.equal(await verdict(at, call, { rules: { user: { allow: [rule] } } }), expected)
    })

  const STRICT: readonly (readonly [rule: string, call: string])[] = [
    ['my_file_tool(*)', 'my_file_tool /etc/hosts'],
    ['my_file_tool(*)', 'my_file_tool .'],
    ['*(*)', 'read_file /etc/hosts'],
    ['*(*)', 'run_shell_command make'],
    ['*(*)', 'web_fetch example.com'],
    ['read_*(*)', 'read_file /etc/hosts'],
    ['list_directory(*)', 'list_directory .'],
    ['run_*(rm)', 'run_shell_command rm x'],
    ['run_*(*)', 'run_shell_command make'],
  ]
  for (const [rule, call] of STRICT)
    test(`a rule that denies holds for all that it names: ${rule}, ${call}`, async () => {
      using at = ground()
      for (const mode of ['default', 'yolo'] as const)
        assert.equal(await verdict(at, call, { mode, rules: { user: { deny: [rule] } } }), 'deny', mode)
    })

  const GUARDED: readonly (readonly [rule: string, command: string])[] = [
    ['git diff *', 'git diff --output=x'],
    ['git diff *', 'git diff --outp=x'],
    ['git diff *', 'git diff --no-index /dev/null /etc/passwd'],
    ['git log *', 'git log -p --ext-diff'],
    ['git show *', 'git show --textconv HEAD'],
    ['git grep *', 'git grep -O foo'],
    ['git grep *', 'git grep --open-files-in-pager=x foo'],
  ]
  for (const [rule, command] of GUARDED)
    test(`what follows a subcommand of git that only reads is guarded: ${command}`, async () => {
      using at = ground()
      assert.equal(await verdict(at, `run_shell_command ${command}`, { rules: { user: { allow: [rule] } } }), 'ask')
    })

  test('a tool with the name of a harmless command is not allowed by the built-in rules', async () => {
    using at = ground()
    assert.equal(await verdict(at, 'run_shell_command date'), 'allow')
    assert.equal(await verdict(at, 'date'), 'ask')
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
    const policyFor = approvalPolicies({
      folders: [at.ws],
      home: at.home,
      disk: createDiskView(),
      rejected: findBashSyntaxError,
    })
    const policy = policyFor('default')
    const call = (command: string) => ({ tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })
    const asked = await questionFor(policy, call("npm run 'build it' && ls"))
    assert.equal(first(asked).covers, "exactly “npm run 'build it'”")
    assert.match(
      policy.remember(call("npm run 'build it' && ls"), first(asked), 'session'),
      /^Allowed in this session: exactly/,
    )
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
    const policy = policyAt(at, { save: (rules) => saved.push(...rules) })
    const call = (command: string) => ({ tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })
    const grant = first(await questionFor(policy, call('echo $(date)')))
    assert.match(grant.covers, /exactly the command/)
    assert.deepEqual(grant.scopes, ['session'])
    assert.match(policy.remember(call('echo $(date)'), grant, 'user'), /in this session/)
    assert.deepEqual(saved, [])
    assert.equal((await policy.decide(call('echo $(date)'))).verdict, 'allow')
    assert.equal((await policy.decide(call('echo $(date) x'))).verdict, 'ask')
  })

  test('of a long text or of many commands: said in a few words, without a line end', async () => {
    using at = ground()
    const policy = policyAt(at)
    const covers = async (command: string) =>
      first(await questionFor(policy, { tool: 'run_shell_command', input: {}, effects: [shell(command, at)] })).covers
    const long = await covers('echo $(date)\n'.repeat(60))
    assert.match(long, /^exactly the command “echo \$\(date\) ⏎ echo .* … .*”$/)
    assert.ok(long.length < 200)
    const many = await covers('npm a; npm b; npm c; npm d; npm e')
    assert.equal(many, `exactly ${['a', 'b', 'c', 'd', 'e'].map((one) => `“npm ${one}”`).join(' and ')}`)
  })

  test('there is none for what only a person may decide', async () => {
    using at = ground()
    const policy = policyAt(at)
    for (const [tool, effect] of [
      ['write_file', { kind: 'write', path: `${at.ws}/.git/config` }],
      ['run_shell_command', shell('cat .env', at)],
    ] as const) {
      const proposal = { tool, input: {}, effects: [effect] }
      const decision = await questionFor(policy, proposal)
      assert.deepEqual([decision.verdict, decision.grants], ['ask', undefined])
    }
  })

  test('of other tools: in the workspace, this file, this host, this tool, this server; kept if asked to', async () => {
    using at = ground()
    const saved: string[] = []
    const policy = policyAt(at, { save: (rules, scope) => saved.push(...rules.map((rule) => `${scope}: ${rule}`)) })
    const proposal = (tool: string, effect: Effect) => ({ tool, input: {}, effects: [effect] })
    const allow = async (tool: string, effect: Effect, scope: GrantScope = 'session', breadth?: Grant['breadth']) => {
      const { grants = [] } = await questionFor(policy, proposal(tool, effect))
      const grant = grants.find((one) => breadth === undefined || one.breadth === breadth)
      assert.ok(grant && grant.scopes?.includes(scope), `${tool} cannot be allowed ${scope}`)
      return policy.remember(proposal(tool, effect), grant, scope)
    }
    const after = async (tool: string, effect: Effect) => (await policy.decide(proposal(tool, effect))).verdict
    const write = (path: string): Effect => ({ kind: 'write', path })

    assert.match(
      await allow('write_file', write(`${at.ws}/a`), 'user'),
      /^Allowed everywhere: write_file in the workspace/,
    )
    assert.equal(await after('write_file', write(`${at.ws}/b/c`)), 'allow')
    assert.equal(await after('write_file', write(`${at.outside}/b`)), 'ask')
    assert.equal(await after('write_file', write(`${at.ws}/.mcp.json`)), 'ask')
    await allow('read_file', { kind: 'read', path: `${at.outside}/x` })
    assert.equal(await after('read_file', { kind: 'read', path: `${at.outside}/x` }), 'allow')
    assert.equal(await after('read_file', { kind: 'read', path: `${at.outside}/y` }), 'ask')
    await allow('web_fetch', { kind: 'net', host: 'a.org', urls: ['https://a.org/x'] }, 'project')
    assert.equal(await after('web_fetch', { kind: 'net', host: 'a.org' }), 'allow')
    assert.equal(await after('web_fetch', { kind: 'net', host: 'b.a.org' }), 'ask')
    await allow('query', { kind: 'unknown', mcpTool: { server: 'db', tool: 'query' } }, 'session', 'server')
    assert.equal(await after('insert', { kind: 'unknown', mcpTool: { server: 'db', tool: 'insert' } }), 'allow')
    assert.equal(await after('query', { kind: 'unknown', mcpTool: { server: 'other', tool: 'query' } }), 'ask')
    assert.deepEqual(saved, ['user: write_file(**)', 'project: web_fetch(a.org)'])
  })

  test('of tools that are not ours: whatever is offered is kept, and what cannot be kept is not offered', async () => {
    using at = ground()
    const effects: readonly Effect[] = [
      { kind: 'read', path: `${at.outside}/x` },
      { kind: 'read', path: `${at.outside}/a*[1]{2}` },
      { kind: 'read', path: `${at.ws}/.env` },
      { kind: 'write', path: `${at.ws}/a b (1).txt` },
      { kind: 'write', path: `${at.outside}/y` },
      { kind: 'write', path: `${at.ws}/.git/config` },
      { kind: 'net', host: 'a.org' },
      { kind: 'net', host: '[::1]:8080', urls: ['http://[::1]:8080/'] },
      { kind: 'unknown' },
      { kind: 'unknown', mcpTool: { server: 'db', tool: 'query' } },
      { kind: 'unknown', mcpTool: { server: 'db', tool: '*' } },
      { kind: 'unknown', mcpTool: { server: 'db', tool: 'get/thing' } },
      { kind: 'unknown', mcpTool: { server: 'db', tool: 'x', changed: true } },
      shell('make it', at),
      shell('echo $(date)', at),
    ]
    let [offered, none] = [0, 0]
    for (const tool of ['deploy', 'my_tool', 'my-tool', 'Deploy.It', 'query'])
      for (const effect of effects)
        for (const more of [[], [{ kind: 'read', path: `${at.outside}/z` }]] as const) {
          const call = { tool, input: {}, effects: [effect, ...more] }
          const { grants = [], verdict: before } = await questionFor(policyAt(at, { save: () => undefined }), call)
          assert.equal(before, 'ask')
          if (grants.length === 0) none++
          for (const grant of grants)
            for (const scope of grant.scopes ?? []) {
              offered++
              const fresh = policyAt(at, { save: () => undefined })
              fresh.remember(call, grant, scope)
              const what = `${tool} ${JSON.stringify(effect)} ${grant.breadth} ${scope}`
              assert.equal((await fresh.decide(call)).verdict, 'allow', what)
              // What is saved holds in the next session, too.
              if (scope === 'session') continue
              const later = policyAt(at, { rules: { user: { allow: grant.rules } } })
              assert.equal((await later.decide(call)).verdict, 'allow', `${what}, later`)
            }
        }
    assert.ok(offered > 150 && none > 0, `${offered} offered, ${none} without`)
  })

  test('a name that reads as a pattern allows no other: a tool called *, a file called *', async () => {
    using at = ground()
    const policy = policyAt(at)
    for (const effect of [
      { kind: 'unknown', mcpTool: { server: 'db', tool: '*' } },
      { kind: 'read', path: `${at.outside}/*` },
    ] as const) {
      const { grants = [] } = await questionFor(policy, { tool: 't', input: {}, effects: [effect] })
      assert.deepEqual(
        grants.filter(({ breadth }) => breadth !== 'server'),
        [],
      )
    }
  })

  test('what a rule of the person asks about is asked about each time', async () => {
    using at = ground()
    const policy = policyAt(at, { rules: { user: { ask: ['my_tool(*)'] } }, save: () => undefined })
    const { grants = [] } = await questionFor(policy, { tool: 'my_tool', input: {}, effects: [{ kind: 'unknown' }] })
    assert.deepEqual(grants, [])
  })
})
