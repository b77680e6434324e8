import assert from 'node:assert/strict'
import type { AgentContext } from '../../../src/agent/agent-context.ts'
import type { RunEvent } from '../../../src/agent/loop/run-event.ts'
import type { JsonObject } from '../../../src/model/json.ts'
import type { ResultPart, WireId } from '../../../src/model/turn.ts'
import type { McpServers } from '../../../src/tool/mcp/client/servers.ts'
import { createMcpToolbox } from '../../../src/tool/mcp/tools/mcp-toolbox.ts'
import { agentOf, closing, modelOn, play, rehearse } from '../../support/stage.ts'

/** A call that a scripted model makes: the tool by the name that the server knows, and its arguments. */
export type Called = readonly [server: string, tool: string, args: JsonObject]

/** What came of it. */
export interface Played {
  readonly results: readonly ResultPart[]
  readonly events: readonly RunEvent[]
}

/** Has a scripted model make these calls, one turn each unless they are given as one; gives their results in order. */
export async function callThrough(
  servers: McpServers,
  calls: readonly Called[],
  how: { wire?: WireId; agent?: Partial<AgentContext>; budget?: { tools: number; bytes: number } } = {},
): Promise<Played> {
  const named = calls.map(([server, tool, args]) => ({ name: servers.names.nameFor({ server, tool }), args }))
  const model = await rehearse([...named.map((call) => ({ call: [call] })), { say: 'Done.' }])
  try {
    const wire = how.wire ?? 'openai-chat'
    const toolbox = createMcpToolbox([], servers, how.budget)
    const events = await play(agentOf(modelOn(wire, model), [], { toolbox, ...how.agent }), 'go')
    assert.deepEqual(model.failures, [], `what was sent on ${wire}`)
    assert.equal(closing(events).reason, 'done', JSON.stringify(closing(events)))
    const results = events.flatMap((event) =>
      event.type === 'entry' && event.entry.kind === 'result' ? [event.entry.result] : [],
    )
    assert.equal(results.length, calls.length)
    return { results, events }
  } finally {
    await model.close()
  }
}

/** The text of a result. */
export function said({ content }: ResultPart): string {
  return content.map((part) => (part.kind === 'text' ? part.text : `<${part.mime}>`)).join('\n')
}

/** The names of a server's tools, as it says them. */
export function toolsOf(servers: McpServers, name: string): string[] {
  const server = servers.list.find((one) => one.name === name)
  return (server?.lists.tools ?? []).map(({ name: tool }) => (typeof tool === 'string' ? tool : '')).sort()
}
