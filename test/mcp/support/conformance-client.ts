import { createMcpRequestHandler } from '../../../src/agent/mcp-request-handler.ts'
import { createTurnKey } from '../../../src/model/ids.ts'
import type { Model } from '../../../src/provider/model.ts'
import { SignInRequiredError, signInToMcpServer } from '../../../src/tool/mcp/connection/oauth.ts'
import type { McpServerConfig } from '../../../src/tool/mcp/client/server-config.ts'
import { filterTools } from '../../../src/tool/mcp/tools/filter-tools.ts'
import { createMcpServer } from '../../../src/tool/mcp/client/server.ts'
import { createMemoryKeyValueStore } from './memory-store.ts'

/** What the tools of the scenarios are called with. */
const ARGUMENTS: Readonly<Record<string, Record<string, number>>> = { add_numbers: { a: 5, b: 3 } }

/** How often a person would sign in before they give up. */
const SIGN_INS = 2

/** Our client, as the conformance suite starts it: connects to a server, signs in where it must, and calls every tool. */
export async function conformanceClient(address: string, context: Record<string, unknown>): Promise<void> {
  const url = new URL(address)
  const { client_id: clientId, client_secret: clientSecret } = context
  const oauth = {
    ...(typeof clientId === 'string' && { clientId }),
    ...(typeof clientSecret === 'string' && { clientSecret }),
  }
  const config: McpServerConfig = { type: 'http', url: address, timeout: 60_000, oauth }
  const tokens = createMemoryKeyValueStore()
  // A person who says yes to everything, and changes nothing.
  const ask = ({ id }: { id: string }) => Promise.resolve({ ask: id, outcome: 'proceed-once' } as const)
  const questions = createMcpRequestHandler(() => ({
    requestApproval: ask,
    model: {} as Model,
    createId: () => createTurnKey(new Uint8Array(20)),
  }))
  const options = {
    folders: [],
    env: {},
    listCache: createMemoryKeyValueStore(),
    tokenStore: tokens,
    requestHandler: questions,
    timeoutMs: 60_000,
  }
  const server = createMcpServer('it', config, options)

  async function signedIn<T>(work: () => Promise<T>): Promise<T> {
    for (let times = 0; ; times++) {
      try {
        return await work()
      } catch (error) {
        if (times >= SIGN_INS || !isSignIn(error)) throw error
        // The browser of this person agrees to everything, and comes back at once.
        await signInToMcpServer({ name: 'it', url, tokens, oauth }, (shown) => void fetch(shown).catch(() => undefined))
      }
    }
  }

  try {
    await signedIn(() => server.ready())
    for (const tool of filterTools(server.lists.tools, {}).tools) {
      await signedIn(() => server.call(tool, ARGUMENTS[tool.name] ?? {}, { timeout: 60_000 }))
    }
  } finally {
    await server.close()
  }
}

function isSignIn(error: unknown): boolean {
  return error instanceof SignInRequiredError || (error instanceof Error && isSignIn(error.cause))
}
