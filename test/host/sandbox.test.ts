import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { localHost } from '../../src/host/local-host.ts'
import { until } from '../support/alive.ts'
import { boxedPlace, skipWithoutBox } from './box.ts'

const skip = await skipWithoutBox()

describe('the sandbox', { skip }, () => {
  test('output, exit code and folder are those of the command', async () => {
    using at = boxedPlace()
    const end = await at.run('echo out; echo err >&2; pwd; exit 3')
    assert.deepEqual(
      { ...end, group: 0 },
      { output: `out\nerr\n${at.ws}\n`, exitCode: 3, signal: null, background: [], group: 0, sandboxed: true },
    )
    assert.equal((await at.run('kill -KILL $$')).exitCode, 137)
    assert.equal((await at.run('pwd', { folder: join(at.ws, 'src') })).output, `${at.ws}/src\n`)
  })

  test('the workspace is written, and nothing else of the disk', async () => {
    using at = boxedPlace()
    const end = await at.run(
      `echo 1 > new.txt; echo 2 > ${at.outside}/new.txt; echo 3 > /usr/canary; echo 4 > /etc/canary`,
    )
    assert.equal(readFileSync(join(at.ws, 'new.txt'), 'utf8'), '1\n')
    assert.equal(end.exitCode, 1)
    assert.ok(!existsSync(join(at.outside, 'new.txt')) && !existsSync('/usr/canary') && !existsSync('/etc/canary'))
    assert.match(end.output, /\/etc\/canary: (?:Read-only file system|Permission denied)/)
  })

  test('git goes on to work', async () => {
    using at = boxedPlace()
    const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: at.ws, stdio: 'ignore' })
    git('init', '-q')
    git('config', 'user.name', 'A')
    git('config', 'user.email', 'a@example.com')
    const { exitCode, output } = await at.run(
      'git add -A && git commit -qm one && git checkout -qb other && echo 2 >> README.md && git stash -q && git stash pop -q && git status --short && git log --oneline | wc -l',
    )
    assert.deepEqual([exitCode, output], [0, ' M README.md\n1\n'])
  })

  test('a worktree can be committed to, if its repository knows it', async () => {
    using at = boxedPlace()
    const tree = join(at.base, 'tree')
    const git = (...args: string[]): unknown => execFileSync('git', args, { cwd: at.ws, stdio: 'ignore' })
    git('init', '-q')
    git('config', 'user.name', 'A')
    git('config', 'user.email', 'a@example.com')
    git('commit', '-q', '--allow-empty', '-m', 'one')
    git('worktree', 'add', '-q', tree)
    const host = localHost({ folders: [tree], scratch: join(at.base, 'other'), sandbox: { mode: 'on', home: at.home } })
    const run = (command: string) => host.processes.run({ command, folder: tree })
    try {
      const done = await run('echo 1 > a && git add a && git commit -qm two && git log --oneline | wc -l')
      assert.deepEqual([done.exitCode, done.output], [0, '2\n'])
      const own = join(at.ws, '.git/worktrees/tree')
      for (const attempt of [
        `echo x > ${own}/commondir`,
        `echo x > ${at.ws}/.git/config`,
        `touch ${at.ws}/.git/hooks/x`,
      ])
        assert.notEqual((await run(attempt)).exitCode, 0, attempt)
      writeFileSync(join(own, 'gitdir'), '/elsewhere/.git\n')
      assert.notEqual((await run('git commit -q --allow-empty -m three')).exitCode, 0)
    } finally {
      host.close()
    }
  })

  test('a link that leads out is no way out', async () => {
    using at = boxedPlace()
    symlinkSync(at.outside, join(at.ws, 'link'))
    await at.run('echo 1 > link/new.txt; rm -f link/secret.txt')
    assert.deepEqual(readdirSync(at.outside), ['secret.txt'])
  })

  test('what is protected cannot be written, renamed or removed', async () => {
    using at = boxedPlace()
    mkdirSync(join(at.ws, '.git/hooks'), { recursive: true })
    writeFileSync(join(at.ws, '.git/config'), 'kept')
    mkdirSync(join(at.ws, '.github'))
    const before = readdirSync(at.ws).sort()
    const attempts = [
      'echo x > .git/config',
      'rm -f .git/config',
      'mv .git/config .git/other',
      'ln -f README.md .git/config',
      'ln .git/config here && echo x > here',
      'echo x > .git/hooks/pre-commit',
      'mv .git moved',
      'rm -rf .git/hooks',
      'mv .github moved && mkdir -p .github/workflows',
      'umount .git/hooks',
    ]
    for (const attempt of attempts) {
      const { exitCode, output } = await at.run(attempt)
      assert.notEqual(exitCode, 0, `${attempt}: ${output}`)
    }
    at.host.close()
    assert.deepEqual(readdirSync(at.ws).sort(), before, 'nothing is left behind')
    assert.equal(readFileSync(join(at.ws, '.git/config'), 'utf8'), 'kept')
    assert.deepEqual(readdirSync(join(at.ws, '.git')).sort(), ['config', 'hooks'])
    assert.deepEqual(readdirSync(join(at.ws, '.git/hooks')), [])
    assert.deepEqual(readdirSync(join(at.ws, '.github')), [])
  })

  test('what cannot be mounted is put back afterwards: links, and git’s pointer to other settings', async () => {
    using at = boxedPlace()
    mkdirSync(join(at.ws, '.git'))
    mkdirSync(join(at.ws, 'editor'))
    symlinkSync('editor', join(at.ws, '.vscode'))
    const { notes = [] } = await at.run(
      'echo evil > .npmrc; echo evil > .git/commondir; rm .vscode; mkdir .vscode; echo x > .vscode/tasks.json',
    )
    assert.equal(notes.length, 3)
    assert.ok(
      !existsSync(join(at.ws, '.git/commondir')) &&
        !existsSync(join(at.ws, '.npmrc')) &&
        !existsSync(join(at.ws, '.vscode/tasks.json')),
    )
    assert.notEqual((await at.run('echo x > .vscode/tasks.json')).exitCode, 0, 'the target of a link is protected')
    assert.notEqual((await at.run('echo x > editor/tasks.json')).exitCode, 0)
  })

  test('of the home folder only tools and caches are seen, and no key', async () => {
    using at = boxedPlace()
    const { output } = await at.run(
      `cd ${at.home}; cat .ssh/id_rsa .npmrc .config/dragoman/config.json; ls -A; .cargo/bin/tool; cat .npm/_cacache/package; echo x > .npm/_cacache/package; echo x > .cargo/bin/tool; grep -r canary .`,
    )
    assert.doesNotMatch(output, /canary/)
    assert.match(output, /tool ran\ncached\n/)
    assert.equal(readFileSync(join(at.home, '.npm/_cacache/package'), 'utf8'), 'cached\n')
    assert.match(readFileSync(join(at.home, '.cargo/bin/tool'), 'utf8'), /tool ran/)
  })

  test('keys are hidden even if the home folder is the workspace', async () => {
    using at = boxedPlace()
    mkdirSync(join(at.ws, '.ssh'))
    writeFileSync(join(at.ws, '.ssh/id_rsa'), 'canary')
    writeFileSync(join(at.ws, '.netrc'), 'canary')
    mkdirSync(join(at.ws, '.config/gcloud'), { recursive: true })
    writeFileSync(join(at.ws, '.config/gcloud/key'), 'canary')
    const host = localHost({ folders: [at.ws], scratch: at.scratch, sandbox: { mode: 'on', home: at.ws } })
    try {
      const { output } = await host.processes.run({ command: 'grep -rs canary .; echo x > .bashrc; ls', folder: at.ws })
      assert.doesNotMatch(output, /canary/)
      assert.match(output, /README\.md/)
    } finally {
      host.close()
    }
    assert.ok(!existsSync(join(at.ws, '.bashrc')))
  })

  test('the network is closed, loopback too, unless it is allowed', async () => {
    using at = boxedPlace()
    const server = createServer((socket) => socket.end('reached\n')).listen(0, '127.0.0.1')
    try {
      await new Promise((resolve) => server.once('listening', resolve))
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : 0
      const command = `cat < /dev/tcp/127.0.0.1/${port}`
      assert.doesNotMatch((await at.run(command)).output, /reached/)
      assert.match((await at.run(command, { access: 'network' })).output, /reached/)
    } finally {
      server.close()
    }
  })

  test('no settings of the system are written, not even by the superuser', async () => {
    using at = boxedPlace()
    const name = '/proc/sys/kernel/core_pattern'
    const { exitCode } = await at.run(`value=$(cat ${name}); echo "$value" > ${name}`)
    assert.notEqual(exitCode, 0)
  })

  test('it sees only its own processes, and none of our variables', async () => {
    using at = boxedPlace()
    process.env['FAKE_API_KEY'] = 'canary-2'
    try {
      const { output } = await at.run(`cat /proc/*/environ | tr '\\0' '\\n'; kill -0 ${process.pid} && echo can kill`)
      assert.doesNotMatch(output, /canary-2|can kill/)
    } finally {
      delete process.env['FAKE_API_KEY']
    }
  })

  test('what goes on in the background is listed by its real numbers, and stays protected', async () => {
    using at = boxedPlace()
    const end = await at.run(
      '(until [ -e go ]; do sleep 0.05; done; mkdir .vscode && echo x > .vscode/tasks.json; echo x > late.txt; exec sleep 30) & echo started',
    )
    assert.equal(end.exitCode, 0)
    assert.equal(end.output, 'started\n')
    assert.ok(end.background.length >= 1)
    for (const pid of end.background) if (isAlive(pid)) assert.match(commandOf(pid), /bash|sleep/)
    writeFileSync(join(at.ws, 'go'), '')
    await until(() => existsSync(join(at.ws, 'late.txt')))
    // It is renamed as soon as it is seen, while the command goes on.
    await until(() => !existsSync(join(at.ws, '.vscode')) && existsSync(join(at.ws, '.vscode.set-aside')))
    assert.ok(end.background.some(isAlive))
    at.host.close()
    await until(() => end.background.every((pid) => !isAlive(pid)))
    await until(() => !existsSync(join(at.ws, '.vscode')))
  })

  test('a file tool that was allowed to write a protected path can, while something goes on', async () => {
    using at = boxedPlace()
    await at.run('sleep 30 & :')
    await at.host.files.write(join(at.ws, '.vscode/settings.json'), Buffer.from('{}'))
    assert.equal(readFileSync(join(at.ws, '.vscode/settings.json'), 'utf8'), '{}')
  })

  test('cancelled: the whole tree is gone, with what left its group and its session', async () => {
    using at = boxedPlace()
    const stop = new AbortController()
    const mark = `sleep ${4000 + Math.floor(Math.random() * 1000)}`
    const running = at.run(
      `setsid ${mark} & env -i setsid ${mark} & (${mark}) & trap 'echo tidied > tidy.txt; exit' TERM; sleep 30 & wait`,
      {
        signal: stop.signal,
      },
    )
    await until(() => alive(mark) >= 3)
    stop.abort()
    const end = await running
    assert.equal(end.cancelled, true)
    assert.deepEqual(end.background, [])
    assert.equal(alive(mark), 0)
    assert.ok(existsSync(join(at.ws, 'tidy.txt')), 'a command may tidy up before it ends')
    at.host.close()
    assert.deepEqual(readdirSync(at.ws).sort(), ['README.md', 'src', 'tidy.txt'])
  })

  test('silence and time have their limits inside too', async () => {
    using at = boxedPlace()
    assert.equal((await at.run('sleep 600', { timeout: 300 })).timedOut, true)
    assert.equal((await at.run('echo a; sleep 600', { idleTimeout: 3000 })).output, 'a\n')
  })

  test('temporary files last from one command to the next, and are not those of the machine', async () => {
    using at = boxedPlace()
    await at.run('echo here > /tmp/dragoman-between.txt')
    assert.equal((await at.run('cat /tmp/dragoman-between.txt; echo "$TMPDIR"')).output, 'here\n/tmp\n')
    assert.ok(!existsSync('/tmp/dragoman-between.txt'))
  })
})

/** What a process runs, if it is still there. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return 'sleep'
  }
}

function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** How many processes run just this. */
function alive(words: string): number {
  const wanted = `${words.replaceAll(' ', '\0')}\0`
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === wanted && isAlive(Number(pid))
      } catch {
        return false
      }
    }).length
}
