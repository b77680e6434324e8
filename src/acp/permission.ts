import type { ApprovalReply, ApprovalRequest } from '../agent/calls/call-state.ts'
import { isObject, type JsonObject } from '../model/json.ts'
import { sanitizeText } from '../policy/text/sanitize.ts'
import type { GrantScope } from '../policy/policy.ts'
import type { Toolbox } from '../tool/toolbox.ts'
import type { PermissionOption, RequestPermissionResponse, ToolCallContent, ToolCallUpdate } from './protocol.ts'
import { toQuestionContent, toText, type ToolCallView } from './tool-call-view.ts'

type Answer = Omit<ApprovalReply, 'ask'>

interface PermissionChoice {
  readonly option: PermissionOption
  readonly answer: Answer
}

/** The answers to a question, exactly those that the policy offers. */
export function listPermissionChoices({ details, decision }: ApprovalRequest): readonly PermissionChoice[] {
  const once: Answer = { outcome: 'proceed-once' }
  const choices: PermissionChoice[] = []
  const add = (optionId: string, kind: PermissionOption['kind'], name: string, answer: Answer): void => {
    choices.push({ option: { optionId, kind, name: sanitizeText(name, 'file-name') }, answer })
  }
  if (details.kind === 'plan') {
    add('once', 'allow_once', 'Yes, and ask about each edit', once)
    add('edits', 'allow_always', 'Yes, and allow edits without approval', { outcome: 'proceed-always' })
  } else if (details.kind === 'question') {
    for (const [at, { label, about }] of details.options.entries())
      add(`answer-${at + 1}`, 'allow_once', about === undefined ? label : `${label}: ${about}`, {
        ...once,
        words: label,
      })
    add('no', 'reject_once', 'No answer', { outcome: 'cancel' })
    return choices
  } else if (details.kind === 'sandbox') {
    if (details.blocked === 'network')
      add('network', 'allow_once', 'Yes, once, with network', { ...once, access: 'network' })
    add('outside', 'allow_once', 'Yes, once, outside the sandbox', { ...once, access: 'outside' })
  } else {
    const isOffline = details.kind === 'exec' && details.isOffline === true
    const isOutside = details.kind === 'exec' && details.outsidePaths !== undefined
    const how = isOffline ? ', without network' : isOutside ? ', outside the sandbox' : ''
    add('once', 'allow_once', `Yes, once${how}`, once)
    if (isOffline) add('network', 'allow_once', 'Yes, once, with network', { ...once, access: 'network' })
  }
  const grants = (decision.grants ?? []).flatMap((grant) =>
    (grant.scopes ?? ['session']).map((scope) => ({ grant, scope })),
  )
  for (const [at, { grant, scope }] of grants.entries())
    add(`always-${at + 1}-${scope}`, 'allow_always', `Always, ${SCOPES[scope]}: ${grant.covers}`, {
      outcome: 'proceed-always',
      grant,
      scope,
    })
  add('no', 'reject_once', 'No', { outcome: 'cancel' })
  return choices
}

const SCOPES: Readonly<Record<GrantScope, string>> = {
  session: 'in this session',
  project: 'in this project',
  user: 'everywhere',
}

/** The call of a question: what would happen, and why it needs approval. */
export function toPermissionCall(ask: ApprovalRequest, view: ToolCallView | undefined): ToolCallUpdate {
  const { details, decision } = ask
  const reason: ToolCallContent[] = decision.isRoutine ? [] : [toText(sanitizeText(decision.why, 'approval-prompt'))]
  return {
    // A question that is not about a call of the model, such as one of an MCP server, has an id of its own.
    toolCallId: ask.call === '' ? ask.id : ask.call,
    ...view,
    title:
      (ask.asker === undefined ? '' : `${sanitizeText(ask.asker, 'file-name')} asks: `) +
      (view?.title ?? sanitizeText(details.title, 'file-name')),
    status: 'pending',
    content: [...toQuestionContent(details), ...reason],
  }
}

/**
 * The answer of the client. A client that lets the user change the proposal sends the new arguments, or the new content of
 * the file, in the field `_meta.dragoman` of its outcome; a reason for a no is in `words` there.
 */
export function readPermissionAnswer(
  ask: ApprovalRequest,
  { outcome }: RequestPermissionResponse,
  toolbox: Toolbox,
  input: JsonObject | undefined,
): Answer | 'cancelled' | undefined {
  if (!isObject(outcome)) return undefined
  if (outcome.outcome === 'cancelled') return 'cancelled'
  const chosen = listPermissionChoices(ask).find(({ option }) => option.optionId === outcome.optionId)?.answer
  // An answer that was not offered is a no: nothing runs that nobody allowed.
  if (!chosen) return { outcome: 'cancel' }
  const extension = isObject(outcome._meta) ? outcome._meta['dragoman'] : undefined
  if (!isObject(extension)) return chosen
  if (chosen.outcome === 'cancel')
    return typeof extension['words'] === 'string' ? { ...chosen, words: extension['words'] } : chosen
  const modified = readModifiedInput(ask, extension, toolbox, input)
  return modified ? { outcome: 'modify', input: modified } : chosen
}

function readModifiedInput(
  { details, tool: name }: ApprovalRequest,
  { input: changed, content }: Record<string, unknown>,
  toolbox: Toolbox,
  input: JsonObject | undefined,
): JsonObject | undefined {
  if (isObject(changed)) return changed as JsonObject
  const found = toolbox.find(name)
  if (typeof content !== 'string' || details.kind !== 'edit' || !('tool' in found) || !input) return undefined
  return found.tool.toModifiedInput?.(input, { original: details.originalContent, content })
}
