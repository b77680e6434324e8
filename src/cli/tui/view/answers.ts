import type { Ask } from '../../../agent/call-state.ts'
import type { SandboxBlock } from '../../../model/sandbox-access.ts'
import type { Grant, GrantScope } from '../../../policy/policy.ts'
import { type Asking, isWhollyShown } from '../state.ts'

/** An answer: its key, what it means, and that in a word. */
export interface Answer {
  readonly key: string
  readonly meaning: string
  readonly brief: string
}

/** Something that can be allowed from now on, and where it would hold. */
export interface Choice {
  readonly grant: Grant
  readonly scope: GrantScope
}

/** What can be allowed from now on, in the order in which it is numbered. */
export function choicesOf({ decision: { grants = [] } }: Ask): readonly Choice[] {
  return grants.flatMap((grant) => (grant.scopes ?? ['session']).map((scope) => ({ grant, scope }))).slice(0, 9)
}

/** Where a grant holds, and where it is written, in words. */
export function scopeWords(scope: GrantScope, root: string | undefined): string {
  if (scope === 'session') return 'in this session'
  if (scope === 'user') return 'everywhere, for good'
  return `in this project, for good${root === undefined ? '' : ` (${root})`}`
}

/** The answers to a question that there are now. */
export function answersTo(
  ask: Ask,
  asks: readonly Ask[],
  asking: Asking,
  { root, hasSecrets }: { readonly root?: string | undefined; readonly hasSecrets: boolean },
): readonly Answer[] {
  if (asking.why)
    return [
      { key: 'Enter', meaning: 'sends this to the model', brief: 'sends' },
      { key: 'Esc', meaning: 'goes back', brief: 'back' },
    ]
  if (asking.isChoosing)
    return [
      ...choicesOf(ask).map(({ grant, scope }, at) => ({
        key: String(at + 1),
        meaning: `always, ${scopeWords(scope, root)}: ${grant.covers}`,
        brief: `${scope} ${grant.breadth}`,
      })),
      { key: 'Esc', meaning: 'goes back', brief: 'back' },
    ]
  const { details } = ask
  const edits = asks.filter((one) => one.details.kind === 'edit')
  const unseen = edits.filter((one) => one.id !== ask.id && !isWhollyShown(asking, one.id)).length
  if (details.kind === 'sandbox') return [...sandboxAnswers(details.blocked), ...alwaysAnswer(ask), NO, REFUSE]
  const isPlan = details.kind === 'plan'
  const isOffline = details.kind === 'exec' && details.isOffline === true
  const yes = isPlan ? 'yes, and ask about each edit' : isOffline ? 'yes, once, without network' : 'yes, once'
  const all: readonly (Answer | false)[] = [
    { key: 'y', meaning: yes, brief: 'yes' },
    isOffline && { key: 'w', meaning: 'yes, once, with network', brief: 'with network' },
    isPlan && { key: 'a', meaning: 'yes, and edits run unasked', brief: 'edits unasked' },
    ...alwaysAnswer(ask),
    hasSecrets && { key: 'v', meaning: 'show what is hidden', brief: 'show' },
    (details.kind === 'edit' || isPlan) && { key: 'e', meaning: 'edit it first', brief: 'edit' },
    details.kind === 'info' && details.form !== undefined && { key: 'e', meaning: 'fill it in', brief: 'fill in' },
    edits.length > 1 && {
      key: 'A',
      meaning: unseen === 0 ? `all ${edits.length} edits` : `all edits, after the other ${unseen}`,
      brief: 'all',
    },
    isPlan ? { ...NO, meaning: 'no, and say what to change' } : NO,
    REFUSE,
  ]
  return all.filter((one) => one !== false)
}

const NO: Answer = { key: 'n', meaning: 'no, and say why', brief: 'no…' }
const REFUSE: Answer = { key: 'Esc', meaning: 'no', brief: 'no' }

function alwaysAnswer(ask: Ask): readonly Answer[] {
  return choicesOf(ask).length > 0 ? [{ key: 'a', meaning: 'always…', brief: 'always…' }] : []
}

/** How a command that the sandbox blocked may run again. */
function sandboxAnswers(blocked: SandboxBlock): readonly Answer[] {
  const outside = { meaning: 'yes, outside the sandbox, once', brief: 'outside' }
  if (blocked === 'files') return [{ key: 'y', ...outside }]
  return [
    { key: 'y', meaning: 'yes, with the network, once', brief: 'network' },
    { key: 'o', ...outside },
  ]
}
