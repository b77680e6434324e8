import { visible } from '../../output/visible.ts'
import type { Status } from '../state.ts'
import { type Line, line, wrap } from '../term/line.ts'
import type { Look } from './look.ts'

/** The first lines: who speaks, where, and the two things to know. */
export function welcome({ model, folder }: Status, notices: readonly string[], { width }: Look): Line[] {
  return [
    ...wrap(
      [
        { text: 'Dragoman', tone: 'strong' },
        { text: ` · ${model} · ${folder}`, tone: 'quiet' },
      ],
      width,
    ),
    ...wrap(line('Say what you want done. /help shows what there is; @ names files.', 'quiet'), width),
    ...notices.flatMap((text) => wrap(line(visible(text), 'warn'), width)),
  ]
}
