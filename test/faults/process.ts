import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openCredentialFile } from '../../src/agent/user-files/credential-file.ts'
import { localHost } from '../../src/host/local-host.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import { noneAliveIn, until } from '../support/alive.ts'
import { dragoman, type Ended, stage } from '../support/command.ts'
import type { Play, Plays } from '../support/faults.ts'
import { root } from '../support/paths.ts'
import { preload, whenThere } from '../support/preload.ts'
import { clearAway } from '../support/clear.ts'

/** The whole program, ended in bad ways. */
export const processPlays: Plays = {
  'fa-014': async () => {
    const here = await stage([{ say: 'Back.', misbehave: [{ kind: 'stall', at: 'first-event', times: 1 }] }])
    const started = (child: ChildProcess): void => {
      void until(() => here.server.requests.length > 0).then(() => setTimeout(() => child.kill('SIGINT'), 200))
    }
    const ended = await dragoman(['-p', 'go'], here, { started })
    assert.equal(ended.code, 130)
    assert.match(ended.err, /interrupted; continue with dragoman --resume/)
    assert.equal(here.server.requests.length, 1)
    await goesOn(here)
  },
  'fa-027': async (fault) => {
    const size = Number(fault.inject['textBytes'])
    const here = await stage([
      { when: { request: 1 }, say: { text: 'All work and no play. ', times: size / 22 }, pieces: 500 },
      { say: 'Back.' },
    ])
    const report = join(here.home, 'peak')
    const code = `process.on('exit', () => fs.writeFileSync(${JSON.stringify(report)}, String(process.resourceUsage().maxRSS)))`
    const ended = await dragoman(['-p', 'go'], { ...here, env: { ...here.env, ...preload(code) } })
    const peak = Number(readFileSync(report, 'utf8')) / 1024
    assert.ok(peak < 300, `${Math.round(peak)} MB`)
    if (ended.code === 0) assert.ok(ended.out.length > size * 0.99)
    else assert.match(ended.err, /^dragoman: .*too long.*\n$/m)
    await goesOn(here)
  },
  'fa-063': async () => {
    const here = await stage([SLEEPS, { say: 'Back.' }])
    const ended = await whileItSleeps(here, (child) => child.kill('SIGTERM'))
    assert.notEqual(ended.code, 0)
    assert.match(ended.err, /interrupted/)
    await noneAliveIn(here.work)
    await goesOn(here)
    assert.match(sent(here, -1), /had started and was stopped/)
  },
  'fa-064': async (fault, t) => {
    const here = await stage([STUBBORN, { say: 'Back.' }])
    const ended = await whileItSleeps(here, async (child) => {
      for (let time = 0; time < Number(fault.inject['times']); time++) {
        child.kill('SIGINT')
        await pause(100)
      }
    })
    assert.equal(ended.code, 130)
    await noneAliveIn(here.work)
    await goesOn(here)
    if (!(await onTerminal())) t.diagnostic('there is no script command here, and so no terminal to look at')
  },
  'fa-065': async () => {
    const here = await stage([{ say: 'One.' }, { say: 'Back.', pieces: 5, pace: 150 }])
    await dragoman(['-p', 'first'], here)
    const killed = await dragoman(['-p', 'second', '--resume'], here, {
      started: (child) => void child.stdout?.once('data', () => child.kill('SIGKILL')),
    })
    assert.equal(killed.code, null)
    assert.match((await dragoman(['sessions', 'list'], here)).out, /first {2}\(unfinished; continue with --resume\)\n/)
    await goesOn(here)
    assert.doesNotMatch((await dragoman(['sessions', 'list'], here)).out, /did not end/)
    for (const said of ['first', 'One.', 'second']) assert.match(sent(here, -1), new RegExp(said))
  },
  'fa-066': async (_fault, t) => {
    const here = await stage([SLEEPS, { say: 'Back.' }])
    await whileItSleeps(here, (child) => child.kill('SIGKILL'))
    if (isBoxed()) await noneAliveIn(here.work)
    else t.diagnostic('there is no sandbox here, so a command outlives a killed program')
    const resumed = await goesOn(here)
    assert.match(resumed.err, /run_shell_command was interrupted.*not run again/)
    assert.match(sent(here, -1), /interrupted while run_shell_command ran/)
    assert.equal(readFileSync(join(here.work, 'begun'), 'utf8'), 'begun\n', 'it ran once')
  },
  'fa-067': killedWhileWriting('edit', (folder, content) => {
    const text = readFileSync(join(folder, 'file.txt'), 'utf8')
    assert.ok(content.includes(text), `a mixture of ${text.length} characters`)
    // What is left has a name that nobody takes for source.
    for (const name of readdirSync(folder)) assert.match(name, /^(?:file\.txt|\.dragoman-[0-9a-f]+\.tmp|scratch)$/)
  }),
  'fa-069': killedWhileWriting('token', (folder) => {
    const grant = openCredentialFile(join(folder, 'keys.json')).get('openai')
    assert.ok(grant, 'signed out')
    assert.match(JSON.stringify(grant), /"(?:old|new)-/)
  }),
  'fa-070': async () => {
    const here = await stage([SLEEPS, { say: 'Back.' }])
    const trouble = whenThere(join(here.work, 'begun'), `Promise.reject(new Error('a bug of ours'))`)
    const ended = await dragoman(['-p', 'go', '--yolo'], { ...here, env: { ...here.env, ...preload(trouble) } })
    assert.equal(ended.code, 1)
    const last = ended.err.trimEnd().split('\n').at(-1) ?? ''
    const log = /^dragoman: internal error: a bug of ours\. The session is saved in (\S+);/.exec(last)?.[1]
    assert.ok(existsSync(log ?? ''), last)
    assert.doesNotMatch(ended.err, /\n\s+at /)
    await noneAliveIn(here.work)
    await goesOn(here)
  },
  'fa-071': async (fault) => {
    const here = await stage([SLEEPS, { say: 'Back.' }])
    const grow = whenThere(
      join(here.work, 'begun'),
      'for (const all = []; ;) all.push(new Array(100).fill(Math.random()))',
    )
    const { NODE_OPTIONS } = preload(grow)
    const env = { ...here.env, NODE_OPTIONS: `${NODE_OPTIONS} --max-old-space-size=${String(fault.inject['heapMb'])}` }
    const ended = await dragoman(['-p', 'go', '--yolo'], { ...here, env })
    assert.notEqual(ended.code, 0)
    const resumed = await goesOn(here)
    assert.match(resumed.err, /run_shell_command was interrupted/)
    if (isBoxed()) await noneAliveIn(here.work)
  },
}

type Here = Awaited<ReturnType<typeof stage>>

const shell = (command: string): ScriptStep => ({
  say: 'Running.',
  call: [{ name: 'run_shell_command', args: { command } }],
})

const SLEEPS = shell('echo begun >> begun; sleep 30')
const STUBBORN = shell("trap '' INT TERM; echo begun >> begun; while :; do sleep 1; done")

/** Starts a run, and does something to it once its command has begun. */
function whileItSleeps(here: Here, act: (child: ChildProcess) => unknown): Promise<Ended> {
  const started = (child: ChildProcess): void => {
    // The shell creates the file before it writes to it.
    const begun = until(() => (statSync(join(here.work, 'begun'), { throwIfNoEntry: false })?.size ?? 0) > 0)
    void begun.then(
      () => act(child),
      () => child.kill(),
    )
  }
  return dragoman(['-p', 'go', '--yolo'], here, { started })
}

/** The session can be taken up, the model accepts what is in it, and no command runs a second time. */
async function goesOn(here: Here): Promise<Ended> {
  const listed = await dragoman(['sessions', 'list', '--json'], here)
  assert.equal((JSON.parse(listed.out) as unknown[]).length, 1)
  const resumed = await dragoman(['-p', 'go on', '--resume'], here)
  assert.equal(resumed.code, 0, `${resumed.out}\n${resumed.err}`)
  assert.equal(resumed.out, 'Back.\n')
  assert.deepEqual(here.server.failures, [])
  return resumed
}

/** What was sent in a request. */
function sent(here: Here, at: number): string {
  return here.server.requests.at(at)?.bytes.toString() ?? ''
}

/** Are commands shut in here, so that they end with the program? */
function isBoxed(): boolean {
  return spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--proc', '/proc', 'true']).status === 0
}

/** Control-C, twice, on a real terminal: it is left as it was found. */
async function onTerminal(): Promise<boolean> {
  if (spawnSync('script', ['--version']).status !== 0) return false
  const here = await stage([STUBBORN])
  // Control-C goes to all of them; the shell is to go on.
  const command = `trap : INT; stty -g > before; ${process.execPath} ${join(root, 'bin/dragoman')} -p go --yolo; stty -g > after`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: here.work,
    env: here.env,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const ended = new Promise((resolve) => {
    child.once('close', resolve)
  })
  await until(() => existsSync(join(here.work, 'begun')))
  child.stdin.write('\u0003')
  await pause(100)
  child.stdin.write('\u0003')
  await ended
  const [before, after] = ['before', 'after'].map((name) => readFileSync(join(here.work, name), 'utf8'))
  assert.equal(after, before, 'the terminal was changed')
  await noneAliveIn(here.work)
  return true
}

/** The word with which this test is its own child. */
export const WRITE = '--write'

const CONTENTS = ['old line\n'.repeat(30_000), 'new line\n'.repeat(40_000)]

/** Kills a process again and again while it writes, and looks at what is there. */
function killedWhileWriting(
  what: 'edit' | 'token',
  check: (folder: string, contents: readonly string[]) => void,
): Play {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-written-'))
    try {
      for (let time = 0; time < 6; time++) {
        const child = spawn(process.execPath, [process.argv[1] ?? '', WRITE, what, folder], {
          stdio: ['ignore', 'pipe', 'inherit'],
          env: {},
        })
        child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), Math.random() * 30))
        await new Promise((resolve) => {
          child.once('close', resolve)
        })
        check(folder, CONTENTS)
      }
    } finally {
      clearAway(folder)
    }
  }
}

/** What that child does: it writes one thing, then the other, until it is killed. */
export async function writeOnAndOn(what: string, folder: string): Promise<void> {
  const host = localHost({ folders: [folder], scratch: join(folder, 'scratch') })
  const keys = openCredentialFile(join(folder, 'keys.json'))
  for (let time = 0; ; time++) {
    const text = CONTENTS[time % 2] ?? ''
    if (what === 'edit') await host.files.write(join(folder, 'file.txt'), Buffer.from(text))
    else keys.set('openai', { kind: 'key', key: `${time % 2 === 0 ? 'old' : 'new'}-${'x'.repeat(20_000)}` })
    if (time === 1) process.stdout.write('ready\n')
  }
}
