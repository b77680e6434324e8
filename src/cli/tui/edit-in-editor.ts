import type { Agent } from '../../agent/agent.ts'
import type { ApprovalRequest, ApprovalReply } from '../../agent/calls/call-state.ts'
import { openInEditor, editProposal } from '../external-editor.ts'
import type { Ui } from './ui.ts'
import { applyEditorEdit } from './input/text-editor.ts'
import { findCallPart } from './session-history.ts'

/** Opens the message in the user's editor. */
export async function editMessageInEditor(ui: Ui, editor: string | undefined): Promise<void> {
  const written = await ui.suspendFor(() => openInEditor(ui.state.editor.text, 'message.md', editor))
  if ('problem' in written) return ui.notify(written.problem, 'warn')
  ui.update((state) => ({
    ...state,
    editor: applyEditorEdit(state.editor, { do: 'set', text: written.text.trimEnd() }),
  }))
}

/** Opens a proposed edit in the user's editor; returns the reply, unless nothing was changed. */
export async function editProposalInEditor(
  ui: Ui,
  ask: ApprovalRequest,
  agent: Agent,
  editor: string | undefined,
): Promise<ApprovalReply | undefined> {
  const call = findCallPart(agent.session.turns, ask.call)
  const reply = await ui.suspendFor(() => editProposal(ask, call, agent.toolbox, editor))
  if (!('problem' in reply)) return reply
  ui.notify(reply.problem, 'warn')
  return undefined
}
