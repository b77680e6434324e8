import type { Frame } from '../wire/frame.ts'
import type { WireId } from '../model/turn.ts'
import type { Exam } from './exam.ts'
import { bodyText, framesOf, look, type Look, type Piece } from './look/look.ts'
import type { Trace } from './tap.ts'

/** One attempt of an exam, looked at from all sides. */
export interface View {
  readonly wire: WireId
  readonly exam: Exam
  readonly trace: Trace
  /** Is it the attempt that the turn was made of? */
  readonly last: boolean
  /** Is it the first exam of all? Then every refusal says something about the server, not about the question. */
  readonly first: boolean
  readonly frames: readonly Frame[]
  readonly look: Look
  readonly body: string
  /** Are these server-sent events, whatever the content type says? */
  readonly sse: boolean
}

/** All attempts of an exam. */
export function viewsOf(exam: Exam, wire: WireId, first: boolean): View[] {
  return exam.traces.map((trace, at) => {
    const frames = framesOf(trace)
    const body = bodyText(trace)
    const sse = SSE.test(body)
    return {
      wire,
      exam,
      trace,
      last: at === exam.traces.length - 1,
      first,
      frames,
      look: look(wire, frames),
      body,
      sse,
    }
  })
}

const SSE = /^\uFEFF?(?:data|event|id|retry)?:/

/** The pieces under each number that tells calls apart. */
export function groups({ pieces }: Look): Piece[][] {
  const by = new Map<number, Piece[]>()
  for (const piece of pieces) {
    if (typeof piece.index !== 'number') continue
    const group = by.get(piece.index)
    if (group) group.push(piece)
    else by.set(piece.index, [piece])
  }
  return [...by.values()]
}

/** A text that says something, or undefined. */
export function word(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The argument texts of a call, piece by piece, without what is only said once more at the end. */
export function texts(group: readonly Piece[]): string[] {
  return group.flatMap((piece) => (piece.closing ? [] : (word(piece.arguments) ?? [])))
}
