import { appendFileSync } from 'node:fs'
import type { Entry } from '../../../src/session/log/entry.ts'
import type { SessionLog, Store } from '../../../src/session/store/store.ts'

/** When a process kills itself: right after the entry of a kind, the first or a later one of a session, was saved. */
export interface Death {
  readonly kind: Entry['kind']
  readonly count: number
}

interface ObserverOptions {
  /** One line for each entry that was acknowledged. */
  readonly acksFile: string
  readonly death?: Death | undefined
}

/** Notes which entries were acknowledged, and which logs are open. */
export function observeStore(store: Store, options: ObserverOptions, logs: Map<string, SessionLog>): Store {
  const observe = (log: SessionLog): SessionLog => {
    const observed = observeLog(log, options)
    logs.set(log.id, observed)
    return observed
  }
  return {
    ...store,
    async create(session) {
      const log = await store.create(session)
      acknowledge(options.acksFile, log.id, log.entries.slice(-1))
      if (options.death?.kind === 'open') return die()
      return observe(log)
    },
    open: async (id, how) => observe(await store.open(id, how)),
  }
}

function observeLog(log: SessionLog, { acksFile, death }: ObserverOptions): SessionLog {
  let appended: Entry[] = []
  let isDying = false
  let count = log.entries.filter(({ kind }) => kind === death?.kind).length
  let lastSeq = log.entries.at(-1)?.seq ?? 0

  async function save(): Promise<void> {
    const saved = [...appended]
    await log.flush()
    appended = appended.filter((entry) => !saved.includes(entry))
    acknowledge(acksFile, log.id, saved)
  }

  return {
    ...log,
    flush: () => (isDying ? NEVER : save()),
    append(body) {
      // Entries are saved in order, so any of them may be the last one that is: what comes after it gets nowhere.
      if (isDying) return { seq: ++lastSeq, at: Date.now(), ...body }
      const entry = log.append(body)
      lastSeq = entry.seq
      appended.push(entry)
      if (body.kind === death?.kind && ++count === death.count) {
        isDying = true
        void save().then(die)
      }
      return entry
    },
  }
}

const NEVER = new Promise<never>(() => undefined)

function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return NEVER
}

function acknowledge(file: string, session: string, entries: readonly Entry[]): void {
  if (entries.length > 0) appendFileSync(file, entries.map((entry) => `${JSON.stringify([session, entry])}\n`).join(''))
}
