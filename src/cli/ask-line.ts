import { createInterface } from 'node:readline/promises'
import type { Agent } from '../agent/agent.ts'
import type { Ask, Outcome } from '../agent/call-state.ts'
import { visible } from './output/visible.ts'

/** Asks the person line by line, on any terminal. */
export const askOnLine: NonNullable<Agent['ask']> = async (ask, signal) => {
  process.stderr.write(`\n${visible(question(ask))}\n`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Control-C at a question ends the run; it does not answer it.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    for (;;) {
      const said = (await lines.question('  [y]es, once   [a]lways   [n]o, and say why  > ', { signal })).trim()
      const outcome = OUTCOMES[said.charAt(0).toLowerCase()]
      if (outcome === undefined) continue
      const words = outcome === 'cancel' ? said.replace(/^no?\b[,.: ]*/i, '') : ''
      return { ask: ask.id, outcome, ...(words !== '' && { words }) }
    }
  } catch {
    return { ask: ask.id, outcome: 'cancel' }
  } finally {
    lines.close()
  }
}

const OUTCOMES: Readonly<Record<string, Outcome>> = { y: 'proceed-once', a: 'proceed-always', n: 'cancel' }

function question({ details, decision }: Ask): string {
  if (details.kind === 'edit') return `${details.fileDiff.trimEnd()}\n\nChange ${details.filePath}?`
  if (details.kind === 'exec') return `Run this in ${details.folder}?\n\n  ${details.command}\n`
  if (details.kind === 'mcp') return `Call ${details.toolName} of the server ${details.serverName}?`
  return `${details.title}: ${details.prompt}\n${decision.why} Go on?`
}
