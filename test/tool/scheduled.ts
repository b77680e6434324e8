import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { executeCalls } from '../../src/agent/calls/execute-calls.ts'
import type { AgentContext } from '../../src/agent/agent-context.ts'
import type { RunEvent } from '../../src/agent/loop/run-event.ts'
import type { JsonObject } from '../../src/model/json.ts'
import type { ResultPart } from '../../src/model/turn.ts'
import type { Model } from '../../src/provider/model.ts'
import { builtinTools } from '../../src/tool/builtin/index.ts'
import { agentOf } from '../support/stage.ts'
import type { Workspace } from './workspace.ts'

/** A call of a test: a tool, and its arguments. */
export type Called = readonly [name: string, input: JsonObject]

/** Nobody asks a model here: the calls are the test's own. */
const NO_MODEL = {
  origin: { provider: 'none', wire: 'gemini', model: 'none' },
  stream: () => {
    throw new Error('no model')
  },
} as unknown as Model

/** An agent that works in a workspace, with all built-in tools that need no network. */
export function agentIn(ws: Workspace, more: Partial<AgentContext> = {}): AgentContext {
  return agentOf(NO_MODEL, builtinTools({ memory: ws.memory }), { host: ws.host, folders: [ws.root], ...more })
}

/** Gives calls to the scheduler, all in one turn; the results in the order of the calls, and what happened on the way. */
export async function scheduled(
  agent: AgentContext,
  calls: readonly Called[],
): Promise<{ results: readonly ResultPart[]; events: readonly RunEvent[] }> {
  const parts = calls.map(([name, input]) => {
    return { kind: 'call', id: agent.createId(), name, raw: JSON.stringify(input), input } as const
  })
  const events: RunEvent[] = []
  const running = executeCalls(agent, parts, [], new AbortController().signal)
  for (;;) {
    const next = await running.next()
    if (next.done) return { results: next.value.map(({ result }) => result), events }
    events.push(next.value)
  }
}

/** What is on the disk in and around a workspace: names, modes and contents, as one hash. */
export function treeHash(ws: Workspace): string {
  const hash = createHash('sha256')
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder).sort()) {
      const path = join(folder, name)
      const info = lstatSync(path)
      hash.update(`${path}\0${info.mode}\0`)
      if (info.isDirectory()) walk(path)
      else if (info.isSymbolicLink()) hash.update(readlinkSync(path))
      else if (info.isFile()) hash.update(readFileSync(path))
    }
  }
  for (const folder of [ws.root, ws.outside]) walk(folder)
  const home = dirname(ws.memory)
  if (lstatSync(home, { throwIfNoEntry: false })) walk(home)
  return hash.digest('hex')
}

/** The text of a result. */
export function textIn({ content }: ResultPart): string {
  return content.map((part) => (part.kind === 'text' ? part.text : '')).join('')
}
