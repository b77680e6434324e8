import type { Turn } from '../../model/turn.ts'
import type { EntryBody } from '../log/entry.ts'
import type { SessionLog } from '../store/store.ts'
import { FOREIGN_AGENTS, type ForeignSession, FindingCounter, type ImportFinding } from './foreign-session.ts'
import { repairSteps } from './repair-steps.ts'

/** What became of a session. */
export interface SessionImport {
  readonly prompts: number
  readonly answers: number
  readonly calls: number
  readonly findings: readonly ImportFinding[]
}

/** Writes a session of another agent into an empty log. Its messages give no permissions, and none of its calls runs. */
export function writeForeignSession(log: SessionLog, session: ForeignSession): SessionImport {
  const findings = new FindingCounter()
  findings.addAll(session.findings)
  const repaired = repairSteps(session.steps)
  findings.addAll(repaired.findings)
  const counts = { prompts: 0, answers: 0, calls: 0 }
  let prompt = `${log.id}#0`
  let length = 0
  let lastSeq = log.entries.at(-1)?.seq ?? 0
  const append = (body: EntryBody): void => {
    lastSeq = log.append(body).seq
  }
  for (const step of repaired.steps) {
    if (step.role === 'user') prompt = `${log.id}#${++counts.prompts}`
    if (step.role === 'assistant') {
      counts.answers++
      counts.calls += step.parts.filter(({ kind }) => kind === 'call').length
    }
    // The other agent had replaced the history before a summary; so does ours, and the log keeps it.
    if (step.role === 'summary') {
      const { text: summary } = step
      append({ kind: 'compact', summary, keep: lastSeq + 1, before: length, after: summary.length })
    } else for (const body of toEntries(step, prompt)) append(body)
    length += JSON.stringify(step).length
  }
  append({ kind: 'note', text: createImportNote(session) })
  append({ kind: 'close', prompt, reason: 'done' })
  return { ...counts, findings: findings.list() }
}

function toEntries(turn: Turn, prompt: string): EntryBody[] {
  switch (turn.role) {
    case 'user':
      return [{ kind: 'user', parts: turn.parts, prompt, foreign: true }]
    case 'assistant':
      return [{ kind: 'turn', turn, prompt, ms: 0 }]
    case 'results':
      return turn.parts.map((result) => ({ kind: 'result', result, ms: 0 }))
    case 'note':
      return [{ kind: 'note', text: turn.text }]
    default:
      return turn satisfies never
  }
}

function createImportNote({ agent, folder }: ForeignSession): string {
  const place = folder === undefined ? '' : ` in ${folder}`
  return `The conversation so far was made with ${FOREIGN_AGENTS[agent]}${place} and is continued here. Its tools had other names and parameters: use only the tools that are declared now. Files may have changed since; read a file again before you edit it.`
}
