import { claude } from './claude.ts'
import type { GatewayClient } from './client.ts'
import { codex } from './codex.ts'
import { gemini } from './gemini.ts'
import { goose } from './goose.ts'
import { opencode } from './opencode.ts'
import { pi } from './pi.ts'
import { qwen } from './qwen.ts'

/** The agents that `dragoman gateway run` can start. */
export const GATEWAY_CLIENTS: readonly GatewayClient[] = [claude, codex, gemini, opencode, qwen, pi, goose]
