import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { findBashSyntaxError } from '../../src/host/process/bash-syntax.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { dragoman, stage } from '../support/command.ts'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ground, type Ground, type Step } from './ground.ts'

const SECRET = 'FAKE-SECRET-71'
const file = (path: string, text = 'foo\n'): Step => ({ op: 'file', path, text })

async function verdictOf(command: string, at: Ground, mode: 'default' | 'yolo' = 'default'): Promise<string> {
  const [disk, rejected] = [createDiskView(), findBashSyntaxError]
  const policy = approvalPolicy({ mode, folders: [at.ws], home: at.home, disk, rejected })
  const effects = [{ kind: 'exec', command, folder: at.ws }] as const
  return (await policy.decide({ tool: 'run_shell_command', input: {}, effects })).verdict
}

const BASE = [file('a.txt'), file('src/b.ts'), file('docs/c.md')]

/** Where secrets lie, the commands that would show them, and commands beside them that would not. */
const PLACES: readonly (readonly [
  name: string,
  steps: readonly Step[],
  asked: readonly string[],
  free: readonly string[],
])[] = [
  [
    'a file that is not hidden',
    [...BASE, file('secrets.json', SECRET), file('deploy/server.key', SECRET), { op: 'mkdir', path: 'empty' }],
    [
      'rg FAKE',
      'rg -t json FAKE',
      'rg FAKE deploy',
      'rg -c FAKE .',
      'grep -r FAKE .',
      'grep -rn FAKE deploy src',
      "grep -r --include='*.json' FAKE .",
      'grep --recursive FAKE',
      'diff -N . empty',
      'diff -r deploy empty',
      'cat deploy/*',
      'cat *.json',
      'head -n1 secrets.js*',
      'sort deploy/server.*',
      'wc -c deploy/*.key',
      'base64 deploy/*.key',
      'sed -n p secrets.json',
      "awk '{print}' secrets.json",
      'jq . secrets.json',
      'xxd secrets.json',
      'strings deploy/server.key',
    ],
    [
      'rg foo src',
      'rg --files',
      "grep -rn --include='*.ts' foo .",
      'grep -rn foo src',
      'diff src docs',
      'cat src/*.ts',
      'find . -name "*.key"',
    ],
  ],
  [
    'a link',
    [
      ...BASE,
      file('.env', SECRET),
      { op: 'symlink', path: 'l/a', text: '../.env' },
      { op: 'symlink', path: 'm/k', text: '{HOME}/.ssh/id_rsa' },
      file('{HOME}/.ssh/id_rsa', SECRET),
      { op: 'mkdir', path: 'empty' },
    ],
    ['diff -N l empty', 'diff m empty', 'diff -r . empty', 'cat l/a', 'cat l/*', 'grep -r FAKE .', 'cat .e*'],
    ['grep -rn foo l', 'rg foo', 'ls -la l'],
  ],
  [
    'a tracked file',
    [...BASE, file('config/.env', SECRET), file('server.pem', SECRET), { op: 'git-init-and-commit', path: '.' }],
    [
      'git log -p',
      'git log -p -1 --stat',
      'git log --patch-with-stat',
      'git show',
      'git show HEAD',
      'git diff HEAD~1',
      'git diff',
      'git status -v',
      'git status -vv',
      'git grep FAKE',
      'git show HEAD:config/.env',
      'git log -p -- config',
      "git log -p -- '*.pem'",
      'git blame server.pem',
      'git diff --word-diff HEAD~1',
      'git show --check',
      'git diff-tree -p HEAD',
      'cd src && git log -p',
      'git -C src log -p',
      // A tree is more than one file, and what looks like one may be a commit.
      'git diff HEAD~1:config HEAD:config',
      'git diff-tree -p HEAD~1:config HEAD:config',
      'git grep -e FAKE HEAD:config',
      'git grep a:b HEAD:config',
      "git show 'HEAD^{/a: b}'",
      "git log -p 'HEAD^{/a:b}'",
      'git diff HEAD~1:config HEAD:config -- src',
      // Before `--` stands a revision, even if a folder has its name.
      'git log -p src --',
      // Changes are shown by these too.
      'git stash list -c',
      'git reflog -c',
      'git reflog show -c',
    ],
    [
      'git log',
      'git log --stat',
      'git status',
      'git diff --stat',
      'git diff --name-only HEAD~1',
      'git log -p -- src',
      'git diff -- src docs',
      'git show HEAD -- a.txt',
      'git grep foo -- src',
      'git show HEAD:src/b.ts',
      'git show HEAD:src',
      'git diff HEAD~1:src HEAD:src',
      'git grep -e foo HEAD:src',
      'git diff HEAD src',
      'git diff src docs',
      'git stash list',
      'git stash list -3',
      'git reflog -5',
    ],
  ],
  [
    'a folder without a repository, where git compares paths by itself',
    [...BASE, file('.env', SECRET), file('deploy/server.key', SECRET), { op: 'mkdir', path: 'empty' }],
    ['git diff empty .', 'git diff empty deploy', 'git diff -- empty deploy', 'git diff . empty'],
    ['git diff src docs', 'git diff --stat empty deploy', 'git diff src/b.ts docs/c.md'],
  ],
  [
    'input that is none',
    [...BASE, file('secrets.json', SECRET)],
    [
      'rg FAKE < /dev/null',
      'rg FAKE < src',
      'rg FAKE 2< a.txt',
      'echo a | rg FAKE < /dev/null',
      'echo a | rg FAKE 0> /dev/null',
      'rg --ignore-file a.txt FAKE src',
      'printenv',
      'printenv HOME SOME_TOKEN',
    ],
    ['printenv HOME', 'echo a | rg FAKE', 'cat a.txt | rg foo', 'rg foo src < a.txt'],
  ],
  [
    'patterns that leave out nothing',
    [...BASE, file('secrets.json', SECRET)],
    ["grep -r --exclude=zzz --include='*.ts' FAKE .", "grep -r --include='*.ts' --exclude=zzz FAKE ."],
    ["grep -r --include='*.ts' FAKE .", 'grep -r --exclude=zzz foo src'],
  ],
]

describe('secrets are not read unasked', () => {
  for (const [name, steps, asked, free] of PLACES)
    test(name, async () => {
      using at = ground(steps)
      for (const command of asked) assert.equal(await verdictOf(command, at), 'ask', command)
      for (const command of free) assert.equal(await verdictOf(command, at), 'allow', command)
    })

  test('a command that names one is asked about even in mode yolo, however it names it', async () => {
    using at = ground([...BASE, file('.env', SECRET), file('deploy/server.key', SECRET)])
    const asked = [
      'cat .env',
      'cat .e*',
      'cat .en?',
      'cat .[e]nv',
      'cat ./.e*v',
      'cat deploy/*',
      'cat {.env,a.txt}',
      'cat $(echo .env)',
      'echo $(<.env)',
      'git show HEAD:.env',
      'git cat-file -p HEAD:.env',
      'git log -p -- .env',
      'git blame .env',
      'git archive HEAD .env',
      'find . -name .env -exec cat {} +',
      "find . -name '*.key' | xargs cat",
      `python3 -c "print(open('.env').read())"`,
      `node -e "console.log(require('fs').readFileSync('.env', 'utf8'))"`,
      'dd if=.env',
      'curl -F f=@.env http://127.0.0.1',
      'curl -d @.env http://127.0.0.1',
      'grep -e x .env',
      'grep -nf .env a.txt',
    ]
    const free = [
      'ls -la .env',
      'test -f .env',
      'git check-ignore .env',
      'git log -- .env',
      'find . -name .env',
      "grep -rn '.env' src",
      'rg secrets.json src',
      'cat src/*',
      `node -e "console.log('a.txt')"`,
    ]
    for (const command of asked) assert.equal(await verdictOf(command, at, 'yolo'), 'ask', command)
    for (const command of free) assert.equal(await verdictOf(command, at, 'yolo'), 'allow', command)
    for (const command of ["grep -rn '.env' src", 'rg secrets.json src'])
      assert.equal(await verdictOf(command, at), 'allow', command)
  })

  test('a key in an address of the repository', async () => {
    const settings = (url: string) => file('.git/config', `[remote "origin"]\n\turl = ${url}\n`)
    const head = [...BASE, file('.git/HEAD', 'ref: refs/heads/main\n')]
    const commands = [
      'cat .git/config',
      'grep -r url .git',
      'grep -r url .',
      'git remote -v',
      'git config remote.origin.url',
    ]
    for (const url of [`https://u:${SECRET}@git.example/x`, `https://${SECRET}-0123456789@git.example/x`]) {
      using at = ground([...head, settings(url)])
      for (const command of commands) assert.equal(await verdictOf(command, at), 'ask', `${command}: ${url}`)
      const policy = approvalPolicy({ mode: 'yolo', folders: [at.ws], home: at.home, disk: createDiskView() })
      const effects = [{ kind: 'read', path: join(at.ws, '.git/config') }] as const
      assert.equal((await policy.decide({ tool: 'read_file', input: {}, effects })).verdict, 'ask', url)
    }
    using at = ground([...head, settings('https://me@git.example/x')])
    for (const command of commands) assert.equal(await verdictOf(command, at), 'allow', command)
  })

  test('a tracked file of a repository with hashes of the newer kind', async () => {
    using at = ground([...BASE, file('.env', SECRET)])
    for (const args of [
      ['init', '-q', '--object-format=sha256'],
      ['add', '-A'],
    ])
      execFileSync('git', args, { cwd: at.ws, env: { PATH: process.env['PATH'], HOME: at.home } })
    for (const command of ['git diff --cached', 'git log -p', 'git grep FAKE'])
      assert.equal(await verdictOf(command, at), 'ask', command)
    assert.equal(await verdictOf('git grep foo -- src', at), 'allow')
  })

  test('a blob of a tracked file, by its name', async () => {
    using at = ground([...BASE, file('server.pem', SECRET), { op: 'git-init-and-commit', path: '.' }])
    const blob = execFileSync('git', ['rev-parse', 'HEAD:server.pem'], { cwd: at.ws }).toString().trim()
    for (const command of [
      `git show ${blob}`,
      `git show ${blob.slice(0, 8)}`,
      `git diff ${blob} HEAD:a.txt`,
      `git cat-file -p ${blob}`,
      `git show --stat ${blob}`,
      `git show -s ${blob.slice(0, 7).toUpperCase()}`,
      `git show --name-only ${blob}^{}`,
    ])
      assert.equal(await verdictOf(command, at), 'ask', command)
  })

  test('what ripgrep leaves out does not count, unless something brings it back', async () => {
    const steps = [...BASE, file('.gitignore', 'node_modules/\n*.key\n'), file('node_modules/x/t.pem'), file('dev.key')]
    using at = ground([...steps, { op: 'git-init-and-commit', path: '.' }])
    assert.equal(await verdictOf('rg foo', at), 'allow')
    assert.equal(await verdictOf('grep -r foo .', at), 'ask')
    using without = ground(steps)
    assert.equal(await verdictOf('rg foo', without), 'ask', 'outside of a repository .gitignore means nothing')
    using back = ground([
      ...steps,
      { op: 'append', path: '.gitignore', text: '!dev.key\n' },
      { op: 'git-init-and-commit', path: '.' },
    ])
    assert.equal(await verdictOf('rg foo', back), 'ask')
  })

  test('what an ignore file brings back counts, by the opinion of ripgrep itself', async () => {
    const { rgPath } = await import('@vscode/ripgrep')
    const key = file('sub/dev.key', SECRET)
    const cases: readonly (readonly [steps: readonly Step[], verdict: 'allow' | 'ask'])[] = [
      [[file('.gitignore', '*.key\n')], 'allow'],
      [[file('.gitignore', '*.key\n.env*\n!.env.example\n')], 'allow'],
      [[file('.gitignore', '*.key\n!/sub/\n')], 'allow'],
      [[file('.gitignore', '*.key\n'), file('.ignore', '!.env\n')], 'ask'],
      [[file('.gitignore', '*.key\n'), file('.rgignore', '!.e[n]v\n')], 'ask'],
      [[file('.gitignore', '*.key\n'), file('.ignore', '\uFEFF!.env\n')], 'ask'],
      [[file('.gitignore', '*.key\n'), file('../.ignore', '!.env\n')], 'ask'],
      [[file('.gitignore', '*.key\n'), file('.git/info/exclude', '!.env\n')], 'ask'],
      [[file('.gitignore', '*.key\n'), { op: 'mkdir', path: 'sub/.git' }], 'ask'],
      [[file('.ignore', '!dev.key\n'), file('sub/.gitignore', '*.key\n')], 'ask'],
      [[file('.gitignore', '*.key\n!sub/**\n')], 'ask'],
    ]
    for (const [steps, verdict] of cases) {
      const name = JSON.stringify(steps)
      using at = ground([...BASE, file('.env', SECRET), key, { op: 'mkdir', path: '.git' }, ...steps])
      const { stdout } = spawnSync(rgPath, ['--no-config', 'FAKE', '.'], { cwd: at.ws, encoding: 'utf8' })
      assert.equal(stdout.includes(SECRET) ? 'ask' : 'allow', verdict, `ripgrep: ${name}`)
      assert.equal(await verdictOf('rg FAKE', at), verdict, name)
    }
  })

  test('the real command: nothing of it reaches the model', async () => {
    const run = (command: string) => ({ call: [{ name: 'run_shell_command', args: { command } }] })
    const commands = ['rg FAKE', 'grep -r FAKE .', 'cat deploy/*', 'diff -N deploy empty']
    const at = await stage([...commands.map(run), { say: 'Done.' }])
    mkdirSync(join(at.work, 'deploy'))
    mkdirSync(join(at.work, 'empty'))
    writeFileSync(join(at.work, 'deploy/server.key'), `${SECRET}\n`)
    await dragoman(['-p', 'go'], at)
    const sent = at.server.requests.map(({ body }) => JSON.stringify(body)).join('\n')
    assert.match(sent, /server\.key/, 'the commands were tried')
    assert.doesNotMatch(sent, new RegExp(SECRET))
  })
})
