import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { StdioProcess } from '../../src/host/process/stdio-process.ts'
import { localHost, type LocalHost } from '../../src/host/local-host.ts'
import { createDiskView } from '../../src/host/files/disk-view.ts'
import { PROTECTED_PATHS } from '../../src/model/security/protected-paths.ts'
import { until } from '../support/alive.ts'
import { type BoxedPlace, boxedPlace, skipWithoutBox } from './box.ts'

const work = process.env['DRAGOMAN_MISSING_PATHS']
if (work !== undefined) await asSession(JSON.parse(work) as Work)
else tests(await skipWithoutBox())

/** What another process of ours does in a folder. */
interface Work {
  readonly folder: string
  readonly scratch: string
  readonly home: string
  readonly locks?: string
  readonly commands: number
  readonly command: string
  readonly report: string
  /** A file that it writes when the commands are done. */
  readonly write?: string
}

const OWN = ['README.md', 'src']

/** One path for each thing of the list: a file in a protected folder, and a name for each pattern. */
const EXAMPLES = PROTECTED_PATHS.filter(({ isHomeOnly }) => !isHomeOnly)
  .flatMap(({ path, guardedParts }) => guardedParts ?? [path])
  .filter((path) => !path.startsWith('.git/'))
  .map((path) => path.replace(/\/\*\*$/, '/made').replaceAll('*', 'a'))

function tests(skip: false | string): void {
  describe('protected paths that are missing', { skip }, () => {
    test('nothing is put into the project while a command and an MCP server run', async () => {
      using at = boxedPlace()
      const server = await open(at, 'echo ready; cat')
      const command = at.run('ls -A; touch began; until [ -e go ]; do sleep 0.02; done; ls -A')
      await until(() => existsSync(join(at.ws, 'began')))
      assert.deepEqual(readdirSync(at.ws).sort(), [...OWN, 'began'].sort())
      writeFileSync(join(at.ws, 'go'), '')
      const { output } = await command
      assert.deepEqual(output.trim().split('\n').sort(), [...OWN, ...OWN, 'began', 'go'].sort())
      await server.companion.close()
      assert.deepEqual(readdirSync(at.ws).sort(), [...OWN, 'began', 'go'].sort())
    })

    test('whatever of the list a command makes is gone when it has ended, and the note says how to get it back', async () => {
      using at = boxedPlace({ protect: ['deploy/**', 'deploy.yml'] })
      const paths = [...EXAMPLES, 'deploy/made', 'deploy.yml', '.VSCode/made', 'Any.CODE-workspace']
      const lines = paths.map((path) => `mkdir -p '${dirname(path)}'; echo made > '${path}'`)
      const { exitCode, notes = [] } = await at.run(`${lines.join('\n')}; echo done`)
      assert.equal(exitCode, 0)
      assert.deepEqual(
        paths.filter((path) => existsSync(join(at.ws, path))),
        [],
      )
      const note = notes.find((text) => text.includes(join(at.ws, 'AGENTS.md')))
      assert.match(note ?? '', /AGENTS\.md is protected.*renamed to AGENTS\.md\.set-aside.*rename it back/)
      assert.equal(readFileSync(join(at.ws, 'AGENTS.md.set-aside'), 'utf8'), 'made\n')
    })

    test('deeper paths are set aside while the command runs, whether the folder above is there or not', async () => {
      using at = boxedPlace()
      for (const name of ['.github', '.cargo']) mkdirSync(join(at.ws, name))
      const paths = ['.github/workflows/ci.yml', '.cargo/config.toml', '.jj/repo/config.toml', '.yarn/plugins/x.cjs']
      // Each is made twice at most: a command that makes one a third time is stopped.
      const running = at.run(
        `${paths.map((path) => `mkdir -p $(dirname ${path}); echo x > ${path}`).join('; ')}; sleep 60 & wait`,
        { timeout: 30_000 },
      )
      await until(() => existsSync(join(at.ws, '.yarn/plugins.set-aside')))
      await until(() => paths.every((path) => !existsSync(join(at.ws, path))))
      at.host.close()
      await running
    })

    test('a command that goes on making one is stopped, and leaves few copies', async () => {
      using at = boxedPlace()
      for (let command = 0; command < 3; command++) {
        const loop = 'while :; do mkdir -p .vscode; echo x > .vscode/a$RANDOM; echo x > AGENTS.md; sleep 0.01; done'
        const { error = '', exitCode } = await at.run(loop, { timeout: 60_000 })
        assert.match(
          error,
          /^The command was stopped: it kept creating .*(?:AGENTS\.md|\.vscode), which is protected\./,
        )
        assert.match(error, /file tools, which ask/)
        assert.notEqual(exitCode, 0)
      }
      const left = readdirSync(at.ws).filter((name) => !OWN.includes(name))
      assert.ok(left.every((name) => name.includes('.set-aside')) && left.length <= 8, left.join(' '))
    })

    test('an MCP server and a background process that go on are stopped too', async () => {
      using at = boxedPlace()
      const loop = 'while :; do echo x > .mcp.json; sleep 0.02; done'
      const server = await open(at, loop)
      await until(() => server.end() !== undefined)
      assert.match(server.end() ?? '', /kept creating .*\.mcp\.json, which is protected/)
      assert.match(at.host.stdioProcesses.takeNotices().join('\n'), /\.mcp\.json is protected/)
      const { background } = await at.run(`(sleep 0.5; ${loop}) & :`)
      await until(() => background.every((pid) => !existsSync(`/proc/${pid}`)))
      assert.match((await at.run('true')).notes?.join('\n') ?? '', /kept creating .*\.mcp\.json/)
      assert.ok(!existsSync(join(at.ws, '.mcp.json')))
    })

    test('what the person or a tool makes while something waits in the background stays', async () => {
      using at = boxedPlace()
      await open(at, 'cat')
      await at.run('sleep 300 & :')
      await wait(2500)
      writeFileSync(join(at.ws, '.npmrc'), 'mine')
      mkdirSync(join(at.ws, '.github/workflows'), { recursive: true })
      await at.host.files.write(join(at.ws, '.vscode/settings.json'), Buffer.from('asked for'))
      await wait(1500)
      at.host.close()
      assert.equal(readFileSync(join(at.ws, '.npmrc'), 'utf8'), 'mine')
      assert.ok(existsSync(join(at.ws, '.github/workflows')))
      assert.equal(readFileSync(join(at.ws, '.vscode/settings.json'), 'utf8'), 'asked for')
    })

    test('what was set aside can be renamed back once nothing runs', async () => {
      using at = boxedPlace()
      await at.run('echo mine > AGENTS.md; sleep 300 & :')
      await until(() => existsSync(join(at.ws, 'AGENTS.md.set-aside')))
      await wait(2500)
      renameSync(join(at.ws, 'AGENTS.md.set-aside'), join(at.ws, 'AGENTS.md'))
      await wait(1500)
      at.host.close()
      assert.equal(readFileSync(join(at.ws, 'AGENTS.md'), 'utf8'), 'mine\n')
    })

    test('a process that never sleeps is not taken for one that waits', async () => {
      using at = boxedPlace()
      await at.run(
        "bash -c 'end=$((SECONDS + 3)); while [ $SECONDS -lt $end ]; do :; done; : > .npmrc; exec sleep 60' & :",
      )
      await until(() => existsSync(join(at.ws, '.npmrc.set-aside')))
      assert.ok(!existsSync(join(at.ws, '.npmrc')))
    })

    test('what a tool of this or of another session was allowed to write stays while a command is busy', async () => {
      using at = boxedPlace()
      const locks = join(at.base, 'ours/locks')
      const busy = localHost({
        folders: [at.ws],
        scratch: join(at.base, 'busy'),
        locks,
        sandbox: { mode: 'on', home: at.home, hiddenFolders: [join(at.base, 'ours')] },
      })
      try {
        const running = busy.processes.run({
          command: 'touch began; until [ -e stop ]; do :; done; echo evil > CLAUDE.md',
          folder: at.ws,
        })
        await until(() => existsSync(join(at.ws, 'began')))
        await busy.files.write(join(at.ws, 'AGENTS.md'), Buffer.from('ours'))
        await busy.files.write(join(at.ws, '.mise/tasks/x'), Buffer.from('ours'))
        const write = join(at.ws, '.claude/settings.json')
        const other = session(at, 'other', { locks, commands: 0, command: '', write })
        await ended(other.child)
        await wait(500)
        writeFileSync(join(at.ws, 'stop'), '')
        await running
      } finally {
        busy.close()
      }
      for (const name of ['AGENTS.md', '.mise/tasks/x', '.claude/settings.json'])
        assert.equal(readFileSync(join(at.ws, name), 'utf8'), 'ours', name)
      assert.ok(!existsSync(join(at.ws, 'CLAUDE.md')), 'what nobody allowed is set aside')
    })

    test('a command is not let make what another one made before it, while it waited', async () => {
      using at = boxedPlace()
      execFileSync('mkfifo', [join(at.ws, 'gate')])
      for (const name of ['.npmrc', '.cargo/config.toml']) {
        await at.run(`(read -r _ < gate; mkdir -p .cargo; echo evil > ${name}; echo evil > done; exec sleep 60) & :`)
        await wait(1500)
        await at.run(`mkdir -p .cargo; echo x > ${name}; sleep 0.5`)
        await until(() => existsSync(join(at.ws, `${name}.set-aside`)))
        writeFileSync(join(at.ws, 'gate'), 'go\n')
        await until(() => existsSync(join(at.ws, 'done')) && !existsSync(join(at.ws, name)))
        renameSync(join(at.ws, 'done'), join(at.ws, 'was-done'))
      }
    })

    test('what another command made for a moment when a command began is not taken for what was there', async () => {
      using at = boxedPlace()
      // As if the sandbox of another session were about to set it aside.
      mkdirSync(join(at.ws, '.vscode'))
      const running = at.run(
        'touch began; until [ -e go ]; do sleep 0.02; done; mkdir .vscode; echo x > .vscode/tasks.json',
      )
      await until(() => existsSync(join(at.ws, 'began')))
      renameSync(join(at.ws, '.vscode'), join(at.ws, '.vscode.set-aside'))
      writeFileSync(join(at.ws, 'go'), '')
      await running
      assert.ok(!existsSync(join(at.ws, '.vscode')))
    })

    test('a protected file that an editor saves by renaming while a command is busy stays', async () => {
      using at = boxedPlace()
      writeFileSync(join(at.ws, 'AGENTS.md'), 'old')
      const running = at.run('touch began; until [ -e go ]; do :; done')
      await until(() => existsSync(join(at.ws, 'began')))
      writeFileSync(join(at.ws, 'AGENTS.md.new'), 'new')
      renameSync(join(at.ws, 'AGENTS.md.new'), join(at.ws, 'AGENTS.md'))
      await wait(500)
      writeFileSync(join(at.ws, 'go'), '')
      assert.equal((await running).notes, undefined)
      assert.equal(readFileSync(join(at.ws, 'AGENTS.md'), 'utf8'), 'new')
    })

    test('four sessions in one folder, some of them killed: every command runs, and nothing stays', async () => {
      using at = boxedPlace()
      const command =
        'for i in 1 2; do (mkdir -p .claude .vscode; echo x > .claude/settings.json; echo x > .vscode/tasks.json; echo x > .mcp.json) 2>/dev/null; sleep 0.05; done; echo ran'
      const finished = ['a', 'b', 'c', 'd'].map((name) => session(at, name, { commands: 4, command: 'echo ran' }))
      const killed = ['k', 'l'].map((name) => session(at, name, { commands: 1000, command }))
      for (const { child, report } of killed) {
        await until(() => existsSync(report), 60_000)
        child.kill('SIGKILL')
        await ended(child)
      }
      await Promise.all(finished.map(({ child }) => ended(child)))
      for (const { report } of finished)
        assert.deepEqual(readFileSync(report, 'utf8').trim().split('\n'), ['0 ran', '0 ran', '0 ran', '0 ran'])
      const rest = (): string[] => readdirSync(at.ws).filter((name) => !/\.set-aside/.test(name))
      await until(() => rest().length === OWN.length)
      assert.deepEqual(rest().sort(), OWN)
    })

    test('what a command made in the moment in which we are killed does not stay', async () => {
      using at = boxedPlace()
      mkdirSync(join(at.ws, '.github'))
      writeFileSync(join(at.ws, 'known.code-workspace'), '{}')
      // We are stopped first, so that nobody looks before we are killed.
      const made =
        'mkdir -p .vscode .github/workflows .git/hooks; echo x > .vscode/tasks.json; echo x > .github/workflows/ci.yml; echo x > AGENTS.md; echo x > new.code-workspace; ln -s src .cargo; echo x > .git/hooks/pre-commit; printf "[core]\\n\\tpager = evil\\n" > .git/config; ls -A'
      const command = `touch began; until [ -e go ]; do sleep 0.02; done; ${made}; touch made; sleep 60`
      const { child } = session(at, 'killed', { commands: 1, command })
      await until(() => existsSync(join(at.ws, 'began')), 60_000)
      child.kill('SIGSTOP')
      writeFileSync(join(at.ws, 'go'), '')
      await until(() => existsSync(join(at.ws, 'made')))
      assert.ok(existsSync(join(at.ws, '.vscode/tasks.json')), 'nobody has looked yet')
      child.kill('SIGKILL')
      const evil = [
        '.vscode',
        '.github/workflows',
        'AGENTS.md',
        'new.code-workspace',
        '.cargo',
        '.git/hooks',
        '.git/config',
      ]
      await until(() => evil.every((name) => lstatOf(join(at.ws, name)) === undefined))
      assert.ok(existsSync(join(at.ws, 'known.code-workspace')), 'what was there before stays')
      assert.ok(existsSync(join(at.ws, '.git')), 'a folder of git alone runs nothing')
      assert.ok(existsSync(join(at.ws, 'AGENTS.md.set-aside')))
    })

    test('nor by an unusual name, or in a folder that has one, or that the command closed', async () => {
      using at = boxedPlace()
      const folder = join(at.base, 'a\tb\\t\nc')
      mkdirSync(join(folder, '.github'), { recursive: true })
      writeFileSync(join(folder, 'known\t.code-workspace'), '{}')
      const names = [
        '.VSCode',
        'x.set-aside.code-workspace',
        'a\tb.code-workspace',
        `${'a'.repeat(240)}.code-workspace`,
      ]
      const quoted = names.map((name) => `'${name}'`).join(' ')
      const made = `mkdir -p .GitHub/workflows .github/Workflows .jj objects refs; touch .jj/repo HEAD .npmrc ${quoted}`
      const command = `touch began; until [ -e go ]; do sleep 0.02; done; ${made}; touch made; chmod 555 .github .; sleep 60`
      const { child } = session(at, 'killed', { folder, commands: 1, command })
      await until(() => existsSync(join(folder, 'began')), 60_000)
      child.kill('SIGSTOP')
      writeFileSync(join(folder, 'go'), '')
      await until(() => existsSync(join(folder, 'made')))
      child.kill('SIGKILL')
      const evil = [...names, '.GitHub/workflows', '.github/Workflows', '.jj/repo', 'HEAD', '.npmrc']
      await until(() => evil.every((name) => lstatOf(join(folder, name)) === undefined))
      assert.ok(existsSync(join(folder, 'known\t.code-workspace')), 'what was there before stays')
    })

    test('copies do not pile up, even if the command keeps us from removing them', async () => {
      using at = boxedPlace()
      for (let command = 0; command < 8; command++)
        await at.run('mkdir -p .vscode/a/b; touch .vscode/a/b/c; chmod 0 .vscode/a/b .vscode/a .vscode; sleep 0.2')
      const left = readdirSync(at.ws).filter((name) => name.startsWith('.vscode'))
      assert.deepEqual(left.sort(), ['.vscode.set-aside', '.vscode.set-aside-2', '.vscode.set-aside-3'])
    })

    test('a folder of the workspace inside another is protected too', async () => {
      using at = boxedPlace()
      const sub = join(at.ws, 'packages/sub')
      mkdirSync(join(sub, '.vscode'), { recursive: true })
      const sandbox = { mode: 'on', home: at.home, hiddenFolders: [join(at.base, 'ours')] } as const
      const host = localHost({ folders: [at.ws, sub], scratch: join(at.base, 'inner'), sandbox })
      try {
        const command =
          'cd packages/sub; echo x > .vscode/tasks.json; echo x > .npmrc; mkdir -p .github/workflows; cd ..; mv sub moved; git init -q sub'
        await host.processes.run({ command, folder: at.ws })
      } finally {
        host.close()
      }
      for (const name of ['.vscode/tasks.json', '.npmrc', '.github/workflows'])
        assert.equal(lstatOf(join(sub, name)), undefined, name)
      assert.ok(existsSync(join(sub, '.git/config')), 'a repository may be made there')
    })

    test('what commands usually make stays, and is not spoken of', async () => {
      using at = boxedPlace()
      const scaffold =
        'git init -q --bare origin.git && git clone -q origin.git app 2>/dev/null && cd app && printf "target\\n" > .gitignore && mkdir -p src .github && printf "* text=auto\\n" > .gitattributes && echo x > .github/dependabot.yml && echo x > .github/FUNDING.yml && echo "{}" > package.json && echo x > Cargo.toml && git add -A && git -c user.name=a -c user.email=a@example.com commit -qm one && git push -q origin HEAD'
      const top =
        'printf "target\\n" > .gitignore; mkdir -p .github/ISSUE_TEMPLATE .cargo objects refs; echo x > .github/dependabot.yml; echo x > .gitattributes; echo x > head; echo "{}" > package.json; git init -q . && git add package.json && git -c user.name=a -c user.email=a@example.com commit -qm one'
      for (const command of [scaffold, top, 'git status --short >/dev/null; git log --oneline']) {
        const { exitCode, error, notes, output } = await at.run(command)
        assert.deepEqual([exitCode, error, notes], [0, undefined, undefined], output)
      }
      assert.ok(!readdirSync(at.ws).some((name) => name.includes('set-aside')))
    })

    test('what an editor saves again and again while a server waits stays', async () => {
      using at = boxedPlace()
      writeFileSync(join(at.ws, 'AGENTS.md'), 'old')
      await open(at, 'cat')
      await at.run('sleep 300 & :')
      await wait(2500)
      for (const name of ['AGENTS.md', '.npmrc', 'AGENTS.md', '.npmrc'])
        for (let count = 0; count < 3; count++) {
          writeFileSync(join(at.ws, `${name}~`), `saved ${count}`)
          renameSync(join(at.ws, `${name}~`), join(at.ws, name))
          await wait(100)
        }
      at.host.close()
      for (const name of ['AGENTS.md', '.npmrc']) assert.equal(readFileSync(join(at.ws, name), 'utf8'), 'saved 2', name)
    })

    test('a bare repository of the person keeps its settings', async () => {
      using at = boxedPlace()
      execFileSync('git', ['init', '-q', '--bare', '.'], { cwd: at.ws })
      const before = readFileSync(join(at.ws, 'config'), 'utf8')
      await at.run('git config core.pager evil; echo x > hooks/pre-receive; mkdir modules; echo .. > commondir')
      assert.equal(readFileSync(join(at.ws, 'config'), 'utf8'), before)
      for (const name of ['hooks/pre-receive', 'modules', 'commondir']) assert.ok(!existsSync(join(at.ws, name)), name)
      assert.ok(existsSync(join(at.ws, 'HEAD')))
    })

    test('a command may make a repository; hooks and programs in its settings are set aside', async () => {
      using at = boxedPlace()
      const git = 'git init -q . && git config user.name A && git config user.email a@example.com'
      const made = await at.run(
        `${git} && git remote add origin https://example.com/a.git && git add -A && git commit -qm one && git status --short`,
      )
      assert.deepEqual([made.exitCode, made.output, made.notes], [0, '', undefined])
      assert.match(readFileSync(join(at.ws, '.git/config'), 'utf8'), /url = https:\/\/example\.com\/a\.git/)
      assert.equal((await at.run('git log --oneline | wc -l')).output, '1\n')
      assert.notEqual((await at.run('git config core.pager evil')).exitCode, 0, 'later its settings are protected')
    })

    for (const [name, command, gone] of [
      [
        'a hook',
        'git init -q .; printf "#!/bin/sh\\n" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit',
        '.git/hooks/pre-commit',
      ],
      [
        'a hook in a folder of its own',
        'mkdir -p .git/hooks; echo x > .git/hooks/post-checkout',
        '.git/hooks/post-checkout',
      ],
      ['a program in the settings', 'git init -q .; git config core.fsmonitor ./evil', '.git/config'],
      ['an alias', 'git init -q .; git config alias.st "!evil"', '.git/config'],
      ['a setting behind its section', 'git init -q .; echo "[core] pager = evil" >> .git/config', '.git/config'],
      ['a helper in an address', 'git init -q .; git remote add x "ext::sh -c evil"', '.git/config'],
      ['settings with a second name', 'git init -q .; ln .git/config config', '.git/config'],
      ['settings from elsewhere', 'git init -q .; mkdir other; echo ../other > .git/commondir', '.git/commondir'],
      ['a pointer elsewhere', 'git init -q --separate-git-dir=other .', '.git'],
      ['a link', 'git init -q other; ln -s other/.git .git', '.git'],
    ] as const)
      test(`a repository that a command made: ${name}`, async () => {
        using at = boxedPlace()
        const { notes = [] } = await at.run(command)
        const path = join(at.ws, gone)
        // git may go on to write what runs nothing.
        const left =
          gone === '.git/config' && existsSync(path) ? readFileSync(path, 'utf8') : lstatOf(path) ? 'evil' : ''
        assert.doesNotMatch(left, /evil/, gone)
        assert.ok(notes.length > 0)
      })

    test('a repository without hooks and settings gets empty ones, which cannot be written', async () => {
      using at = boxedPlace()
      execFileSync('git', ['init', '-q', '--template='], { cwd: at.ws })
      const attempts = ['mkdir -p .git/hooks; echo x > .git/hooks/pre-commit', 'rmdir .git/hooks', 'mv .git/hooks h']
      for (const attempt of attempts) assert.notEqual((await at.run(attempt)).exitCode, 0, attempt)
      const { output } = await at.run('git status --short; sleep 30 & :')
      assert.match(output, /README/)
      assert.equal(createDiskView().kind(join(at.ws, '.git/config.worktree')), undefined)
      at.host.close()
      assert.deepEqual(readdirSync(join(at.ws, '.git/hooks')), [])
    })

    test('an empty folder of the person is left as it is', async () => {
      using at = boxedPlace()
      mkdirSync(join(at.ws, '.vscode'))
      chmodSync(join(at.ws, '.vscode'), 0o1755)
      assert.notEqual((await at.run('echo x > .vscode/tasks.json')).exitCode, 0)
      at.host.close()
      assert.deepEqual(readdirSync(join(at.ws, '.vscode')), [])
    })
  })
}

interface OpenServer {
  readonly companion: StdioProcess
  end(): string | undefined
}

async function open(at: BoxedPlace, command: string): Promise<OpenServer> {
  let end: string | undefined
  const program = { command: '/bin/bash', args: ['-c', command], folder: at.ws }
  const listener = { onOutput: () => undefined, onExit: (how: string) => (end = how) }
  return { companion: await at.host.stdioProcesses.open(program, listener), end: () => end }
}

function session(at: BoxedPlace, name: string, more: Pick<Work, 'commands' | 'command'> & Partial<Work>) {
  const report = join(at.base, `report-${name}`)
  const order: Work = { folder: at.ws, scratch: join(at.base, name), home: at.home, report, ...more }
  const env = { ...process.env, DRAGOMAN_MISSING_PATHS: JSON.stringify(order) }
  return { child: spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' }), report }
}

function lstatOf(path: string): unknown {
  return lstatSync(path, { throwIfNoEntry: false })
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

async function asSession({ folder, scratch, home, locks, commands, command, report, write }: Work): Promise<void> {
  const sandbox = { mode: 'on', home } as const
  const host: LocalHost = localHost({ folders: [folder], scratch, sandbox, ...(locks !== undefined && { locks }) })
  for (let count = 0; count < commands; count++) {
    const { exitCode, output, error = '' } = await host.processes.run({ command, folder })
    writeFileSync(report, `${exitCode} ${output.trim()}${error}\n`, { flag: 'a' })
  }
  if (write !== undefined) await host.files.write(write, Buffer.from('ours'))
  host.close()
}
