import { createInterface } from 'node:readline/promises'
import type { Agent } from '../agent/agent.ts'
import type { Ask, Outcome } from '../agent/call-state.ts'
import { framed, renderSafe } from '../policy/terminal.ts'

/** Asks the person line by line, on any terminal. */
export const askOnLine: NonNullable<Agent['ask']> = async (ask, signal) => {
  process.stderr.write(`\n${question(ask)}\n`)
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  // Control-C at a question ends the run; it does not answer it.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    for (;;) {
      const said = (await lines.question(choices(ask), { signal })).trim()
      const outcome = OUTCOMES[said.charAt(0).toLowerCase()]
      if (outcome === undefined || (outcome.startsWith('proceed-always') && ask.decision.covers === undefined)) continue
      if (outcome === 'proceed-always-server' && ask.details.kind !== 'mcp') continue
      const words = outcome === 'cancel' ? said.replace(/^no?\b[,.: ]*/i, '') : ''
      return { ask: ask.id, outcome, ...(words !== '' && { words }) }
    }
  } catch {
    return { ask: ask.id, outcome: 'cancel' }
  } finally {
    lines.close()
  }
}

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  y: 'proceed-once',
  a: 'proceed-always',
  s: 'proceed-always-server',
  n: 'cancel',
}

/** “Always” says what it would cover; some things are asked about each time. */
function choices({ decision: { covers }, details }: Ask): string {
  const always = covers === undefined ? '' : `   [a]lways ${renderSafe(covers, 'approval-prompt')}`
  const server = details.kind === 'mcp' && covers !== undefined ? `   all of this [s]erver` : ''
  return `  [y]es, once${always}${server}   [n]o, and say why  > `
}

/** The question as it is printed. What others wrote stands behind a bar, so that it cannot pass for the question. */
export function question({ details, decision }: Ask): string {
  if (details.kind === 'edit') return `${theirs(details.fileDiff)}\n\nChange ${name(details.filePath)}?`
  if (details.kind === 'exec') return `Run this in ${name(details.folder)}?\n\n${theirs(details.command)}\n`
  if (details.kind === 'mcp') {
    const changes =
      details.changes === undefined ? [] : ['It has changed since you allowed it:', theirs(details.changes)]
    const what = `Call ${name(details.toolName)} of the server ${name(details.serverName)}?`
    return [...changes, theirs(details.input ?? ''), what].join('\n')
  }
  return `${name(details.title)}:\n${theirs(details.prompt)}\n${renderSafe(decision.why, 'approval-prompt')} Go on?`
}

function theirs(text: string): string {
  return framed(renderSafe(text.trimEnd(), 'approval-prompt'))
}

function name(text: string): string {
  return renderSafe(text, 'file-name')
}
