import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { appendFileSync, chmodSync, cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { localHost } from '../../src/host/local-host.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { approvalPolicy } from '../../src/policy/approval-policy.ts'
import { dragoman, stage } from '../support/command.ts'
import { ground, type Ground } from './ground.ts'

const FILES = [
  { op: 'file', path: 'a.txt', text: 'one\n' },
  { op: 'file', path: 'sub/b.txt', text: 'one\n' },
  { op: 'git-init-and-commit', path: '.' },
  { op: 'file', path: 'a.txt', text: 'two\n' },
]

/** A repository, and a program in it that leaves PWNED. */
function repository(): Ground {
  const at = ground(FILES)
  writeFileSync(join(at.ws, 'evil.sh'), `#!/bin/sh\n: > ${join(at.ws, 'PWNED')}\ncat "$1" 2>/dev/null\nexit 0\n`)
  chmodSync(join(at.ws, 'evil.sh'), 0o755)
  return at
}

const GIT_ENV = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }

function git(folder: string, ...args: string[]): void {
  execFileSync('git', args, { cwd: folder, stdio: 'ignore', env: GIT_ENV })
}

async function decide(command: string, at: Ground) {
  const policy = approvalPolicy({ mode: 'default', folders: [at.ws], home: at.home, disk: createDiskView() })
  const effects = [{ kind: 'exec', command, folder: at.ws }] as const
  return policy.decide({ tool: 'run_shell_command', input: {}, effects })
}

const append = (at: Ground, path: string, text: string) => appendFileSync(join(at.ws, path), text)

/** Makes `x` something that git takes for a repository, with the history of the workspace and settings of its own. */
function passesFor(at: Ground, store: string): void {
  mkdirSync(join(at.ws, 'x'))
  cpSync(join(at.ws, '.git'), join(at.ws, 'x', store), { recursive: true })
  writeFileSync(join(at.ws, 'x', store, 'info/attributes'), '* diff=x\n')
  append(at, join('x', store, 'config'), '[core]\n\tbare = true\n[diff "x"]\n\ttextconv = ../evil.sh\n')
}

/** Ways in which a repository has git run a program, each with a command that is harmless elsewhere. */
const TRAPS: readonly (readonly [name: string, command: string, set: (at: Ground) => void])[] = [
  [
    'a folder with only HEAD and commondir',
    'cd x && git log -p',
    (at) => {
      mkdirSync(join(at.ws, '.git/info'), { recursive: true })
      passesFor(at, 'c')
      writeFileSync(join(at.ws, 'x/HEAD'), 'ref: refs/heads/main\n')
      writeFileSync(join(at.ws, 'x/commondir'), 'c\n')
    },
  ],
  [
    'settings elsewhere, by .git/commondir',
    'git log -p',
    (at) => {
      mkdirSync(join(at.ws, '.git/info'), { recursive: true })
      writeFileSync(join(at.ws, '.git/info/attributes'), '* diff=x\n')
      cpSync(join(at.ws, '.git'), join(at.ws, 'c'), { recursive: true })
      append(at, 'c/config', '[diff "x"]\n\ttextconv = ./evil.sh\n')
      writeFileSync(join(at.ws, '.git/commondir'), '../c\n')
    },
  ],
  [
    'a nearer folder that is no repository after all',
    'cd sub && git status',
    (at) => {
      append(at, '.git/config', '[core]\n\tfsmonitor = ./evil.sh\n')
      mkdirSync(join(at.ws, 'sub/.git'))
      writeFileSync(join(at.ws, 'sub/.git/config'), '[core]\n\tbare = false\n')
    },
  ],
  [
    'a comment behind a value',
    'git status',
    (at) => {
      append(at, '.git/config', '[core]\n\thooksPath = evil ; x\n')
      mkdirSync(join(at.ws, 'evil'))
      cpSync(join(at.ws, 'evil.sh'), join(at.ws, 'evil/post-index-change'))
      renameSync(join(at.ws, 'sub/b.txt'), join(at.ws, 'sub/c.txt'))
      cpSync(join(at.ws, 'sub/c.txt'), join(at.ws, 'sub/b.txt'))
    },
  ],
  [
    'a repository in the repository, in a split index',
    'git status',
    (at) => {
      const inner = join(at.ws, 'inner')
      mkdirSync(inner)
      git(inner, 'init', '-q', '-b', 'main')
      git(inner, '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-q', '--allow-empty', '-m', 'x')
      git(at.ws, '-c', 'advice.addEmbeddedRepo=false', 'add', 'inner')
      git(at.ws, 'update-index', '--split-index')
      appendFileSync(join(inner, '.git/config'), '[core]\n\tfsmonitor = ../evil.sh\n')
    },
  ],
  [
    'settings for this working folder alone',
    'git status',
    (at) => {
      append(at, '.git/config', '[extensions]\n\tworktreeConfig = true\n')
      writeFileSync(join(at.ws, '.git/config.worktree'), '[core]\n\tfsmonitor = ./evil.sh\n')
    },
  ],
  [
    'signatures',
    'git log --format=%G?',
    (at) => {
      append(at, '.git/config', '[gpg]\n\tprogram = ./evil.sh\n')
      const tree = execFileSync('git', ['rev-parse', 'HEAD^{tree}'], { cwd: at.ws, env: GIT_ENV }).toString().trim()
      const text = `tree ${tree}\nauthor a <a> 1 +0000\ncommitter a <a> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nsigned\n`
      const made = spawnSync('git', ['hash-object', '-t', 'commit', '-w', '--stdin'], {
        cwd: at.ws,
        env: GIT_ENV,
        input: text,
      })
      git(at.ws, 'reset', '-q', '--soft', made.stdout.toString().trim())
    },
  ],
]

describe('a repository that has git run a program', () => {
  for (const [name, command, set] of TRAPS)
    test(`asked: ${name}`, async () => {
      using at = repository()
      set(at)
      const { verdict, why } = await decide(command, at)
      assert.equal(verdict, 'ask', why)
      // The trap is a real one: git itself falls into it.
      spawnSync('bash', ['-c', command], { cwd: at.ws, env: GIT_ENV })
      assert.equal(existsSync(join(at.ws, 'PWNED')), true, 'git did not run the program')
    })

  test('a working folder beside the main one is judged by the settings of the main one', async () => {
    using at = repository()
    const main = join(at.base, 'main')
    renameSync(at.ws, main)
    git(main, 'worktree', 'add', '-q', at.ws, '-b', 'other')
    assert.equal((await decide('git status', at)).verdict, 'allow')
    appendFileSync(join(main, '.git/config'), '[core]\n\tfsmonitor = ./evil.sh\n')
    assert.equal((await decide('git status', at)).verdict, 'ask')
  })

  test('a .git file that points into a repository which does not know of it asks', async () => {
    using at = repository()
    const main = join(at.base, 'main')
    cpSync(at.ws, main, { recursive: true })
    git(main, 'worktree', 'add', '-q', join(at.base, 'beside'))
    rmSync(join(at.ws, '.git'), { recursive: true })
    writeFileSync(join(at.ws, '.git'), `gitdir: ${main}/.git/worktrees/beside\n`)
    assert.equal((await decide('git status', at)).verdict, 'ask')
  })
})

const LINES = 'one\ntwo\nthree\nfour\nfive\n'

describe('git without its helpers', () => {
  const HELPERS: readonly (readonly [name: string, command: string, set: (at: Ground) => void])[] = [
    ...TRAPS.filter(([name]) => /HEAD and commondir|comment|working folder alone|signatures|nearer/.test(name)),
    ['a monitor', 'git diff', (at) => append(at, '.git/config', '[core]\n\tfsmonitor = ./evil.sh\n')],
  ]
  for (const [name, command, set] of HELPERS)
    test(name, async () => {
      using at = repository()
      set(at)
      const host = localHost({ folders: [at.ws], scratch: join(at.base, 'scratch') })
      try {
        await host.processes.run({ command, folder: at.ws, gitHelpers: 'off', env: { HOME: at.home } })
        assert.equal(existsSync(join(at.ws, 'PWNED')), false, 'a helper ran')
        await host.processes.run({ command, folder: at.ws, env: { HOME: at.home } })
        assert.equal(existsSync(join(at.ws, 'PWNED')), true, 'without that the helper runs')
      } finally {
        host.close()
      }
    })

  test('secrets that are only in the history are not shown unasked', async () => {
    using at = ground([
      ...FILES.slice(0, 2),
      { op: 'file', path: 'conf/.env', text: `${LINES}CANARY\n` },
      ...FILES.slice(2),
    ])
    git(at.ws, 'mv', 'conf/.env', 'notes.txt')
    writeFileSync(join(at.ws, 'notes.txt'), LINES)
    git(at.ws, '-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '-qam', 'two')
    const host = localHost({ folders: [at.ws], scratch: join(at.base, 'scratch') })
    try {
      for (const command of [
        'git log -p',
        'git log -p --follow notes.txt',
        'git show HEAD~2',
        'git diff HEAD~1 HEAD',
        'git diff-tree -p HEAD~1 HEAD',
        'git grep CANARY HEAD~1',
      ]) {
        const { verdict, gitHelpers } = await decide(command, at)
        assert.deepEqual({ verdict, gitHelpers }, { verdict: 'allow', gitHelpers: 'off' }, command)
        const run = { command, folder: at.ws, env: { HOME: at.home } }
        assert.doesNotMatch((await host.processes.run({ ...run, gitHelpers: 'off' })).output, /CANARY/, command)
        assert.match((await host.processes.run(run)).output, /CANARY/, `without that ${command} shows it`)
      }
      for (const command of ['git log -p -a', 'git show --text', 'git diff --binary HEAD~1'])
        assert.equal((await decide(command, at)).verdict, 'ask', command)
    } finally {
      host.close()
    }
  })

  test('what is proved runs without them, what the person allowed runs with them', async () => {
    using at = repository()
    const rules = { user: { allow: ['git commit *', '=git push'] } }
    const policy = approvalPolicy({ mode: 'default', folders: [at.ws], home: at.home, disk: createDiskView(), rules })
    const helpers = async (command: string) => {
      const effects = [{ kind: 'exec', command, folder: at.ws }] as const
      const { verdict, gitHelpers } = await policy.decide({ tool: 'run_shell_command', input: {}, effects })
      assert.equal(verdict, 'allow', command)
      return gitHelpers
    }
    assert.equal(await helpers('git status && git diff | head'), 'off')
    assert.equal(await helpers('ls'), undefined)
    assert.equal(await helpers('git commit -m x'), undefined)
    assert.equal(await helpers('git status && git commit -m x'), undefined)
  })

  test('the real command: an unasked git starts no helper, an approved one runs its hooks', async () => {
    const run = (command: string) => ({ call: [{ name: 'run_shell_command', args: { command } }] })
    const at = await stage([run('git status'), run('git commit -qam two'), { say: 'Done.' }])
    const helper = join(at.home, 'helper.sh')
    writeFileSync(helper, '#!/bin/sh\n: > "$HOME/helper-ran"\n')
    chmodSync(helper, 0o755)
    const identity = '[user]\n\tname = a\n\temail = a@example.com\n'
    writeFileSync(join(at.home, '.gitconfig'), `${identity}[core]\n\tfsmonitor = ${helper}\n`)
    writeFileSync(join(at.work, 'a.txt'), 'one\n')
    git(at.work, 'init', '-q', '-b', 'main')
    git(at.work, 'add', 'a.txt')
    git(at.work, '-c', 'user.name=a', '-c', 'user.email=a@example.com', 'commit', '-qm', 'one')
    writeFileSync(join(at.work, '.git/hooks/pre-commit'), '#!/bin/sh\n: > hook-ran\n', { mode: 0o755 })
    writeFileSync(join(at.work, 'a.txt'), 'two\n')
    const settings = join(at.home, '.config/dragoman')
    mkdirSync(settings, { recursive: true })
    writeFileSync(join(settings, 'config.json'), '{"sandbox":"off"}')
    await dragoman(['-p', 'go'], at)
    assert.equal(existsSync(join(at.home, 'helper-ran')), false, 'the unasked git status started a helper')
    assert.equal(existsSync(join(at.work, 'hook-ran')), false)

    const again = await stage([run('git commit -qam two'), { say: 'Done.' }])
    await dragoman(['-p', 'go', '--allowed-tools', 'git commit *'], {
      ...again,
      env: { ...again.env, HOME: at.home },
      work: at.work,
    })
    assert.equal(existsSync(join(at.work, 'hook-ran')), true, 'the approved commit runs its hook')
    assert.equal(existsSync(join(at.home, 'helper-ran')), true)
  })
})
