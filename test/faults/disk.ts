import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import { createTextOutput } from '../../src/cli/output/text-output.ts'
import type { ScriptStep } from '../../src/rehearsal/script/script.ts'
import type { Entry } from '../../src/session/log/entry.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { dragoman, stage } from '../support/command.ts'
import { type Breaks, failingWrite, onBrokenDisk, systemError } from '../support/faulty-disk.ts'
import type { FaultCase, Play, Plays } from '../support/faults.ts'
import { freshFolder } from '../support/log-case.ts'
import { preload } from '../support/preload.ts'
import { onSmallDisk } from '../support/small-disk.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../support/stage.ts'
import { type Workspace, workspace } from '../tool/workspace.ts'

/** Disks that do not do what they are told. */
export const diskPlays: Plays = {
  'fa-072': async (fault, t) => {
    await everyLogWrite(fault, /disk is full.*cannot be saved/i)
    await reallyFull(t.diagnostic.bind(t))
  },
  'fa-073': edited((fault) => failingWrite(String(fault.inject['disk']), FRESH_FILE, 1), /no space/i),
  'fa-074': async (fault) => {
    const here = await stage([{ say: 'Hello.' }])
    const code = String(fault.inject['disk'])
    const breaks = `for (const name of ['mkdirSync', 'writeFileSync', 'openSync']) {
      const real = fs[name]
      fs[name] = (path, ...rest) => {
        if (String(path).startsWith(${JSON.stringify(here.home)}) && (name !== 'openSync' || rest[0] !== 'r'))
          throw Object.assign(new Error('${code}: permission denied'), { code: '${code}' })
        return real(path, ...rest)
      }
    }`
    const ended = await dragoman(['-p', 'hi'], { ...here, env: { ...here.env, ...preload(breaks) } })
    assert.notEqual(ended.code, 0)
    assert.match(ended.err, /^dragoman: sessions cannot be saved in .*XDG_DATA_HOME.*\n$/)
  },
  'fa-075': (fault) => everyLogWrite(fault, /quota is used up.*cannot be saved/i),
  'fa-076': tooledUp(async (fault, at) => {
    const file = at.file('a.txt', 'forty-two\n')
    let count = 0
    const breaks: Breaks = {
      openSync:
        (real) =>
        (path, ...rest) => {
          if (String(path).endsWith('a.txt') && ++count === 1) throw systemError(String(fault.inject['disk']))
          return real(path, ...rest)
        },
    }
    const read = { call: [{ name: 'read_file', args: { absolute_path: file } }] }
    const { results } = await onBrokenDisk(breaks, () => worked(at, [read, read]))
    assert.match(results[0] ?? '', /EMFILE|too many open files/i)
    assert.match(results[1] ?? '', /forty-two/)
  }),
  'fa-077': async (fault) => {
    const delay = Number(fault.inject['delayMs']) / 100
    let alive = 0
    const screen = setInterval(() => alive++, 5)
    const breaks: Breaks = {
      fsync: (real) =>
        ((handle: number, done: (error: NodeJS.ErrnoException | null) => void): void => {
          setTimeout(() => real(handle, done), delay)
        }) as typeof real,
    }
    try {
      const { shown, kept } = await onBrokenDisk(breaks, () => counted(2))
      assert.deepEqual(shown, kept)
    } finally {
      clearInterval(screen)
    }
    assert.ok(alive > delay / 10, `the screen moved ${alive} times`)
  },
  'fa-078': async (fault) => {
    const code = String(fault.inject['disk'])
    const here = await stage([
      { call: [{ name: 'read_file', args: { absolute_path: '{cwd}/a.txt' } }] },
      { expect: { results: code }, say: 'I see.' },
    ])
    writeFileSync(join(here.work, 'a.txt'), 'forty-two\n')
    const breaks = `const real = fs.readSync
      fs.readSync = (handle, ...rest) => {
        if (!fs.readlinkSync('/proc/self/fd/' + handle).endsWith('a.txt')) return real(handle, ...rest)
        throw Object.assign(new Error('${code}: i/o error'), { code: '${code}' })
      }`
    const ended = await dragoman(['-p', 'go'], { ...here, env: { ...here.env, ...preload(breaks) } })
    assert.equal(ended.code, 0, ended.err)
    assert.match(ended.err, /read_file.*EIO/)
    assert.equal(here.server.requests.length, 2)
    assert.deepEqual(here.server.failures, [])
  },
  'fa-079': () =>
    everyWrite(
      (at) => {
        let count = 0
        return {
          fsync: (real, pathOf) =>
            ((handle: number, done: (error: NodeJS.ErrnoException | null) => void) =>
              LOG.test(pathOf(handle)) && ++count === at
                ? setImmediate(done, systemError('EIO'))
                : real(handle, done)) as typeof real,
        }
      },
      /may not be saved/,
      // Before each of the three tools begins, and at the end.
      { least: 4 },
    ),
  'fa-080': async () => {
    const breaks: Breaks = {
      writeSync: (real, pathOf) =>
        ((handle: number, bytes: Uint8Array, from: number = 0) =>
          LOG.test(pathOf(handle))
            ? real(handle, bytes, from, Math.ceil((bytes.length - from) / 2))
            : real(handle, bytes, from)) as typeof real,
    }
    const { shown, kept, damages } = await onBrokenDisk(breaks, () => counted(2))
    assert.deepEqual(shown, kept)
    assert.equal(damages, 0)
  },
  'fa-081': async () => {
    const here = await stage([
      { call: [{ name: 'run_shell_command', args: { command: 'echo made it' } }] },
      { expect: { results: 'made it' }, say: 'Done.' },
    ])
    const ended = await dragoman(['-p', 'go', '--yolo'], { ...here, env: { ...here.env, TMPDIR: '/nonexistent' } })
    assert.equal(ended.code, 0, ended.err)
    assert.deepEqual(here.server.failures, [])
  },
  'fa-082': edited(
    (fault) => ({
      renameSync: (real) => (from, to) => {
        if (FRESH_FILE.test(String(from))) throw systemError(String(fault.inject['disk']))
        real(from, to)
      },
    }),
    /EXDEV/,
  ),
}

const LOG = /\.jsonl$/

/** A file that is written before it takes the place of another. */
const FRESH_FILE = /\.dragoman-[^/]*\.tmp$/

/** The same for writes to the log; the first one makes it. */
async function everyLogWrite({ inject }: FaultCase, told: RegExp): Promise<void> {
  const breaks = (at: number): Breaks => failingWrite(String(inject['disk']), LOG, at)
  const folder = freshFolder()
  const begin = (): unknown => jsonlStore(folder).create({ id: 'session', folder: '/' })
  await assert.rejects(onBrokenDisk(breaks(1), begin), (error: Error) => told.test(error.message))
  assert.deepEqual(readdirSync(folder), [])
  await everyWrite(breaks, told, { first: 2 })
}

/** Breaks each write of a session in turn: it stops at once and says so, keeps what was before, and goes on later. */
async function everyWrite(breaks: (at: number) => Breaks, told: RegExp, { first = 1, least = 8 } = {}): Promise<void> {
  for (let at = first; at < first + 100; at++) {
    const folder = freshFolder()
    const ran: number[] = []
    const { shown, text, reason } = await onBrokenDisk(breaks(at), () => counted(3, { folder, ran }))
    if (reason === 'done') return assert.ok(at > least, `only ${at} writes`)
    assert.equal(reason, 'unsaved', `write ${at}`)
    assert.match(text, told)
    assert.equal(text.trim().split('\n').at(-1)?.startsWith('dragoman: '), true)
    const { entries } = await jsonlStore(folder).read('session')
    const kept = entries.map((entry) => JSON.stringify(entry))
    for (const entry of shown) assert.ok(kept.includes(entry), `write ${at}: ${entry} is lost`)
    const begun = entries.flatMap((entry) => (entry.kind === 'intent' ? [entry.call] : []))
    assert.ok(ran.length <= begun.length, `write ${at}: a tool ran that is not on record`)
    const again = await counted(3, { folder, ran })
    assert.equal(again.reason, 'done', `write ${at}: it does not go on`)
    assert.equal(new Set(ran).size, ran.length, `write ${at}: ran twice: ${ran.join(' ')}`)
  }
  assert.fail('it never ends')
}

interface Counted {
  readonly shown: readonly string[]
  readonly kept: readonly string[]
  readonly damages: number
  readonly text: string
  readonly reason: string
}

/** A session in which a tool counts, begun or gone on with; what was shown of it and what is on the disk. */
async function counted(rounds: number, { folder = freshFolder(), ran = [] as number[] } = {}): Promise<Counted> {
  const store = jsonlStore(folder)
  const log = readdirSync(folder).includes('session.jsonl')
    ? await store.open('session')
    : await store.create({ id: 'session', folder: '/' })
  const steps = Array.from({ length: rounds }, (_, n) => ({ call: [{ name: 'count', args: { n } }] }))
  const server = await rehearse([...steps, { say: 'Done.' }], { end: { say: 'Done.' } })
  const count = tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    effects: () => [],
    execute: ({ n }) => `counted ${ran.push(n)}`,
  })
  try {
    const events = await play(agentOf(modelOn('openai-chat', server), [count], { session: resumeSession(log) }), 'go')
    await log.close()
    const { entries, damages } = await store.read('session')
    const shown = entriesOf(events).map((entry) => JSON.stringify(entry))
    const own = entries.slice(log.entries.length).map((entry) => JSON.stringify(entry))
    return { shown, kept: own, damages: damages.length, text: shownTo(events), reason: closing(events).reason }
  } finally {
    await server.close()
  }
}

function entriesOf(events: readonly RunEvent[]): Entry[] {
  return events.flatMap((event) => (event.type === 'entry' ? [event.entry] : []))
}

function shownTo(events: readonly RunEvent[]): string {
  let text = ''
  const output = createTextOutput({ out: () => undefined, err: (piece) => (text += piece) })
  for (const event of events) output.onEvent(event)
  return text
}

function tooledUp(work: (fault: FaultCase, at: Workspace) => Promise<void>): Play {
  return async (fault) => {
    using at = workspace()
    await work(fault, at)
  }
}

/** What the built-in tools answered to the calls of some steps. */
async function worked(at: Workspace, steps: readonly ScriptStep[]): Promise<{ results: string[]; requests: number }> {
  const server = await rehearse([...steps, { say: 'Done.' }])
  try {
    const tools = builtinTools({ memory: at.memory })
    const agent = agentOf(modelOn('anthropic', server), tools, { host: at.host, folders: [at.root] })
    assert.equal(closing(await play(agent, 'go')).reason, 'done')
    const results = agent.session.entries.flatMap((entry) =>
      entry.kind === 'result' ? [JSON.stringify(entry.result.content)] : [],
    )
    return { results, requests: server.requests.length }
  } finally {
    await server.close()
  }
}

/** An edit on a broken disk: the file stays as it was, whole, and nothing is left beside it. */
function edited(breaks: (fault: FaultCase) => Breaks, message: RegExp): Play {
  return tooledUp(async (fault, at) => {
    const old = 'old line\n'.repeat(2000)
    const file = at.file('a.txt', old)
    const write = { call: [{ name: 'write_file', args: { file_path: file, content: 'new\n'.repeat(5000) } }] }
    const { results } = await onBrokenDisk(breaks(fault), () => worked(at, [write]))
    assert.match(results[0] ?? '', message)
    assert.equal(at.read('a.txt'), old)
    assert.deepEqual(readdirSync(at.root), ['a.txt'])
  })
}

/** The command on a disk of its own that has hardly any room: it stops, and goes on when there is room again. */
async function reallyFull(say: (words: string) => void): Promise<void> {
  const long = 'x'.repeat(20_000)
  const here = await stage([
    {
      loop: [{ say: long, call: [{ name: 'run_shell_command', args: { command: 'echo ran >> ran.txt' } }] }],
      times: 8,
    },
    { say: 'Done.' },
  ])
  const done = await onSmallDisk(here, 96, async (run) => {
    const full = await run(['-p', 'go', '--yolo'])
    assert.equal(full.code, 1, full.err)
    assert.match(full.err, /dragoman: The disk is full.*cannot be saved/)
    const resumed = await run(['-p', 'go on', '--yolo', '--resume'], true)
    assert.equal(resumed.code, 0, resumed.err)
  })
  if (!done) return say('no file system could be mounted here: the full disk was only played')
  assert.deepEqual(here.server.failures, [])
}
