import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { AssistantTurn, CallPart, ResultPart, Turn, WireId } from '../../src/model/turn.ts'
import type { Entry, EntryBody } from '../../src/session/log/entry.ts'
import { INITIAL_SUM, encodeLogLine } from '../../src/session/log/log-line.ts'
import { createSessionNotices } from '../../src/session/session-notices.ts'
import { createInterruptedResult } from '../../src/session/open-calls.ts'
import { type Session, resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { SessionLog } from '../../src/session/store/store.ts'
import { createIdRegistry } from '../../src/wire/history/transcript.ts'
import { wireIds } from '../../src/wire/wires.ts'
import { wires } from '../support/cases.ts'
import { clearAway } from '../support/clear.ts'
import { DAMAGES, type Fields, mutateEntries, randomFrom } from '../support/log-mutations.ts'
import { validateTranscript } from '../support/transcript-validator.ts'

/** In memory where there is a place for it: twenty thousand logs would wait long for a disk. */
const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'dragoman-fuzz-'))
after(() => clearAway(root))

const seed = Number(process.env['DRAGOMAN_SEED'] ?? 1)
const COUNT = Number(process.env['DRAGOMAN_LOGS'] ?? 4000)

/** The forms in which lines were ever written, by themselves and in one log. */
const FORMS = ['hashed', 'without hashes', 'both'] as const
type Form = (typeof FORMS)[number]

/** A log without damage, and what is known of it. */
interface Base {
  readonly lines: readonly Buffer[]
  readonly entries: readonly Entry[]
  readonly calls: ReadonlyMap<string, CallPart>
}

const BASES = new Map<string, Base>()

/** A session that did all that a session can do; it was left in the middle of a turn, or ended. */
function baseOf(isKilled: boolean, isCompacted: boolean, form: Form): Base {
  const name = `${isKilled} ${isCompacted} ${form}`
  const known = BASES.get(name)
  if (known) return known
  const entries: Entry[] = bodies(isKilled, isCompacted).map((body, at) => ({ seq: at + 1, at: at + 1, ...body }))
  const calls = new Map(
    entries.flatMap((entry) =>
      entry.kind === 'turn'
        ? entry.turn.parts.flatMap((part) => (part.kind === 'call' ? [[part.id, part] as const] : []))
        : [],
    ),
  )
  const base = { lines: linesOf(entries, form), entries, calls }
  BASES.set(name, base)
  return base
}

function linesOf(entries: readonly unknown[], form: Form): Buffer[] {
  let sum = INITIAL_SUM
  return entries.map((entry, at) => {
    const hashed = form === 'hashed' || (form === 'both' && at >= entries.length / 2)
    const written = hashed ? encodeLogLine(entry as Entry, sum) : writeLineWithoutHash(entry, sum)
    ;({ sum } = written)
    return written.line
  })
}

/** A line as the first version wrote it. */
function writeLineWithoutHash(entry: unknown, before: string): { line: Buffer; sum: string } {
  const text = JSON.stringify(entry)
  const sum = createHash('sha256').update(before).update(text).digest('hex').slice(0, 16)
  return { line: Buffer.from(`${text.slice(0, -1)},"sum":"${sum}"}\n`), sum }
}

function bodies(isKilled: boolean, isCompacted: boolean): EntryBody[] {
  const done = (id: string): EntryBody[] => [
    { kind: 'intent', call: id, name: 'run', input: { command: `echo ${id}` } },
    {
      kind: 'result',
      result: resultOf(id),
      ms: 3,
      decision: 'allowed by the person',
      decided: { by: 'user', outcome: 'allowed' },
    },
  ]
  return [
    { kind: 'open', version: 1, session: 'log', folder: '/work' },
    { kind: 'note', text: 'Today is Monday.' },
    { kind: 'user', parts: [{ kind: 'text', text: 'Do it. äöü 漢字 \u2028 "quotes"' }], prompt: 'log#1' },
    { kind: 'request', model: 'p/m', prompt: 'log#1', bytes: 99, prefix: { settings: 'a', same: 0, fresh: ['b'] } },
    { kind: 'turn', turn: turnOf('openai-chat', ['A0', 'A1']), prompt: 'log#1', ms: 5 },
    { kind: 'ask', ask: 'q1', call: 'A0', details: { kind: 'command', command: 'echo A0' } },
    { kind: 'reply', ask: 'q1', outcome: 'proceed-once' },
    ...done('A0'),
    { kind: 'change', path: '/project/a.txt', before: { blob: 'a'.repeat(64), mode: 0o644 }, after: 'b'.repeat(64) },
    ...done('A1'),
    { kind: 'fault', fault: { kind: 'server', message: 'busy' }, prompt: 'log#1' },
    {
      kind: 'turn',
      turn: turnOf('anthropic', ['B0']),
      prompt: 'log#1',
      ms: 5,
      warnings: [{ code: 'x', message: 'y' }],
    },
    ...done('B0'),
    ...(isCompacted ? [{ kind: 'compact', summary: 'A summary.', keep: 14, before: 9, after: 3, ms: 1 } as const] : []),
    { kind: 'user', parts: [{ kind: 'text', text: 'And then?' }], prompt: 'log#2' },
    { kind: 'turn', turn: turnOf('gemini', ['C0', 'C1', 'C2']), prompt: 'log#2', ms: 5 },
    ...done('C0'),
    { kind: 'intent', call: 'C1', name: 'run', input: { command: 'echo C1' } },
    ...(isKilled
      ? []
      : [
          { kind: 'result', result: resultOf('C1'), ms: 3 } as const,
          ...done('C2'),
          { kind: 'turn', turn: turnOf('openai-responses', []), prompt: 'log#2', ms: 5 } as const,
          { kind: 'close', prompt: 'log#2', reason: 'done' } as const,
        ]),
  ]
}

function turnOf(wire: WireId, ids: readonly string[]): AssistantTurn {
  const calls = ids.map((id): CallPart => {
    const input = { command: `echo ${id}`, times: 12345 }
    return { kind: 'call', id, name: 'run', raw: JSON.stringify(input), input }
  })
  return {
    role: 'assistant',
    origin: { provider: 'p', wire, model: 'm' },
    parts: [{ kind: 'text', text: `Turn of ${wire}.` }, ...calls],
    finish: { reason: ids.length > 0 ? 'calls' : 'stop' },
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 },
  }
}

/** Every result has a word that nothing else has. */
const wordOf = (id: string): string => `RESULT-OF-${id}`

function resultOf(id: string): ResultPart {
  return { kind: 'result', id, name: 'run', status: 'ok', content: [{ kind: 'text', text: wordOf(id) }] }
}

const TOOL = {
  name: 'run',
  description: 'Runs a command.',
  schema: { type: 'object', properties: { command: { type: 'string' } } },
} as const

function problemsIn(turns: readonly Turn[], wire: WireId): string[] {
  const { profile } = wires[wire]
  const request = { model: 'm', system: 'Be brief.', tools: [TOOL], turns }
  return validateTranscript(
    wire,
    wires[wire].encodeRequest(request, profile, { ids: createIdRegistry(), isContinuation: false }).body,
    profile,
  )
}

interface Outcome {
  readonly log: SessionLog
  readonly session: Session
  /** The calls that a resume without a prompt would carry out. */
  readonly pending: readonly CallPart[]
  /** The history of the first request after a prompt. */
  readonly turns: readonly Turn[]
}

/** Opens a log, and goes on as a run with a prompt does. */
async function resume(bytes: Buffer, hasLock: boolean): Promise<Outcome> {
  const store = jsonlStore(root)
  const [file, lock] = [join(root, 'log.jsonl'), join(root, 'log.lock')]
  writeFileSync(file, bytes)
  if (hasLock) writeFileSync(lock, '999999999 1')
  else rmSync(lock, { force: true })
  const log = await store.open('log')
  const session = resumeSession(log)
  const pending = session.pendingCalls.map(({ call }) => call)
  for (const call of session.pendingCalls)
    session.append({ kind: 'result', result: createInterruptedResult(call), ms: 0 })
  session.append({ kind: 'user', parts: [{ kind: 'text', text: 'go on' }], prompt: 'log#9' })
  const turns = [...session.turns]
  await session.close()
  const again = resumeSession(await store.open('log'))
  assert.deepEqual(again.turns, turns, 'opened again, it says the same')
  assert.deepEqual(again.pendingCalls, [])
  await again.close()
  assert.ok(readFileSync(file).subarray(0, bytes.length).equals(bytes), 'nothing was deleted')
  return { log, session, pending, turns }
}

function checkCalls({ turns, pending }: Outcome, base: Base): void {
  const calls = turns.flatMap((turn) =>
    turn.role === 'assistant' ? turn.parts.filter((part) => part.kind === 'call') : [],
  )
  for (const call of [...calls, ...pending]) assert.deepEqual(call, base.calls.get(call.id), 'a call was altered')
}

function checkPending(pending: readonly CallPart[]): void {
  // Only this one had not begun; every other one had, or has its result.
  for (const { id } of pending) assert.equal(id, 'C2', `${id} would run a second time`)
}

function checkIntactResults({ turns }: Outcome, base: Base, bytes: Buffer): void {
  const text = JSON.stringify(turns)
  const left = new Set(bytes.toString('latin1').split(/\r?\n/))
  // What a summary stands for is not told again.
  const from = text.includes('A summary.') ? 14 : 0
  for (const [at, entry] of base.entries.entries()) {
    if (entry.kind !== 'result' || entry.seq < from) continue
    const line = base.lines[at]?.toString('latin1').slice(0, -1) ?? ''
    if (left.has(line)) assert.ok(text.includes(wordOf(entry.result.id)), `${wordOf(entry.result.id)} is lost`)
  }
}

function checkNotices(log: SessionLog): void {
  const notices = createSessionNotices(log)
  assert.ok(notices.length <= 4 && notices.every((notice) => notice.length < 1500), notices.join('\n'))
  if (log.damages.length > 0) assert.match(notices.join('\n'), /damaged|empty/)
}

test(`${COUNT} mutated logs of every format: each opens, no call is altered or runs twice, nothing intact is lost`, async () => {
  console.log(`seed ${seed}, ${COUNT} logs (DRAGOMAN_LOGS=20000 for more)`)
  const damages = Object.entries(DAMAGES)
  let [pendings, altered] = [0, 0]
  for (let number = 0; number < COUNT; number++) {
    const random = randomFrom(seed * 7919 + number * 31)
    for (let warm = 0; warm < 3; warm++) random()
    // Files are closed a moment later.
    if (number % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    const form = FORMS[number % 3] ?? 'hashed'
    const isKilled = random() < 0.7
    const base = baseOf(isKilled, random() < 0.3, form)
    const whole = Buffer.concat(base.lines)
    const wire = wireIds[number % wireIds.length] ?? 'gemini'
    const isPhysical = number % 2 === 0
    let bytes: Buffer = whole
    let what = ''
    if (isPhysical) {
      const [name = '', damage = () => whole] = damages[Math.floor(random() * damages.length)] ?? []
      ;[bytes, what] = [damage(whole, random), name]
    } else {
      const mutated = mutateEntries(base.entries as readonly unknown[] as readonly Fields[], random)
      ;[bytes, what] = [Buffer.concat(linesOf(mutated.entries, form)), mutated.what]
    }
    // Whoever is killed leaves a lock. Without one, nothing says that no line is missing at the end.
    const hasLock = bytes.subarray(-50).equals(whole.subarray(-50)) && random() < 0.7
    try {
      const outcome = await resume(bytes, hasLock)
      if (isPhysical) {
        checkCalls(outcome, base)
        checkIntactResults(outcome, base, bytes)
      }
      checkPending(outcome.pending)
      if (!hasLock && isKilled) assert.deepEqual(outcome.pending, [], 'its end is not proved')
      checkNotices(outcome.log)
      assert.deepEqual(problemsIn(outcome.turns, wire), [])
      pendings += outcome.pending.length
      altered += outcome.log.damages.length > 0 ? 1 : 0
    } catch (error) {
      const which = `log ${number} of seed ${seed} (${what}; ${form}, ${isKilled ? 'killed' : 'finished'}, ${wire})`
      throw new Error(`${which}: ${String(error)}`, { cause: error })
    }
  }
  console.log(`${altered} with damage that was seen, ${pendings} calls left to run`)
  assert.ok(altered > COUNT / 3 && pendings > 0, 'the cases are worth something')
})

for (const [name, alter] of [
  ['and is no entry any more', (text: string) => text.replace('"model"', '"moDel"')],
  ['and is an entry still', (text: string) => text],
] as const)
  test(`a damaged line that bears the number of an intact result, ${name}: the result stays`, async () => {
    const base = baseOf(false, false, 'without hashes')
    const lines = base.lines.map((line) => line.toString('utf8'))
    const at = base.entries.findIndex((entry) => entry.kind === 'result' && entry.result.id === 'B0')
    const turn = base.entries.findLastIndex((entry, place) => entry.kind === 'turn' && place < at)
    const number = base.entries[at]?.seq
    lines[turn] = alter((lines[turn] ?? '').replace(/^\{"seq":\d+/, `{"seq":${number}`))
    // Unreadable lines before it, so that numbers may be missing.
    for (const place of [turn - 2, turn - 5]) lines[place] = (lines[place] ?? '').replace('"kind":', '"kind";')
    const bytes = Buffer.from(lines.join(''))
    const outcome = await resume(bytes, false)
    checkCalls(outcome, base)
    checkIntactResults(outcome, base, bytes)
  })
