import { GATEWAY_CLIENTS } from '../../src/gateway/clients/all-clients.ts'
import type { GatewayClient } from '../../src/gateway/clients/client.ts'
import type { Client } from './client.ts'
import { claude } from './rows/claude.ts'
import { codex } from './rows/codex.ts'
import { gemini } from './rows/gemini.ts'
import { goose } from './rows/goose.ts'
import { opencode } from './rows/opencode.ts'
import { pi } from './rows/pi.ts'
import { qwen } from './rows/qwen.ts'

/** The clients that are known; a new one is a file and a line here. */
export const CLIENTS: readonly Client[] = [claude, codex, gemini, opencode, qwen, pi, goose]

/** How `dragoman gateway run` starts a client. */
export function findGatewayClient({ id }: Pick<Client, 'id'>): GatewayClient {
  const client = GATEWAY_CLIENTS.find((one) => one.id === id)
  if (!client) throw new Error(`src/gateway/clients has no ${id}`)
  return client
}
