import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { localHost, type LocalHost } from '../../src/host/local.ts'
import { lookAtDisk } from '../../src/host/look.ts'
import { isStandIn } from '../../src/host/sandbox/stand-in.ts'
import { until } from '../support/alive.ts'
import { boxedPlace, skipWithoutBox } from './box.ts'

const work = process.env['DRAGOMAN_STAND_INS']
if (work !== undefined) await asSession(JSON.parse(work) as Work)
else tests(await skipWithoutBox())

/** What another process of ours does in a folder. */
interface Work {
  readonly folder: string
  readonly scratch: string
  readonly home: string
  readonly commands: number
  readonly command: string
  readonly report: string
}

function tests(skip: false | string): void {
  describe('stand-ins that several processes share', { skip }, () => {
    test('five sessions in one folder, some of them killed: every command runs, every command is held', async () => {
      using at = boxedPlace()
      const before = readdirSync(at.ws).sort()
      // Each command tries to write protected paths all the time that it runs.
      const command =
        'for i in 1 2 3; do (mkdir -p .claude .vscode; echo x > .claude/settings.json; echo x > .vscode/tasks.json; echo x > .mcp.json; rmdir .vscode) 2>/dev/null; sleep 0.05; done; echo ran'
      const session = (name: string, commands: number): { child: ChildProcess; report: string } => {
        const report = join(at.base, `report-${name}`)
        const order: Work = { folder: at.ws, scratch: join(at.base, name), home: at.home, commands, command, report }
        const env = { ...process.env, DRAGOMAN_STAND_INS: JSON.stringify(order) }
        return { child: spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' }), report }
      }
      const finished = ['a', 'b', 'c', 'd', 'e'].map((name) => session(name, 6))
      const killed = ['k', 'l', 'm'].map((name) => session(name, 1000))
      for (const { child, report } of killed) {
        await until(() => existsSync(report), 60_000)
        child.kill('SIGKILL')
      }
      await Promise.all(finished.map(({ child }) => ended(child)))
      for (const { report } of finished)
        assert.deepEqual(
          readFileSync(report, 'utf8').trim().split('\n'),
          Array.from({ length: 6 }, () => '0 ran'),
        )
      for (const name of ['.claude/settings.json', '.vscode/tasks.json', '.mcp.json/x'])
        assert.ok(!existsSync(join(at.ws, name)), name)
      // Whoever comes next removes what the killed ones left.
      assert.equal((await at.run('true')).exitCode, 0)
      at.host.close()
      assert.deepEqual(readdirSync(at.ws).sort(), before)
    })

    test('a session that runs no command removes what a killed one left', async () => {
      using at = boxedPlace()
      const order = { folder: at.ws, scratch: join(at.base, 'other'), home: at.home, commands: 1, command: 'sleep 60' }
      const report = join(at.base, 'report')
      const env = { ...process.env, DRAGOMAN_STAND_INS: JSON.stringify({ ...order, report }) }
      const child = spawn(process.execPath, [fileURLToPath(import.meta.url)], { env, stdio: 'ignore' })
      await until(() => existsSync(join(at.ws, '.vscode')), 30_000)
      child.kill('SIGKILL')
      await ended(child)
      assert.ok(existsSync(join(at.ws, '.vscode')))
      await at.host.sandbox()
      assert.deepEqual(readdirSync(at.ws).sort(), ['README.md', 'src'])
    })

    test('another session that ends takes nothing away from a command that runs', async () => {
      using at = boxedPlace()
      const other = otherHost(at.base, at.ws, at.home)
      const running = at.run(
        'until [ -e go ]; do sleep 0.05; done; mkdir -p .claude .agents; echo evil > .claude/settings.json; echo evil > .agents/x; echo evil > AGENTS.md; true',
      )
      await until(() => existsSync(join(at.ws, '.claude')))
      await other.processes.run({ command: 'true', folder: at.ws })
      other.close()
      writeFileSync(join(at.ws, 'go'), '')
      await running
      at.host.close()
      assert.deepEqual(readdirSync(at.ws).sort(), ['README.md', 'go', 'src'])
    })

    test('what somebody else puts into one stays', async () => {
      using at = boxedPlace()
      const running = at.run('until [ -e go ]; do sleep 0.05; done; ls -A .vscode .idea')
      await until(() => existsSync(join(at.ws, '.vscode')) && existsSync(join(at.ws, '.zed')))
      writeFileSync(join(at.ws, '.vscode/settings.json'), 'mine')
      writeFileSync(join(at.ws, 'go'), '')
      assert.doesNotMatch((await running).output, /lease/)
      at.host.close()
      assert.equal(readFileSync(join(at.ws, '.vscode/settings.json'), 'utf8'), 'mine')
      assert.deepEqual(readdirSync(join(at.ws, '.vscode')), ['settings.json'])
      assert.ok(!existsSync(join(at.ws, '.idea')))
    })

    test('what the person or a tool makes while something waits in the background is not set aside', async () => {
      using at = boxedPlace()
      await at.run('sleep 60 & :')
      await wait(2500)
      writeFileSync(join(at.ws, '.npmrc'), 'mine')
      await at.host.files.write(join(at.ws, 'mise.toml'), Buffer.from('asked for'))
      await wait(1500)
      at.host.close()
      assert.equal(readFileSync(join(at.ws, '.npmrc'), 'utf8'), 'mine')
      assert.equal(readFileSync(join(at.ws, 'mise.toml'), 'utf8'), 'asked for')
    })

    test('an empty folder of somebody else is not taken for one', async () => {
      using at = boxedPlace()
      mkdirSync(join(at.ws, '.vscode'))
      await at.run('true')
      at.host.close()
      assert.ok(existsSync(join(at.ws, '.vscode')) && !isStandIn(join(at.ws, '.vscode')))
    })

    test('one is not there to those who judge commands, so git is read while something runs', async () => {
      using at = boxedPlace()
      mkdirSync(join(at.ws, '.git'))
      writeFileSync(join(at.ws, '.git/config'), '')
      await at.run('sleep 30 & :')
      const disk = lookAtDisk()
      assert.ok(existsSync(join(at.ws, '.git/hooks')), 'it stands in')
      assert.equal(disk.kind(join(at.ws, '.git/hooks')), undefined)
      assert.equal(disk.kind(join(at.ws, '.git/config.worktree')), undefined)
      assert.equal(disk.kind(join(at.ws, '.git')), 'folder')
      const list = await at.host.files.list(at.ws)
      assert.deepEqual(list.map(({ name }) => name).sort(), ['.git', 'README.md', 'src'])
    })
  })
}

function otherHost(base: string, folder: string, home: string): LocalHost {
  return localHost({ folders: [folder], scratch: join(base, 'other'), sandbox: { mode: 'on', home } })
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

async function asSession({ folder, scratch, home, commands, command, report }: Work): Promise<void> {
  const host = localHost({ folders: [folder], scratch, sandbox: { mode: 'on', home } })
  for (let count = 0; count < commands; count++) {
    const { exitCode, output, error = '' } = await host.processes.run({ command, folder })
    writeFileSync(report, `${exitCode} ${output.trim()}${error}\n`, { flag: 'a' })
  }
  host.close()
}
