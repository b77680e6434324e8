import type { ApprovalRequest } from '../../../agent/calls/call-state.ts'
import { sanitizeQuestion } from '../../../policy/text/sanitize.ts'
import { escapeForTerminal } from '../../output/escape.ts'
import { layoutExactRows } from '../term/exact-rows.ts'
import { type StyledLine, type StyledSpan, styledLine, wrapLine } from '../term/styled-line.ts'
import { describeSandboxNeeds, formatApprovalBody } from './approval-question.ts'
import { renderDiff } from './diff.ts'
import { toSingleRow } from './shorten.ts'

/** The texts of an approval request in one width. */
interface ApprovalTexts {
  readonly width: number
  readonly isRevealed: boolean
  /** What the call would do, in full: the user must be able to see all of it. */
  readonly body: readonly StyledLine[]
  readonly reason: readonly StyledLine[]
  /** What can be granted. */
  readonly grants: readonly StyledLine[]
  readonly hiddenSecrets: number
}

/** The lines of a request may be many: they are made once, and not for each key. */
export function renderApprovalTexts(ask: ApprovalRequest, width: number, isRevealed: boolean): ApprovalTexts {
  const previous = textsCache.get(ask)?.find((one) => one.width === width && one.isRevealed === isRevealed)
  if (previous) return previous
  const { lines: body, hiddenSecrets } = renderBody(ask, width, isRevealed)
  const [reason, grants] = [renderReason(ask, width), renderGrants(ask, width)]
  const texts = { width, isRevealed, body, reason, grants, hiddenSecrets }
  textsCache.set(ask, [texts, ...(textsCache.get(ask) ?? [])].slice(0, 4))
  return texts
}

const textsCache = new WeakMap<ApprovalRequest, readonly ApprovalTexts[]>()

function renderBody({ details }: ApprovalRequest, width: number, reveal: boolean) {
  if (details.kind === 'edit') {
    const diff = renderDiff(escapeForTerminal(details.fileDiff, 'diff'), width)
    return { lines: diff.length > 0 ? diff : [styledLine('Nothing would change.', 'quiet')], hiddenSecrets: 0 }
  }
  const { text, secrets } = sanitizeQuestion(formatApprovalBody(details), { reveal })
  return { lines: renderQuoted(text, width), hiddenSecrets: secrets }
}

/** Text of others stands behind a bar, so that it cannot pass for the question; the bar is broken where a line continues. */
function renderQuoted(text: string, width: number): StyledLine[] {
  return text
    .split('\n')
    .flatMap((one) => layoutExactRows(one, { width, first: [BAR], next: [CONTINUATION_BAR], tone: 'code' }))
}

const BAR: StyledSpan = { text: '│ ', tone: 'quiet' }
const CONTINUATION_BAR: StyledSpan = { text: '┆ ', tone: 'quiet' }

function renderReason({ decision, details }: ApprovalRequest, width: number): StyledLine[] {
  // The title of an edit says the same.
  if (details.kind === 'edit' && decision.isRoutine) return []
  const note = describeSandboxNeeds(details)
  const why = toSingleRow(escapeForTerminal(decision.why, 'approval-prompt'), MAX_REASON_COLUMNS)
  return [
    ...(note === undefined ? [] : wrapLine(styledLine(escapeForTerminal(note, 'approval-prompt'), 'warn'), width)),
    ...wrapLine(styledLine(why, 'quiet'), width),
  ]
}

/** A reason may quote the whole command, which is shown anyway. */
const MAX_REASON_COLUMNS = 240

function renderGrants({ decision: { grants = [] } }: ApprovalRequest, width: number): StyledLine[] {
  return grants.flatMap(({ covers }) =>
    wrapLine(styledLine(escapeForTerminal(`Always: ${covers}`, 'approval-prompt'), 'quiet'), width, [{ text: '  ' }]),
  )
}
