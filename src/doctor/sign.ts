import { ANSWER_SIGNS } from './sign/answer.ts'
import { CALL_SIGNS } from './sign/calls.ts'
import { TRANSPORT_SIGNS } from './sign/transport.ts'
import type { Exam } from './exam.ts'
import type { WireId } from '../model/turn.ts'
import { type View, viewsOf } from './view.ts'

/** Something about a server that is not as its wire says, seen from outside. */
export interface Sign {
  readonly id: string
  /** The failures that taught it. */
  readonly taught: string
  /** What is going on, as the end of a sentence that begins with “This server”. */
  readonly said: string
  /** What comes of it: we deal with it, it costs something, or nothing can be done from here. */
  readonly outcome: 'handled' | 'retried' | 'harmful'
  /** Is it there? A text says more about it. */
  readonly seen: (view: View) => boolean | string
}

/** A sign that was seen. */
export interface Finding {
  readonly id: string
  readonly said: string
  readonly outcome: Sign['outcome']
}

/** All signs. Where an answer did not come to its end, nothing is said about what its end would have held. */
export const SIGNS: readonly Sign[] = [...TRANSPORT_SIGNS, ...ANSWER_SIGNS, ...CALL_SIGNS]

/** The signs in an exam, each once; `but` are those that the question itself asked for. */
export function signsIn(exam: Exam, wire: WireId, more: { first?: boolean; but?: readonly string[] } = {}): Finding[] {
  const views = viewsOf(exam, wire, more.first ?? false)
  return SIGNS.filter(({ id }) => !more.but?.includes(id)).flatMap(({ id, taught, said, outcome, seen }) => {
    for (const view of views) {
      const detail = seen(view)
      if (detail === false) continue
      const closer = detail === true ? '' : ` (${detail})`
      return [{ id, said: `This server ${said}${closer}: ${OUTCOMES[outcome]} (${taught}).`, outcome }]
    }
    return []
  })
}

const OUTCOMES: Readonly<Record<Sign['outcome'], string>> = {
  handled: 'handled',
  retried: 'nothing of such an answer runs, and it is asked for again',
  harmful: 'nothing runs that should not, but the work does not get done',
}
