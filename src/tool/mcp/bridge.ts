import type { JsonObject } from '../../model/json.ts'
import { clipped } from '../../model/text.ts'
import type { Tool, ToolContext, ToolOutput } from '../define.ts'
import { identityOf } from './config.ts'
import { outputOf, plainText } from './content.ts'
import type { RemoteTool } from './gate.ts'
import { serverName } from './names.ts'
import type { Pins } from './pins.ts'
import type { Server } from './server.ts'

/** A tool of a server, as a tool of ours. The model sees `name`; the server gets its own. */
export function bridge(server: Server, remote: RemoteTool, name: string, pins: Pins): Tool {
  const { config } = server
  const trusted = config.trust === true
  const identity = identityOf(config)
  const timeout = config.timeout ?? CALL_TIMEOUT
  const difference = (): string | undefined => (trusted ? undefined : pins.difference(server.name, remote, identity))

  return {
    spec: { name, description: remote.description, schema: remote.schema },
    kind: 'other',
    origin: 'mcp',
    effects() {
      // What a server says of its tools counts for as much as the person trusts it.
      if (trusted && remote.readOnly) return []
      const changed = difference() !== undefined
      const of = {
        server: serverName(server.name),
        tool: remote.name,
        ...(trusted && { trusted }),
        ...(changed && { changed }),
      }
      return [{ kind: 'unknown', of }]
    },
    preview(input) {
      const changes = difference()
      return Promise.resolve({
        kind: 'mcp',
        title: `Call ${remote.title} of the server ${server.name}`,
        serverName: server.name,
        toolName: remote.name,
        toolDisplayName: remote.title,
        input: JSON.stringify(input, undefined, 2),
        ...(changes !== undefined && { changes }),
      })
    },
    run: (input, context) =>
      run(server, remote, input, context, timeout, () => pins.approve(server.name, remote, identity)),
  }
}

/** Ten minutes, as with other clients; whoever wants less says so in the settings. */
const CALL_TIMEOUT = 600_000

/** A server may say anything of an error, at any length. */
const LONGEST_MESSAGE = 4000

async function run(
  server: Server,
  remote: RemoteTool,
  input: JsonObject,
  { signal, progress }: ToolContext,
  timeout: number,
  approved: () => void,
): Promise<ToolOutput> {
  approved()
  try {
    const result = await server.call(remote, input, { signal, progress, timeout })
    return outputOf(remote.name, result)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const message = clipped(plainText(sentence(server, why, timeout)), LONGEST_MESSAGE)
    return { content: message, display: message, error: { message, type: 'mcp' } }
  }
}

function sentence({ name, state }: Server, why: string, timeout: number): string {
  if (/timed? ?out/i.test(why))
    return `The server ${name} did not answer within ${timeout / 1000} s. What it did is not known.`
  if (state.status === 'failed' && /closed|ended|went away/i.test(why)) {
    return `The server ${name} ended during the call (${state.why}). What it did is not known.`
  }
  return why.startsWith('The server') ? why : `The server ${name} says: ${why}`
}
