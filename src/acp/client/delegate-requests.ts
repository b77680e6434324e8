import { basename, isAbsolute } from 'node:path'
import type { ApprovalReply } from '../../agent/calls/call-state.ts'
import { filterObjects, isObject, objectOrEmpty, stringOrEmpty } from '../../model/json.ts'
import type { Effect } from '../../policy/effect.ts'
import type { Decision, Proposal } from '../../policy/policy.ts'
import { createUnifiedDiff } from '../../tool/text/diff.ts'
import type { ApprovalDetails, ToolContext } from '../../tool/tool.ts'
import type { Params } from '../connection.ts'
import { ERROR_CODE, ProtocolError, type RequestPermissionResponse } from '../protocol.ts'
import { readText } from '../read-params.ts'
import type { AgentRequests } from './agent-process.ts'
import type { DelegateOptions } from './delegate-tool.ts'

/** Answers what another agent asks while it works: its questions go to our user, its file access through our policy. */
export function createDelegateRequests(
  name: string,
  context: ToolContext,
  { requestApproval, policy, createId }: DelegateOptions,
): AgentRequests & { takeText(): string } {
  let text = ''

  async function ask(
    details: ApprovalDetails,
    decision: Pick<Decision, 'rule' | 'why'>,
    signal: AbortSignal,
  ): Promise<ApprovalReply['outcome'] | undefined> {
    const { rule, why } = decision
    const question = { id: createId(), call: '', tool: `delegate_${name}`, details } as const
    const request = { ...question, decision: { verdict: 'ask', rule, why } as const }
    return (await requestApproval?.(request, AbortSignal.any([signal, context.signal])))?.outcome
  }

  async function onPermission(params: Params, signal: AbortSignal): Promise<RequestPermissionResponse> {
    const options = filterObjects(params['options'])
    const toolCall = objectOrEmpty(params['toolCall'])
    const title = `The agent ${name} asks: ${stringOrEmpty(toolCall['title']) || 'may it go on?'}`
    const why = `The agent ${name} asks for your approval.`
    const outcome = await ask(toDetails(title, toolCall), { rule: 'question of an agent', why }, signal)
    if (context.signal.aborted) return { outcome: { outcome: 'cancelled' } }
    const isAllowed = outcome !== undefined && outcome !== 'cancel'
    // Only for this once: what it would remember is not in our settings.
    const wanted = isAllowed ? 'allow_once' : 'reject_once'
    const chosen = options.find(({ kind }) => kind === wanted)
    const optionId = stringOrEmpty(chosen?.['optionId'])
    return { outcome: optionId === '' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } }
  }

  /** Access to a file is decided as if our own tool had asked for it. */
  async function approve(proposal: Proposal, details: ApprovalDetails, signal: AbortSignal): Promise<Decision> {
    const decision = await policy.decide(proposal)
    if (decision.verdict === 'allow') return decision
    const outcome = decision.verdict === 'ask' ? await ask(details, decision, signal) : undefined
    if (outcome !== undefined && outcome !== 'cancel') return decision
    const reason = decision.verdict === 'ask' ? 'The user refused.' : decision.why
    throw new ProtocolError(ERROR_CODE.invalidRequest, `Denied: ${reason}`)
  }

  async function readFile(params: Params, signal: AbortSignal): Promise<{ content: string }> {
    const path = readPath(params)
    const title = `The agent ${name} wants to read ${path}`
    const proposal = createProposal('read_file', { absolute_path: path }, { kind: 'read', path })
    const { access } = await approve(proposal, { kind: 'info', title, prompt: path }, signal)
    const { files } = (access && context.host.withAccess?.(access)) ?? context.host
    const whole = Buffer.from(await files.read(path)).toString('utf8')
    return { content: sliceLines(whole, params['line'], params['limit']) }
  }

  async function writeFile(params: Params, signal: AbortSignal): Promise<object> {
    const path = readPath(params)
    const content = typeof params['content'] === 'string' ? params['content'] : ''
    const proposal = createProposal('write_file', { file_path: path, content }, { kind: 'write', path })
    // A file outside the workspace is not read before it was allowed.
    const before = await context.host.files.read(path).then(
      (bytes) => Buffer.from(bytes).toString('utf8'),
      () => null,
    )
    const details: ApprovalDetails = {
      kind: 'edit',
      title: `The agent ${name} wants to write ${path}`,
      fileName: basename(path),
      filePath: path,
      fileDiff: createUnifiedDiff(basename(path), before ?? '', content),
      originalContent: before,
      newContent: content,
    }
    const { access } = await approve(proposal, details, signal)
    const { files } = (access && context.host.withAccess?.(access)) ?? context.host
    await files.write(path, Buffer.from(content))
    return {}
  }

  return {
    async onRequest(method, params, signal) {
      if (method === 'session/request_permission') return onPermission(params, signal)
      if (method === 'fs/read_text_file') return readFile(params, signal)
      if (method === 'fs/write_text_file') return writeFile(params, signal)
      throw new ProtocolError(ERROR_CODE.unknownMethod, `There is no method ${method}.`)
    },
    onNotification(method, params) {
      const { update } = params
      if (method !== 'session/update' || !isObject(update)) return
      const content = objectOrEmpty(update['content'])
      if (update['sessionUpdate'] === 'agent_message_chunk') text += stringOrEmpty(content['text'])
      // Only what it says after its last call is its answer.
      if (update['sessionUpdate'] === 'tool_call') {
        context.progress(`${name}: ${stringOrEmpty(update['title'])}`)
        text = ''
      }
    },
    takeText: () => text,
  }
}

function createProposal(tool: string, input: Proposal['input'], effect: Effect): Proposal {
  return { tool, input, effects: [effect] }
}

function readPath(params: Params): string {
  const path = readText(params, 'path')
  if (isAbsolute(path)) return path
  throw new ProtocolError(ERROR_CODE.invalidParams, 'path must be absolute.')
}

function sliceLines(text: string, line: unknown, limit: unknown): string {
  if (typeof line !== 'number' && typeof limit !== 'number') return text
  const from = typeof line === 'number' ? Math.max(0, line - 1) : 0
  const lines = text.split('\n').slice(from, typeof limit === 'number' ? from + limit : undefined)
  return lines.join('\n')
}

/** What it wants to do: its diffs and texts, or else its arguments. */
function toDetails(title: string, toolCall: Readonly<Record<string, unknown>>): ApprovalDetails {
  const parts = filterObjects(toolCall['content']).map((one) => {
    const { type, path, oldText, newText } = one
    if (type === 'diff') return createUnifiedDiff(stringOrEmpty(path), stringOrEmpty(oldText), stringOrEmpty(newText))
    return stringOrEmpty(objectOrEmpty(one['content'])['text'])
  })
  const shown = parts.filter((part) => part !== '')
  const input = toolCall['rawInput'] === undefined ? '' : JSON.stringify(toolCall['rawInput'], undefined, 2)
  return { kind: 'info', title, prompt: shown.length > 0 ? shown.join('\n') : input }
}
