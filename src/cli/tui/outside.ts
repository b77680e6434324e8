import type { Agent } from '../../agent/agent.ts'
import type { Ask, Reply } from '../../agent/call-state.ts'
import { inEditor, modifyProposal } from '../editor.ts'
import type { Front } from './front.ts'
import { edit } from './input/editor.ts'

/** Lets the person write what they want to say in an editor of their own. */
export async function writeInEditor(front: Front, editor: string | undefined): Promise<void> {
  const written = await front.lend(() => inEditor(front.state.editor.text, 'message.md', editor))
  if ('problem' in written) return front.say(written.problem, 'warn')
  front.update((state) => ({ ...state, editor: edit(state.editor, { do: 'set', text: written.text.trimEnd() }) }))
}

/** Lets the person change a proposed edit; gives their answer, if they came to one. */
export async function modify(
  front: Front,
  ask: Ask,
  agent: Agent,
  editor: string | undefined,
): Promise<Reply | undefined> {
  const call = agent.session.turns
    .flatMap((turn) => (turn.role === 'assistant' ? turn.parts : []))
    .findLast((part) => part.kind === 'call' && part.id === ask.call)
  const reply = await front.lend(() =>
    modifyProposal(ask, call?.kind === 'call' ? call : undefined, agent.toolbox, editor),
  )
  if (!('problem' in reply)) return reply
  front.say(reply.problem, 'warn')
  return undefined
}
