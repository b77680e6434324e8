import { escapeForTerminal } from '../../output/escape.ts'
import type { StatusInfo } from '../ui-state.ts'
import { type StyledLine, styledLine, wrapLine } from '../term/styled-line.ts'
import type { ViewOptions } from './view-options.ts'

/** The first lines: who speaks, where, and the two things to know. */
export function renderWelcome(
  { model, folder }: StatusInfo,
  notices: readonly string[],
  { width }: ViewOptions,
): StyledLine[] {
  return [
    ...wrapLine(
      [
        { text: 'Dragoman', tone: 'strong' },
        { text: ` · ${model} · ${folder}`, tone: 'quiet' },
      ],
      width,
    ),
    ...wrapLine(styledLine('Say what you want done. /help shows what there is; @ names files.', 'quiet'), width),
    ...notices.flatMap((text) => wrapLine(styledLine(escapeForTerminal(text), 'warn'), width)),
  ]
}
