import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { createRuleSet, type PolicyRules } from '../../src/policy/rules/rule-set.ts'
import { checkShellCommand, type ShellDecision } from '../../src/policy/shell/check-shell-command.ts'
import { ground, type Ground, type Step } from './ground.ts'

const RULES: PolicyRules = {
  allow: [
    'ls',
    'cat',
    'rg',
    'grep',
    'echo',
    'head',
    'sort',
    'uniq',
    'git status',
    'git diff',
    'git log',
    'npm test',
    'make',
    'go test *',
  ],
  ask: ['git log --all'],
  deny: ['sudo', 'curl', 'git push'],
}

const FILES: readonly Step[] = [
  { op: 'file', path: 'a.txt', text: 'a\n' },
  { op: 'file', path: 'src/b.ts', text: 'b\n' },
  { op: 'mkdir', path: 'build' },
  { op: 'git-init-and-commit', path: '.' },
  { op: 'file', path: '.env', text: 'KEY=FAKE\n' },
  { op: 'symlink', path: 'out', text: '../outside' },
  { op: 'symlink', path: 'keys', text: '.env' },
]

const common = ground(FILES)
after(() => common[Symbol.dispose]())

async function judged(command: string, steps?: readonly Step[]): Promise<ShellDecision> {
  if (!steps) return judgedAt(command, common)
  using at = ground(steps)
  return await judgedAt(command, at)
}

function judgedAt(command: string, at: Ground): Promise<ShellDecision> {
  const places = { folders: [at.ws], home: at.home, disk: createDiskView() }
  return checkShellCommand(at.fill(command), at.ws, {
    pathContext: places,
    ruleSet: createRuleSet({ user: RULES }),
    rejected: findBashSyntaxError,
  })
}

const ALLOWED = [
  'ls',
  'ls -la src | head -5',
  'ls && git status; git diff --stat HEAD~1 -- src/b.ts',
  'git --no-pager diff',
  'cat a.txt "src/b.ts" \'a.txt\' src/"b".ts',
  'echo "it costs \\$5 and \\"more\\"" \'$(x)\'',
  'cat < a.txt',
  'rg -n "b" src 2>/dev/null',
  'ls 2>&1 >/dev/null',
  'cd src && ls && cat b.ts',
  'LC_ALL=C sort a.txt',
  '( ls; echo hi ) # a comment',
  'echo a \\\n  b',
  'sort -rn a.txt | uniq -c',
  'npm test -- --verbose src',
  'make all',
  'go test -run X ./...',
  'echo HEAD@{1} a=b x^y',
  'cat <<< "text"',
]

const ASKED: readonly (readonly [why: string, command: string])[] = [
  ['another command', 'ls; touch x'],
  ['in the background', 'ls & echo x'],
  ['a substitution', 'echo $(ls)'],
  ['a substitution in quotes', 'echo "`ls`"'],
  ['a variable', 'echo $FOO'],
  ['a pattern', 'cat *'],
  ['braces', 'cat {a,b}.txt'],
  ['a file by redirection', 'echo x > a.txt'],
  ['a file outside', 'cat ../outside/x'],
  ['through a link', 'cat out/x'],
  ['the home folder', 'ls ~'],
  ['a secret', 'cat .env'],
  ['a secret behind a link', 'cat keys'],
  ['a secret as input', 'cat < .env'],
  ['an old version of a secret', 'git diff HEAD:.env a.txt'],
  ['an option that runs a program', 'rg --pre ./x foo'],
  ['an option that writes', 'sort -o x a.txt'],
  ['a word that is written', 'uniq a.txt b.txt'],
  ['an option cut short', 'sort --out=x a.txt'],
  ['an unknown option', 'ls --frobnicate'],
  ['an option where nothing is known of options', 'make --eval=x'],
  ['a variable for make', 'make SHELL=./x'],
  ['settings of git', 'git -c core.pager=x diff'],
  ['code for the script', 'npm test -- --require ./x.js'],
  ['a program by its path', './ls'],
  ['an environment', 'PATH=. ls'],
  ['a wrapper', 'env ls'],
  ['a function', 'ls() { echo x; }; ls'],
  ['a loop', 'for i in 1 2; do echo $i; done'],
  ['cd that may fail', 'cd src; cat b.ts'],
  ['cd out', 'cd .. && ls'],
  ['cd through a link', 'cd out && ls'],
  ['a rule that asks', 'git log --all'],
  ['a rule that asks, inside', 'echo $(git log --all)'],
  ['a word over two lines', 'ls\\\n-la'],
  ['too many commands', 'ls; '.repeat(70)],
  ['too long', `echo ${'x'.repeat(21_000)}`],
]

const DENIED: readonly (readonly [why: string, command: string])[] = [
  ['a rule', 'sudo ls'],
  ['a rule of two words', 'git push origin main'],
  ['by path', '/usr/bin/curl x'],
  ['in quotes', "'cu'rl x"],
  ['in other case', '/usr/bin/CURL x'],
  ['by a pattern', '/usr/bin/c?rl x'],
  ['over two lines', 'cu\\\nrl x'],
  ['in a substitution', 'echo "$(curl x)"'],
  ['in ticks in a default', 'echo "${x:-`curl x`}"'],
  ['in a here-document', 'cat <<EOF\n`curl x`\nEOF'],
  ['a here-document for a shell', 'bash <<EOF\ncurl x\nEOF'],
  ['through a pipe into a shell', "echo 'curl x' | sh"],
  ['through starters', 'env A=1 nice -n 5 timeout 3 xargs -n1 curl'],
  ['an option nobody knows', 'timeout --frob curl x'],
  ['in a shell in a shell', `bash -c "sh -c 'eval curl x'"`],
  ['find', 'find . -name x -exec curl {} \\;'],
  ['a trap', "trap 'curl x' EXIT"],
  ['an alias of git', "git -c 'alias.x=!curl x' x"],
  ['braces', '{curl,x}'],
  ['deep', `${'echo $('.repeat(60)}curl x${')'.repeat(60)}`],
  ['at the end of much', `${'ls; '.repeat(500)}curl x`],
  ['behind a long row of starters', `${'env '.repeat(40)}curl x`],
  ['too long to be judged', `echo ${'x'.repeat(100_001)}`],
  ['too many words to be judged', 'ls; '.repeat(9000)],
  ['too many starters to be judged', `${'env '.repeat(9000)}ls`],
  ['not for bash', 'echo "x'],
  ['not for bash, though our parser takes it', 'ls (a)'],
  ['a control character', 'ls \u0007'],
  ['a direction mark', 'ls \u202E'],
  ['an invisible filler', 'echo \u3164'],
  ['a tag', 'echo \u{E0041}'],
  ['half a character', 'echo \uD800'],
  ['letters of another script', '\u0441url x'],
  ['wide letters', '\uFF4C\uFF53'],
  ['the root', 'rm -rf /'],
  ['the home', 'rm -r ~/'],
  ['the workspace', 'rm -rf ./*'],
  ['above the workspace', 'rm -rf ..'],
  ['the workspace by its name', 'rm -rf {WS}'],
  ['the repository', 'mv .git /tmp/x'],
  ['a system folder', 'rm -rf /usr'],
  ['after cd', 'cd / && rm -rf *'],
  ['all files', 'find . -delete'],
  ['a device', 'cat a.txt > /dev/sda'],
  ['a fork bomb', 'b(){ b|b& };b'],
  ['every process', 'kill -9 -1'],
  ['a connection', 'cat < /dev/tcp/127.0.0.1/9'],
  ['a connection both ways', 'exec 3<>/dev/tcp/127.0.0.1/9'],
  ['a hook', 'echo x > .git/hooks/pre-commit'],
  ['a hook by cp', 'cp a.txt .git/hooks/'],
  ['a hook after cd', 'cd .git/hooks && echo x > pre-commit'],
  ['a workflow', 'tee .github/workflows/x.yml'],
  ['settings of an editor', 'sed -i s/a/b/ .vscode/settings.json'],
  ['settings of an agent', 'echo x > .CLAUDE/settings.json'],
  ['a start-up file', 'echo x >> ~/.bashrc'],
  ['by option', 'sort a.txt -o .mcp.json'],
]

describe('shell commands', () => {
  for (const command of ALLOWED)
    test(`allowed: ${command}`, async () => {
      const { verdict, why } = await judged(command)
      assert.equal(verdict, 'allow', why)
    })

  for (const [why, command] of ASKED)
    test(`asked: ${why}`, async () => assert.equal((await judged(command)).verdict, 'ask', command.slice(0, 100)))

  for (const [why, command] of DENIED)
    test(`denied: ${why}`, async () => assert.equal((await judged(command)).verdict, 'deny', command.slice(0, 100)))

  test('what the parser takes for a comment, and bash does not, is read', async () => {
    for (const command of ['{ ls; }# c; X; }', '(ls)# c; X', '$(ls)# c; X', 'ls\\\n#c; X', '"a"#b; X']) {
      assert.equal((await judged(command.replace('X', 'rm -rf /'))).verdict, 'deny', command)
      assert.notEqual((await judged(command.replace('X', 'touch y'))).verdict, 'allow', command)
    }
  })

  test('nothing is proved where the parser and bash divide a text differently', async () => {
    for (const command of [
      '[ -d src ]1>&2',
      '[ -d src ]x',
      '[ -d src ]>&2',
      'ls;x[ -d src ]',
      '{ ls; }2>&1',
      '{ls}  { ls; }',
      '{1,2} x\n}',
      '\\ ls',
      '( ls ) \\ ',
      "ls ;&>/dev/null 'q'",
    ])
      assert.notEqual((await judged(command)).verdict, 'allow', command)
  })

  test('emoji are no hidden characters', async () => {
    assert.equal((await judged('echo "👩‍💻 ✔️ 1️⃣"')).verdict, 'allow')
  })

  test('what would run is named', async () => {
    const { programs } = await judged("cd src && FOO=1 env nice make | tee x; bash -c 'a; $(b)' && command c")
    assert.deepEqual([...programs].sort(), ['a', 'b', 'bash', 'c', 'cd', 'env', 'make', 'nice', 'tee'])
  })

  test('without a shell to ask, what the parser does not take is refused', async () => {
    using at = ground()
    const context = { pathContext: { folders: [at.ws] }, ruleSet: createRuleSet({ user: RULES }) }
    assert.equal((await checkShellCommand('echo "x', at.ws, context)).verdict, 'deny')
  })
})

describe('git in a repository', () => {
  const SETTINGS: readonly (readonly [name: string, text: string])[] = [
    ['a monitor', '[core]\n\tfsmonitor = ./x\n'],
    ['a monitor on one line', '[core] fsmonitor = ./x\n'],
    ['a driver', '[diff "x"]\n\ttextconv = ./x\n'],
    ['a filter', '[filter "x"]\n\tclean = ./x\n'],
    ['other settings', '[include]\n\tpath = ../x\n'],
    ['a work tree', '[core]\n\tworktree = /\n'],
    ['a continued line', '[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n'],
    ['an odd line', '[core\n\tfsmonitor = ./x\n'],
  ]
  for (const [name, text] of SETTINGS)
    test(`asked: ${name}`, async () => {
      const steps = [...FILES, { op: 'append', path: '.git/config', text }]
      assert.equal((await judged('git status', steps)).verdict, 'ask')
    })

  test('asked: a hook that runs with status, also elsewhere', async () => {
    const hook = { op: 'exec', path: '.git/hooks/post-index-change', text: '#!/bin/sh\n' }
    assert.equal((await judged('git status', [...FILES, hook])).verdict, 'ask')
    const moved = [
      { op: 'append', path: '.git/config', text: '[core]\n\thooksPath = .husky/_\n' },
      { op: 'exec', path: '.husky/_/post-index-change', text: '#!/bin/sh\n' },
    ]
    assert.equal((await judged('git status', [...FILES, ...moved])).verdict, 'ask')
    assert.equal((await judged('git status', [...FILES, ...moved.slice(0, 1)])).verdict, 'allow')
  })

  test('asked: a folder that passes for a repository, and a repository in the repository', async () => {
    const bare = { op: 'bare', path: 'vendor', text: '[core]\n\tfsmonitor = x\n' }
    assert.equal((await judged('cd vendor && git status', [...FILES, bare])).verdict, 'ask')
    const index = { op: 'append', path: '.git/index', text: '\u0000\u0000\u00E0\u0000' }
    assert.equal((await judged('git status', [...FILES, index])).verdict, 'allow', 'two bytes make that character')
  })

  test('ordinary settings are no reason to ask', async () => {
    const text =
      '[remote "origin"]\n\turl = x\n\tfetch = +refs/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n'
    assert.equal((await judged('git status', [...FILES, { op: 'append', path: '.git/config', text }])).verdict, 'allow')
  })
})
