import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../../src/agent/loop/run.ts'
import type { TurnEvent } from '../../src/model/event.ts'
import type { CallPart } from '../../src/model/turn.ts'
import type { Effect } from '../../src/policy/effect.ts'
import type { Model } from '../../src/provider/model.ts'
import { resumeSession } from '../../src/session/session.ts'
import { jsonlStore } from '../../src/session/store/jsonl-store.ts'
import type { Usage } from '../../src/model/usage.ts'
import { tool } from '../../src/tool/custom-tool.ts'
import { createIncrementalBodyWriter } from '../../src/wire/history/incremental-body-writer.ts'
import { loadWire } from '../../src/wire/wires.ts'
import { agentOf } from '../../test/support/stage.ts'
import type { GrowthCase } from '../support/growth.ts'
import { appendConversation, createCall } from './history.ts'

/** Runs of the agent, without a network: with long sessions, and with many calls in one response. */
export async function listAgentCases(): Promise<GrowthCase[]> {
  return [
    await createSessionCase('a prompt with a call in a session of so many responses', { ...NO_TOKENS, input: 100 }),
    await createSessionCase('the same, from a server that counts no tokens', undefined),
    ...EFFECTS.map(([what, createEffects]) => createCallsCase(what, [32, 128, 512], createEffects)),
    createCallsCase('more than the limit allows', [500, 2000, 8000], () => []),
  ]
}

const NO_TOKENS: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

const EFFECTS: readonly (readonly [string, (path: string) => readonly Effect[]])[] = [
  ['that read', (path) => [{ kind: 'read', path }]],
  ['that write a file each', (path) => [{ kind: 'write', path }]],
  ['that write the same file', () => [{ kind: 'write', path: '/file' }]],
  ['that run a command each', () => [{ kind: 'exec', command: 'true', folder: '/' }]],
]

async function createSessionCase(label: string, usage: Usage | undefined): Promise<GrowthCase> {
  const wire = await loadWire('openai-chat')
  return {
    label,
    sizes: [500, 2000, 8000],
    grows: 'step',
    maxRatio: 2,
    async prepare(count) {
      const folder = mkdtempSync(join(tmpdir(), 'dragoman-growth-'))
      process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
      const log = await jsonlStore(folder).create({ id: 'long', folder: '/' })
      appendConversation(log, count)
      const session = resumeSession(log)
      const write = createIncrementalBodyWriter(wire)
      let next = count
      const model = createModel((request, onSent) => {
        const { pieces, prefixHashes } = write(request, wire.profile)
        const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
        onSent?.({ origin: ORIGIN, bytes, ...(prefixHashes && { prefixHashes }) })
        return request.turns.at(-1)?.role === 'results' ? [] : [createCall(next++)]
      }, usage)
      const agent = agentOf(model, [createReadTool(() => [])], { session })
      return () => runPrompt(agent)
    },
  }
}

function createCallsCase(
  what: string,
  sizes: GrowthCase['sizes'],
  createEffects: (path: string) => readonly Effect[],
): GrowthCase {
  return {
    label: `executing the calls of one response, ${what}`,
    sizes,
    maxRatio: 2,
    prepare: (count) => () => {
      const calls = Array.from({ length: count }, (_, at) => createCall(at))
      const model = createModel(({ turns }) => (turns.length > 1 ? [] : calls))
      return runPrompt(agentOf(model, [createReadTool(createEffects)]))
    },
  }
}

const ORIGIN = { provider: 'p', wire: 'openai-chat', model: 'm' } as const

/** A model that makes the calls that `respond` returns, or says something without any. */
function createModel(
  respond: (
    request: Parameters<Model['stream']>[0],
    onSent: Parameters<Model['stream']>[1]['onSent'],
  ) => readonly CallPart[],
  usage?: Usage,
): Model {
  return {
    origin: ORIGIN,
    window: 1e9,
    async *stream(request, { onSent, turnKey }): AsyncGenerator<TurnEvent> {
      const calls = respond(request, onSent)
      yield { type: 'open', id: 'r' }
      for (const [index, call] of calls.entries())
        yield { type: 'part-close', index, part: { ...call, id: `${turnKey}${index}` } }
      if (calls.length === 0) yield { type: 'part-close', index: 0, part: { kind: 'text', text: 'Done.' } }
      if (usage) yield { type: 'usage', usage }
      yield { type: 'finish', reason: calls.length > 0 ? 'calls' : 'stop' }
    },
  }
}

function createReadTool(createEffects: (path: string) => readonly Effect[]) {
  return tool({
    name: 'read_file',
    description: 'Reads.',
    parameters: { type: 'object', properties: { path: { type: 'string' } } },
    effects: ({ path }) => createEffects(`/${String(path)}`),
    execute: () => 'a line of a file',
  })
}

async function runPrompt(agent: Parameters<typeof run>[0]): Promise<void> {
  for await (const event of run(agent, [{ kind: 'text', text: 'go on' }]))
    if (event.type === 'run-close' && event.reason !== 'done') throw new Error(event.fault?.message ?? event.reason)
}
