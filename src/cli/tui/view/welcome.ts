import { escapeForTerminal } from '../../output/escape.ts'
import type { StatusInfo } from '../ui-state.ts'
import { styledLine, wrapLine } from '../term/styled-line.ts'
import type { ViewOptions } from './view-options.ts'

export function renderWelcome({ model, folder }: StatusInfo, notices: readonly string[], { width }: ViewOptions) {
  return [
    ...wrapLine(
      [
        { text: 'Dragoman', tone: 'strong' },
        { text: ` · ${model} · ${folder}`, tone: 'quiet' },
      ],
      width,
    ),
    ...wrapLine(styledLine('Type a request. /help lists the commands; @ attaches files.', 'quiet'), width),
    ...notices.flatMap((text) => wrapLine(styledLine(escapeForTerminal(text), 'warn'), width)),
  ]
}
