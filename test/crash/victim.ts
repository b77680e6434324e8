import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import { run } from '../../src/agent/loop/run.ts'
import type { Session } from '../../src/session/session.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { SessionLog } from '../../src/session/store/store.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { agentOf, modelOn } from '../support/stage.ts'

/** Where a victim works, and when it dies. */
export interface Fate {
  readonly folder: string
  readonly url: string
  /** The number of the effect at which it is killed; never, with 0. */
  readonly at: number
  /** The history is summarised beyond so many tokens; never, with 0. */
  readonly window: number
}

/** A tool whose every run leaves a line in a file, so that a second run cannot hide. */
export function traced(folder: string, effect: () => void): Tool {
  return tool({
    name: 'count',
    description: 'Counts.',
    parameters: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
    effects: () => [],
    execute: ({ n }) => {
      effect()
      appendFileSync(join(folder, 'ran'), `${n}\n`)
      effect()
      // Long enough that a summary saves something.
      return `counted ${n} `.repeat(100)
    },
  })
}

/** Runs a session and dies on the way: by its own hand, at an exact effect. What it was told is on the disk, it says on standard output. */
export async function victim({ folder, url, at, window }: Fate): Promise<void> {
  let effects = 0
  const effect = (): void => {
    if (++effects === at) process.kill(process.pid, 'SIGKILL')
  }
  const log = await jsonlStore(folder).create({ id: 'session', folder: '/' })
  const agent = crashAgent(folder, url, resumeSession(watched(log, effect)), effect, window)
  writeSync(1, 'ready\n')
  for await (const event of run(agent, [{ kind: 'text', text: 'count' }])) if (event.type === 'turn') effect()
  await log.close()
  writeSync(1, `effects ${effects}\n`)
}

/** The agent of the crash tests. */
export function crashAgent(
  folder: string,
  url: string,
  session: Session,
  effect: () => void,
  window = 0,
): AgentContext {
  const model = { ...modelOn('openai-chat', { url }), ...(window > 0 && { window }) }
  return agentOf(model, [traced(folder, effect)], { session })
}

/** A log that counts what it does, and says what is safe on the disk. */
function watched(log: SessionLog, effect: () => void): SessionLog {
  let waiting: number[] = []
  return {
    ...log,
    append(body) {
      effect()
      const entry = log.append(body)
      waiting.push(entry.seq)
      effect()
      return entry
    },
    async flush() {
      const safe = waiting
      waiting = []
      await log.flush()
      effect()
      for (const seq of safe) writeSync(1, `kept ${seq}\n`)
    },
  }
}
