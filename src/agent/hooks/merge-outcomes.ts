import { defined } from '../../model/defined.ts'
import { findStrictest } from '../../policy/policy.ts'
import type { BlockOutcome, HookOutcome, PreToolUseOutcome } from './hooks.ts'

/** The outcomes of all hooks of one event: the strictest permission, all texts, and the last arguments. */
export function mergeOutcomes(
  outcomes: readonly (HookOutcome & PreToolUseOutcome & BlockOutcome)[],
): PreToolUseOutcome & BlockOutcome {
  const decided = findStrictest(
    outcomes.flatMap((one) => (one.permission === undefined ? [] : [{ verdict: one.permission, reason: one.reason }])),
  )
  const reasons = outcomes.flatMap(({ block }) => (block ? [block.reason] : []))
  return defined({
    permission: decided?.verdict,
    reason: decided?.reason,
    updatedInput: outcomes.findLast(({ updatedInput }) => updatedInput !== undefined)?.updatedInput,
    block: reasons.length > 0 ? { reason: reasons.join('\n') } : undefined,
    additionalContext: joinTexts(outcomes.map(({ additionalContext }) => additionalContext)),
    systemMessage: joinTexts(outcomes.map(({ systemMessage }) => systemMessage)),
    stopReason: outcomes.find(({ stopReason }) => stopReason !== undefined)?.stopReason,
  })
}

function joinTexts(texts: readonly (string | undefined)[]): string | undefined {
  const all = texts.filter((text) => text !== undefined && text.trim() !== '')
  return all.length === 0 ? undefined : all.join('\n')
}
