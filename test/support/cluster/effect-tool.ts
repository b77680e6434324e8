import { appendFileSync, mkdirSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { createChangeRecorder } from '../../../src/agent/apply-undo.ts'
import { localHost, tool } from '../../../src/index.ts'
import { withChangeRecording } from '../../../src/host/files/record-changes.ts'
import type { Files } from '../../../src/host/host.ts'
import type { SessionLog, Store } from '../../../src/session/store/store.ts'

interface EffectToolOptions {
  /** One line for each effect. */
  readonly effectsFile: string
  /** The longest delay before the effect, and after it. */
  readonly toolMs: number
  /** Decides about the delays, so that they are the same again. */
  readonly seed?: number
  /** Changes the file of this name, too. */
  readonly changeFile?: (name: string) => Promise<void>
}

/** A tool whose effects are counted from outside: one line for each in a file, which outlives the process. */
export function createEffectTool(session: string, { effectsFile, toolMs, seed, changeFile }: EffectToolOptions) {
  return tool({
    name: 'effect',
    description: 'Does something that must not be done twice.',
    parameters: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] },
    effects: ({ n }) => [{ kind: 'write', path: `/effects/${session}/${n}` }],
    async execute({ n }, { signal }) {
      await pause(toShare(seed, `before ${session} ${n}`) * toolMs)
      // A tool that was told to stop begins nothing new.
      signal.throwIfAborted()
      await changeFile?.(n)
      appendFileSync(effectsFile, `${session} ${n} ${process.pid}\n`)
      await pause(toShare(seed, `after ${session} ${n}`) * toolMs)
      return changeFile ? `did ${n} ${LONG_RESULT}` : `did ${n}`
    },
  })
}

/** So that the history soon fills a small context window. */
const LONG_RESULT = 'and said much about it; '.repeat(20)

/** Files whose changes are in the log of a session before they are made. */
export function openRecordedFiles(
  log: Pick<SessionLog, 'append' | 'flush'>,
  { store, folder }: { readonly store: Store; readonly folder: string },
): Files {
  mkdirSync(folder, { recursive: true })
  const host = localHost({ folders: [folder], scratch: folder })
  return withChangeRecording(host, createChangeRecorder(log, store)).files
}

/** A number from 0 to 1: random, or the same for the same seed and text. */
function toShare(seed: number | undefined, text: string): number {
  if (seed === undefined) return Math.random()
  return createHash('sha256').update(`${seed} ${text}`).digest().readUInt32BE() / 2 ** 32
}
