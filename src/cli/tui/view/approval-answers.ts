import type { ApprovalRequest } from '../../../agent/calls/call-state.ts'
import type { SandboxBlock } from '../../../model/security/sandbox-access.ts'
import type { Grant, GrantScope } from '../../../policy/policy.ts'
import { type ApprovalViewState, isFullyShown } from '../ui-state.ts'

/** An answer: its key and its meaning, in a phrase and in a word. */
export type ApprovalAnswer = Readonly<Record<'key' | 'meaning' | 'brief', string>>

export type GrantChoice = Readonly<{ grant: Grant; scope: GrantScope }>

/** The grants and scopes that a request offers, in the order of their numbers. */
export function listGrantChoices({ decision: { grants = [] } }: ApprovalRequest): readonly GrantChoice[] {
  return grants.flatMap((grant) => (grant.scopes ?? ['session']).map((scope) => ({ grant, scope }))).slice(0, 9)
}

export function describeScope(scope: GrantScope, root: string | undefined): string {
  const project = `in this project, permanently${root === undefined ? '' : ` (${root})`}`
  return { session: 'in this session', project, user: 'everywhere, permanently' }[scope]
}

export function listApprovalAnswers(
  ask: ApprovalRequest,
  asks: readonly ApprovalRequest[],
  asking: ApprovalViewState,
  { root, hasSecrets }: { readonly root?: string | undefined; readonly hasSecrets: boolean },
): readonly ApprovalAnswer[] {
  if (asking.reasonEditor) return [{ key: 'Enter', meaning: 'send this to the model', brief: 'send' }, BACK]
  if (asking.isChoosing)
    return [
      ...listGrantChoices(ask).map(({ grant, scope }, at) => ({
        key: String(at + 1),
        meaning: `always, ${describeScope(scope, root)}: ${grant.covers}`,
        brief: `${scope} ${grant.breadth}`,
      })),
      BACK,
    ]
  const { details } = ask
  const edits = asks.filter((one) => one.details.kind === 'edit')
  const unseenCount = edits.filter((one) => one.id !== ask.id && !isFullyShown(asking, one.id)).length
  if (details.kind === 'sandbox')
    return [...listSandboxAnswers(details.blocked), ...listAlwaysAnswer(ask), NO_WITH_REASON, PLAIN_NO]
  if (details.kind === 'question')
    return [
      ...details.options.map(({ label }, at) => ({ key: String(at + 1), meaning: label, brief: label })),
      { key: 'w', meaning: 'write an answer', brief: 'write…' },
      { key: 'Esc', meaning: 'no answer', brief: 'none' },
    ]
  const isPlan = details.kind === 'plan'
  const isOffline = details.kind === 'exec' && details.isOffline === true
  const isOutside = details.kind === 'exec' && details.outsidePaths !== undefined
  const yes = isPlan
    ? 'yes, and ask about each edit'
    : `yes, once${isOffline ? ', without network' : isOutside ? ', outside the sandbox' : ''}`
  const all: readonly (ApprovalAnswer | false)[] = [
    { key: 'y', meaning: yes, brief: 'yes' },
    isOffline && { key: 'w', meaning: 'yes, once, with network', brief: 'with network' },
    isPlan && { key: 'a', meaning: 'yes, and allow edits without approval', brief: 'allow edits' },
    ...listAlwaysAnswer(ask),
    hasSecrets && { key: 'v', meaning: 'show the secret', brief: 'show' },
    (details.kind === 'edit' || isPlan) && { key: 'e', meaning: 'edit it first', brief: 'edit' },
    details.kind === 'info' && details.form !== undefined && { key: 'e', meaning: 'fill it in', brief: 'fill in' },
    edits.length > 1 && {
      key: 'A',
      meaning: unseenCount === 0 ? `all ${edits.length} edits` : `all edits, after the other ${unseenCount}`,
      brief: 'all',
    },
    isPlan ? { ...NO_WITH_REASON, meaning: 'no, and say what to change' } : NO_WITH_REASON,
    PLAIN_NO,
  ]
  return all.filter((one) => one !== false)
}

const NO_WITH_REASON: ApprovalAnswer = { key: 'n', meaning: 'no, and say why', brief: 'no…' }
const PLAIN_NO: ApprovalAnswer = { key: 'Esc', meaning: 'no', brief: 'no' }
const BACK: ApprovalAnswer = { key: 'Esc', meaning: 'back', brief: 'back' }

function listAlwaysAnswer(ask: ApprovalRequest): readonly ApprovalAnswer[] {
  return listGrantChoices(ask).length > 0 ? [{ key: 'a', meaning: 'always…', brief: 'always…' }] : []
}

/** How a command that the sandbox blocked may run again. */
function listSandboxAnswers(blocked: SandboxBlock): readonly ApprovalAnswer[] {
  const outside = { meaning: 'yes, once, outside the sandbox', brief: 'outside' }
  if (blocked === 'files') return [{ key: 'y', ...outside }]
  return [
    { key: 'y', meaning: 'yes, once, with network', brief: 'network' },
    { key: 'o', ...outside },
  ]
}
