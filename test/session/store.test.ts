import assert from 'node:assert/strict'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { storeConformance, type StoreSetup } from '../../src/session/store/conformance.ts'
import { INITIAL_SUM, encodeLogLine } from '../../src/session/log/log-line.ts'
import { type ScannedLog, scanLogLines } from '../../src/session/log/scan-log.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import { memoryStore } from '../../src/session/store/memory-store.ts'
import type { Store } from '../../src/session/store/store.ts'
import { clearAway } from '../support/clear.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-store-'))
after(() => clearAway(root))

let folders = 0
const freshFolder = () => join(root, String(folders++))

let time = 0
const clock = () => ++time

/** A store in a folder that other stores can open, too. */
function jsonlSetup(): StoreSetup {
  const places = new Map<Store, string>()
  const open = (folder: string) => {
    const store = jsonlStore(folder, clock)
    places.set(store, folder)
    return store
  }
  return {
    createStore: () => open(freshFolder()),
    reopen: (store) => open(places.get(store) ?? ''),
    // The folder is another one from here on: what is written to the open file is not kept there.
    failWrites(store) {
      const folder = places.get(store) ?? ''
      renameSync(folder, `${folder}-moved`)
      writeFileSync(folder, 'not a folder')
    },
    // From here on, its locks are those of a process on another machine, which cannot be checked.
    pause(store) {
      const folder = places.get(store) ?? ''
      for (const name of readdirSync(folder).filter((one) => one.endsWith('.lock')))
        writeFileSync(join(folder, name), '4711 1 boot:1:machine:elsewhere')
      return () => undefined
    },
  }
}

const memorySetup: StoreSetup = { createStore: () => memoryStore(clock), reopen: (store) => store }

describe('every store', () => {
  for (const { name, needs, run } of storeConformance) {
    if (needs === undefined) test(`memory: ${name}`, () => run(memorySetup))
    if (needs !== 'leaseMs') test(`jsonl: ${name}`, () => run(jsonlSetup()))
  }
})

/** A log of some entries; gives its file. */
async function written(count: number): Promise<{ file: string; store: Store }> {
  const folder = freshFolder()
  const store = jsonlStore(folder, clock)
  const log = await store.create({ id: 'log', folder: '/' })
  for (let at = 0; at < count; at++) log.append({ kind: 'note', text: `note ${at}` })
  await log.close()
  return { file: join(folder, 'log.jsonl'), store }
}

describe('a damaged log', () => {
  test('a torn tail is passed over, kept in the file, and the next entry begins a line of its own', async () => {
    const { file, store } = await written(5)
    const whole = readFileSync(file)
    truncateSync(file, whole.length - 20)
    const log = await store.open('log')
    assert.deepEqual(log.damages, [{ line: 6, what: 'torn' }])
    assert.equal(log.entries.length, 5)
    log.append({ kind: 'note', text: 'after' })
    await log.close()
    const again = await store.read('log')
    assert.deepEqual(
      again.entries.map((entry) => entry.seq),
      [1, 2, 3, 4, 5, 6],
    )
    assert.ok(
      readFileSync(file)
        .subarray(0, whole.length - 20)
        .equals(whole.subarray(0, whole.length - 20)),
      'nothing was deleted',
    )
  })

  test('a line that was altered is passed over; those after it are kept', async () => {
    const { file, store } = await written(5)
    writeFileSync(file, readFileSync(file, 'utf8').replace('note 2', 'note X'))
    const { entries, damages } = await store.read('log')
    assert.deepEqual(damages, [{ line: 4, what: 'altered' }])
    assert.deepEqual(
      entries.map((entry) => entry.seq),
      [1, 2, 3, 5, 6],
    )
  })

  test('a doubled line, a block of NULs and a line of another program are passed over', async () => {
    const { file, store } = await written(3)
    const lines = readFileSync(file, 'utf8').split('\n')
    writeFileSync(
      file,
      [lines[0], lines[1], lines[1], '\0'.repeat(512), '{"hello":1}', lines[2], lines[3], ''].join('\n'),
    )
    const { entries, damages } = await store.read('log')
    assert.deepEqual(
      entries.map((entry) => entry.seq),
      [1, 2, 3, 4],
    )
    assert.deepEqual(
      damages.map(({ what }) => what),
      ['repeated', 'unreadable', 'unreadable'],
    )
  })

  test('a thousand logs with flipped bits, cut tails, NUL blocks and doubled lines: all open and go on', async () => {
    const seed = Number(process.env['DRAGOMAN_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
    console.log(`seed ${seed}`)
    const random = generator(seed)
    const { file, store } = await written(12)
    const clean = readFileSync(file)
    for (let round = 0; round < 1000; round++) {
      let bytes = Buffer.from(clean)
      const flips = Math.floor(random() * 4)
      for (let flip = 0; flip < flips; flip++) {
        const at = Math.floor(random() * bytes.length)
        bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      }
      const kind = Math.floor(random() * 4)
      const at = Math.floor(random() * bytes.length)
      if (kind === 0) bytes = bytes.subarray(0, at)
      if (kind === 1)
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.alloc(Math.floor(random() * 600)), bytes.subarray(at)])
      if (kind === 2) {
        const lines = bytes.toString('latin1').split('\n')
        const line = Math.floor(random() * lines.length)
        lines.splice(line, 0, lines[line] ?? '')
        bytes = Buffer.from(lines.join('\n'), 'latin1')
      }
      writeFileSync(file, bytes)
      const log = await store.open('log')
      const touched = log.damages.length
      const before = log.entries.length
      log.append({ kind: 'note', text: 'still here' })
      await log.close()
      const { entries } = await store.read('log')
      assert.equal(entries.length, before + 1, `round ${round}`)
      assert.ok(
        entries.every((entry, index) => index === 0 || entry.seq > (entries[index - 1]?.seq ?? 0)),
        `round ${round}: order`,
      )
      // A fault can cost the line that it hit; one that hits a line end, the two beside it.
      const cut = kind === 0 ? clean.subarray(at).toString('latin1').split('\n').length : 0
      assert.ok(
        before >= 13 - 2 * flips - (kind === 3 ? 0 : 2) - cut,
        `round ${round}: ${before} entries, ${touched} damages`,
      )
    }
  })
})

/** Scans a log whose lines all end with a line break. */
function scanLog(lines: readonly (string | undefined)[]): Promise<ScannedLog> {
  return scanLogLines(lines.map((line = '') => ({ bytes: Buffer.from(line) })))
}

test('two entries on one line are both read; lines that were moved are put back', async () => {
  const { file } = await written(4)
  const lines = readFileSync(file, 'utf8').split('\n')
  const glued = await scanLog([lines[0], `${lines[1]}${lines[2]}`, lines[3], lines[4]])
  assert.deepEqual(
    glued.entries.map((entry) => entry.seq),
    [1, 2, 3, 4, 5],
  )
  const moved = await scanLog([lines[0], lines[3], lines[1], lines[2], lines[4]])
  assert.deepEqual(
    moved.entries.map((entry) => entry.seq),
    [1, 2, 3, 4, 5],
  )
  assert.deepEqual(
    moved.damages.map(({ what }) => what),
    ['misplaced', 'misplaced'],
  )
})

test('while a log of 14 MB is opened and read, other work goes on', async () => {
  const store = jsonlStore(freshFolder(), clock)
  const log = await store.create({ id: 'log', folder: '/' })
  for (let at = 0; at < 2000; at++) log.append({ kind: 'note', text: `${at} ${'"x" '.repeat(1500)}` })
  await log.close()
  for (const work of [() => store.read('log'), () => store.open('log')]) {
    let ticks = 0
    const tick = (): void => {
      ticks++
      next = setImmediate(tick)
    }
    let next = setImmediate(tick)
    const { entries } = await work()
    clearImmediate(next)
    assert.equal(entries.length, 2001)
    assert.ok(ticks >= 5, `only ${ticks} ticks`)
  }
})

test('an empty log opens as an empty session; one of a newer version is left alone', async () => {
  const { file, store } = await written(1)
  writeFileSync(file, '')
  assert.deepEqual((await store.read('log')).entries, [])
  const { file: newer, store: second } = await written(1)
  const open = { seq: 1, at: 1, kind: 'open', version: 2, session: 'log', folder: '/' } as const
  writeFileSync(newer, encodeLogLine(open, INITIAL_SUM).line)
  const before = readFileSync(newer)
  await assert.rejects(() => second.open('log'), /newer version/)
  assert.ok(readFileSync(newer).equals(before))
})

test('a log whose writer was killed is free for the next one; a living writer keeps it', async () => {
  const { file, store } = await written(1)
  appendFileSync(file.replace('.jsonl', '.lock'), '999999999 1')
  const log = await store.open('log')
  await assert.rejects(() => store.open('log'), /in use by process/)
  await log.close()
})

test('the name of a session cannot lead out of the folder', async () => {
  const store = jsonlStore(freshFolder(), clock)
  for (const id of ['../x', 'a/b', '', '.hidden', 'x'.repeat(200)]) {
    await assert.rejects(() => store.create({ id, folder: '/' }), /not a valid session name/)
    await assert.rejects(() => store.read(id), /not a valid session name/)
  }
})

test('a line that is whole but has lost the one before it is kept', async () => {
  const { file } = await written(4)
  const lines = readFileSync(file, 'utf8').split('\n')
  const { entries, damages } = await scanLog([lines[0], 'garbage', lines[2], lines[3], lines[4]])
  assert.deepEqual(
    entries.map((entry) => entry.seq),
    [1, 3, 4, 5],
  )
  assert.deepEqual(
    damages.map(({ what }) => what),
    ['unreadable', 'unlinked'],
  )
})

function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
