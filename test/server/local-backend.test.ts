import assert from 'node:assert/strict'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Backend } from '../../src/server/backend.ts'
import { backendConformance, type BackendSetup } from '../../src/server/conformance.ts'
import { localBackend, type LocalBackend } from '../../src/server/local/local-backend.ts'
import { clearAway } from '../support/clear.ts'

const root = mkdtempSync(join(tmpdir(), 'dragoman-backend-'))
after(() => clearAway(root))

let count = 0
let offset = 0
const folders = new Map<Backend, string>()

function open(folder: string): LocalBackend {
  const backend = localBackend({ folder, now: () => Date.now() + offset })
  folders.set(backend, folder)
  return backend
}

const setup: BackendSetup = {
  createBackend: () => open(join(root, String(count++))),
  // A copy without the lock is what the next process finds after a kill.
  reopenAfterKill(backend) {
    const copy = join(root, String(count++))
    cpSync(folders.get(backend) ?? '', copy, { recursive: true })
    rmSync(join(copy, 'server.lock'))
    return open(copy)
  },
  async advanceSchedules(backend, ms) {
    offset += ms
    await (backend as LocalBackend).submitDueSchedules()
  },
}

describe('the backend of one machine', () => {
  for (const { name, needs, run } of backendConformance)
    test(name, { skip: needs !== undefined && setup[needs] === undefined }, () => run(setup))

  test('a second process cannot use the folder', async () => {
    const folder = join(root, 'locked')
    const backend = open(folder)
    assert.throws(() => localBackend({ folder }), { code: 'in-use' })
    await backend.close()
    await open(folder).close()
  })

  test('a line that a crash tore is left out, any other damage is an error', async () => {
    const folder = join(root, 'torn')
    const backend = open(folder)
    const session = { tenant: 'acme', session: 's' }
    await backend.inbox.put(session, { kind: 'cancel', id: 'a' })
    await backend.close()
    appendFileSync(join(folder, 'journal.jsonl'), '{"do":"put","of":{"tena')
    const next = open(folder)
    assert.deepEqual(await next.inbox.list(session), [{ kind: 'cancel', id: 'a' }])
    await next.close()
    appendFileSync(join(folder, 'journal.jsonl'), 'damage\n{}\n')
    assert.throws(() => open(folder), /damaged/)
  })

  test('the journal does not grow with what is over', async () => {
    const folder = join(root, 'growth')
    const backend = open(folder)
    const session = { tenant: 'acme', session: 's' }
    for (let round = 0; round < 8; round++) {
      const puts = Array.from({ length: 1000 }, async (_, at) => {
        await backend.inbox.put(session, { kind: 'cancel', id: `m${round}-${at}` })
        await backend.inbox.remove(session, [`m${round}-${at}`])
      })
      await Promise.all(puts)
    }
    await backend.close()
    const lines = readFileSync(join(folder, 'journal.jsonl'), 'utf8').split('\n').length
    assert.ok(lines < 8000, String(lines))
    const next = open(folder)
    await next.inbox.put(session, { kind: 'cancel', id: 'm3-7' })
    assert.deepEqual(await next.inbox.list(session), [])
    await next.close()
  })

  test('what was spent adds up, and survives', async () => {
    const folder = join(root, 'spent')
    const backend = open(folder)
    await backend.spending?.add('acme', '2026-11', 0.5)
    await backend.spending?.add('acme', '2026-11', 0.25)
    await backend.close()
    const next = open(folder)
    assert.equal(await next.spending?.get('acme', '2026-11'), 0.75)
    assert.equal(await next.spending?.get('other', '2026-11'), 0)
    await next.close()
  })
})
